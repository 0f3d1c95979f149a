"""Reads by path: the same objects as the operations give (`wire.md` 4.2)."""

import hashlib
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from inbox.canonical import canonical
from ops.builtin.covia_read import MAX_SIZE
from ops.invoke import Invoker
from ops.model import Caller
from ops.registry import Registry

from ..auth import CallerOf, with_proofs
from ..problems import HttpProblem
from ..respond import json_response
from ..wire import header_proofs, query_text, whole_number

router = APIRouter(prefix="/api/v1/values")


@router.get("/read")
async def read(request: Request, caller: CallerOf) -> Response:
    """The value at a path, with an ETag; 304 when the client has it already."""
    data = {"path": _path(request), "maxSize": whole_number(request, "maxSize", MAX_SIZE)}
    found = await _run(request, caller, "read", data)
    if not found["exists"] or found.get("truncated"):
        return json_response(found)
    tag = f'"0x{hashlib.sha256(canonical(found["value"]).encode()).hexdigest()}"'
    known = request.headers.get("if-none-match", "")
    if tag in known or known.strip() == "*":
        return Response(status_code=304, headers={"ETag": tag})
    return json_response(found, headers={"ETag": tag})


@router.get("/list")
async def list_path(request: Request, caller: CallerOf) -> Response:
    """The keys of the map at a path."""
    size = whole_number(request, "maxSize", MAX_SIZE)
    data: dict[str, Any] = {"path": _path(request), "maxSize": size, **_window(request, 1_000)}
    if fields := query_text(request, "fields"):
        data["fields"] = fields.split(",")
    return json_response(await _run(request, caller, "list", data))


@router.get("/slice")
async def slice_path(request: Request, caller: CallerOf) -> Response:
    """A page of a map or list."""
    size = whole_number(request, "maxSize", MAX_SIZE)
    data = {"path": _path(request), "maxSize": size, **_window(request, 100)}
    return json_response(await _run(request, caller, "slice", data))


@router.get("/inspect")
async def inspect(request: Request, caller: CallerOf) -> Response:
    """A text that shows what is at a path."""
    compact = query_text(request, "compact") or "true"
    if compact not in ("true", "false"):
        raise HttpProblem("invalid_input", "compact: must be true or false")
    budget = whole_number(request, "budget", 500)
    data = {"path": _path(request), "budget": budget, "compact": compact == "true"}
    return json_response(await _run(request, caller, "inspect", data))


@router.get("/count")
async def count(request: Request, caller: CallerOf) -> Response:
    """How many values stand below a path."""
    data = {"path": _path(request), "depth": whole_number(request, "depth", 1)}
    return json_response(await _run(request, caller, "aggregate", data))


@router.get("/aggregate")
async def aggregate(request: Request, caller: CallerOf) -> Response:
    """How many values stand below a path, in groups."""
    data: dict[str, Any] = {"path": _path(request), "depth": whole_number(request, "depth", 1)}
    if group_by := query_text(request, "groupBy"):
        data["groupBy"] = group_by
    return json_response(await _run(request, caller, "aggregate", data))


def _window(request: Request, limit: int) -> dict[str, int]:
    return {"limit": whole_number(request, "limit", limit), "offset": whole_number(request, "offset", 0)}


async def _run(request: Request, caller: Caller, name: str, data: dict[str, Any]) -> Any:
    invoker: Invoker = request.app.state.invoker
    registry: Registry = request.app.state.registry
    caller = await with_proofs(request, caller, header_proofs(request))
    return await invoker.read(registry.find(f"v/ops/covia/{name}"), data, caller)


def _path(request: Request) -> str:
    path = query_text(request, "path")
    if not path:
        raise HttpProblem("invalid_input", "path: name what to read")
    return path
