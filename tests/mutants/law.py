"""The law of settling in twenty checks, fast enough to run against many broken copies of the code.

`python -m tests.mutants.law` runs them all in the packages that it finds, and exits with 3 at the first that
does not hold: that is how a mutant is caught (`test_mutants`). The unbroken code passes.
"""

import asyncio
import json
import logging
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from inbox import requests, rules
from inbox.audit import AuditLine, verify
from inbox.errors import AlreadySettled, BadRequest, Expired, InboxError, NotFound, StaleDigest
from inbox.model import Reply, Settlement, Status, Terms
from inbox.settle import is_due
from inbox.store.base import Transaction
from inbox.store.sqlite import SqliteDatabase
from ops import jobs, settle, sweep
from ops.errors import OpsError, WrongState
from ops.model import JobStatus
from tests.harness.books import Books, Story
from tests.harness.kernel import ECHO, Kernel, kernel
from ucan.jwt import read

CAUGHT = 3
CHOICE = {
    "id": "which",
    "type": "choice",
    "prompt": "Which?",
    "options": [
        {"id": "a", "grants": [{"with": "w/a", "can": "crud/read", "lifetime": 60}]},
        {"id": "b", "grants": [{"with": "w/b", "can": "crud/read", "lifetime": 600}]},
    ],
}
BOTH = [{"with": "w/a", "can": "crud/read"}, {"with": "w/b", "can": "crud/read"}]

Check = Callable[[Kernel], Awaitable[None]]


async def refusal(awaitable: Awaitable[Any]) -> InboxError | OpsError | None:
    """How a call was refused; None when it was not."""
    try:
        await awaitable
    except (InboxError, OpsError) as error:
        return error
    return None


def story(venue: Kernel, request: str) -> Story:
    """How a request stands, all tables agreeing."""
    return Books.of(venue.path).check()[request]


async def an_answer_settles(venue: Kernel) -> None:
    """Answered, by its owner, with a token for what was echoed, for who asked."""
    owner = venue.person(1)
    request = await venue.ask(venue.agent(owner))
    await venue.respond(owner, request, grants=ECHO)
    told = story(venue, request)
    assert (told.status, told.owner, told.resolver) == ("answered", owner.did, owner.did)
    claims = read(str(told.token)).claims
    assert claims["aud"] == venue.agent(owner).did
    assert claims["att"] == [{"with": f"{owner.did}/w/r", "can": "crud/read"}]


async def no_echo_no_token(venue: Kernel) -> None:
    """An approval confers nothing that was not repeated."""
    request = await venue.ask(venue.person(1))
    await venue.respond(venue.person(1), request)
    assert (story(venue, request).status, story(venue, request).token) == ("answered", None)


async def what_was_not_triggered_is_not_conferred(venue: Kernel) -> None:
    """Echoing the offer of a choice that was not made refuses the whole answer."""
    owner = venue.person(1)
    request = await venue.ask(owner, asks=[CHOICE])
    answer = venue.respond(owner, request, answers={"which": "a"}, grants=BOTH[1:])
    assert isinstance(await refusal(answer), BadRequest)
    assert story(venue, request).status == "open"
    denied = venue.respond(owner, await venue.ask(owner), answers={"ok": False}, grants=ECHO)
    assert isinstance(await refusal(denied), BadRequest)


async def a_token_ends_with_the_first_of_its_grants(venue: Kernel) -> None:
    """One token, the earliest end (D10)."""
    owner = venue.person(1)
    request = await venue.ask(owner, asks=[{**CHOICE, "type": "checkboxes"}])
    await venue.respond(owner, request, answers={"which": ["a", "b"]}, grants=BOTH)
    assert read(str(story(venue, request).token)).claims["exp"] == venue.now // 1000 + 60


async def a_rejection_fails_the_job(venue: Kernel) -> None:
    """With its reason, and it names who rejected."""
    owner = venue.person(1)
    request = await venue.ask(owner)
    await venue.respond(owner, request, "reject", comment="no")
    told = story(venue, request)
    assert (told.status, told.error, told.resolver) == ("rejected", "HITL request rejected: no", owner.did)


async def a_second_answer_hears_of_the_first(venue: Kernel) -> None:
    """`not_open`, how and when; also for an answer that would be no good in itself. Nothing changes."""
    owner = venue.person(1)
    request = await venue.ask(owner)
    await venue.respond(owner, request)
    at = venue.now
    venue.clock.advance(1_000)
    for fields in ({}, {"grants": ECHO}, {"answers": {"unheard-of": 1}}):
        error = await refusal(venue.respond(owner, request, **fields))
        assert isinstance(error, AlreadySettled)
        assert (error.how, error.when) == ("answered", at)
    assert (story(venue, request).at, story(venue, request).token) == (at, None)


async def only_the_owner_answers(venue: Kernel) -> None:
    """A request of another inbox is not there, and stays open."""
    request = await venue.ask(venue.person(1))
    for outcome in ("answer", "reject"):
        assert isinstance(await refusal(venue.respond(venue.person(2), request, outcome)), NotFound)
    assert not await venue.delete(venue.person(2), request)
    assert story(venue, request).status == "open"


async def a_stale_digest_refuses(venue: Kernel) -> None:
    """The person saw something else."""
    owner = venue.person(1)
    request = await venue.ask(owner)
    assert isinstance(await refusal(venue.respond(owner, request, digest="sha256:other")), StaleDigest)
    assert story(venue, request).status == "open"


async def the_deadline_itself_is_too_late(venue: Kernel) -> None:
    """A millisecond before it an answer lands; at it every verb hears `expired`, and nobody resolved it."""
    owner = venue.person(1)
    early, late, never = [await venue.ask(owner, timeout=10) for _ in range(3)]
    venue.clock.advance(9_999)
    assert await venue.expire() == 0
    await venue.respond(owner, early)
    venue.clock.advance(1)
    assert isinstance(await refusal(venue.respond(owner, late)), Expired)
    await venue.desk.cancel(never, "too late", owner)
    assert [story(venue, one).status for one in (early, late, never)] == ["answered", "expired", "expired"]
    assert story(venue, late).error == "HITL request expired"


async def the_timer_expires_what_is_due(venue: Kernel) -> None:
    """At the instant, not before; the rest stays open, and its job is told."""
    owner = venue.person(1)
    due, later, endless = (
        await venue.ask(owner, timeout=1),
        await venue.ask(owner, timeout=2),
        await venue.ask(owner),
    )
    venue.clock.advance(1_000)
    assert await venue.expire() == 1
    assert [story(venue, one).status for one in (due, later, endless)] == ["expired", "open", "open"]
    assert any(f"job {due}" in topics for topics in venue.told)


async def a_cancel_cancels(venue: Kernel) -> None:
    """By its maker, with a reason; a second one returns the job unchanged."""
    owner = venue.person(1)
    request = await venue.ask(venue.agent(owner))
    job = await venue.desk.cancel(request, "never mind", venue.agent(owner))
    assert (job["status"], job["error"]) == ("CANCELLED", "never mind")
    assert await venue.desk.cancel(request, "again", owner) == job
    assert isinstance(await refusal(venue.respond(owner, request)), AlreadySettled)
    assert story(venue, request).status == "cancelled"


async def a_delete_rejects_first(venue: Kernel) -> None:
    """An open record is rejected by its owner and gone; a settled one goes, and its audit stays."""
    owner = venue.person(1)
    open_one, settled = await venue.ask(owner), await venue.ask(owner)
    await venue.respond(owner, settled)
    for request, status in ((open_one, "rejected"), (settled, "answered")):
        assert await venue.delete(owner, request)
        assert (story(venue, request).status, story(venue, request).deleted) == (status, True)
        assert not await venue.delete(owner, request)


async def the_guard_lets_one_in(venue: Kernel) -> None:
    """The update alone, without any look before it: the first lands, every later one gets no row."""
    owner = venue.person(1)
    request = await venue.ask(owner, timeout=10)
    now = venue.now
    ends = (
        Settlement(Status.ANSWERED),
        Settlement(Status.REJECTED),
        Settlement(Status.CANCELLED),
        rules.expire(),
    )

    def land(tx: Transaction, settlement: Settlement, at: int) -> bool:
        return requests.settle_row(tx, request, settlement, owner.did, "api", at)

    def work(tx: Transaction) -> None:
        assert not land(tx, rules.expire(), now + 9_999), "an expiry before the deadline"
        for end in ends[:3]:
            assert not land(tx, end, now + 10_000), f"{end.status} at the deadline"
        assert land(tx, ends[0], now + 9_999)
        for end in ends:
            assert not land(tx, end, now + 9_999 + (end.status is Status.EXPIRED)), (
                f"{end.status} after the first"
            )
        raise BadRequest("leave it as it was")

    assert isinstance(await refusal(venue.db.write(work)), BadRequest)


async def who_read_too_early_mints_nothing(venue: Kernel) -> None:
    """A settle that was decided on a stale row: the claim comes first, and the loser writes nothing (D16)."""
    owner = venue.person(1)
    request = await venue.ask(owner)
    stale = await venue.db.read(lambda tx: requests.get(tx, owner.did, request))
    assert stale is not None
    await venue.respond(owner, request, "reject", comment="first")
    reply = Reply("answer", answers={"ok": True}, echoes=ECHO)
    settlement = rules.decide(stale, reply, venue.now, Terms(), lambda _: False)
    ran: list[str] = []

    class Noted:
        """A transaction that notes what is run on it."""

        def __init__(self, tx: Transaction) -> None:
            self._tx = tx

        def __getattr__(self, verb: str) -> Any:
            def run(name: str, **values: Any) -> Any:
                ran.append(name)
                return getattr(self._tx, verb)(name, **values)

            return run

    def late(tx: Transaction) -> None:
        settle._land(venue.call(Noted(tx), owner), stale, settlement, owner.did)  # type: ignore[arg-type]

    error = await refusal(venue.db.write(late))
    assert isinstance(error, AlreadySettled)
    assert error.how == "rejected"
    assert ran == ["request.settle", "request.find"]


async def the_law_is_inclusive(_: Kernel) -> None:
    """At the instant of a deadline it has passed; without one it never does."""
    assert [is_due(now, 10) for now in (9, 10, 11)] == [False, True, True]
    assert not is_due(10**15, None)


async def what_is_closed_is_not_decided(venue: Kernel) -> None:
    """The rules refuse to decide on a request that is settled or due, before they look at the reply."""
    owner = venue.person(1)
    request = await venue.ask(owner, timeout=10)
    found = await venue.db.read(lambda tx: requests.get(tx, owner.did, request))
    assert found is not None
    settled = replace(found, status=Status.REJECTED, settled=5)
    for record, kind in ((settled, AlreadySettled), (replace(found, expires=venue.now), Expired)):
        for act in (
            lambda record=record: rules.decide(
                record, Reply("answer", answers={"x": 1}), venue.now, Terms(), lambda _: False
            ),
            lambda record=record: rules.delete_open(record, venue.now),
        ):
            try:
                act()
            except InboxError as error:
                assert isinstance(error, kind)  # noqa: PT017 - this is no pytest run
            else:
                raise AssertionError("it was decided")


async def without_its_job_nothing_is_answered(venue: Kernel) -> None:
    """Nobody would hear the answer: it is refused loudly, and the launch repairs to the safe side (D21)."""
    owner = venue.person(1)
    request, other = await venue.ask(owner), await venue.ask(owner)

    def part(tx: Transaction) -> None:
        job = jobs.find(tx, request)
        assert job is not None
        jobs.finish_row(tx, job, JobStatus.FAILED, venue.now)
        assert requests.settle_row(tx, other, rules.cancel(None), owner.did, "api", venue.now)

    await venue.db.write(part)
    assert isinstance(await refusal(venue.respond(owner, request)), WrongState)
    logging.getLogger("venue.sweep").disabled = True  # it says what it repairs, and that is meant
    assert await sweep.launch(venue.db, venue.world) == 2
    found = await venue.db.read(lambda tx: requests.find(tx, request))
    assert found is not None
    assert found.status is Status.CANCELLED
    assert (await venue.desk.job(other, owner))["status"] == "FAILED"
    assert await sweep.launch(venue.db, venue.world) == 0


async def a_job_ends_once(venue: Kernel) -> None:
    """The second end is refused by name, whichever way it goes; the guarded update lets none in either."""
    request = await venue.ask(venue.person(1))
    await venue.respond(venue.person(1), request, "reject")
    now = venue.now

    def again(tx: Transaction) -> None:
        job = jobs.find(tx, request)
        assert job is not None
        ran = tx.run("job.finish", id=request, status="COMPLETE", output=None, error=None, updated=now)
        assert ran == 0
        for known in (job, replace(job, status=JobStatus.INPUT_REQUIRED)):
            with suppress(WrongState):
                jobs.finish_row(tx, known, JobStatus.COMPLETE, now)
                raise AssertionError("it ended twice")

    await venue.db.write(again)
    assert story(venue, request).status == "rejected"


async def the_chain_says_who_and_breaks_when_touched(venue: Kernel) -> None:
    """Every line of the audit names its settle's resolver and digest; a changed line is seen."""
    owner = venue.person(1)
    request = await venue.ask(owner)
    await venue.respond(owner, request)
    lines = Books.of(venue.path).audit[owner.did]
    said = json.loads(lines[-1].line)
    assert (said["kind"], said["request"], said["resolver"]) == ("request.answered", request, owner.did)
    touched = AuditLine(lines[-1].seq, lines[-1].line.replace("answered", "rejected"), lines[-1].hash)
    assert verify(lines, owner.did) is None
    assert verify([*lines[:-1], touched], owner.did) is not None


async def nobody_is_told_before_the_commit(venue: Kernel) -> None:
    """When the commit begins, the loop has heard nothing of it."""
    request = await venue.ask(venue.person(1))
    assert isinstance(venue.db, Watched)
    venue.db.watch(asyncio.get_running_loop(), venue.told)
    await venue.respond(venue.person(1), request)
    before, after = venue.db.heard, len(venue.told)
    venue.db.watch(None, [])
    assert after > before == venue.db.before


class Watched(SqliteDatabase):
    """The shipped store, which can look at what the loop had heard when a commit began."""

    loop: asyncio.AbstractEventLoop | None = None
    told: list[frozenset[str]]
    before = heard = 0

    def watch(self, loop: asyncio.AbstractEventLoop | None, told: list[frozenset[str]]) -> None:
        """Look at each commit from now on."""
        if loop is not None:
            self.before = len(told)
        self.loop, self.told = loop, told

    def _commit(self, connection: sqlite3.Connection) -> None:
        if self.loop is not None:
            passed = threading.Event()
            self.loop.call_soon_threadsafe(passed.set)  # whatever was told before is heard by then
            assert passed.wait(10)
            self.heard = len(self.told)
        super()._commit(connection)


CHECKS: tuple[Check, ...] = (
    an_answer_settles,
    no_echo_no_token,
    what_was_not_triggered_is_not_conferred,
    a_token_ends_with_the_first_of_its_grants,
    a_rejection_fails_the_job,
    a_second_answer_hears_of_the_first,
    only_the_owner_answers,
    a_stale_digest_refuses,
    the_deadline_itself_is_too_late,
    the_timer_expires_what_is_due,
    a_cancel_cancels,
    a_delete_rejects_first,
    the_guard_lets_one_in,
    who_read_too_early_mints_nothing,
    the_law_is_inclusive,
    what_is_closed_is_not_decided,
    without_its_job_nothing_is_answered,
    a_job_ends_once,
    the_chain_says_who_and_breaks_when_touched,
    nobody_is_told_before_the_commit,
)


async def broken(folder: Path) -> str | None:
    """The first check that does not hold, and why; None when all do. Each has a database of its own."""
    for check in CHECKS:
        try:
            async with asyncio.timeout(10), kernel(folder / f"{check.__name__}.db", store=Watched) as venue:
                await check(venue)
        except Exception as error:
            return f"{check.__name__}: {type(error).__name__}: {error}"
    return None


def main() -> None:
    """Run the checks in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(broken(Path(folder)))
    if found is not None:
        print(found)
        sys.exit(CAUGHT)


if __name__ == "__main__":
    main()
