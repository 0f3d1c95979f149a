"""Reads by path: the same objects as the operations give (`wire.md` 4.2)."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from ops.invoke import Invoker
from ops.model import Caller
from ops.registry import Registry

from ..auth import CallerOf, with_proofs
from ..problems import HttpProblem
from ..respond import json_response
from ..wire import header_proofs, whole_number

router = APIRouter(prefix="/api/v1/values")


@router.get("/read")
async def read(request: Request, caller: CallerOf) -> Response:
    """The value at a path."""
    data = {"path": _path(request), "maxSize": whole_number(request, "maxSize", 1_000_000)}
    return json_response(await _run(request, caller, "v/ops/covia/read", data))


@router.get("/list")
async def list_path(request: Request, caller: CallerOf) -> Response:
    """The keys of the map at a path."""
    data = {
        "path": _path(request),
        "limit": whole_number(request, "limit", 1_000),
        "offset": whole_number(request, "offset", 0),
    }
    return json_response(await _run(request, caller, "v/ops/covia/list", data))


async def _run(request: Request, caller: Caller, path: str, data: dict[str, Any]) -> Any:
    invoker: Invoker = request.app.state.invoker
    registry: Registry = request.app.state.registry
    caller = await with_proofs(request, caller, header_proofs(request))
    return await invoker.read(registry.find(path), data, caller)


def _path(request: Request) -> str:
    path = request.query_params.get("path")
    if not path:
        raise HttpProblem("invalid_input", "path: name what to read")
    return path
