"""What goes wrong between a client and its venue: nothing is asked twice or lost, and all of it is named."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import BaseModel

from tests.harness.actors import Actor, new_signer
from tests.harness.clock import FrozenClock
from tests.harness.inboxes import SOON, asked, inbox, until
from tests.harness.proxy import Proxy, cut_after, drop_answer, hang_up, refuse, stall
from tests.harness.served import Served
from tests.harness.site import Site
from tests.harness.uvicorns import LoopThread
from tests.harness.venue import Venue as FrozenVenue
from venue.client import NoAnswer, NotAuthenticated, Refused, TooFast, Unreachable, Venue, VenueFault

Later = Callable[..., "Future[Any]"]


class Ship(BaseModel):
    """What is asked."""

    ship: bool


@pytest.fixture
def venue(proxy: Proxy, token: str) -> Iterator[Venue]:
    """The client, behind the proxy."""
    with Venue(proxy.url, token=token, patience=10) as client:
        yield client


def approve(person: Actor) -> None:
    """Approve the one and only request."""
    (record,) = asked(person)
    person.respond(record["id"], answers={"ship": True}).ok()


def test_a_connection_that_drops_in_mid_ask_asks_once(venue: Venue, ada: Actor, proxy: Proxy) -> None:
    """Three answers are lost; each of the attempts has reached the venue."""
    proxy.inject("POST /api/v1/invoke", drop_answer, 3)
    handle = venue.ask("T", Ship, wait=False)
    assert proxy.count("POST /api/v1/invoke") == 4
    assert [record["id"] for record in inbox(ada)] == [handle.id]


def test_an_answer_that_drops_answers_once(served: Served, venue: Venue, proxy: Proxy) -> None:
    with Venue(proxy.url, key=Ed25519PrivateKey.generate()) as person:
        handle = person.ask("T", Ship, wait=False)
        proxy.inject("POST /api/v1/run", drop_answer, 2)
        person.answer(handle.id, {"ship": True})
        assert person.record(handle.id).status == "answered"


@pytest.mark.parametrize("most", [0, 40, 400])
def test_a_stream_that_breaks_is_opened_again(
    venue: Venue, ada: Actor, proxy: Proxy, later: Later, most: int
) -> None:
    proxy.inject("/sse", cut_after(most), 2)
    waiting = later(venue.ask, "T", Ship)
    until(lambda: proxy.count("/sse") >= 3)
    approve(ada)
    assert waiting.result(SOON) == Ship(ship=True)
    assert inbox(ada) == []


@pytest.mark.parametrize(
    "fault",
    [
        refuse(404, text="<html>no such page"),
        refuse(403),
        refuse(405),
        refuse(502),
        refuse(429, {"Retry-After": "10"}),
        refuse(200, text="no stream"),
        refuse(200, text="data: {\n\ndata: []\n\n"),
    ],
)
def test_without_a_stream_it_polls(venue: Venue, ada: Actor, proxy: Proxy, later: Later, fault: Any) -> None:
    proxy.inject("/sse", fault, float("inf"))
    waiting = later(venue.ask, "T", Ship)
    approve(ada)
    start = time.monotonic()
    assert waiting.result(SOON) == Ship(ship=True)
    assert time.monotonic() - start < 5


def test_a_server_that_is_killed_loses_nothing(tmp_path: Path, later: Later) -> None:
    """Killed while one client waits, down while another asks, and up again on the same data."""
    with Served(tmp_path / "data") as served:
        ada = served.owner()
        token = served.agent(ada).token
        with Venue(served.url, token=token) as venue:
            first = later(venue.ask, "first", Ship)
            asked(ada)
            served.kill()
            second = later(venue.ask, "second", Ship)
            time.sleep(0.5)  # both have met a closed port by now
            served.start()
            ada = served.owner(ada.signer)
            assert sorted(record["title"] for record in asked(ada, 2)) == ["first", "second"]
            for record in inbox(ada):
                ada.respond(record["id"], answers={"ship": True}).ok()
            assert first.result(SOON) == second.result(SOON) == Ship(ship=True)
            assert len(inbox(ada, "answered")) == 2


def test_a_server_that_stops_in_mid_ask_is_asked_again(venue: Venue, ada: Actor, proxy: Proxy) -> None:
    """It says so, when to come again, and is back."""
    answer = '{"error": "The venue cannot do this just now", "code": "store_busy"}'
    proxy.inject("POST /api/v1/invoke", refuse(503, {"Retry-After": "1"}, answer), 1)
    start = time.monotonic()
    venue.ask("T", Ship, wait=False)
    assert time.monotonic() - start >= 1
    assert len(inbox(ada)) == 1


def test_too_fast_waits_as_long_as_it_is_told(venue: Venue, ada: Actor, proxy: Proxy) -> None:
    said = '{"error": "Slow down", "code": "rate_limited"}'
    proxy.inject("POST /api/v1/invoke", refuse(429, {"Retry-After": "1"}, said), 2)
    start = time.monotonic()
    venue.ask("T", Ship, wait=False)
    assert 2 <= time.monotonic() - start < 6
    assert len(inbox(ada)) == 1


def test_too_fast_for_longer_than_there_is_patience_says_when(venue: Venue, ada: Actor, proxy: Proxy) -> None:
    said = '{"error": "Too many", "code": "too_many_open"}'
    proxy.inject("POST /api/v1/invoke", refuse(429, {"Retry-After": "60"}, said), 1)
    with pytest.raises(TooFast, match="60 s") as caught:
        venue.ask("T", Ship, wait=False)
    assert (caught.value.code, caught.value.retry_after) == ("too_many_open", 60)
    assert inbox(ada) == []


@pytest.mark.parametrize(("status", "attempts"), [(500, 1), (501, 1), (502, 2), (503, 2), (504, 2)])
def test_a_failing_venue_is_told_from_a_missing_one(
    proxy: Proxy, token: str, status: int, attempts: int
) -> None:
    with Venue(proxy.url, token=token, patience=0.3) as venue:
        venue.did()
        proxy.inject("POST /api/v1/invoke", refuse(status), float("inf"))
        with pytest.raises(VenueFault) as caught:
            venue.ask("T", Ship, wait=False)
    assert caught.value.status == status
    assert proxy.count("POST /api/v1/invoke") == attempts


def test_a_slow_venue_is_told_from_a_missing_one(proxy: Proxy, ada: Actor, token: str) -> None:
    with Venue(proxy.url, token=token, patience=0.4) as venue:
        venue.did()
        proxy.inject("POST /api/v1/invoke", stall(2), 5)
        start = time.monotonic()
        with pytest.raises(NoAnswer):
            venue.ask("T", Ship, key="k", wait=False)
        assert time.monotonic() - start < 2
    with Venue(proxy.url, token=token, patience=20) as patient:
        patient.ask("T", Ship, key="k", wait=False)
    assert len(inbox(ada)) == 1


def test_a_venue_that_is_away_for_too_long_is_named_and_the_question_stays(
    proxy: Proxy, served: Served, ada: Actor, token: str
) -> None:
    with Venue(proxy.url, token=token, patience=0.5) as venue:
        handle = venue.ask("T", Ship, wait=False)
        proxy.inject("/jobs/", hang_up, float("inf"))
        with pytest.raises(Unreachable) as caught:
            handle.wait()
    assert proxy.url in str(caught.value)
    assert handle.id in caught.value.__notes__[0]
    assert [record["id"] for record in inbox(ada)] == [handle.id]
    with Venue("http://127.0.0.1:1", token=token, patience=0) as nowhere, pytest.raises(Unreachable):
        nowhere.did()


def test_a_token_that_is_revoked_while_it_waits_ends_the_wait(venue: Venue, ada: Actor, later: Later) -> None:
    waiting = later(venue.ask, "T", Ship)
    asked(ada)
    ada.run("v/ops/agent/revoke", {"agentId": "helper"}).ok()
    with pytest.raises(NotAuthenticated, match="revoked"):
        waiting.result(SOON)
    assert len(inbox(ada)) == 1


def test_a_token_that_has_expired_is_refused(tmp_path: Path) -> None:
    """By the venue's clock; the client's does not matter to a token."""
    clock = FrozenClock(datetime(2026, 1, 1, tzinfo=UTC))
    with LoopThread() as thread, httpx.Client() as http, ExitStack() as ended:
        here = FrozenVenue(thread, Site("venue", tmp_path), clock)
        here.start()
        ended.callback(here.stop)
        http.base_url = httpx.URL(here.url)
        ada = Actor(http, here.did, signer=new_signer(), now=lambda: clock().timestamp())
        token = ada.run("v/ops/agent/enrol", {"agentId": "brief", "lifetime": 60}).ok()["token"]
        with Venue(here.url, token=token) as venue:
            handle = venue.ask("T", Ship, wait=False)
            clock.advance(60_000)
            for call in (lambda: venue.ask("T", Ship), handle.wait, handle.cancel):
                with pytest.raises(NotAuthenticated, match="expired"):
                    call()


def test_a_refusal_is_not_repeated(venue: Venue, ada: Actor, proxy: Proxy) -> None:
    with pytest.raises(Refused) as caught:
        venue.ask(" ", Ship)
    assert (caught.value.code, caught.value.status) == ("invalid_input", 400)
    assert proxy.count("POST /api/v1/invoke") == 1
