"""429 comes with `Retry-After`, before any effect (D22); and the official SDK waits and tries again."""

from collections.abc import Callable
from pathlib import Path

import pytest
from covia import Ed25519Auth, Grid

from inbox.clock import system_clock
from tests.harness.actors import Reply
from tests.harness.site import Site
from tests.harness.uvicorns import LoopThread, Served

from .conftest import House

ASKS = [{"id": "ok", "type": "approval", "prompt": "OK?"}]
REQUEST = {"title": "T", "asks": ASKS}


def held_back(reply: Reply, code: str) -> int:
    """A 429 as clients are promised it; returns how many seconds to wait."""
    assert (reply.status, reply.code) == (429, code)
    return int(reply.headers["retry-after"])


def test_requests_a_second(open_house: Callable[..., House]) -> None:
    """A burst goes through, the next call does not and leaves nothing; time lets it through."""
    house = open_house(limits={"requests_per_second": 2, "burst": 5})
    owner, other = house.owner(), house.owner()
    for number in range(5):
        owner.run("v/ops/covia/write", {"path": f"w/{number}", "value": number}).ok()
    for verb in (owner.run, owner.invoke):
        assert held_back(verb("v/ops/covia/write", {"path": "w/more", "value": 1}), "rate_limited") == 1
    other.run("v/ops/hitl/list").ok()
    house.clock.advance(500)
    assert owner.read("w/more").ok()["exists"] is False
    assert held_back(owner.read("w"), "rate_limited")
    house.clock.advance(10_000)
    found = [owner.read("w").status for _ in range(6)]
    assert found == [200] * 5 + [429]


def test_strangers_share_one_bucket_and_status_needs_none(open_house: Callable[..., House]) -> None:
    """Discovery answers whatever the rate; what strangers may read besides is counted."""
    house = open_house(limits={"requests_per_second": 1, "burst": 2})
    one, two = house.stranger(), house.stranger()
    assert [who.request("GET", "/api/v1/operations").status for who in (one, two, one)] == [200, 200, 429]
    for path in ("/api/v1/status", "/.well-known/did.json", "/openapi.json", "/healthz"):
        assert one.request("GET", path).status == 200


@pytest.mark.parametrize("limit", ["open_per_requester", "open_per_inbox"])
def test_open_requests(open_house: Callable[..., House], limit: str) -> None:
    """The one too many leaves no record, no job and no event; settling frees a place."""
    house = open_house(limits={limit: 2})
    owner = house.owner()
    first, _ = owner.ask(), owner.ask()
    before = house.venue.store.count("event")
    assert held_back(owner.invoke("v/ops/hitl/request", REQUEST), "too_many_open") == 60
    assert house.venue.store.count("event") == before
    assert owner.run("v/ops/hitl/list").ok()["count"] == 2
    assert owner.request("GET", "/api/v1/jobs").ok()["total"] == 2
    owner.respond(first, "reject").ok()
    owner.ask()


def test_posts_a_minute(open_house: Callable[..., House]) -> None:
    """Counted over a sliding minute, an agent's with its owner's."""
    house = open_house(limits={"posts_per_minute": 2})
    owner = house.owner()
    agent = house.agent(owner)
    owner.ask()
    house.clock.advance(30_000)
    agent.ask()
    assert held_back(owner.invoke("v/ops/hitl/request", REQUEST), "rate_limited") == 60
    assert owner.run("v/ops/hitl/list").ok()["count"] == 2
    house.clock.advance(30_001)
    owner.ask()


def test_the_sdk_waits_and_tries_again(thread: LoopThread, tmp_path: Path) -> None:
    """On the machine's clock: each call beyond the burst is held back once, and happens once."""
    limits = {"requests_per_second": 2, "burst": 2}
    served = Served(thread, Site("retry", tmp_path, {"limits": limits}).build(system_clock))
    try:
        with Grid.connect(served.url, auth=Ed25519Auth.generate()) as venue:
            written = [venue.workspace.append("w/list", number) for number in range(4)]
            assert [result.index for result in written] == [0, 1, 2, 3]
            assert venue.workspace.read("w/list").value == [0, 1, 2, 3]
    finally:
        served.leave().result(30)
