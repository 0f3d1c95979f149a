"""The catalogue of operations (`wire.md` 1.5)."""

from urllib.parse import unquote

from fastapi import APIRouter, Request
from starlette.responses import Response

from ops.errors import NotFoundInCatalogue, UnknownOperation
from ops.registry import Registry, info

from ..auth import CallerOf
from ..respond import json_response

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
