"""Faults of settling, restart, time and of several asks at once that others have had (C1-C5).

Each test looks for the same kind of fault here; README.md beside it says which row it answers.
"""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from inbox.errors import AlreadySettled, BadRequest, Expired, InboxError, NotFound
from inbox.gates import MemoryGateStore, Resolver, open_gate, resolve_gate
from ops import sweep
from ops.errors import OpsError, WrongState
from ops.model import Job, JobStatus
from tests.conftest import ROOT
from tests.harness.books import Books, connect, dump
from tests.harness.kernel import ASKS, ECHO, Kernel, kernel

Scenario = Callable[[Kernel], Awaitable[None]]
RESPOND = "v/ops/hitl/respond"


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Scenario], None]:
    """Plays a scenario on a venue without HTTP; afterwards its books agree."""

    def run(scenario: Scenario) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(30), kernel(tmp_path / "venue.db") as venue:
                await scenario(venue)

        asyncio.run(bounded())

    return run


async def code_of(awaitable: Awaitable[Any]) -> str | None:
    """How a call was refused; None when it was not."""
    try:
        await awaitable
    except (InboxError, OpsError) as error:
        return error.code
    return None


async def answered(venue: Kernel, request: str, key: str | None, *, ok: bool = True) -> Job:
    """An answer of the first person that echoes, under a key."""
    grants = ECHO if ok else []
    data = {"id": request, "outcome": "answer", "answers": {"ok": ok}, "grants": grants}
    return await venue.invoker.invoke(RESPOND, data, venue.person(1), key)


def test_a_repeated_answer_is_the_first_one_or_is_refused(play: Callable[[Scenario], None]) -> None:
    """Under its key the same answer is the same job, also after completion; without, or another, it is
    refused. The first stays as it was, and there is one token (rows 5, 10).
    """

    async def scenario(venue: Kernel) -> None:
        request = await venue.ask(venue.agent(venue.person(1)))
        first = await answered(venue, request, "k")
        before = dump(venue.path)
        for _ in range(3):
            assert (await answered(venue, request, "k")).id == first.id
        assert dump(venue.path) == before
        assert await code_of(answered(venue, request, "k", ok=False)) == "idempotency_conflict"
        assert await code_of(answered(venue, request, "other")) == "not_open"
        assert await code_of(answered(venue, request, None)) == "not_open"
        books = Books.of(venue.path)
        assert books.check()[request].token is not None
        assert len(books.mints) == 1

    play(scenario)


@pytest.mark.parametrize("how", ["answered", "rejected", "expired", "cancelled", "deleted"])
def test_a_replay_applies_nothing(play: Callable[[Scenario], None], how: str) -> None:
    """After whatever end: the second answer is refused, and nothing but its refusal is written (row 14)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        request = await venue.ask(owner, timeout=10)
        match how:
            case "answered":
                await answered(venue, request, None)
            case "rejected":
                await venue.respond(owner, request, "reject")
            case "expired":
                venue.clock.advance(10_000)
                await venue.expire()
            case "cancelled":
                await venue.desk.cancel(request, None, owner)
            case "deleted":
                await venue.delete(owner, request)
        before = Books.of(venue.path)
        code = {"expired": "expired", "deleted": "not_found"}.get(how, "not_open")
        assert await code_of(answered(venue, request, None)) == code
        after = Books.of(venue.path)
        after.check()
        assert (after.requests, after.jobs, after.events) == (before.requests, before.jobs, before.events)
        assert (after.mints, after.receipts) == (before.mints, before.receipts)

    play(scenario)


def test_an_answer_whose_job_is_gone_is_refused_aloud(
    play: Callable[[Scenario], None], caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody would hear it; the launch then withdraws the question, and says so (row 17)."""

    async def scenario(venue: Kernel) -> None:
        request = await venue.ask(venue.person(1))
        with closing(connect(venue.path)) as db:
            db.execute("DELETE FROM job WHERE id = ?", (request,))
        with pytest.raises(WrongState):
            await venue.respond(venue.person(1), request)
        assert Books.of(venue.path).requests[request]["status"] == "open"
        assert await sweep.launch(venue.db, venue.world) == 1
        assert Books.of(venue.path).requests[request]["status"] == "cancelled"
        assert request in caplog.text

    play(scenario)


def test_what_fell_due_while_down_is_expired_at_launch(tmp_path: Path) -> None:
    """All of it, in one go, before anybody can look (row 19)."""

    async def scenario() -> None:
        async with kernel(tmp_path / "venue.db") as venue:
            for number in range(132):
                await venue.ask(venue.person(1 + number % 3), timeout=1)
        async with kernel(tmp_path / "venue.db") as venue:
            venue.clock.advance(5_000)
            assert await sweep.launch(venue.db, venue.world) == 0
            books = Books.of(venue.path)
            assert {row["status"] for row in books.requests.values()} == {"expired"}
            assert {row["error"] for row in books.jobs.values()} == {"HITL request expired"}
            assert {story.status for story in books.check().values()} == {"expired"}
            page = await venue.invoker.run("v/ops/hitl/list", {"status": "open"}, venue.person(1))
            assert page == {"items": [], "count": 0}

    asyncio.run(scenario())


class Yes(BaseModel):
    """What is asked of a gate."""

    approved: bool


def test_a_wait_on_what_is_settled_does_not_wait() -> None:
    """A gate that was settled before anybody waited is handed over at once, however rare the polls (rows 21,
    61).
    """
    gate = open_gate(store := MemoryGateStore(), prompt="Ship it?", schema=Yes)
    resolve_gate(store, gate.id, {"approved": True}, Resolver("owner-terminal", "ada", "cli"))
    begun = time.monotonic()
    assert gate.wait(timeout=60, poll_ms=60_000) == Yes(approved=True)
    assert time.monotonic() - begun < 5


ZONES = ("UTC", "Africa/Lagos", "Asia/Kolkata", "America/New_York")
_EXPIRY = """
import time
from inbox.clock import millis, system_clock
from inbox.model import Ask, Requester, Submission, Terms
from inbox.rules import post
ask = {"id": "a", "type": "text", "prompt": "?"}
now = millis(system_clock())
posted = Submission("T", None, [Ask.model_validate(ask)], [ask], 3600)
body = post(posted, Requester("did:web:a", "did:web:a"), "did:web:a", "0" * 32, now, Terms()).body
print(abs(now - time.time() * 1000) < 60_000, body["created"] == now, body["expires"] - now)
"""


@pytest.mark.parametrize("zone", ZONES)
def test_a_deadline_is_the_same_instant_in_every_zone(zone: str) -> None:
    """The clock is in UTC wherever the process is (row 28)."""
    environ = {**os.environ, "TZ": zone, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", _EXPIRY], capture_output=True, text=True, env=environ)
    assert (done.stdout, done.stderr) == ("True True 3600000\n", "")


def _offer(**more: Any) -> list[dict[str, Any]]:
    return [{**ASKS[0], "grants": [{**ECHO[0], **more}]}]


@pytest.mark.parametrize(
    "exp", [0, None, 1_718_000_000_000, 1_718_000_000, 1.5, "1906709400", True, 10**30, -1, 2**63]
)
def test_an_offer_that_never_or_already_ends_is_refused(play: Callable[[Scenario], None], exp: Any) -> None:
    """0 is the past and no word for ever, nor is null; milliseconds, fractions and texts are no seconds (rows
    31, 34).
    """

    async def scenario(venue: Kernel) -> None:
        assert await code_of(venue.ask(venue.person(1), asks=_offer(exp=exp))) == "invalid_input"
        assert Books.of(venue.path).jobs == {}
        good = venue.now // 1000 + 60
        await venue.ask(venue.person(1), asks=_offer(exp=good))
        await venue.ask(venue.person(1), asks=_offer())

    play(scenario)


@pytest.mark.parametrize("timeout", [-1, 0, 0.5, float("nan"), float("inf"), "5", True, 10**12, [1]])
def test_a_timeout_that_is_none_is_refused(play: Callable[[Scenario], None], timeout: Any) -> None:
    """Before anything is stored (row 38)."""

    async def scenario(venue: Kernel) -> None:
        assert await code_of(venue.ask(venue.person(1), timeout=timeout)) == "invalid_input"
        assert Books.of(venue.path).jobs == {}

    play(scenario)


@pytest.mark.parametrize("late", [0, 1, 100, 1_000, 4_000, 10_000_000])
def test_a_late_answer_is_refused_before_any_sweep(play: Callable[[Scenario], None], late: int) -> None:
    """From the very instant on; and the next read sees it expired (rows 30, 40)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        read, refused = await venue.ask(owner, timeout=2), await venue.ask(owner, timeout=2)
        venue.clock.advance(2_000 + late)
        with pytest.raises(Expired):
            await answered(venue, refused, None)
        seen = await venue.invoker.run("v/ops/covia/read", {"path": f"h/{read}/status"}, owner)
        assert seen["value"] == "expired"
        assert not Books.of(venue.path).mints

    play(scenario)


def test_an_answer_may_narrow_and_remark_at_once(play: Callable[[Scenario], None]) -> None:
    """Both arrive, and the record keeps what was offered beside what was granted (rows 49, 53)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        request = await venue.ask(owner)
        narrowed = {**ECHO[0], "narrow": {"with": "w/r/part"}}
        await venue.respond(owner, request, grants=[narrowed], comment="a part", comments={"ok": "of it"})
        output = json.loads(Books.of(venue.path).jobs[request]["output"])
        assert (output["grants"], output["comment"]) == ([narrowed], "a part")
        assert output["comments"] == {"ok": "of it"}
        (mint,) = Books.of(venue.path).mints.values()
        assert json.loads(mint["grants"]) == [{"with": f"{owner.did}/w/r/part", "can": "crud/read"}]

    play(scenario)


def test_equal_requests_are_answered_one_by_one(play: Callable[[Scenario], None]) -> None:
    """Fifty alike at once are fifty; an answer is for one, leaves the others waiting, and posts nothing anew
    (rows 54, 56, 58).
    """

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        made = await asyncio.gather(*(venue.ask(owner) for _ in range(50)))
        assert len(set(made)) == 50
        await venue.respond(owner, made[7], "reject", comment="not this")
        stories = Books.of(venue.path).check()
        assert stories.keys() == set(made)
        assert {name for name, story in stories.items() if story.status != "open"} == {made[7]}
        events = Books.of(venue.path).events[owner.did]
        assert sum(event["kind"] == "request.open" for event in events) == 50

    play(scenario)


def test_an_answer_names_the_record_and_nothing_else(play: Callable[[Scenario], None]) -> None:
    """Its id, as the job has it or as the inbox does; not its path, its ask, its title (rows 59, 106)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        request = await venue.ask(owner)
        for name in (f"h/{request}", f"{owner.did}/h/{request}", "ok", "T", f"j/{request}", request[:-1]):
            with pytest.raises(NotFound):
                await venue.respond(owner, name)
        await venue.respond(owner, f"0X{request.upper()}")
        assert Books.of(venue.path).check()[request].status == "answered"

    play(scenario)


def test_every_id_that_was_handed_out_is_there(play: Callable[[Scenario], None]) -> None:
    """Whatever an operation returned as its job can be fetched, followed and cancelled (row 60)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        request = await venue.ask(owner)
        calls = [
            (RESPOND, {"id": request, "outcome": "answer", "answers": {"ok": True}}),
            ("v/ops/covia/write", {"path": "w/a", "value": 1}),
            ("v/ops/covia/read", {"path": "w/a"}),
            ("v/ops/hitl/list", {}),
            ("v/ops/covia/delete", {"path": "w/b"}),
        ]
        made = [request, *[(await venue.invoker.invoke(name, data, owner)).id for name, data in calls]]
        for job in made:
            found = await venue.desk.job(job, owner)
            assert found["status"] == JobStatus.COMPLETE
            assert await venue.desk.cancel(job, None, owner) == found
            assert await venue.desk.history(job, owner)

    play(scenario)


def test_a_row_that_was_edited_by_hand_does_not_pass(play: Callable[[Scenario], None]) -> None:
    """The database itself refuses to forge an answer, and one is checked against its record (row 72)."""

    async def scenario(venue: Kernel) -> None:
        request = await venue.ask(venue.person(1))
        forged = "UPDATE request SET status = 'answered', response = '{}', settled = 1, resolver = ''"
        with closing(connect(venue.path)) as db, pytest.raises(sqlite3.IntegrityError):
            db.execute(forged)
        await venue.respond(venue.person(1), request, "reject")
        with closing(connect(venue.path)) as db, pytest.raises(sqlite3.IntegrityError):
            db.execute("UPDATE request SET status = 'answered'")
        with pytest.raises(AlreadySettled):
            await venue.respond(venue.person(1), request)

    play(scenario)


def test_a_refused_answer_leaves_the_question_as_it_was(play: Callable[[Scenario], None]) -> None:
    """However many outsiders and bad answers come first, the right one lands (row 89)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        request = await venue.ask(owner)
        for _ in range(3):
            with pytest.raises(NotFound):
                await venue.respond(venue.person(2), request)
            with pytest.raises(BadRequest):
                await venue.respond(owner, request, answers={"ok": "true"})
        await venue.respond(owner, request, grants=ECHO)
        assert Books.of(venue.path).check()[request].status == "answered"

    play(scenario)
