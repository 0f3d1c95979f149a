"""Streams of server-sent events: a job's changes, and a user's feed (`wire.md` 1.4; D25)."""

from collections.abc import AsyncIterator

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ops import access
from ops.desk import Desk
from ops.jobs import parse_id
from ops.model import PERSONS, Caller

from ..auth import identify, still_good, with_proofs
from ..guard import HEAD
from ..problems import HttpProblem
from ..waiting import Waiters
from ..wire import header_proofs

router = APIRouter(prefix="/api/v1")

_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Connection": "close"}
_MOST_DIGITS = 15


@router.get("/jobs/{job_id}/sse")
async def job(request: Request, job_id: str) -> Response:
    """A job's changes: one frame at once, the finished record last."""
    _check_accept(request)
    caller = await with_proofs(request, await identify(request), header_proofs(request))
    desk: Desk = request.app.state.desk
    await desk.job(job_id, caller)  # what is wrong is an ordinary answer, before the stream begins
    frames = _waiters(request).job_frames(parse_id(job_id), caller, lambda: still_good(request))
    return _stream(request, caller, frames)


@router.get("/inbox/sse")
async def feed(request: Request) -> Response:
    """What changes in the caller's inbox: id, kind and version, from the version in Last-Event-ID on.

    People only: what an agent may know, it learns from its jobs (D9).
    """
    _check_accept(request)
    caller = await identify(request)
    access.admit(caller, PERSONS)
    seen = request.headers.get("last-event-id", "")
    after = int(seen) if seen.isascii() and seen.isdigit() and len(seen) <= _MOST_DIGITS else None
    return _stream(request, caller, _waiters(request).feed_frames(caller, after, lambda: still_good(request)))


def _stream(request: Request, caller: Caller, frames: AsyncIterator[str]) -> Response:
    waiters = _waiters(request)
    if request.scope.get(HEAD):
        waiters.check_stream(caller)
        return Response(headers=_HEADERS, media_type="text/event-stream")
    return _Counted(waiters, caller, frames)


class _Counted(StreamingResponse):
    """A stream that takes its place before its first byte, so that one too many is still refused as such."""

    def __init__(self, waiters: Waiters, caller: Caller, frames: AsyncIterator[str]) -> None:
        super().__init__(frames, headers=_HEADERS, media_type="text/event-stream")
        self._place = waiters.a_stream(caller)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Stream, while the place is held."""
        with self._place:
            await super().__call__(scope, receive, send)


def _check_accept(request: Request) -> None:
    accept = request.headers.get("accept", "*/*")
    if not any(kind in accept for kind in ("*/*", "text/*", "text/event-stream")):
        raise HttpProblem("not_acceptable", "This is a stream of server-sent events (text/event-stream)")


def _waiters(request: Request) -> Waiters:
    waiters: Waiters = request.app.state.waiters
    return waiters
