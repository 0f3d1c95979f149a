"""Streams that would outlive what opened them (D25): at the next thing that happens they end, and say
nothing.
"""

from collections.abc import Callable
from functools import partial

import pytest

from tests.harness.actors import Actor
from tests.harness.town import REVOKE, Town, refused
from tests.harness.towns import Build
from ucan.did import agent_did


@pytest.fixture
def ada(town: Town) -> Actor:
    """The person whose things are streamed."""
    return town.person()


def after(
    town: Town,
    watcher: Actor,
    path: str,
    lost: Callable[[], object],
    then: Callable[[], object],
    ucans: str = "",
) -> list[str]:
    """What a stream still says once its right was lost, and then something happened."""
    with town.stream(watcher, path, ucans) as frames:
        assert next(frames)
        lost()
        then()
        return list(frames)


def test_a_stream_of_an_agent_that_was_revoked(town: Town, ada: Actor) -> None:
    """By token and by key."""
    agent = town.agent(ada)
    keyed = town.keyed_agent(ada, agent_did(ada.did, "helper"))
    for watcher, lose in (
        (
            keyed,
            lambda: ada.run("v/ops/agent/unbind", {"agentId": "helper", "key": keyed.signer.key_did}).ok(),
        ),  # type: ignore[union-attr]
        (agent, lambda: ada.run("v/ops/agent/revoke", {"agentId": "helper"}).ok()),
    ):
        request = agent.ask()
        path = f"/api/v1/jobs/{request}/sse"
        # What a revoked agent asked is withdrawn; the answer that comes too late is told to nobody either.
        answer = partial(ada.respond, request, answers={"ok": True})
        said = after(town, watcher, path, lose, answer)
        assert said == []


def test_a_stream_whose_bearer_expired(build: Build) -> None:
    """The clock passes its end; the answer of the next moment is not told."""
    town = build()
    ada = town.person()
    request = ada.ask()
    for path in (f"/api/v1/jobs/{request}/sse", "/api/v1/inbox/sse"):
        with town.stream(ada, path) as frames:
            assert next(frames)
            town.clock.advance(300_000)
            another = ada.ask()
            ada.respond(another if "inbox" in path else request, answers={"ok": True}).ok()
            assert list(frames) == []


def test_a_stream_under_a_proof_that_was_revoked(town: Town, ada: Actor) -> None:
    """The bearer is as good as before; what let it see is not. The stream ends as any other does."""
    bob = town.person()
    request = ada.ask()
    proof = ada.grant(bob.did, "j/", "crud/read")
    path = f"/api/v1/jobs/{request}/sse"

    def lose() -> None:
        ada.run(REVOKE, {"token": proof}).ok()

    said = after(town, bob, path, lose, lambda: ada.respond(request, answers={"ok": True}).ok(), proof)
    assert said == []
    refused(bob.request("GET", path, headers={"X-Covia-Ucans": proof}), "not_found")


def test_a_stream_whose_proof_expired(build: Build) -> None:
    """The same, by the clock."""
    town = build()
    ada, bob = town.person(), town.person()
    request = ada.ask()
    proof = ada.grant(bob.did, "j/", "crud/read", lifetime=60)
    path = f"/api/v1/jobs/{request}/sse"
    answer = lambda: ada.respond(request, answers={"ok": True}).ok()  # noqa: E731
    assert after(town, bob, path, lambda: town.clock.advance(60_000), answer, proof) == []


def test_a_stream_whose_identity_was_revoked(town: Town, ada: Actor) -> None:
    """An identity UCAN that a relay keeps: its owner ends it, and with it what it listens to."""
    relayed = town.relayed(ada)
    request = ada.ask()
    path = f"/api/v1/jobs/{request}/sse"
    said = after(
        town,
        relayed,
        path,
        lambda: ada.run(REVOKE, {"token": relayed.token}).ok(),
        lambda: ada.respond(request, answers={"ok": True}).ok(),
    )
    assert said == []


def test_a_stream_that_is_still_good_hears_it(town: Town, ada: Actor) -> None:
    """The good case of all of these."""
    bob = town.person()
    request = ada.ask()
    proof = ada.grant(bob.did, "j/", "crud/read")
    path = f"/api/v1/jobs/{request}/sse"
    answer = lambda: ada.respond(request, answers={"ok": True}).ok()  # noqa: E731
    said = after(town, bob, path, lambda: None, answer, proof)
    assert len(said) == 1
