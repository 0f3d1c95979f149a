"""Every document that was written reads back equal, at every depth and by every way to read it (D24)."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ops.errors import BadInput
from tests.harness.kernel import Kernel
from ucan.errors import Malformed
from ucan.strict import loads

from .conftest import Run
from .test_records import LEAVES, TEXTS

KEYS = st.sampled_from(["a", "b", "0", "1", "", "~", "/", "a/b", "~1", "\u202e", "\U0010ffff", "é"]) | TEXTS
VALUES = st.recursive(
    LEAVES | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)
SHARED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
WORDS = {dict: "Map", list: "Vector", str: "String", bool: "Boolean", int: "Long", float: "Double"}


def places(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every place of a value, itself included, and what stands there."""
    yield path, value
    if isinstance(value, dict | list):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in inside:
            yield from places(inner, (*path, str(key)))


def at_depth(value: Any, depth: int) -> list[Any]:
    """The values so many levels below, in the order of the keys."""
    if depth == 0:
        return [value]
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    return [one for inner in value for one in at_depth(inner, depth - 1)] if isinstance(value, list) else []


class Reader:
    """One person's ways to read their workspace."""

    def __init__(self, venue: Kernel) -> None:
        self._venue = venue
        self._owner = venue.person(1)

    async def __call__(self, verb: str, path: tuple[str, ...], **more: Any) -> Any:
        """`covia:<verb>` of a place below `w/doc`."""
        data = {"path": ["w", "doc", *path], **more}
        return await self._venue.invoker.run(f"v/ops/covia/{verb}", data, self._owner)

    async def write(self, value: Any) -> None:
        """Put the document there."""
        data = {"path": ["w", "doc"], "value": value}
        await self._venue.invoker.invoke("v/ops/covia/write", data, self._owner)


@SHARED
@given(value=VALUES)
def test_it_reads_back_by_every_form(venue: Kernel, run: Run, value: Any) -> None:
    """Read, list, slice and count, at each place of it."""

    async def scenario() -> None:
        reader = Reader(venue)
        await reader.write(value)
        for path, there in places(value):
            read = await reader("read", path)
            assert (read["exists"], read["value"]) == (True, there)
            assert type(read["value"]) is type(there) or isinstance(there, int | float)
            await _listed(reader, path, there)
            if isinstance(there, dict | list):
                await _sliced(reader, path, there)
                await _counted(reader, path, there)
        missing = await reader("read", ("no such key at all",))
        assert missing == {"exists": False, "value": None, "valueBytes": 0}

    run(scenario)


async def _listed(reader: Reader, path: tuple[str, ...], there: Any) -> None:
    listed = await reader("list", path)
    assert listed["exists"]
    if not isinstance(there, float):  # a whole float is stored as JSON has it, and comes back as an integer
        assert listed["type"] == WORDS.get(type(there), "Nil")
    if isinstance(there, dict):
        assert (listed["count"], listed["keys"]) == (len(there), sorted(there))
    if isinstance(there, list):
        assert listed["count"] == len(there)


async def _sliced(reader: Reader, path: tuple[str, ...], there: Any) -> None:
    entries: list[Any] = []
    for offset in range(0, len(there) + 2, 2):
        part = await reader("slice", path, offset=offset, limit=2)
        assert (part["exists"], part["count"], part["offset"]) == (True, len(there), offset)
        entries += part["values"]
    if isinstance(there, dict):
        entries = [(entry["key"], entry["value"]) for entry in entries]
        assert entries == [(key, there[key]) for key in sorted(there)]
    else:
        assert entries == there


async def _counted(reader: Reader, path: tuple[str, ...], there: Any) -> None:
    for depth in range(4):
        found = await reader("aggregate", path, depth=depth, groupBy="a")
        assert found["count"] == len(at_depth(there, depth))
        assert sum(group["count"] for group in found["groups"].values()) == found["count"]


COMMENT = re.compile(r" ?/\* [0-9]+ more( characters)? \*/ ?")


@SHARED
@given(value=VALUES, budget=st.integers(10, 400), compact=st.booleans())
def test_an_inspection_keeps_its_budget(
    venue: Kernel, run: Run, value: Any, budget: int, compact: bool
) -> None:
    """With room enough it is the JSON of the whole; with less it says what it left out, and is not long."""

    async def scenario() -> None:
        reader, owner = Reader(venue), venue.person(1)
        await reader.write(value)

        async def inspected(room: int) -> str:
            data = {"path": "w/doc", "budget": room, "compact": compact}
            found = await venue.invoker.run("v/ops/covia/inspect", data, owner)
            return str(found["result"])

        whole = await inspected(100_000)
        assert json.loads(whole) == value
        some = await inspected(budget)
        if some != whole:
            assert COMMENT.search(some)
        nesting = max((len(path) for path, _ in places(value)), default=0)
        # What was begun is finished: a key and a comment for each level, and the brackets.
        longest = max((len(json.dumps(key, ensure_ascii=False).encode()) for key in _keys(value)), default=0)
        assert len(some.encode()) <= budget + (nesting + 1) * (longest + 60)

    run(scenario)


def _keys(value: Any) -> Iterator[str]:
    for path, _ in places(value):
        yield from path[-1:]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "NaN",
            "[Infinity]",
            "1e400",
            "9007199254740992",
            "-9007199254740992",
            '"\\u0000"',
            '{"\\u0000":1}',
        ),
        *('"\\ud800"', '{"\\udfff":1}', '{"a":1,"a":1}', "[" * 33 + "]" * 33, "[" * 400 + "]" * 400),
    ],
)
def test_what_would_not_read_back_is_refused_with_a_reason(text: str) -> None:
    """Where JSON comes in, before there is a value at all."""
    with pytest.raises(Malformed) as caught:
        loads(text)
    assert str(caught.value).strip()


@pytest.mark.parametrize("place", ["h/x", "j/x", "v/x", "x/y", "", "h", "w"])
def test_no_other_place_takes_a_document(venue: Kernel, run: Run, place: str) -> None:
    """And says why: only `w/` is written, and not as a whole."""

    async def scenario() -> None:
        data = {"path": place, "value": 1}
        with pytest.raises(BadInput) if place == "w" else pytest.raises(Exception, match="not writable"):
            await venue.invoker.invoke("v/ops/covia/write", data, venue.person(1))

    run(scenario)
