"""What a client process of the race tests does: real callers over HTTP, on connections of their own.

A pool spawns the processes and calls `hello` in each; after that the functions here are the tasks. Everything
that goes in or comes out is a plain value.
"""

import time
from dataclasses import dataclass
from multiprocessing.synchronize import Barrier
from threading import Event
from typing import Any

import httpx

from tests.harness.actors import Actor, Reply
from ucan.keys import Ed25519Signer

OFFER = {"with": "w/reports/", "can": "crud/read"}
ASKS = [{"id": "ok", "type": "approval", "prompt": "May I?", "grants": [OFFER]}]
PATIENCE = 60.0


@dataclass(frozen=True)
class Introduction:
    """How a process reaches the venue, and as whom: an owner by the seed of a key, an agent by its token."""

    url: str
    venue_did: str
    owner_seed: bytes
    agent_token: str


@dataclass(frozen=True)
class Told:
    """What one caller heard after it tried to settle a request; only its own try carries the text `mark`."""

    request: str
    verb: str
    mark: str
    status: int
    body: Any

    @property
    def code(self) -> str:
        """The code of a refusal; empty for what was no refusal."""
        return str(self.body.get("code", "")) if self.status >= 400 else ""

    @property
    def won(self) -> bool:
        """Whether the venue said that this very try settled the request; a delete does not say."""
        if self.verb in ("cancel", "withdraw"):
            return self.status == 200 and self.body.get("error") == self.mark
        return self.verb != "delete" and self.status == 200


@dataclass
class _Here:
    """The callers of this process."""

    owner: Actor
    agent: Actor
    start: Barrier


_here: list[_Here] = []


def hello(introduction: Introduction, start: Barrier) -> None:
    """Make the callers of this process; they live as long as it does."""
    http = httpx.Client(base_url=introduction.url, timeout=PATIENCE)
    owner = Actor(http, introduction.venue_did, signer=Ed25519Signer.from_seed(introduction.owner_seed))
    agent = Actor(http, introduction.venue_did, token=introduction.agent_token)
    _here[:] = [_Here(owner, agent, start)]


def settle_all(tries: list[tuple[str, str, str, int | None]]) -> list[Told]:
    """Begin together with the other processes, and try (request, verb, mark, at) one after the other.

    `at` is the moment to strike, in epoch milliseconds; None is at once.
    """
    here = _here[0]
    here.start.wait(PATIENCE)
    return [_try(here, request, verb, mark, at) for request, verb, mark, at in tries]


def answer_each(requests: list[str]) -> list[int]:
    """Approve requests, and return the status of each."""
    return [_here[0].owner.respond(request, answers={"ok": True}).status for request in requests]


def _try(here: _Here, request: str, verb: str, mark: str, at: int | None) -> Told:
    until(at)
    reply = _act(here, request, verb, mark)
    return Told(request, verb, mark, reply.status, reply.body)


def _act(here: _Here, request: str, verb: str, mark: str) -> Reply:
    owner = here.owner
    match verb:
        case "grant":
            return owner.respond(request, answers={"ok": True}, grants=[OFFER], comment=mark)
        case "approve":
            return owner.respond(request, answers={"ok": True}, comment=mark)
        case "decline":
            return owner.respond(request, answers={"ok": False}, comment=mark)
        case "grab":  # echoes what was not triggered: never good, settled or not
            return owner.respond(request, answers={"ok": False}, grants=[OFFER], comment=mark)
        case "reject":
            return owner.respond(request, "reject", comment=mark)
        case "cancel":
            return here.agent.cancel(request, reason=mark)
        case "withdraw":
            return owner.cancel(request, reason=mark)
        case "delete":
            return owner.run("v/ops/covia/delete", {"path": f"h/{request}"})
    raise ValueError(verb)


def until(at: int | None) -> None:
    """Let time pass until an instant, in epoch milliseconds."""
    if at is not None:
        Event().wait(max(0.0, at / 1000 - time.time()))
