"""Step 1 of the flow: `POST invoke` and `POST run` (`wire.md` 2.3, 2.4)."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from ops.errors import NotCompleted
from ops.invoke import Invoker
from ops.model import Job

from ..auth import CallerOf, with_proofs
from ..problems import HttpProblem
from ..respond import json_response
from ..waiting import Waiters
from ..wire import idempotency_key, invoke_body, query_text, wait_seconds

router = APIRouter(prefix="/api/v1")


@router.post("/invoke")
async def invoke(request: Request, caller: CallerOf) -> Response:
    """Run an operation as a durable job: 201 with its record, 200 when it completed within the wait."""
    body = await invoke_body(request)
    seconds = wait_seconds(query_text(request, "wait"), body.wait)
    caller = await with_proofs(request, caller, body.ucans, judged=body.judged)
    invoker: Invoker = request.app.state.invoker
    job = await invoker.invoke(body.operation, body.input, caller, idempotency_key(request))
    record = job.record()
    if seconds and not job.status.finished:
        record = await _waiters(request).finished(job.id, caller, seconds, request)
    done = bool(seconds) and record["status"] == "COMPLETE"
    location = f"{request.app.state.settings.prefix}/api/v1/jobs/{job.id}"
    return json_response(record, 200 if done else 201, {"Location": location})


@router.post("/run")
async def run(request: Request, caller: CallerOf) -> Response:
    """Run an operation and answer with its bare output; one that parks is answered once it is finished."""
    body = await invoke_body(request)
    caller = await with_proofs(request, caller, body.ucans, judged=body.judged)
    invoker: Invoker = request.app.state.invoker
    result = await invoker.run(body.operation, body.input, caller, idempotency_key(request))
    if not isinstance(result, Job):
        return json_response(result)
    return json_response(_output(await _waiters(request).finished(result.id, caller, None, request)))


def _output(record: dict[str, Any]) -> Any:
    if record["status"] == "COMPLETE":
        return record["output"]
    if "error" in record:
        raise NotCompleted(record["error"])
    raise HttpProblem("shutting_down", f"The venue is stopping; job {record['id']} goes on and still waits")


def _waiters(request: Request) -> Waiters:
    waiters: Waiters = request.app.state.waiters
    return waiters
