"""The runner can fail, and what it does not know is an error."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

from . import catalogue, settings
from .errors import BadScenario
from .flips import flipped, one_of_each_area
from .runner import play
from .stage import Stage, Workshop

GOOD: Mapping[str, Any] = {
    "id": "X-01",
    "area": "test",
    "title": "A scenario in which every word is known",
    "given": {"config": {}, "note": ""},
    "steps": [
        {"as": "bob", "op": "covia:read", "input": {"path": "w/x"}, "save": "a", "expect": {"ok": True}},
        {
            "as": "bob",
            "op": "covia:read",
            "input": {"path": "w/y"},
            "expect": {"ok": False, "error": {"kind": "denied"}},
        },
    ],
    "source": "",
    "covers": [],
}
FIRST = ("steps", 0)
EXPECT = (*FIRST, "expect")

UNKNOWN: Mapping[str, tuple[tuple[Any, ...], Any]] = {
    "word of a scenario": (("mood",), "good"),
    "word of what is given": (("given", "mood"), "good"),
    "no steps": (("steps",), []),
    "word of a step": ((*FIRST, "via"), "process"),
    "operation": ((*FIRST, "op"), "covia:dance"),
    "principal": ((*FIRST, "as"), "mallory"),
    "suffix": ((*FIRST, "as"), "bob!drunk"),
    "other venue": ((*FIRST, "as"), "bob@venueZ"),
    "transport": ((*FIRST, "transport"), {"pigeon": True}),
    "transport of another operation": ((*FIRST, "transport"), {"wait": True}),
    "background": ((*FIRST, "background"), True),
    "after outside parallel": ((*FIRST, "after"), "record_visible"),
    "placeholder": ((*FIRST, "input", "path"), "w/${nobody.result}"),
    "transform": ((*FIRST, "input", "path"), "${bob|rot13}"),
    "no expectation": (EXPECT, {}),
    "expectation": ((*EXPECT, "mood"), "good"),
    "ok": ((*EXPECT, "ok"), "perhaps"),
    "word of an error": ((*EXPECT, "error"), {"colour": "red"}),
    "kind": (EXPECT, {"ok": False, "error": {"kind": "bad_luck"}}),
    "matcher": ((*EXPECT, "result"), {"$smells_like": "roses"}),
    "matcher inside": ((*EXPECT, "result"), {"exists": {"$maybe": True}}),
    "type": ((*EXPECT, "result"), {"exists": {"$any": "cat"}}),
    "expression": ((*EXPECT, "result"), {"exists": {"$expr": "one * two"}}),
    "absence": ((*EXPECT, "result"), {"value": {"$absent": False}}),
    "inbox_count": ((*EXPECT, "inbox_count"), {"count": 0}),
    "configuration": (("given", "config"), {"hitl.mood": "good"}),
}
"""What is unknown, where it is put into the good scenario, and what is put there."""

WRONG_INPUT: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "of the clock": ("advance_clock", {"fortnights": 1}),
    "missing": ("jobs.get", {}),
    "failpoint": ("failpoint", {"at": "somewhere"}),
    "audit event": ("audit", {"event": "tea.served"}),
    "claim": ("mint", {"colour": "red"}),
    "configuration": ("set_config", {"hitl.mood": "good"}),
    "cases": ("verify_equals_enforcement", {"cases": "all"}),
    "token": ("two_venues", {"present": "forged", "at": "venueB", "resource": "${bob}/w/x"}),
    "stream": ("sse.collect", {"stream": "a text"}),
    "relay": ("grid:invoke", {"venue": "${venue}", "operation": "x", "authenticateAs": "venue"}),
}


def test_the_good_scenario_is_good(workshop: Workshop, directory: Path) -> None:
    """All its words are known, so what the spoilt ones below are refused for is what was spoilt."""
    good = json.loads(json.dumps(GOOD))
    good["steps"][1]["expect"] = {"ok": True, "result": {"exists": False}}
    _play(workshop, directory, good)


@pytest.mark.parametrize("what", UNKNOWN)
def test_what_is_unknown_is_an_error(what: str, workshop: Workshop, directory: Path) -> None:
    """The good scenario with one word that nobody knows."""
    place, value = UNKNOWN[what]
    _refuses(workshop, directory, lambda scenario: _put(scenario, place, value))


@pytest.mark.parametrize("what", WRONG_INPUT)
def test_input_that_is_unknown_is_an_error(what: str, workshop: Workshop, directory: Path) -> None:
    """The runner's own operations know their inputs; the protocol's are judged by the venue."""
    op, data = WRONG_INPUT[what]
    step = {"as": "bob", "op": op, "input": data, "expect": {"ok": "any"}}
    _refuses(workshop, directory, lambda scenario: _put(scenario, FIRST, step))


COUNTED: Mapping[str, Any] = {
    "as": "harness",
    "op": "parallel",
    "input": {"steps": [GOOD["steps"][0]]},
    "expect": {"ok_count": 1},
}
WRONG_AT_ONCE: Mapping[str, tuple[tuple[Any, ...], Any]] = {
    "expectation": (("expect", "mood"), 1),
    "ok": (("expect", "ok"), False),
    "word": (("save",), "x"),
    "word of the input": (("input", "mood"), "good"),
    "nothing counted": (("expect",), {}),
    "expectation of losers": (("expect", "losers"), {"mood": 1}),
    "expectation of a winner": (("input", "steps", 0, "expect", "mood"), 1),
    "operation": (("input", "steps", 0, "op"), "covia:dance"),
}


def test_steps_at_once_that_are_good_are_good(workshop: Workshop, directory: Path) -> None:
    """All of their words are known."""
    _play(workshop, directory, {**GOOD, "steps": [COUNTED]})


@pytest.mark.parametrize("what", WRONG_AT_ONCE)
def test_parallel_knows_its_words(what: str, workshop: Workshop, directory: Path) -> None:
    """Steps at once have words of their own, and no others, whoever of them wins."""
    place, value = WRONG_AT_ONCE[what]
    step = json.loads(json.dumps(COUNTED))
    _put(step, place, value)
    _refuses(workshop, directory, lambda scenario: _put(scenario, FIRST, step))


def test_every_configuration_is_mapped() -> None:
    """Each name of the catalogue means something here."""
    for scenario in catalogue.scenarios():
        settings.read(scenario["given"]["config"])


def test_twenty_flips_are_twenty_failures(tmp_path: Path) -> None:
    """One expectation in each of twenty scenarios is flipped, and the command that sees the originals pass
    sees each of them fail, because the venue did otherwise.
    """
    chosen = one_of_each_area(catalogue.played(), 20)
    file = tmp_path / "flipped.json"
    file.write_text(json.dumps([flipped(one) for one in chosen]))
    assert _outcome(file) == {"failed": 20}


def _outcome(scenarios: Path) -> Mapping[str, int]:
    """What `pytest tests/conformance --scenarios FILE` counts; a failure must be a mismatch of the venue."""
    command = [sys.executable, "-m", "pytest", "tests/conformance", "--scenarios", str(scenarios)]
    run = subprocess.run(
        [*command, "-n", "0", "-q", "--show-capture=no", "-p", "no:cacheprovider"],
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")},
        capture_output=True,
        text=True,
        timeout=250,
    )
    counts = {
        word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|errors?|skipped)", run.stdout)
    }
    assert counts.get("failed", 0) == len(
        re.findall(r"^E +\S*errors\.Mismatch: ", run.stdout, re.MULTILINE)
    ), run.stdout
    return counts


def _play(workshop: Workshop, directory: Path, scenario: Mapping[str, Any]) -> None:
    with Stage(workshop, directory, scenario) as stage:
        play(stage, scenario)


def _refuses(workshop: Workshop, directory: Path, spoil: Callable[[Any], None]) -> None:
    scenario = json.loads(json.dumps(GOOD))
    spoil(scenario)
    with pytest.raises(BadScenario):
        _play(workshop, directory, scenario)


def _put(scenario: Any, place: tuple[Any, ...], value: Any) -> None:
    for key in place[:-1]:
        scenario = scenario[key]
    scenario[place[-1]] = value
