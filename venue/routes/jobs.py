"""`GET jobs/{id}`, its cancel and its stream (`wire.md` 1.3, 1.4, 2.5)."""

from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from ops.invoke import Invoker
from ops.jobs import parse_id

from ..auth import CallerOf, identify, with_proofs
from ..problems import HttpProblem
from ..respond import json_response
from ..waiting import Waiters
from ..wire import cancel_body, header_proofs

router = APIRouter(prefix="/api/v1/jobs")

_STREAM_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Connection": "close"}


@router.get("/{job_id}")
async def job(request: Request, job_id: str, caller: CallerOf) -> Response:
    """A job as the caller may see it."""
    invoker: Invoker = request.app.state.invoker
    caller = await with_proofs(request, caller, header_proofs(request))
    return json_response(await invoker.job(job_id, caller))


@router.put("/{job_id}/cancel")
async def cancel(request: Request, job_id: str, caller: CallerOf) -> Response:
    """Cancel a job, by its maker or owner; a finished one is returned unchanged."""
    body = await cancel_body(request)
    invoker: Invoker = request.app.state.invoker
    return json_response(await invoker.cancel(job_id, body.reason, caller))


@router.get("/{job_id}/sse")
async def stream(request: Request, job_id: str) -> Response:
    """The job's changes as server-sent events: one frame at once, the finished record last."""
    accept = request.headers.get("accept", "*/*")
    if "*/*" not in accept and "text/event-stream" not in accept and "text/*" not in accept:
        raise HttpProblem("not_acceptable", "This is a stream of server-sent events (text/event-stream)")
    caller = await with_proofs(request, (await identify(request)).caller, header_proofs(request))
    invoker: Invoker = request.app.state.invoker
    await invoker.job(job_id, caller)  # whatever is wrong is an ordinary answer, before the stream begins
    waiters: Waiters = request.app.state.waiters
    waiters.check_stream(caller)

    async def frames() -> AsyncIterator[str]:
        with waiters.a_stream(caller):
            async for frame in waiters.frames(parse_id(job_id), caller, lambda: identify(request)):
                yield frame

    return StreamingResponse(frames(), headers=_STREAM_HEADERS, media_type="text/event-stream")
