"""What every store promises to the code above it (`inbox.store.base`); one suite for all of them."""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from inbox.errors import SchemaMismatch, StoreError
from inbox.store.base import Database, Transaction
from inbox.store.migrate import Migration

from .conftest import SCHEMA, Make, Told, opened

PATIENCE = 20.0
MORE = Migration("shop", 2, "0002_more.sql", "CREATE TABLE more (id TEXT NOT NULL PRIMARY KEY);")


class Refused(Exception):
    """What a unit of work raises of its own accord."""


def put(key: str, value: str = "v") -> Callable[[Transaction], int]:
    """A unit of work that stores one item and tells of it."""

    def work(tx: Transaction) -> int:
        tx.tell(f"item {key}")
        return tx.run("item.insert", id=key, value=value)

    return work


def keys(tx: Transaction) -> list[str]:
    """A unit of work that reads which items there are."""
    return [row["id"] for row in tx.all("item.all")]


def run(scenario: Any) -> Any:
    """Run a scenario to its end, within bounds."""

    async def bounded() -> Any:
        async with asyncio.timeout(PATIENCE):
            return await scenario

    return asyncio.run(bounded())


def held(db: Database, *, entered: Event, go: Event) -> Any:
    """Hand in a unit of work that holds the writer until it is told to go on."""

    def work(tx: Transaction) -> None:
        tx.run("item.insert", id="held", value="v")
        entered.set()
        assert go.wait(PATIENCE)

    return db.write(work)


def test_a_unit_commits_and_its_result_comes_back(make: Make) -> None:
    """Statements give rows, first rows and counts; a later reader sees them."""

    async def scenario() -> None:
        async with opened(make()) as db:
            assert await db.write(put("a", "1")) == 1
            assert await db.write(lambda tx: tx.run("item.set", id="nobody", value="2")) == 0
            assert await db.read(lambda tx: tx.one("item.get", id="a")) == {"id": "a", "value": "1"}
            assert await db.read(lambda tx: tx.one("item.get", id="b")) is None
            assert await db.write(lambda tx: tx.one("item.drop", id="a")) == {"value": "1"}
            assert await db.read(keys) == []

    run(scenario())


def test_a_unit_that_fails_leaves_nothing(make: Make) -> None:
    """Its own exception comes back as it is, what it had written is gone, and nobody is told."""
    told = Told()

    def work(tx: Transaction) -> None:
        put("a")(tx)
        raise Refused

    async def scenario() -> None:
        async with opened(make(), told) as db:
            with pytest.raises(Refused):
                await db.write(work)
            assert await db.read(keys) == []
            await db.write(put("b"))
        assert told.heard == [{"item b"}]

    run(scenario())


def test_a_unit_that_fails_does_not_harm_its_neighbours(make: Make) -> None:
    """Units that were grouped into one commit: the sound ones are kept, the others leave nothing."""
    entered, go = Event(), Event()

    def spoilt(tx: Transaction) -> None:
        put("spoilt")(tx)
        raise Refused

    async def scenario() -> None:
        async with opened(make()) as db:
            first = asyncio.ensure_future(held(db, entered=entered, go=go))
            await asyncio.to_thread(entered.wait, PATIENCE)
            rest = [db.write(work) for work in (put("a"), spoilt, put("a"), put("b"), spoilt, put("c"))]
            go.set()
            await first
            ends = await asyncio.gather(*rest, return_exceptions=True)
            assert [type(end) for end in ends] == [int, Refused, StoreError, int, Refused, int]
            assert await db.read(keys) == ["a", "b", "c", "held"]

    run(scenario())


def test_readers_never_wait_for_the_writer(make: Make) -> None:
    """While a unit of work is under way, what was committed before it is read at once."""
    entered, go = Event(), Event()

    async def scenario() -> None:
        async with opened(make()) as db:
            await db.write(put("a"))
            writing = asyncio.ensure_future(held(db, entered=entered, go=go))
            await asyncio.to_thread(entered.wait, PATIENCE)
            assert [await db.read(keys) for _ in range(5)] == [["a"]] * 5
            go.set()
            await writing
            assert await db.read(keys) == ["a", "held"]

    run(scenario())


def test_a_reader_sees_one_snapshot(make: Make) -> None:
    """What is committed while a reader reads does not come in between its statements."""
    looked, go = Event(), Event()

    def twice(tx: Transaction) -> tuple[list[str], list[str]]:
        before = keys(tx)
        looked.set()
        assert go.wait(PATIENCE)
        return before, keys(tx)

    async def scenario() -> None:
        async with opened(make()) as db:
            await db.write(put("a"))
            reading = asyncio.ensure_future(db.read(twice))
            await asyncio.to_thread(looked.wait, PATIENCE)
            await db.write(put("b"))
            go.set()
            assert await reading == (["a"], ["a"])
            assert await db.read(keys) == ["a", "b"]

    run(scenario())


def test_a_reader_cannot_write(make: Make) -> None:
    """A unit of work that was handed in to read is refused what would change anything."""

    async def scenario() -> None:
        async with opened(make()) as db:
            with pytest.raises(StoreError) as refusal:
                await db.read(put("a"))
            assert refusal.value.code == "store"
            assert await db.read(keys) == []

    run(scenario())


def test_nobody_is_told_before_the_commit(make: Make) -> None:
    """Whoever hears of a topic finds what it is about; each commit tells once, in order, of itself."""

    async def scenario() -> None:
        found: asyncio.Queue[tuple[frozenset[str], list[str]]] = asyncio.Queue()
        looks = []

        def heard(topics: frozenset[str]) -> None:
            async def look() -> None:
                found.put_nowait((topics, await db.read(keys)))

            looks.append(asyncio.ensure_future(look()))

        db = make()
        async with opened(db, heard):
            for key in ("a", "b", "c"):
                await db.write(put(key))
                topics, seen = await found.get()
                assert topics == {f"item {key}"}
                assert key in seen
            await db.write(lambda tx: tx.run("item.set", id="a", value="2"))
            await db.write(put("d"))
            assert (await found.get())[0] == {"item d"}, "a commit without a topic tells nobody"
            await asyncio.gather(*looks)

    run(scenario())


def test_who_wrote_is_answered_no_earlier_than_the_others_are_told(make: Make) -> None:
    """A waiter that is woken by a write may rely on it that the news was sent before the writer went on."""
    told = Told()

    async def scenario() -> None:
        async with opened(make(), told) as db:
            for number in range(20):
                await db.write(put(str(number)))
                assert told.heard[-1] == {f"item {number}"}

    run(scenario())


def test_a_caller_who_is_cancelled_leaves_no_open_transaction(make: Make) -> None:
    """The unit that had begun is finished whole, and the next one is served."""
    entered, go = Event(), Event()

    async def scenario() -> None:
        async with opened(make()) as db:
            for _ in range(3):
                entered.clear()
                go.clear()
                caller = asyncio.ensure_future(held(db, entered=entered, go=go))
                await asyncio.to_thread(entered.wait, PATIENCE)
                caller.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await caller
                go.set()
                assert await db.write(lambda tx: tx.one("item.drop", id="held")) == {"value": "v"}
            reader = asyncio.ensure_future(db.read(keys))
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
            assert await db.read(keys) == []

    run(scenario())


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"id": "a", "value": "v"}, None),
        ({"id": "a"}, TypeError),
        ({"id": "a", "value": "v", "valeu": "w"}, TypeError),
        ({}, TypeError),
        ({"id": "a", "value": None}, StoreError),
        ({"id": "taken", "value": "v"}, StoreError),
    ],
)
def test_a_statement_takes_exactly_its_parameters(
    make: Make, values: dict[str, Any], kind: type[Exception] | None
) -> None:
    """One too few or one too many is a programming error; what the schema forbids is the store's refusal."""

    async def scenario() -> None:
        async with opened(make()) as db:
            await db.write(put("taken"))
            (end,) = await asyncio.gather(
                db.write(lambda tx: tx.run("item.insert", **values)), return_exceptions=True
            )
            assert isinstance(end, kind or int)
            if isinstance(end, StoreError):
                assert end.code == "store"
            assert await db.read(keys) == (["a", "taken"] if kind is None else ["taken"])

    run(scenario())


def test_an_unknown_statement_is_a_programming_error(make: Make) -> None:
    """KeyError for a name that no file has, StoreError for SQL that the database does not understand."""

    async def scenario() -> None:
        async with opened(make()) as db:
            with pytest.raises(KeyError):
                await db.write(lambda tx: tx.run("item.misspelt"))
            with pytest.raises(StoreError):
                await db.read(lambda tx: tx.one("item.broken"))
            await db.write(put("a"))

    run(scenario())


def test_close_finishes_what_was_handed_in(make: Make) -> None:
    """Every unit that was handed in before, or while it closes, ends: kept, or refused."""
    entered, go = Event(), Event()

    async def scenario() -> None:
        db = make()
        await db.open(lambda _: None)
        first = asyncio.ensure_future(held(db, entered=entered, go=go))
        await asyncio.to_thread(entered.wait, PATIENCE)
        before = [db.write(put(f"before {number}")) for number in range(5)]
        closing = asyncio.ensure_future(db.close())
        await asyncio.sleep(0)
        late = db.write(put("late"))
        go.set()
        await asyncio.gather(first, *before)
        with pytest.raises(StoreError):
            await late
        await closing
        with pytest.raises(StoreError):
            await db.write(put("later still"))
        with pytest.raises(StoreError):
            await db.read(keys)
        await db.close()
        async with opened(make()) as again:
            assert await again.read(keys) == [*(f"before {number}" for number in range(5)), "held"]

    run(scenario())


def test_an_empty_database_is_created_whole_and_opened_again(make: Make) -> None:
    """The schema is applied once."""

    async def scenario() -> None:
        async with opened(make(schema=(*SCHEMA, MORE))) as db:
            await db.write(put("a"))
        async with opened(make(schema=(*SCHEMA, MORE))) as db:
            assert await db.read(keys) == ["a"]

    run(scenario())


@pytest.mark.parametrize(
    ("made_by", "opened_by", "says"),
    [
        (SCHEMA, (*SCHEMA, MORE), "shop/0002_more.sql"),
        ((*SCHEMA, MORE), SCHEMA, "newer"),
        (SCHEMA, (Migration("bar", 1, "0001_bar.sql", "CREATE TABLE bar (id TEXT);"),), "newer"),
    ],
)
def test_a_database_of_another_version_is_refused(
    make: Make, made_by: tuple[Migration, ...], opened_by: tuple[Migration, ...], says: str
) -> None:
    """Serving never changes the schema of a database that holds something (D29)."""

    async def scenario() -> None:
        async with opened(make(schema=made_by)) as db:
            await db.write(put("a"))
        refused = make(schema=opened_by)
        with pytest.raises(SchemaMismatch) as refusal:
            await refused.open(lambda _: None)
        await refused.close()
        assert refusal.value.code == "schema"
        assert says in str(refusal.value)
        async with opened(make(schema=made_by)) as db:
            assert await db.read(keys) == ["a"]

    run(scenario())


def test_a_schema_that_fails_half_way_leaves_an_empty_database(make: Make) -> None:
    """The first file's tables go with the second file's failure, and the right schema is still to be made."""
    broken = Migration(
        "shop", 2, "0002_broken.sql", "CREATE TABLE more (id TEXT);\nCREATE TABLE more (id TEXT);"
    )

    async def scenario() -> None:
        failing = make(schema=(*SCHEMA, broken))
        with pytest.raises(StoreError):
            await failing.open(lambda _: None)
        await failing.close()
        async with opened(make()) as db:
            assert await db.read(keys) == []

    run(scenario())
