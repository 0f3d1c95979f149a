"""What a client of the crash test knows for certain: every try before it is made, every answer as it came.

A line is on the disk before the client goes on, so that what the log says was acknowledged was acknowledged,
whatever died meanwhile. A try without an answer may or may not have happened; there is at most one at a time.
"""

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.harness.actors import Actor, Reply
from ucan.keys import Ed25519Signer

from .clients import ASKS, OFFER

SPEC = {"caps": [{"with": "w/reports", "can": "crud/read"}]}
QUESTIONS = [*ASKS, {"id": "sign", "type": "token", "prompt": "Sign?", "token": SPEC}]
GRANTS = {"grant": [OFFER], "narrow": [{**OFFER, "narrow": {"with": "w/reports/q3"}}]}
"""What is echoed, by what was tried."""
SETTLES = ["grant", "narrow", "approve", "sign", "reject", "cancel", "delete", "forget"]
STRANGERS = [Ed25519Signer.from_seed(bytes([number]) * 32).did for number in (1, 2, 3)]


@dataclass
class Expected:
    """A request as its client knows it. `settling` is a settle that was tried and not acknowledged.

    `revoked` is whether its token was: None when it was tried and not acknowledged.
    """

    job: Mapping[str, Any]
    asked: Mapping[str, Any]
    settled: Mapping[str, Any] | None = None
    settling: Mapping[str, Any] | None = None
    token: str | None = None
    revoked: bool | None = False


@dataclass
class Ledger:
    """What a log comes to: requests by id, documents by name, and the titles of posts without an answer.

    `blocked` is what may be true of a stranger: one of two, while a try had no answer.
    """

    requests: dict[str, Expected] = field(default_factory=dict)
    blocked: dict[str, set[bool]] = field(default_factory=dict)
    documents: dict[str, list[Any]] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)


class Client:
    """An owner and an agent of theirs, who work until the server dies and note what it acknowledged."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.name = path.stem
        self._dice = random.Random(seed)
        self._tries = 0
        self._known = Ledger()

    def work(self, owner: Actor, agent: Actor, acknowledged: Callable[[], object]) -> None:
        """Ask, settle, write and collect at random; returns when the connection breaks."""
        self._known = self.ledger()
        with self.path.open("a", encoding="utf-8") as file:
            while True:
                self._tries += 1
                tried = self._choose(owner)
                _note(file, {"try": self._tries, **tried})
                try:
                    body = _do(owner, agent, tried).ok()
                except httpx.TransportError:
                    return
                _note(file, {"ack": self._tries, "body": body})
                _apply(self._known, tried, body)
                acknowledged()

    def ledger(self) -> Ledger:
        """Read the log back, and say what must be true now."""
        ledger, tries = Ledger(), {}
        for line in self._lines():
            if "try" in line:
                tries[line["try"]] = line
            else:
                _apply(ledger, tries.pop(line["ack"]), line["body"])
        for tried in tries.values():
            _doubt(ledger, tried)
        return ledger

    def _lines(self) -> Iterator[Any]:
        for line in self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else ():
            yield json.loads(line)

    def _choose(self, owner: Actor) -> dict[str, Any]:
        """The next try; most of them ask, for there must be something to settle."""
        known = self._known.requests
        ready = [
            request
            for request, one in known.items()
            if not (one.settled or one.settling or "timeout" in one.asked)
        ]
        done = [request for request, one in known.items() if one.settled and one.settled["verb"] != "forget"]
        minted = [request for request, one in known.items() if one.token and one.revoked is False]
        match self._dice.randrange(10):
            case 0 | 1 if ready:
                return self._settle(owner, self._dice.choice(ready))
            case 2 if done:
                return {"verb": "collect", "request": self._dice.choice(done)}
            case 3 | 4:
                name = f"d{self._dice.randrange(20)}"
                return {"verb": "write", "name": name, "value": {"by": self.name, "try": self._tries}}
            case 5:
                verb = self._dice.choice(["block", "unblock"])
                return {"verb": verb, "requester": self._dice.choice(STRANGERS)}
            case 6 if minted:
                request = self._dice.choice(minted)
                return {"verb": "revoke", "request": request, "token": known[request].token}
        asked = {"title": f"{self.name} asks {self._tries}", "description": "é" * 50, "asks": QUESTIONS}
        return {"verb": "ask", "asked": {**asked, "timeout": 1} if self._dice.random() < 0.2 else asked}

    def _settle(self, owner: Actor, request: str) -> dict[str, Any]:
        verb = self._dice.choice(SETTLES)
        signed = owner.grant(f"{owner.did}:g:helper", "w/reports", "crud/read") if verb == "sign" else None
        return {"verb": verb, "request": request, "comment": f"said {self._tries}", "signed": signed}


def _note(file: Any, line: Mapping[str, Any]) -> None:
    file.write(json.dumps(line) + "\n")
    file.flush()
    os.fsync(file.fileno())


def _do(owner: Actor, agent: Actor, tried: Mapping[str, Any]) -> Reply:
    request, comment = tried.get("request", ""), tried.get("comment")
    match tried["verb"]:
        case "ask":
            return agent.invoke("v/ops/hitl/request", tried["asked"])
        case "reject":
            return owner.respond(request, "reject", comment=comment)
        case "grant" | "narrow" | "approve" | "sign":
            return owner.respond(request, comment=comment, **_answer(tried))
        case "cancel":
            return agent.cancel(request, reason=comment)
        case "delete":
            return owner.run("v/ops/covia/delete", {"path": f"h/{request}"})
        case "forget":
            return agent.request("PUT", f"/api/v1/jobs/{request}/delete")
        case "collect":
            return agent.job(request)
    return _change(owner, tried)


def _answer(tried: Mapping[str, Any]) -> dict[str, Any]:
    answers = {"sign": tried["signed"]} if tried["verb"] == "sign" else {"ok": True}
    echoes = GRANTS.get(tried["verb"])
    return {"answers": answers, "grants": echoes} if echoes else {"answers": answers}


def _change(owner: Actor, tried: Mapping[str, Any]) -> Reply:
    """What an owner changes that settles nothing."""
    match tried["verb"]:
        case "block" | "unblock":
            return owner.run(f"v/ops/hitl/{tried['verb']}", {"requester": tried["requester"]})
        case "revoke":
            return owner.run("v/ops/ucan/revoke", {"token": tried["token"]})
        case "write":
            return owner.run("v/ops/covia/write", {"path": f"w/{tried['name']}", "value": tried["value"]})
    raise ValueError(tried)


def _apply(ledger: Ledger, tried: Mapping[str, Any], body: Any) -> None:
    match tried["verb"]:
        case "ask":
            ledger.requests[body["id"].removeprefix("0x")] = Expected(body, tried["asked"])
        case "write":
            ledger.documents[tried["name"]] = [tried["value"]]
        case "collect":
            ledger.requests[tried["request"]].token = (body.get("output") or {}).get("token")
        case "block" | "unblock":
            ledger.blocked[tried["requester"]] = {tried["verb"] == "block"}
        case "revoke":
            ledger.requests[tried["request"]].revoked = True
        case _:
            ledger.requests[tried["request"]].settled = tried


def _doubt(ledger: Ledger, tried: Mapping[str, Any]) -> None:
    match tried["verb"]:
        case "ask":
            ledger.unsure.add(tried["asked"]["title"])
        case "write":
            ledger.documents.setdefault(tried["name"], [None]).append(tried["value"])
        case "collect":
            pass
        case "block" | "unblock":
            ledger.blocked.setdefault(tried["requester"], {False}).add(tried["verb"] == "block")
        case "revoke":
            ledger.requests[tried["request"]].revoked = None
        case _:
            ledger.requests[tried["request"]].settling = tried
