"""Every call of the client, against a served venue, with asyncio and without."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, Literal

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import BaseModel

from tests.conftest import ROOT
from tests.harness.actors import Actor
from tests.harness.inboxes import SOON, asked, inbox, until
from tests.harness.served import Served
from ucan.jwt import read
from venue.client import (
    AskCancelled,
    AskExpired,
    AskRejected,
    AsyncVenue,
    Change,
    Refused,
    Settled,
    Venue,
    VenueError,
)

Later = Callable[..., "Future[Any]"]
OFFER = {"with": "w/releases/", "can": "crud/write", "lifetime": 3600}
ASKS = [{"id": "ok", "type": "approval", "prompt": "OK?"}]


class Ship(BaseModel):
    """What is asked."""

    ship: bool
    where: Literal["test", "live"] = "test"
    note: str | None = None


@pytest.fixture
def person(served: Served) -> Iterator[Venue]:
    """The client as the person herself."""
    with Venue(served.url, key=Ed25519PrivateKey.generate()) as client:
        yield client


def test_an_answer_comes_back_as_the_model(venue: Venue, ada: Actor, later: Later) -> None:
    waiting = later(venue.ask, "Ship 1.4.0?", Ship, description="*All* green.", timeout=600)
    (record,) = asked(ada)
    assert (record["title"], record["description"]) == ("Ship 1.4.0?", "*All* green.")
    assert record["expires"] == record["created"] + 600_000
    ada.respond(record["id"], answers={"ship": True, "where": "live"}).ok()
    assert waiting.result(SOON) == Ship(ship=True, where="live", note=None)


def test_asks_that_are_written_out_bring_everything(venue: Venue, ada: Actor) -> None:
    handle = venue.ask("T", ASKS, wait=False)
    with pytest.raises(VenueError):
        _ = handle.answered
    ada.respond(handle.id, answers={"ok": True}, comments={"ok": "why not"}, comment="fine").ok()
    answered = handle.wait()
    assert (answered.outcome, answered.answers) == ("answer", {"ok": True})
    assert (answered.comments, answered.comment, answered.token) == ({"ok": "why not"}, "fine", None)
    assert handle.answered == answered


def test_a_grant_is_used_and_nothing_beside_it(venue: Venue, ada: Actor) -> None:
    grants: Any = {"ship": [OFFER], "where": {"live": [{**OFFER, "with": "w/live/"}]}}
    handle = venue.ask("T", Ship, grants=grants, wait=False)
    ada.respond(handle.id, answers={"ship": True, "where": "test"}, grants=[OFFER]).ok()
    assert handle.wait() == Ship(ship=True, where="test")
    token = handle.answered.token
    assert token is not None
    assert handle.answered.grants == [OFFER]
    assert token not in repr(handle.answered)
    assert token not in repr(handle)
    venue.write(f"{ada.did}/w/releases/1.4.0", {"by": "helper"}, ucans=[token])
    assert ada.read("w/releases/1.4.0").ok()["value"] == {"by": "helper"}
    with pytest.raises(Refused) as caught:
        venue.write(f"{ada.did}/w/live/1.4.0", 1, ucans=[token])
    assert caught.value.status == 403


def test_how_else_a_question_ends(venue: Venue, ada: Actor) -> None:
    rejected, silent, withdrawn, bare = (venue.ask("T", Ship, wait=False) for _ in range(4))
    ada.respond(rejected.id, "reject", comment="not on a Friday").ok()
    ada.respond(silent.id, "reject").ok()
    withdrawn.cancel("superseded")
    bare.cancel()
    bare.cancel("again")
    for handle, error, reason in (
        (rejected, AskRejected, "not on a Friday"),
        (silent, AskRejected, None),
        (withdrawn, AskCancelled, "superseded"),
        (bare, AskCancelled, None),
    ):
        with pytest.raises(error) as caught:
            handle.wait()
        assert (caught.value.reason, caught.value.request_id) == (reason, handle.id)
    with pytest.raises(AskExpired):
        venue.ask("T", Ship, timeout=1)


def test_a_timeout_gives_up_and_touches_nothing(venue: Venue, ada: Actor) -> None:
    handle = venue.ask("T", Ship, wait=False)
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=handle.id):
        handle.wait(timeout=0.2)
    assert time.monotonic() - start < 2
    assert [record["id"] for record in inbox(ada)] == [handle.id]
    ada.respond(handle.id, answers={"ship": False}).ok()
    assert handle.wait(timeout=SOON) == Ship(ship=False)


ATTACH = """
import sys
from pydantic import BaseModel
from venue.client import Venue
class Ship(BaseModel):
    ship: bool
with Venue() as venue:
    print(venue.attach(sys.argv[1], Ship).wait().ship, venue.attach("0x" + sys.argv[1]).wait().answers)
"""


def test_another_process_waits_on(
    venue: Venue, served: Served, ada: Actor, token: str, tmp_path: Any
) -> None:
    handle = venue.ask("T", Ship, wait=False)
    (tmp_path / "token").write_text(f"{token}\n")
    environment = {
        "PYTHONPATH": str(ROOT),
        "VENUE_URL": served.url,
        "VENUE_TOKEN_FILE": str(tmp_path / "token"),
    }
    with subprocess.Popen(
        [sys.executable, "-c", ATTACH, handle.id], env=environment, stdout=subprocess.PIPE, text=True
    ) as other:
        ada.respond(handle.id, answers={"ship": True}).ok()
        assert other.communicate(timeout=SOON)[0] == "True {'ship': True}\n"
        assert other.returncode == 0


def test_a_key_of_ones_own_asks_once_over_all_attempts(venue: Venue, ada: Actor) -> None:
    first, second = (venue.ask("T", Ship, key="release-1.4.0", wait=False) for _ in range(2))
    assert first.id == second.id
    with pytest.raises(Refused) as caught:
        venue.ask("Another", Ship, key="release-1.4.0", wait=False)
    assert (caught.value.code, caught.value.details) == ("idempotency_conflict", {"job": f"0x{first.id}"})
    assert len(inbox(ada)) == 1


def test_a_person_answers_from_python(served: Served, person: Venue) -> None:
    token = person.run("v/ops/agent/enrol", {"agentId": "helper"})["token"]
    with Venue(served.url, token=token) as agent:
        first, second = (agent.ask(title, Ship, grants={"ship": [OFFER]}, wait=False) for title in "ab")  # type: ignore[list-item]
        assert [item.title for item in person.inbox()] == ["a", "b"]
        page = person.page(limit=1)
        assert (page.count, [item.id for item in page.items], bool(page.cursor)) == (2, [first.id], True)
        record = person.record(first.id)
        with pytest.raises(Refused) as stale:
            person.answer(first.id, {"ship": True}, digest=f"sha256:{'0' * 64}")
        assert stale.value.code == "stale_digest"
        offer = record.asks[0]["grants"][0]
        person.answer(
            first.id,
            {"ship": True},
            grants=[offer],
            comments={"ship": "a"},
            comment="b",
            digest=record.digest,
        )
        person.reject(second.id, "no")
        for settle in (lambda: person.answer(second.id, {"ship": True}), lambda: person.reject(second.id)):
            with pytest.raises(Settled) as caught:
                settle()
            assert (caught.value.code, caught.value.how) == ("not_open", "rejected")
            assert caught.value.when == caught.value.details["when"]
        assert first.wait() == Ship(ship=True)
        assert first.answered.comments == {"ship": "a"}
        receipt = read(agent.receipt(first.id)).claims
        assert (receipt["outcome"], receipt["request"]) == ("answered", first.id)
    assert person.inbox() == []
    assert {item.status for item in person.inbox(None)} == {"answered", "rejected"}
    with pytest.raises(Refused) as missing:
        person.record("0" * 32)
    assert missing.value.code == "not_found"


def test_more_than_a_page_is_all_of_it(served: Served, person: Venue) -> None:
    ids = {person.ask(f"T{number}", Ship, wait=False).id for number in range(7)}
    cursor, found = None, []
    while True:
        page = person.page(cursor=cursor, limit=3)
        found += [item.id for item in page.items]
        cursor = page.cursor
        if cursor is None:
            break
    assert len(found) == 7
    assert set(found) == ids == {item.id for item in person.inbox()}


def test_what_is_issued_opens_until_it_is_revoked(served: Served, person: Venue, ada: Actor) -> None:
    person.write("w/reports/q3", {"sum": 7})
    assert person.read("w/reports/q3") == {"sum": 7}
    assert person.read("w/reports/q4") is None
    owner = person.job(person.invoke("v/ops/covia/write", {"path": "w/a", "value": 1})["id"])["caller"]
    token = person.issue(ada.did, [{"with": "w/reports/", "can": "crud/read"}], int(time.time()) + 600)
    path = f"{owner}/w/reports/q3"
    assert ada.read(path, ucans=[token]).ok()["value"] == {"sum": 7}
    assert len(person.revoke(token=token)) == 1
    assert ada.read(path, ucans=[token]).status == 403


def test_the_feed_tells_what_changed(person: Venue) -> None:
    """And whoever is told may ask for more at once."""
    heard: list[Change] = []

    def hear(change: Change) -> None:
        if change.id:
            assert person.record(change.id).title == "T"
        heard.append(change)

    stop = person.follow(hear)
    until(lambda: [change.kind for change in heard] == ["resync"])
    handle = person.ask("T", Ship, wait=False)
    until(lambda: ("request.open", handle.id) in [(change.kind, change.id) for change in heard])
    stop()


def test_many_threads_may_use_one_client(venue: Venue, ada: Actor, later: Later) -> None:
    waiting = [later(venue.ask, f"T{number}", Ship) for number in range(4)]
    for record in asked(ada, 4):
        ada.respond(record["id"], answers={"ship": True, "note": record["title"]}).ok()
    assert {each.result(SOON).note for each in waiting} == {"T0", "T1", "T2", "T3"}


def test_more_waits_than_a_caller_may_have_streams(served: Served, token: str, ada: Actor) -> None:
    """The rest polls: nobody's wait fails."""

    async def run() -> list[Ship]:
        async with AsyncVenue(served.url, token=token) as venue:
            handles = [await venue.ask(f"T{number}", Ship, wait=False) for number in range(30)]
            waits = [asyncio.create_task(handle.wait()) for handle in handles]
            await asyncio.sleep(0.3)
            for handle in handles:
                await asyncio.to_thread(ada.respond, handle.id, answers={"ship": True})
            return await asyncio.gather(*waits)

    assert asyncio.run(run()) == [Ship(ship=True)] * 30


def test_all_of_it_in_asyncio(served: Served, ada: Actor, token: str) -> None:
    async def run() -> None:
        async with AsyncVenue(served.url, token=token) as venue:
            assert await venue.did() == served.did
            handle = await venue.ask("T", Ship, wait=False)
            task = asyncio.create_task(venue.attach(handle.id, Ship).wait())
            await asyncio.to_thread(ada.respond, handle.id, answers={"ship": True})
            assert await task == Ship(ship=True)
            assert (await venue.attach(handle.id).wait()).answers == {"ship": True}
            assert (await venue.job(handle.id))["status"] == "COMPLETE"
            assert read(await venue.receipt(handle.id)).claims["outcome"] == "answered"
            withdrawn = await venue.ask("T", ASKS, wait=False)
            await withdrawn.cancel()
            with pytest.raises(AskCancelled):
                await withdrawn.wait()
            assert [item.id for item in await venue.inbox("cancelled")] == [withdrawn.id]
            assert (await venue.run("v/ops/hitl/list", {"status": "answered"}))["count"] == 1
            with pytest.raises(Refused) as caught:
                await venue.answer(handle.id, {"ship": True})
            assert caught.value.code == "agent_refused"

    asyncio.run(run())


def test_what_was_no_question_is_no_answer(venue: Venue, person: Venue) -> None:
    job = person.invoke("v/ops/covia/write", {"path": "w/a", "value": 1})
    with pytest.raises(VenueError, match="no question"):
        person.attach(job["id"], Ship).wait()
    for impossible in ("nothing", "../status", "0" * 32):
        with pytest.raises(Refused):
            venue.attach(impossible, Ship).wait()


def test_a_client_that_was_closed_says_so(served: Served, token: str) -> None:
    venue = Venue(served.url, token=token)
    venue.close()
    venue.close()
    with pytest.raises(VenueError, match="closed"):
        venue.did()


def test_another_users_inbox_takes_a_delegation(served: Served, venue: Venue, token: str) -> None:
    bob = served.owner()
    assert bob.read("w/a").status == 200
    with pytest.raises(Refused) as caught:
        venue.ask("T", Ship, to=bob.did, wait=False)
    assert caught.value.code == "denied"
    agent = str(read(token).claims["sub"])
    grant = bob.grant(agent, "h/", "hitl/request")
    handle = venue.ask("T", Ship, to=bob.did, ucans=[grant], wait=False)
    bob.respond(handle.id, answers={"ship": True}).ok()
    assert handle.wait() == Ship(ship=True)
    assert json.dumps(handle.answered.answers) == '{"ship": true}'
