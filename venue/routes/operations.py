"""The catalogue of operations (`wire.md` 1.5)."""

from urllib.parse import unquote

from fastapi import APIRouter, Request
from starlette.responses import Response

from ops import access
from ops.desk import MAX_PAGE
from ops.errors import NotFoundInCatalogue, UnknownOperation
from ops.model import ASKERS
from ops.registry import Registry, info, metadata

from ..auth import CallerOf
from ..problems import HttpProblem
from ..respond import json_response
from ..wire import page_offset, whole_number

router = APIRouter(prefix="/api/v1")


@router.get("/operations")
async def operations(request: Request, _: CallerOf) -> Response:
    """Every operation with its schemas."""
    registry: Registry = request.app.state.registry
    return json_response([info(operation) for operation in registry])


@router.get("/operations/{path:path}")
async def operation(request: Request, path: str, _: CallerOf) -> Response:
    """One operation; the slashes of its path may come raw or as %2F."""
    registry: Registry = request.app.state.registry
    try:
        return json_response(info(registry.find(unquote(path))))
    except UnknownOperation as error:
        raise NotFoundInCatalogue(str(error)) from None


@router.get("/adapters/{name}/operations")
async def adapter(request: Request, name: str, _: CallerOf) -> Response:
    """The operations of one adapter by their paths, with their metadata."""
    registry: Registry = request.app.state.registry
    found = {op.path: metadata(op) for op in registry if op.adapter.split(":")[0] == name}
    if not found:
        raise NotFoundInCatalogue(f"No adapter is called {name[:100]!r}")
    return json_response(found)


@router.get("/assets")
async def assets(request: Request, caller: CallerOf) -> Response:
    """An empty page: this venue keeps no assets."""
    access.admit(caller, ASKERS)
    offset, limit = page_offset(request), whole_number(request, "limit", MAX_PAGE)
    if limit > MAX_PAGE:
        raise HttpProblem("invalid_input", f"limit: must be between 0 and {MAX_PAGE}")
    return json_response({"items": [], "total": 0, "offset": offset, "limit": limit})
