"""The protocol's own operations, over HTTP: invoked, run, or by an endpoint of their own."""

import json
import threading
from collections.abc import Callable
from typing import Any

import httpx

from ..errors import BadScenario
from ..replies import Reply, of_job, of_value, refusal_in
from . import Act, step

_INVOKED = {
    "hitl:request": "v/ops/hitl/request",
    "hitl:respond": "v/ops/hitl/respond",
    "ucan:issue": "v/ops/ucan/issue",
    "ucan:revoke": "v/ops/ucan/revoke",
    "covia:write": "v/ops/covia/write",
    "covia:append": "v/ops/covia/append",
    "covia:copy": "v/ops/covia/copy",
    "covia:delete": "v/ops/covia/delete",
    "hitl:block": "v/ops/hitl/block",
    "hitl:unblock": "v/ops/hitl/unblock",
    "test:sleep": "v/test/ops/sleep",
    "test:await_input": "v/test/ops/await_input",
}
_RUN = {
    "hitl:list": "v/ops/hitl/list",
    "ucan:verify": "v/ops/ucan/verify",
    "covia:read": "v/ops/covia/read",
    "covia:list": "v/ops/covia/list",
    "covia:slice": "v/ops/covia/slice",
    "covia:inspect": "v/ops/covia/inspect",
    "covia:aggregate": "v/ops/covia/aggregate",
}
_SENT = ("wait", "wait_ms", "header", "mutate_input_after")


def path_of(operation: str) -> str:
    """The catalogue path of one of the protocol's operations."""
    return {**_INVOKED, **_RUN}[operation]


def invoke(act: Act, path: str, data: Any) -> Reply:
    """`POST invoke`: the job that comes of it, and its output when it is complete."""
    body: dict[str, Any] = {"operation": path, "input": data}
    if act.ucans:
        body["ucans"] = list(act.ucans)
    for name in ("wait", "wait_ms"):
        if name in act.transport:
            body["wait"] = act.transport[name]
    reply = of_job(_post(act, "invoke", body))
    if act.transport.get("mutate_input_after") is True:
        _mutate(data)
    reply.settled = reply.ok and path == _INVOKED["hitl:respond"]
    return reply


def run(act: Act, path: str, data: Any) -> Reply:
    """`POST run`: the bare output."""
    ucans = {"ucans": list(act.ucans)} if act.ucans else {}
    return of_value(_post(act, "run", {"operation": path, "input": data, **ucans}))


def get_job(act: Act, job_id: str) -> Reply:
    """`GET jobs/{id}`: the record is the result."""
    answer = act.stage.send(act, "GET", f"/api/v1/jobs/{job_id}", headers=_proof_header(act))
    reply = of_value(answer)
    reply.job = reply.result
    return reply


def _post(act: Act, verb: str, body: Any) -> httpx.Response:
    return act.stage.send(act, "POST", f"/api/v1/{verb}", json=body, headers=act.transport.get("header", {}))


def _proof_header(act: Act) -> dict[str, str]:
    proofs = {"X-Covia-Ucans": ",".join(act.ucans)} if act.ucans else {}
    return {**proofs, **act.transport.get("header", {})}


def _mutate(value: Any) -> None:
    """Change everything in an object that was sent, as a careless caller would afterwards."""
    if isinstance(value, dict):
        for inner in value.values():
            _mutate(inner)
        value["title"] = "changed afterwards"
    elif isinstance(value, list):
        for inner in value:
            _mutate(inner)
        value.append("changed afterwards")


def _register(name: str, path: str, send: Callable[[Act, str, Any], Reply]) -> None:
    @step(name, proofs=True, transport=_SENT if send is invoke else ("header",))
    def do(act: Act, **data: Any) -> Reply:
        return send(act, path, {key.removesuffix("_"): value for key, value in data.items()})


for _name, _path in _INVOKED.items():
    _register(_name, _path, invoke)
for _name, _path in _RUN.items():
    _register(_name, _path, run)


@step("run", proofs=True)
def run_by_path(act: Act, operation: str, input: Any) -> Reply:
    """Run whatever a path names."""
    return run(act, operation, input)


@step("jobs.get", proofs=True, transport=("header",))
def jobs_get(act: Act, id: str) -> Reply:
    """A job's record."""
    return get_job(act, id)


@step("jobs.cancel")
def jobs_cancel(act: Act, id: str, reason: str | None = None) -> Reply:
    """Cancel a job; a finished one comes back unchanged."""
    body = {} if reason is None else {"json": {"reason": reason}}
    reply = of_value(act.stage.send(act, "PUT", f"/api/v1/jobs/{id}/cancel", **body))
    reply.job = reply.result
    reply.settled = reply.ok and reply.result["status"] == "CANCELLED"
    return reply


@step("jobs.delete")
def jobs_delete(act: Act, id: str) -> Reply:
    """Delete a job."""
    return of_value(act.stage.send(act, "PUT", f"/api/v1/jobs/{id}/delete"))


@step("jobs.pause")
def jobs_pause(act: Act, id: str) -> Reply:
    """Pause a job."""
    return of_value(act.stage.send(act, "PUT", f"/api/v1/jobs/{id}/pause"))


@step("jobs.resume")
def jobs_resume(act: Act, id: str) -> Reply:
    """Resume a job."""
    return of_value(act.stage.send(act, "PUT", f"/api/v1/jobs/{id}/resume"))


@step("jobs.message")
def jobs_message(act: Act, id: str, message: Any) -> Reply:
    """Send a job a message."""
    return of_value(act.stage.send(act, "POST", f"/api/v1/jobs/{id}", json=message))


class Stream:
    """A job's stream being read by a thread of its own, from its first frame on."""

    def __init__(self, act: Act, job_id: str) -> None:
        self.statuses: list[str] = []
        self.closed = False
        self.refusal: Reply | None = None
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._read, args=(act, job_id), daemon=True)
        self._thread.start()
        assert self._first.wait(10), "the stream said nothing"

    def collected(self) -> Reply:
        """What came, once the venue has closed the stream."""
        self._thread.join(10)
        assert not self._thread.is_alive(), "the stream was not closed"
        return self.refusal or Reply(result={"statuses": self.statuses, "closed": self.closed})

    def _read(self, act: Act, job_id: str) -> None:
        try:
            with act.stage.streaming(act, f"/api/v1/jobs/{job_id}/sse") as answer:
                if answer.status_code >= 400:
                    answer.read()
                    self.refusal = refusal_in(answer)
                    return
                for line in answer.iter_lines():
                    if line.startswith("data:"):
                        self.statuses.append(json.loads(line.removeprefix("data:"))["status"])
                        self._first.set()
                self.closed = True
        finally:
            self._first.set()


@step("jobs.sse", transport=("accept", "header"))
def jobs_sse(act: Act, id: str) -> Reply:
    """Read a job's stream to its end."""
    return Stream(act, id).collected()


def jobs_sse_in_background(act: Act, id: str) -> Reply:
    """Begin to read a job's stream; the result is the stream, with its first frame."""
    return Reply(result=Stream(act, id))


@step("sse.collect")
def sse_collect(_: Act, stream: Any) -> Reply:
    """What a stream in the background has brought, once it is closed."""
    if not isinstance(stream, Stream):
        raise BadScenario("sse.collect: this is no stream")
    return stream.collected()
