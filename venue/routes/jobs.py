"""Jobs: see, list, cancel, delete, stream, and what proves how they ended (`wire.md` 1.3, 1.4, 2.5; D23,
D26).
"""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from ops.desk import MAX_PAGE, Desk
from ops.model import Caller

from ..auth import CallerOf, with_proofs
from ..respond import json_response
from ..wire import cancel_body, header_proofs, json_body, page_offset, whole_number

router = APIRouter(prefix="/api/v1/jobs")


@router.get("")
async def page(request: Request, caller: CallerOf) -> Response:
    """A page of the caller's own jobs, oldest first."""
    offset, limit = page_offset(request), whole_number(request, "limit", MAX_PAGE)
    return json_response(await _desk(request).page(caller, offset, limit))


@router.get("/{job_id}")
async def job(request: Request, job_id: str, caller: CallerOf) -> Response:
    """A job as the caller may see it."""
    return json_response(await _desk(request).job(job_id, await _with_header(request, caller)))


@router.post("/{job_id}")
async def message(request: Request, job_id: str, caller: CallerOf) -> Response:
    """A message to a job; none of this venue's takes any."""
    await json_body(request)
    await _desk(request).refuse(job_id, "message", caller)
    return json_response({})


@router.put("/{job_id}/cancel")
async def cancel(request: Request, job_id: str, caller: CallerOf) -> Response:
    """Cancel a job, by its maker or owner; a finished one is returned unchanged."""
    body = await cancel_body(request)
    return json_response(await _desk(request).cancel(job_id, body.reason, caller))


@router.put("/{job_id}/delete")
async def delete(request: Request, job_id: str, caller: CallerOf) -> Response:
    """Delete a job, by its maker or owner; one that is parked is cancelled first."""
    await _desk(request).delete(job_id, caller)
    return json_response({"deleted": True})


@router.put("/{job_id}/pause")
async def pause(request: Request, job_id: str, caller: CallerOf) -> Response:
    """Pause a job; none of this venue's can be."""
    await _desk(request).refuse(job_id, "pause", caller)
    return json_response({})


@router.put("/{job_id}/resume")
async def resume(request: Request, job_id: str, caller: CallerOf) -> Response:
    """Resume a job; none of this venue's can be."""
    await _desk(request).refuse(job_id, "resume", caller)
    return json_response({})


@router.get("/{job_id}/history")
async def history(request: Request, job_id: str, caller: CallerOf) -> Response:
    """The chain of a job's states: each record as it was hashed, and its hash."""
    items = await _desk(request).history(job_id, await _with_header(request, caller))
    return json_response({"items": [dict(item) for item in items], "total": len(items)})


@router.get("/{job_id}/receipt")
async def receipt(request: Request, job_id: str, caller: CallerOf) -> Response:
    """The venue's signed receipt of how a request was settled."""
    signed = await _desk(request).receipt(job_id, await _with_header(request, caller))
    return json_response({"receipt": signed})


async def _with_header(request: Request, caller: Caller) -> Any:
    return await with_proofs(request, caller, header_proofs(request))


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk
