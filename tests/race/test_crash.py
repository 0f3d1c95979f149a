"""kill -9 under load, at no particular moment: what was acknowledged is there, field by field, and only once.

The clients keep logs of their own (`logbook`); after each restart every line of them is held against the file
and against what the server serves.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Thread
from typing import Any

from inbox.canonical import digest_of
from tests.harness.actors import Actor, Reply
from tests.harness.books import Books, Story
from tests.harness.commands import venue as command
from tests.harness.served import Served
from ucan.jwt import token_hash

from .clients import PATIENCE, until
from .conftest import ROOMY
from .logbook import GRANTS, SETTLES, Client, Expected, Ledger

ROUNDS = int(os.environ.get("CRASH_ROUNDS", "5"))
OPERATIONS = int(os.environ.get("CRASH_OPERATIONS", "200"))
CLIENTS = 4
ENDS = {
    "grant": "answered",
    "narrow": "answered",
    "approve": "answered",
    "sign": "answered",
    "reject": "rejected",
    "cancel": "cancelled",
    "delete": "rejected",
    "forget": "cancelled",
}
DELIVERED = "<signed token delivered to requester>"


@dataclass(frozen=True)
class Pair:
    """A client's people at the server that runs now."""

    client: Client
    owner: Actor
    agent: Actor


class Count:
    """How many operations were acknowledged; whoever waits for a number of them hears when they are there."""

    def __init__(self) -> None:
        self._number = 0
        self._grown = Condition()

    def up(self) -> None:
        """One more."""
        with self._grown:
            self._number += 1
            self._grown.notify_all()

    def reaches(self, number: int) -> bool:
        """Wait until there are so many."""
        with self._grown:
            return self._grown.wait_for(lambda: self._number >= number, PATIENCE)


def test_what_was_acknowledged_survives(tmp_path: Path) -> None:
    """Rounds of acknowledged operations (five of two hundred, if nobody says otherwise), each killed -9."""
    dice = random.Random(9)
    with Served(tmp_path / "data", environ=ROOMY) as venue:
        pairs = [_pair(venue, Client(tmp_path / f"client-{number}.log", number)) for number in range(CLIENTS)]
        seen: set[tuple[str, str]] = set()
        for _ in range(ROUNDS):
            _work_until_killed(venue, pairs, OPERATIONS + dice.randrange(30))
            ledgers = [pair.client.ledger() for pair in pairs]
            until(max(_deadlines(ledgers), default=None))
            restarted = int(time.time() * 1000)
            venue.start()
            books = Books.of(venue.data / "venue.db")
            stories = books.check()
            late = [
                row for row in books.requests.values() if row["status"] == "open" and _due(row, restarted)
            ]
            assert late == [], "what fell due while the server was down is expired"
            pairs = [Pair(pair.client, *_at(venue, pair)) for pair in pairs]
            for pair, ledger in zip(pairs, ledgers, strict=True):
                _compare(pair, ledger, books, stories, seen)
            seen |= {(name, story.status) for name, story in stories.items()}
        assert {story.status for story in stories.values()} == {"open", "expired", *ENDS.values()}
        known = [one for ledger in ledgers for one in ledger.requests.values()]
        assert {one.settled["verb"] for one in known if one.settled} == set(SETTLES)
        assert any(one.revoked for one in known)
        assert "disagreed at launch" not in venue.log, "no launch had anything to repair (D21)"
        venue.kill()
        command("audit", "verify", data=venue.data).ok()


def _work_until_killed(venue: Served, pairs: list[Pair], number: int) -> None:
    acknowledged = Count()
    threads = [
        Thread(target=pair.client.work, args=(pair.owner, pair.agent, acknowledged.up)) for pair in pairs
    ]
    for thread in threads:
        thread.start()
    enough = acknowledged.reaches(number)
    venue.kill()
    for thread in threads:
        thread.join(PATIENCE)
    assert enough, "the clients were too slow"
    assert not any(thread.is_alive() for thread in threads)


def _compare(
    pair: Pair, ledger: Ledger, books: Books, stories: dict[str, Story], seen: set[tuple[str, str]]
) -> None:
    """Hold one client's log against the file; what came or ended since also against what is served."""
    mine = {name for name, story in stories.items() if story.owner == pair.owner.did}
    lost = ledger.requests.keys() - mine
    assert not lost, "acknowledged, and gone"
    titles = Counter(_title(books, name) for name in mine)
    assert set(titles.values()) == {1}, "nothing twice"
    tried = ledger.unsure | {known.asked["title"] for known in ledger.requests.values()}
    assert titles.keys() <= tried, "more than was ever tried"
    for request, known in ledger.requests.items():
        story = stories[request]
        _check_end(known, story)
        if known.token is not None and known.revoked is not None:
            assert (token_hash(known.token) in books.revocations) == known.revoked
        if (request, story.status) not in seen or known.settling:
            _check_job(known, story, pair.agent.job(request))
            if not story.deleted:
                _check_record(pair, known, story, pair.owner.record(request))
    _check_served(pair, ledger)


def _check_served(pair: Pair, ledger: Ledger) -> None:
    """What was written and who was blocked, as the venue tells it now."""
    for name, values in ledger.documents.items():
        served = pair.owner.read(f"w/{name}").ok()
        assert served.get("value") in values, (name, served)
    blocked = {item["requester"] for item in pair.owner.run("v/ops/hitl/blocked").ok()["items"]}
    assert blocked <= ledger.blocked.keys()
    assert all((requester in blocked) in states for requester, states in ledger.blocked.items())


def _title(books: Books, request: str) -> str:
    if request in books.requests:
        return str(books.requests[request]["title"])
    return str(json.loads(books.jobs[request]["input"])["title"])


def _check_end(known: Expected, story: Story) -> None:
    """The end that was acknowledged; or one of two, when the connection broke before it was."""
    end = (story.status, story.deleted, story.forgotten)
    settle = known.settled or known.settling
    ends = [("open", False, False)] if known.settled is None else []
    if "timeout" in known.asked:
        ends = [("expired", False, False)]
    elif settle is not None:
        verb = settle["verb"]
        ends.append((ENDS[verb], verb == "delete", verb == "forget"))
    assert end in ends


def _check_record(pair: Pair, known: Expected, story: Story, record: dict[str, Any]) -> None:
    created = known.job["created"]
    body = {
        "id": known.job["id"].removeprefix("0x"),
        "from": _did(pair),
        "agent": "g/helper",
        **{key: value for key, value in known.asked.items() if key != "timeout"},
        "created": created,
        **({"expires": created + 1000} if "timeout" in known.asked else {}),
    }
    response = _response(known, story)
    assert record == {
        **body,
        "digest": digest_of(body),
        "status": story.status,
        **({"response": response} if response else {}),
    }


def _check_job(known: Expected, story: Story, reply: Reply) -> None:
    if story.forgotten:
        assert (reply.status, reply.code) == (404, "not_found")
        return
    job = reply.ok()
    fixed = ("id", "op", "adapter", "name", "caller", "actor", "created", "input")
    assert {key: job[key] for key in fixed} == {key: known.job[key] for key in fixed}
    output = dict(job.get("output") or {})
    token = output.pop("token", None)
    assert token == story.token
    assert known.token in (None, token), "another token than the one that was collected"
    response = _response(known, story)
    signed = (known.settled or known.settling or {}).get("signed")
    assert output.pop("tokens", {}) == ({"sign": signed} if response and signed else {})
    assert output == ({"id": job["id"].removeprefix("0x"), **response} if story.status == "answered" else {})


def _response(known: Expected, story: Story) -> dict[str, Any]:
    settle = known.settled or known.settling
    if settle is None or story.status not in ("answered", "rejected"):
        return {}
    if story.status == "rejected":
        return {"outcome": "reject", "comment": settle["comment"]}
    answers = {"sign": DELIVERED} if settle["verb"] == "sign" else {"ok": True}
    response = {"outcome": "answer", "answers": answers, "comment": settle["comment"]}
    return {**response, "grants": GRANTS[settle["verb"]]} if settle["verb"] in GRANTS else response


def _deadlines(ledgers: Iterable[Ledger]) -> list[int]:
    known = [known for ledger in ledgers for known in ledger.requests.values() if "timeout" in known.asked]
    return [expected.job["created"] + 1000 for expected in known]


def _due(row: dict[str, Any], now: int) -> bool:
    return row["expires"] is not None and row["expires"] <= now


def _pair(venue: Served, client: Client) -> Pair:
    owner = venue.owner()
    return Pair(client, owner, venue.agent(owner))


def _at(venue: Served, pair: Pair) -> tuple[Actor, Actor]:
    """The same two people, at the server as it runs now."""
    return venue.owner(pair.owner.signer), Actor(venue.http, venue.did, token=pair.agent.token)


def _did(pair: Pair) -> str:
    return f"{pair.owner.did}:g:helper"
