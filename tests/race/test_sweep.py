"""The timer that expires what is due (D17): it wakes for a new deadline, and nothing that passes ends it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from inbox.events import feed_topic
from inbox.store.sqlfile import parse
from ops import sweep
from tests.harness.books import Books, connect
from tests.harness.kernel import Kernel, kernel

HURRY = parse("-- name: own.hurry\nPRAGMA busy_timeout = 20")
PATIENCE = 20


@asynccontextmanager
async def sweeping(path: Path) -> AsyncIterator[Kernel]:
    """A kernel with its timer running."""
    async with asyncio.timeout(PATIENCE), kernel(path, extra=HURRY) as venue:
        timer = asyncio.create_task(sweep.run(venue.db, venue.world, venue.bells))
        try:
            yield venue
            assert not timer.done(), "the timer has ended"
        finally:
            timer.cancel()
            await asyncio.gather(timer, return_exceptions=True)


@asynccontextmanager
async def complaint() -> AsyncIterator[asyncio.Event]:
    """Happens when the timer logs that something went wrong."""
    happened = asyncio.Event()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            happened.set()

    handler = Handler(logging.ERROR)
    sweep.log.addHandler(handler)
    try:
        yield happened
    finally:
        sweep.log.removeHandler(handler)


def test_a_new_deadline_wakes_the_timer(tmp_path: Path) -> None:
    """It slept for a minute, as nothing was due; a post with a deadline that has come is expired at once."""

    async def scenario() -> str:
        async with sweeping(tmp_path / "venue.db") as venue:
            owner = venue.person(1)
            with venue.bells.listening(feed_topic(owner.did)) as bell:
                early = await venue.ask(owner, timeout=3600)
                venue.clock.advance(3_600_000)
                await venue.ask(owner, timeout=1)  # rings, and the timer looks at what is due
                while "request.expired" not in _kinds(tmp_path / "venue.db", early):
                    bell.clear()
                    await bell.wait()
            return early

    request = asyncio.run(scenario())
    assert Books.of(tmp_path / "venue.db").check()[request].status == "expired"


def test_the_timer_outlives_a_busy_database(tmp_path: Path) -> None:
    """Another process held the lock when a deadline came: it is expired as soon as it can be, unasked."""

    async def scenario() -> str:
        async with sweeping(tmp_path / "venue.db") as venue, complaint() as complained:
            owner = venue.person(1)
            await venue.db.write(lambda tx: tx.one("own.hurry"))
            request = await venue.ask(owner, timeout=1)
            with venue.bells.listening(feed_topic(owner.did)) as bell:
                with closing(connect(tmp_path / "venue.db")) as other:
                    other.execute("BEGIN IMMEDIATE")
                    venue.clock.advance(1_000)
                    await complained.wait()
                    other.execute("ROLLBACK")
                await bell.wait()
            return request

    request = asyncio.run(scenario())
    assert Books.of(tmp_path / "venue.db").check()[request].status == "expired"


def _kinds(path: Path, request: str) -> list[str]:
    return [line["kind"] for line in Books.of(path).lines if line.get("request") == request]
