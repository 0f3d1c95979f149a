"""What anybody may know: status, the DID document, and whether the venue is well (`wire.md` 6, D31).

These answer whatever bearer is attached, for a client must learn the DID before it can name it (D2).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from inbox.clock import millis
from inbox.store.base import Transaction
from ops import bindings, users
from ops.model import World
from ucan.did import managed_did
from ucan.errors import UcanError

from ..config import Settings
from ..problems import HttpProblem, problem
from ..respond import json_response
from ..version import VERSION

router = APIRouter()

PROFILE = {"ucv": "0.10.0"}
_PURPOSES = ("authentication", "assertionMethod", "capabilityDelegation", "capabilityInvocation")


@router.get("/api/v1/status")
async def status(request: Request) -> Response:
    """Who this venue is, and what it lets strangers do."""
    settings: Settings = request.app.state.settings
    world: World = request.app.state.world
    return json_response(
        {
            "status": "OK",
            "name": settings.name,
            "did": world.did,
            "url": _base(request),
            "version": VERSION,
            "ucanProfile": PROFILE,
            "ts": millis(world.clock()),
            "stats": {"assets": 0, "ops": len(request.app.state.registry)},
            "access": {"public": True, "publicCaps": "read-only", "userAutoCreate": settings.auto_create},
        }
    )


@router.get("/.well-known/did.json")
async def did_document(request: Request) -> Response:
    """The DID document: the venue's key, and where its API is."""
    world: World = request.app.state.world
    service = {
        "id": f"{world.did}#api",
        "type": "Covia.API.v1",
        "serviceEndpoint": f"{_base(request)}/api/v1",
    }
    more = {"alsoKnownAs": sorted(world.aliases), "service": [service]}
    return _document(world.did, [world.signer.kid], more)


@router.get("/u/{name}/did.json")
async def user_document(request: Request, name: str) -> Response:
    """The DID document of a managed user: the keys that are bound to them, if any."""
    world: World = request.app.state.world
    try:
        did = managed_did(world.did, name)
    except UcanError:
        raise HttpProblem("not_found", "There is no such user here") from None

    def find(tx: Transaction) -> Sequence[str] | None:
        return bindings.live_keys(tx, did) if users.registered(tx, did) else None

    keys = await request.app.state.db.read(find)
    if keys is None:
        raise HttpProblem("not_found", "There is no such user here")
    return _document(did, [key.removeprefix("did:key:") for key in keys], {"controller": world.did})


@router.get("/.well-known/mcp")
async def mcp(request: Request) -> Response:
    """Where an MCP client would connect; this version serves none, and says so."""
    settings: Settings = request.app.state.settings
    return json_response({"mcp_version": "1.0", "server_url": _base(request), "description": settings.name})


@router.get("/.well-known/agent-card.json")
async def agent_card() -> Response:
    """This venue is no agent."""
    return problem(
        "not_configured", "This venue is not an agent and has no card", hint="See /api/v1/operations"
    )


@router.get("/healthz")
async def healthz() -> Response:
    """Whether the process serves at all."""
    return json_response({"status": "ok"})


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """Whether the database answers; 503 when it does not."""
    try:
        await request.app.state.db.read(lambda tx: tx.one("venue.get"))
    except Exception:  # noqa: BLE001 - whatever is wrong, the answer is that we are not ready
        return problem("store", "The database does not answer")
    return json_response({"status": "ready"})


def _document(did: str, keys: Sequence[str], more: Mapping[str, Any]) -> Response:
    """A DID document over Multikeys."""
    methods = [
        {"id": f"{did}#{key}", "type": "Multikey", "controller": did, "publicKeyMultibase": key}
        for key in keys
    ]
    document = {
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
        "id": did,
        "verificationMethod": methods,
        **{purpose: [method["id"] for method in methods] for purpose in _PURPOSES},
        **more,
    }
    response = json_response(document)
    response.headers["content-type"] = "application/did+json"
    return response


def _base(request: Request) -> str:
    settings: Settings = request.app.state.settings
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    return str(request.base_url).rstrip("/")
