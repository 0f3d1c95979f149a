"""`inbox/sse` (D25): each change once over a drop, a resync where that cannot be, an end with the bearer."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from inbox import events
from tests.harness.actors import Actor

from .conftest import House

FEED = "/api/v1/inbox/sse"
Event = dict[str, str]


class Listener:
    """Reads a stream as a browser does; comments are heartbeats."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.beats = 0

    def __iter__(self) -> Iterator[Event]:
        event: Event = {}
        for line in self._lines:
            if line.startswith(":"):
                self.beats += 1
            elif line:
                name, _, value = line.partition(": ")
                event[name] = value
            elif event:
                yield event
                event = {}

    def next(self) -> Event:
        """The next event."""
        return next(iter(self))


@contextmanager
def listening(actor: Actor, last: str | None = None, **headers: str) -> Iterator[Listener]:
    """The actor's feed, from a version on."""
    said = {**actor.headers(), **headers, **({} if last is None else {"Last-Event-ID": last})}
    with actor._http.stream("GET", FEED, headers=said) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"] == "no-cache"
        yield Listener(answer.iter_lines())


def heard(event: Event) -> tuple[str, str]:
    """What an event says: which request, and what happened to it."""
    data = json.loads(event["data"])
    assert data["version"] == int(event["id"])
    return data["id"], data["kind"]


@pytest.mark.parametrize("last", [None, "", "x", "-1", "1.5", "99999", "9" * 40])
def test_resync_where_no_version_fits(house: House, last: str | None) -> None:
    """Without an id, with one that is none, and with one that was never given out: load everything."""
    owner = house.owner()
    job_id = owner.ask()
    with listening(owner, last) as stream:
        first = stream.next()
        assert first["event"] == "resync"
        assert json.loads(first["data"]) == {"version": int(first["id"])}
        owner.respond(job_id, "reject").ok()
        assert heard(stream.next()) == (job_id, "request.rejected")


def test_resync_when_the_id_is_too_old(house: House) -> None:
    """After more changes than anybody wants to hear one by one."""
    owner = house.owner()
    owner.ask()

    async def bump() -> None:
        def work(tx: Any) -> None:
            for _ in range(10_001):
                events.append(tx, owner.did, "request.open", "0" * 32, 0)

        await house.venue.app.state.db.write(work)

    house.venue.on_loop(bump())
    with listening(owner, "1") as stream:
        assert stream.next()["event"] == "resync"


def test_each_change_once_over_a_drop(house: House) -> None:
    """What happened while nobody listened comes first, and nothing comes twice."""
    owner = house.owner()
    first, second = owner.ask(), owner.ask()
    with listening(owner, "0") as stream:
        seen = [stream.next(), stream.next()]
        owner.respond(first, answers={"ok": True}).ok()
        seen.append(stream.next())
    owner.respond(second, "reject").ok()
    third = owner.ask()
    with listening(owner, seen[-1]["id"]) as stream:
        seen += [stream.next(), stream.next()]
        owner.cancel(third).ok()
        seen.append(stream.next())
    assert [heard(event) for event in seen] == [
        (first, "request.open"),
        (second, "request.open"),
        (first, "request.answered"),
        (second, "request.rejected"),
        (third, "request.open"),
        (third, "request.cancelled"),
    ]
    versions = [int(event["id"]) for event in seen]
    assert versions == sorted(set(versions))


def test_many_changes_in_between_all_arrive(house: House) -> None:
    """More than one page of the feed, in order and without a gap."""
    owner = house.owner()
    owner.ask()

    async def bump() -> None:
        def work(tx: Any) -> None:
            for number in range(1_234):
                events.append(tx, owner.did, "request.open", f"{number:032x}", 0)

        await house.venue.app.state.db.write(work)

    with listening(owner) as stream:
        last = stream.next()["id"]
    house.venue.on_loop(bump())
    with listening(owner, last) as stream:
        found = iter(stream)
        subjects = [heard(next(found))[0] for _ in range(1_234)]
    assert subjects == [f"{number:032x}" for number in range(1_234)]


def test_a_feed_is_its_owners(house: House) -> None:
    """An agent is refused, whatever its caps (D9); a stranger too; another's changes are not heard."""
    owner, other = house.owner(), house.owner()
    agent = house.agent(owner, caps=[{"with": "", "can": "*"}])
    assert agent.request("GET", FEED).code == "agent_refused"
    assert house.stranger().request("GET", FEED).code == "auth_required"
    assert owner.request("GET", FEED, headers={"Accept": "application/json"}).code == "not_acceptable"
    mine = owner.ask()
    with listening(owner, "0") as stream:
        found = iter(stream)
        assert heard(next(found))[1] == "agent.enrolled"
        other.ask()
        assert heard(next(found)) == (mine, "request.open")
        owner.cancel(mine).ok()
        assert heard(next(found)) == (mine, "request.cancelled")


def test_stream_ends_with_its_bearer(house: House) -> None:
    """Once the bearer has expired nothing more is said, and the stream is closed."""
    owner = house.owner()
    short = {"Authorization": f"Bearer {owner.bearer(exp=house.clock.seconds + 60)}"}
    with listening(owner, **short) as stream:
        stream.next()
        house.clock.advance(60_000)
        owner.ask()
        assert list(stream) == []


def test_stream_of_a_job_ends_with_a_revocation(house: House) -> None:
    """An agent that was revoked hears no more of its own job."""
    owner = house.owner()
    agent = house.agent(owner)
    job_id = agent.ask()
    path = f"/api/v1/jobs/{job_id}/sse"
    with agent._http.stream("GET", path, headers=agent.headers()) as answer:
        stream = Listener(answer.iter_lines())
        assert json.loads(stream.next()["data"])["status"] == "INPUT_REQUIRED"
        owner.run("v/ops/agent/revoke", {"agentId": "helper"}).ok()
        owner.respond(job_id, "reject").ok()
        assert list(stream) == []


def test_heartbeat_comes_while_nothing_happens(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comment now and then, so that proxies keep the connection and the bearer is looked at again."""
    monkeypatch.setattr("venue.waiting._HEARTBEAT", 0.02)
    owner = house.owner()
    with owner._http.stream("GET", FEED, headers=owner.headers()) as answer:
        comments = (line for line in answer.iter_lines() if line.startswith(":"))
        assert [next(comments), next(comments)] == [": still here"] * 2


def test_rechecks_are_no_calls(open_house: Callable[..., House]) -> None:
    """A stream lives on although its caller has used up its rate (D22)."""
    house = open_house(limits={"requests_per_second": 1, "burst": 3})
    owner = house.owner()
    with listening(owner) as stream:
        stream.next()
        job_id = owner.ask()
        assert heard(stream.next()) == (job_id, "request.open")
        owner.cancel(job_id).ok()
        assert heard(stream.next()) == (job_id, "request.cancelled")
        assert owner.run("v/ops/hitl/list").code == "rate_limited"
