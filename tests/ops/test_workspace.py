"""The workspace on a real database: what is written reads back equal, at every depth (D24)."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inbox.store.base import Transaction
from ops import workspace
from ops.errors import BadInput, QuotaExceeded
from ops.tree import MISSING, Missing, placed, removed, walk
from venue.app import open_database

T = TypeVar("T")
Write = Callable[[Callable[[Transaction], T]], T]
QUOTA = 1_000_000
_OWNERS = (f"did:web:owner{number}.example" for number in itertools.count())

KEYS = st.sampled_from(["a", "b", "0", "", "~", "/", "a/b", "~1", "\U0010ffff", "\U0010ffffx", "\u202e"])
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
)
PATHS = st.lists(KEYS, min_size=1, max_size=4)
STEPS = st.lists(st.tuples(PATHS, VALUES | st.just(MISSING)), max_size=8)


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Write[Any]]:
    """Runs a unit of work on one database; every test and example has an owner of its own."""
    path: Path = tmp_path_factory.mktemp("workspace") / "venue.db"
    with asyncio.Runner() as runner:
        db = open_database(path)
        runner.run(db.open(lambda _topics: None))

        async def written(work: Callable[[Transaction], Any]) -> Any:
            return await db.write(work)

        yield lambda work: runner.run(written(work))
        runner.run(db.close())


def put(tx: Transaction, owner: str, path: list[str], value: Any, quota: int = QUOTA) -> tuple[bool, bool]:
    """Write with a quota that does not matter."""
    return workspace.put(tx, owner, path, value, quota)


def used(tx: Transaction, owner: str) -> int:
    """The bytes that the workspace counts for a user."""
    row = tx.one("workspace.grow", owner=owner, delta=0)
    return 0 if row is None else int(row["bytes"])


@settings(max_examples=150, deadline=None)
@given(steps=STEPS)
def test_a_workspace_reads_as_one_value(write: Write[Any], steps: Any) -> None:
    """After any writes and deletes it equals the value that the same steps make in memory, at every path."""
    owner = next(_OWNERS)

    def work(tx: Transaction) -> None:
        model: Any = {}
        for path, value in steps:
            there = not isinstance(walk(model, path), Missing)
            if isinstance(value, Missing):
                assert workspace.delete(tx, owner, path, QUOTA) == there
                model = removed(model, path) if there else model
            else:
                try:
                    model = placed(model, path, value)
                except BadInput:
                    with pytest.raises(BadInput):
                        put(tx, owner, path, value)
                    continue
                assert put(tx, owner, path, value)[0] == there
            for depth in range(len(path) + 1):
                assert workspace.get(tx, owner, path[:depth]) == walk(model, path[:depth])
        assert workspace.get(tx, owner, []) == model
        _same_below(tx, owner, [], model)
        for key in list(model):
            assert workspace.delete(tx, owner, [key], QUOTA)
        assert (workspace.get(tx, owner, []), used(tx, owner)) == ({}, 0)

    write(work)


def _same_below(tx: Transaction, owner: str, path: list[str], value: Any) -> None:
    assert workspace.get(tx, owner, path) == value
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        _same_below(tx, owner, [*path, str(key)], below)


@pytest.mark.parametrize(
    "number", [1e15, 2.0**53, 1e20, 123456789012345680000.0, 1e21, 1e300, -1e20, 5e-324, 2**53 - 1]
)
def test_a_number_survives_being_read_and_written_again(write: Write[Any], number: float) -> None:
    """Also one that canonical JSON spells like an integer that is out of range."""
    owner = next(_OWNERS)

    def work(tx: Transaction) -> Any:
        put(tx, owner, ["a"], {"n": number})
        put(tx, owner, ["a", "m"], workspace.get(tx, owner, ["a", "n"]))
        return workspace.get(tx, owner, ["a"])

    assert write(work) == {"n": number, "m": number}


def test_whether_it_was_there_and_what_was_made(write: Write[Any]) -> None:
    """`pathCreated` speaks of missing parents below the first level (`wire.md` 4.3)."""
    owner = next(_OWNERS)

    def work(tx: Transaction) -> list[tuple[bool, bool]]:
        paths = [["a"], ["b", "c"], ["d", "e", "f"], ["d", "e", "g"], ["d", "e"], ["d", "e", "f"], ["a"]]
        return [put(tx, owner, path, {"n": None}) for path in paths]

    said = write(work)
    assert [existed for existed, _ in said] == [False, False, False, False, True, False, True]
    assert [made for _, made in said] == [False, False, True, False, False, False, False]


def test_users_do_not_see_each_other(write: Write[Any]) -> None:
    """The same path of two owners, and an owner whose DID begins with the other's."""
    one = next(_OWNERS)

    def work(tx: Transaction) -> None:
        put(tx, one, ["a"], 1)
        put(tx, one + "x", ["a"], 2)
        assert workspace.get(tx, one, []) == {"a": 1}
        assert workspace.delete(tx, one + "x", ["a"], QUOTA)
        assert workspace.get(tx, one, ["a"]) == 1

    write(work)


@pytest.mark.parametrize("path", [[], ["a"] * 33])
def test_a_path_has_one_to_32_segments(write: Write[Any], path: list[str]) -> None:
    """Neither the root as a whole nor a bottomless path."""
    owner = next(_OWNERS)
    with pytest.raises(BadInput):
        write(lambda tx: put(tx, owner, path, 1))
    write(lambda tx: put(tx, owner, ["a"] * 32, 1))
    assert write(lambda tx: workspace.get(tx, owner, ["a"] * 32)) == 1


def test_the_root_is_not_deleted_at_once(write: Write[Any]) -> None:
    """Deleting everything takes saying so for each part."""
    with pytest.raises(BadInput):
        write(lambda tx: workspace.delete(tx, next(_OWNERS), [], QUOTA))


def test_the_quota_is_exact_and_a_refusal_keeps_nothing(write: Write[Any]) -> None:
    """Path and text count in bytes; what is over is refused, what shrinks is always allowed (D22)."""
    owner = next(_OWNERS)
    exact = len("a") + len('"\u00e9\u00e9"'.encode())
    write(lambda tx: put(tx, owner, ["a"], "\u00e9\u00e9", exact))
    with pytest.raises(QuotaExceeded):
        write(lambda tx: put(tx, owner, ["a"], "\u00e9\u00e9x", exact))
    with pytest.raises(QuotaExceeded):
        write(lambda tx: put(tx, owner, ["b"], 1, exact))
    assert write(lambda tx: (workspace.get(tx, owner, []), used(tx, owner))) == ({"a": "\u00e9\u00e9"}, exact)
    write(lambda tx: put(tx, owner, ["a"], "\u00e9", 1))
