"""What is particular to SQLite: a lock that another holds, a disk that is full, a file that is no database.

Each ends as a refusal of that unit of work, and the next one is served.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from inbox.errors import StoreBusy, StoreError
from inbox.store.base import Database, Transaction
from inbox.store.sqlfile import parse
from inbox.store.sqlite import SqliteDatabase
from tests.harness.books import connect

from .conftest import SCHEMA, STATEMENTS, opened
from .test_contract import keys, put, run

OWN = parse("""
-- name: own.hurry
PRAGMA busy_timeout = 20
-- name: own.fill
PRAGMA max_page_count = 1
-- name: own.empty
PRAGMA max_page_count = 1000000
-- name: own.durability
SELECT (SELECT journal_mode FROM pragma_journal_mode) AS journal,
  (SELECT synchronous FROM pragma_synchronous) AS synchronous
""")


def make(path: Path, **options: Any) -> Database:
    """A store that knows the statements of this file, too."""
    return SqliteDatabase(path, {**STATEMENTS, **OWN}, SCHEMA, **options)


def test_a_commit_is_on_the_disk(tmp_path: Path) -> None:
    """A write-ahead log, synced in full at every commit (D29)."""

    async def scenario() -> None:
        async with opened(make(tmp_path / "s.db")) as db:
            assert await db.write(lambda tx: tx.one("own.durability")) == {"journal": "wal", "synchronous": 2}

    run(scenario())


class Attentive(SqliteDatabase):
    """Lets the loop look, just before each commit."""

    look: Callable[[], None] = staticmethod(lambda: None)

    async def open(self, tell: Callable[[frozenset[str]], None]) -> None:
        """Open the store, on this loop."""
        self._loop = asyncio.get_running_loop()
        await super().open(tell)

    def _commit(self, connection: sqlite3.Connection) -> None:
        looked = Event()
        self._loop.call_soon_threadsafe(lambda: (self.look(), looked.set()))
        assert looked.wait(10)
        super()._commit(connection)


def test_nothing_is_acknowledged_before_its_commit(tmp_path: Path) -> None:
    """When the commit begins, whoever handed the unit in is still waiting (D16, D29)."""
    acknowledged: list[bool] = []

    async def scenario() -> None:
        db = Attentive(tmp_path / "s.db", STATEMENTS, SCHEMA)
        async with opened(db):
            writing = asyncio.ensure_future(db.write(put("a")))
            db.look = lambda: acknowledged.append(writing.done())
            await writing
            assert await db.read(keys) == ["a"]

    run(scenario())
    assert acknowledged == [False]


def test_another_process_that_writes_makes_it_busy(tmp_path: Path) -> None:
    """`store_busy` for every unit that waited, nothing kept of any, and a retry succeeds."""

    async def scenario() -> None:
        async with opened(make(tmp_path / "s.db")) as db:
            await db.write(lambda tx: tx.one("own.hurry"))
            with closing(connect(tmp_path / "s.db")) as other:
                other.execute("BEGIN IMMEDIATE")
                ends = await asyncio.gather(db.write(put("a")), db.write(put("b")), return_exceptions=True)
                assert [(type(end), getattr(end, "code", None)) for end in ends] == [
                    (StoreBusy, "store_busy")
                ] * 2
                assert await db.read(keys) == [], "readers go on"
                other.execute("ROLLBACK")
            await db.write(put("a"))
            assert await db.read(keys) == ["a"]

    run(scenario())


def test_a_full_disk_refuses_and_nothing_is_half_written(tmp_path: Path) -> None:
    """`store` for what did not fit, nobody is told of it, and once there is room it is served again."""
    told: list[frozenset[str]] = []

    async def scenario() -> None:
        async with opened(make(tmp_path / "s.db"), told.append) as db:
            await db.write(put("a"))
            await db.write(lambda tx: tx.one("own.fill"))
            works = [put("b", "b" * 100_000), put("c", "c" * 100_000)]
            ends = await asyncio.gather(*map(db.write, works), return_exceptions=True)
            assert [getattr(end, "code", None) for end in ends] == ["store", "store"]
            assert await db.read(keys) == ["a"]
            assert told == [{"item a"}]
            await db.write(lambda tx: tx.one("own.empty"))
            await db.write(put("b", "b" * 100_000))
            assert await db.read(keys) == ["a", "b"]

    run(scenario())


def test_grouped_units_share_one_commit(tmp_path: Path) -> None:
    """What waits is committed together, and told together: that is what makes durable writes cheap."""
    commits: list[frozenset[str]] = []

    async def scenario() -> None:
        async with opened(make(tmp_path / "s.db", batch=8), commits.append) as db:
            await asyncio.gather(*(db.write(put(f"{number:02}")) for number in range(40)))
            assert len(await db.read(keys)) == 40

    run(scenario())
    assert len(commits) < 40
    assert max(map(len, commits)) <= 8
    assert sum(map(len, commits)) == 40


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    """A file of something else, and a place where no file can be: `store`, and closing afterwards is fine."""
    (tmp_path / "text.db").write_text("this is no database, and long enough to be sure of it" * 100)

    async def scenario(path: Path) -> None:
        db = make(path)
        with pytest.raises(StoreError) as refusal:
            await db.open(lambda _: None)
        assert refusal.value.code == "store"
        await db.close()

    for name in ("text.db", "nowhere/s.db"):
        run(scenario(tmp_path / name))


def test_two_stores_on_one_file_take_turns(tmp_path: Path) -> None:
    """A guarded update lands in one of them only, whoever comes first."""

    def claim(tx: Transaction) -> bool:
        return tx.one("item.drop", id="prize") is not None

    async def scenario() -> None:
        async with opened(make(tmp_path / "s.db")) as one, opened(make(tmp_path / "s.db")) as other:
            for _ in range(50):
                await one.write(put("prize"))
                assert sorted(await asyncio.gather(one.write(claim), other.write(claim))) == [False, True]

    run(scenario())
