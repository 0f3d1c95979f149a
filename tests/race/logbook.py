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

from .clients import ASKS, OFFER


@dataclass
class Expected:
    """A request as its client knows it. `settling` is a settle that was tried and not acknowledged."""

    job: Mapping[str, Any]
    asked: Mapping[str, Any]
    settled: Mapping[str, Any] | None = None
    settling: Mapping[str, Any] | None = None
    token: str | None = None


@dataclass
class Ledger:
    """What a log comes to: requests by id, documents by name, and the titles of posts without an answer."""

    requests: dict[str, Expected] = field(default_factory=dict)
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
                tried = self._choose()
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

    def _choose(self) -> dict[str, Any]:
        """The next try; most of them ask, for there must be something to settle."""
        ready = [
            request
            for request, known in self._known.requests.items()
            if not (known.settled or known.settling or "timeout" in known.asked)
        ]
        done = [request for request, known in self._known.requests.items() if known.settled]
        match self._dice.randrange(8):
            case 0 | 1 if ready:
                verb = self._dice.choice(["grant", "approve", "reject", "cancel", "delete"])
                return {"verb": verb, "request": self._dice.choice(ready), "comment": f"said {self._tries}"}
            case 2 if done:
                return {"verb": "collect", "request": self._dice.choice(done)}
            case 3 | 4:
                name = f"d{self._dice.randrange(20)}"
                return {"verb": "write", "name": name, "value": {"by": self.name, "try": self._tries}}
        asked = {"title": f"{self.name} asks {self._tries}", "description": "é" * 50, "asks": ASKS}
        return {"verb": "ask", "asked": {**asked, "timeout": 1} if self._dice.random() < 0.2 else asked}


def _note(file: Any, line: Mapping[str, Any]) -> None:
    file.write(json.dumps(line) + "\n")
    file.flush()
    os.fsync(file.fileno())


def _do(owner: Actor, agent: Actor, tried: Mapping[str, Any]) -> Reply:
    request, comment = tried.get("request", ""), tried.get("comment")
    match tried["verb"]:
        case "ask":
            return agent.invoke("v/ops/hitl/request", tried["asked"])
        case "grant":
            return owner.respond(request, answers={"ok": True}, grants=[OFFER], comment=comment)
        case "approve":
            return owner.respond(request, answers={"ok": True}, comment=comment)
        case "reject":
            return owner.respond(request, "reject", comment=comment)
        case "cancel":
            return agent.cancel(request, reason=comment)
        case "delete":
            return owner.run("v/ops/covia/delete", {"path": f"h/{request}"})
        case "collect":
            return agent.job(request)
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
        case _:
            ledger.requests[tried["request"]].settling = tried
