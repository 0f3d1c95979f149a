"""The gate catalogue: each case of `tests/data/gates.json`, or of --gates FILE, on each store."""

import json
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from . import gates_races  # noqa: F401 - adds its operations to the runner
from .gates_match import MATCHERS, CaseFailed, CaseNotUnderstood
from .gates_reply import done
from .gates_runner import HARNESS, run_case

OURS = Path(__file__).resolve().parent.parent / "data" / "gates.json"
SHARED = OURS.parents[3] / "shared" / "conformance" / "gates.json"

OVERRULED: dict[str, str] = {}
"""Cases that a decision of the design overrules, by id. None."""

Case = dict[str, Any]


@cache
def cases_of(path: Path) -> list[Case]:
    cases: list[Case] = json.loads(path.read_text())
    return cases


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        chosen = cases_of(metafunc.config.getoption("--gates") or OURS)
        pairs = [(case, kind) for case in chosen for kind in case["given"]["stores"]]
        metafunc.parametrize(("case", "kind"), pairs, ids=[f"{case['id']}-{kind}" for case, kind in pairs])


@pytest.mark.cases("gates")
def test_case(case: Case, kind: str, tmp_path: Path) -> None:
    assert case["id"] not in OVERRULED
    run_case(case, kind, tmp_path)


def suite_on(run: Any, step: dict[str, Any], stores: list[str], scenarios: str) -> dict[str, Any]:
    """GS-05: how many cases that name both stores end differently on them."""
    assert scenarios == "every scenario whose given.stores has both"
    return done({"differences": len(different(tuple(stores)))})


HARNESS["suite_on"] = suite_on


@cache
def different(stores: tuple[str, ...]) -> list[str]:
    both = [case for case in cases_of(OURS) if set(stores) <= set(case["given"]["stores"])]
    both = [case for case in both if all(step["op"] != "suite_on" for step in case["steps"])]
    return [case["id"] for case in both if len({verdict(case, kind) for kind in stores}) > 1]


def verdict(case: Case, kind: str) -> bool:
    with TemporaryDirectory() as directory:
        try:
            run_case(case, kind, Path(directory))
        except CaseFailed:
            return False
    return True


def test_the_copy_is_the_catalogue() -> None:
    if SHARED.exists():
        assert OURS.read_bytes() == SHARED.read_bytes()
    assert len(cases_of(OURS)) == 145


def test_what_is_overruled() -> None:
    assert OVERRULED == {}


# -- the runner itself: it must be able to fail ----------------------------------------------------


def flips(case: Case) -> Iterator[tuple[str, Case]]:
    """The case with one expectation turned into its opposite, for each that can be."""
    for number, step in enumerate(case["steps"]):
        expected = step["expect"]
        if isinstance(expected.get("ok"), bool):
            yield f"{number}.ok", _with(case, number, {**expected, "ok": not expected["ok"]})
        if "result" in expected:
            yield (
                f"{number}.result",
                _with(case, number, {**expected, "result": {"$not": expected["result"]}}),
            )
        for field, wanted in expected.get("error", {}).items():
            other = ["not in the text"] if field == "contains" else {"$not": wanted}
            if field != "excludes":
                error = {**expected["error"], field: other}
                yield f"{number}.error.{field}", _with(case, number, {**expected, "error": error})
        for field in expected.keys() & {"ok_count", "row_writes"}:
            yield f"{number}.{field}", _with(case, number, {**expected, field: expected[field] + 1})
        for field in expected.keys() & {"same_result", "row_is_winner", "resolved_by_is_winner", "frozen"}:
            yield f"{number}.{field}", _with(case, number, {**expected, field: not expected[field]})


def _with(case: Case, number: int, expected: dict[str, Any]) -> Case:
    flipped = deepcopy(case)
    flipped["steps"][number]["expect"] = expected
    return flipped


FLIPPED = ["GO-01", "GO-06", "GR-05", "GC-08", "GA-03", "GU-04", "GL-04", "GB-16", "GK-10", "GX-07", "GW-09"]
FLIPPED_ON_SQLITE = ["GT-05", "GT-06", "GT-09", "GM-01", "GG-08"]


@pytest.mark.parametrize(
    ("id", "kind"),
    [*((id, "memory") for id in FLIPPED), *((id, "sqlite") for id in FLIPPED_ON_SQLITE)],
)
def test_a_flipped_expectation_fails(id: str, kind: str, tmp_path: Path) -> None:
    case = next(case for case in cases_of(OURS) if case["id"] == id)
    flipped = list(flips(case))
    assert flipped
    for name, each in flipped:
        directory = tmp_path / name
        directory.mkdir()
        with pytest.raises(CaseFailed):
            run_case(each, kind, directory)


UNKNOWN = {
    "operation": lambda case: case["steps"][0].update(op="open_gates"),
    "step key": lambda case: case["steps"][0].update(retries=3),
    "given key": lambda case: case["given"].update(clock="real"),
    "expectation": lambda case: case["steps"][1]["expect"].update(soon=True),
    "matcher": lambda case: case["steps"][1]["expect"].update(result={"$almost": 1}),
    "mixed matcher": lambda case: case["steps"][1]["expect"].update(result={"$absent": True, "id": "g1"}),
    "input": lambda case: case["steps"][0]["input"].update(schema={"$modell": "Approval"}),
    "function": lambda case: case["given"].update(options={"authorize": {"$fn": "perhaps"}}),
    "placeholder": lambda case: case["steps"][0]["input"].update(prompt="${nobody.saved.this}"),
}


@pytest.mark.parametrize("what", UNKNOWN)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_what_the_runner_does_not_know_is_an_error(what: str, kind: str, tmp_path: Path) -> None:
    case = deepcopy(next(case for case in cases_of(OURS) if case["id"] == "GO-01"))
    UNKNOWN[what](case)
    with pytest.raises(CaseNotUnderstood):
        run_case(case, kind, tmp_path)


def test_every_matcher_can_fail() -> None:
    wrong: dict[str, tuple[Any, Any]] = {
        "$eq": ({"a": 1}, {"a": 1, "b": 2}),
        "$not": (1, 1),
        "$in": ([1, 2], 3),
        "$absent": (True, None),
        "$any": ("string", 1),
        "$regex": ("^a", "b"),
        "$contains": ("a", "b"),
        "$len": (2, [1]),
        "$min_len": (2, [1]),
        "$set": ([1, 2], [1, 3]),
        "$has": ([1], [2]),
        "$lacks": ([1], [1]),
        "$each": ({"a": 1}, [{"a": 1}, {"a": 2}]),
        "$between": ([1, 2], 3),
        "$instant": ("2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"),
        "$iso": (True, "2030-01-01"),
        "$contains_prefixes": (["a.1"], ["a.10"]),
    }
    assert wrong.keys() == MATCHERS.keys()
    assert not [name for name, (expected, actual) in wrong.items() if MATCHERS[name](expected, actual)]
