"""The story itself: an agent asks, a person decides, authority is conferred, and a crash changes nothing."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from rich.console import Console

from inbox.clock import Clock
from ucan.keys import Ed25519Signer

from .stage import Actor, DemoFailed, Narrator, ServerProcess

OFFER = {"with": "w/reports/", "can": "crud/read"}
_REPORT = {"revenue": 1200, "currency": "EUR"}
_PATIENCE = 30.0


class Story:
    """One telling. Every step checks what came of it, and the first that is not as told ends the story."""

    def __init__(
        self,
        server: ServerProcess,
        narrator: Narrator,
        clock: Clock,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._server = server
        self._narrator = narrator
        self._clock = clock
        self._transport = transport
        signer = Ed25519Signer(Ed25519PrivateKey.generate())
        self._owner_did = signer.did
        self._owner = Actor("Ada", server, clock, signer=signer, transport=transport)
        self._agent: Actor = self._owner
        self._remembered: dict[str, dict[str, Any]] = {}

    def tell(self) -> None:
        """Tell it from beginning to end. Raises DemoFailed."""
        self._enrol()
        approved = self._ask()
        token = self._approve(approved)
        self._use(token)
        self._reject()
        self._expire()
        self._crash(token)

    def close(self) -> None:
        """Let go of the connections."""
        self._owner.close()
        self._agent.close()

    def _enrol(self) -> None:
        self._narrator.tell(
            "Ada", f"has a key of her own, {self._owner_did}, and puts two documents into her workspace."
        )
        self._owner.run("v/ops/covia/write", {"path": "w/reports/q3", "value": _REPORT})
        self._owner.run("v/ops/covia/write", {"path": "w/private/plan", "value": "not for agents"})
        self._narrator.tell("Ada", "enrols the agent “helper”. It may ask her, and nothing else.")
        enrolled = self._owner.run("v/ops/agent/enrol", {"agentId": "helper"})
        self._narrator.show("agent:enrol answers", enrolled)
        self._agent = Actor(
            "helper", self._server, self._clock, token=enrolled["token"], transport=self._transport
        )
        _expect(enrolled["did"] == f"{self._owner_did}:g:helper", "the agent's DID names its owner")
        refused = self._agent.read("w/reports/q3")
        _expect(refused.status_code == 403, "the agent cannot read the report yet")

    def _ask(self) -> str:
        request = {
            "title": "May I read the Q3 report?",
            "description": "I am to write the summary for the board.",
            "asks": [
                {
                    "id": "access",
                    "type": "approval",
                    "prompt": "Let me read w/reports/?",
                    "required": True,
                    "grants": [OFFER],
                },
                {"id": "note", "type": "text", "prompt": "Anything I should know?"},
            ],
        }
        self._narrator.tell("helper", "asks. The venue keeps the request; the agent's job waits.")
        self._narrator.show("hitl:request is given", request)
        job_id = self._agent.ask(request)
        job = self._agent.job(job_id)
        self._narrator.show("the job", job)
        _expect(job["status"] == "INPUT_REQUIRED", "the job waits for a person")
        return job_id

    def _approve(self, job_id: str) -> str:
        self._narrator.tell("Ada", "looks into her inbox and reads the whole request.")
        waiting = self._owner.run("v/ops/hitl/list", {"status": "open"})
        self._narrator.show("hitl:list answers", waiting)
        _expect(waiting["count"] == 1, "one request waits")
        record = self._owner.read(f"h/{job_id}").json()["value"]
        self._narrator.show(f"h/{record['id']}", record)
        _expect(record["from"] == f"{self._owner_did}:g:helper", "the venue says who really asks")
        answer = {
            "id": job_id,
            "outcome": "answer",
            "answers": {"access": True, "note": "Leave out the forecast."},
            "grants": [OFFER],
            "digest": record["digest"],
        }
        self._narrator.tell("Ada", "approves, and echoes the one grant that she means to confer.")
        self._narrator.show("hitl:respond is given", answer)
        with self._watching(job_id) as seen:
            self._owner.run("v/ops/hitl/respond", answer)
        return self._completed(seen)

    def _completed(self, seen: list[dict[str, Any]]) -> str:
        _expect(
            [job["status"] for job in seen] == ["INPUT_REQUIRED", "COMPLETE"],
            "the waiting agent heard the answer",
        )
        job = seen[-1]
        self._narrator.tell(
            "helper", "was waiting on the job's stream, which ends with the answer and a token."
        )
        self._narrator.show("the finished job's output", job["output"])
        _expect(job["output"]["answers"]["access"] is True, "the answer is yes")
        token = str(job["output"].get("token", ""))
        _expect(bool(token), "the answer carries a token")
        claims = self._narrator.decode(token)
        _expect(claims["aud"] == f"{self._owner_did}:g:helper", "the token is for the agent and nobody else")
        granted = {"with": f"{self._owner_did}/w/reports/", "can": "crud/read"}
        _expect(claims["att"] == [granted], "the token says exactly what was offered and echoed")
        self._remembered[str(job["id"])] = job
        return token

    def _use(self, token: str) -> None:
        report, plan = f"{self._owner_did}/w/reports/q3", f"{self._owner_did}/w/private/plan"
        self._narrator.tell("helper", "opens w/reports/q3 with the token, and tries the door beside it.")
        opened = self._agent.read(report, token)
        self._narrator.show("w/reports/q3", opened.json())
        _expect(opened.status_code == 200 and opened.json()["value"] == _REPORT, "the report opens")
        refused = self._agent.read(plan, token)
        self._narrator.show(f"w/private/plan ({refused.status_code})", refused.json())
        _expect(refused.status_code == 403, "the door beside it stays shut")

    def _reject(self) -> None:
        self._narrator.tell("helper", "asks to send mail in her name. Ada says no, and why.")
        job_id = self._agent.ask(_simple("Send the summary to everyone?"))
        self._owner.run(
            "v/ops/hitl/respond", {"id": job_id, "outcome": "reject", "comment": "Not before Monday."}
        )
        job = self._agent.job(job_id)
        self._narrator.show("the job", job)
        _expect(job["status"] == "FAILED", "a rejection fails the job")
        _expect(
            job["error"] == "HITL request rejected: Not before Monday.", "the reason arrives word for word"
        )
        self._remembered[job_id] = job

    def _expire(self) -> None:
        self._narrator.tell("helper", "asks something that is only worth a second. Nobody answers.")
        job_id = self._agent.ask({**_simple("Use the express lane?"), "timeout": 1})
        with self._watching(job_id) as seen:
            pass
        self._narrator.show("the job", seen[-1])
        _expect(seen[-1]["error"] == "HITL request expired", "an expiry is not a rejection")
        self._remembered[job_id] = seen[-1]

    def _crash(self, token: str) -> None:
        self._narrator.tell("The server", "is killed without warning, and started again.")
        waiting = self._agent.ask(_simple("Still there after a crash?"))
        self._server.kill()
        self._server.start()
        for job_id, before in self._remembered.items():
            _expect(self._agent.job(job_id) == before, f"job {job_id} reads as before the crash")
        opened = self._agent.read(f"{self._owner_did}/w/reports/q3", token)
        _expect(opened.status_code == 200, "the token still opens the report")
        _expect(
            self._owner.run("v/ops/hitl/list", {"status": "open"})["count"] == 1, "what waited still waits"
        )
        self._owner.run("v/ops/hitl/respond", {"id": waiting, "outcome": "answer", "answers": {"ok": True}})
        _expect(self._agent.job(waiting)["status"] == "COMPLETE", "and can be answered")
        self._narrator.say(
            "Every answer, rejection and expiry is still true; what waited still waits and was answered."
        )

    @contextmanager
    def _watching(self, job_id: str) -> Iterator[list[dict[str, Any]]]:
        """Follow a job in another thread, as a waiting agent would; the records are there when the block is
        left.
        """
        seen: list[dict[str, Any]] = []
        started = self._agent.job(job_id)
        watcher = threading.Thread(target=lambda: seen.extend(self._agent.watch(job_id)), daemon=True)
        watcher.start()
        _expect(started["status"] == "INPUT_REQUIRED", "the job waits for a person")
        yield seen
        watcher.join(_PATIENCE)
        _expect(bool(seen) and not watcher.is_alive(), "the stream of the job came to its end")
        if seen[0]["status"] != "INPUT_REQUIRED":
            seen.insert(0, started)


def run(
    console: Console, clock: Clock, *, stay: bool = False, transport: httpx.BaseTransport | None = None
) -> None:
    """Tell the story on a temporary data directory. Raises DemoFailed when anything is not as told."""
    narrator = Narrator(console)
    with TemporaryDirectory(prefix="venue-demo-") as directory:
        server = ServerProcess(Path(directory))
        try:
            server.start()
            narrator.tell("The venue", f"{server.did} serves at {server.url}.")
            story = Story(server, narrator, clock, transport)
            try:
                story.tell()
            finally:
                story.close()
            narrator.tell("The end.", "Everything above went over HTTP to a server of its own.")
            if stay:
                console.print(f"\nThe venue still serves at {server.url}; press Ctrl-C to end it.")
                threading.Event().wait()
        finally:
            server.kill()


def _simple(title: str) -> dict[str, Any]:
    return {"title": title, "asks": [{"id": "ok", "type": "approval", "prompt": title, "required": True}]}


def _expect(true: bool, what: str) -> None:
    if not true:
        raise DemoFailed(f"this was to be true and is not: {what}")
