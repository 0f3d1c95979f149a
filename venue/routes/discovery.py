"""What anybody may know: status, the DID document, and whether the venue is well (`wire.md` 6, D31).

These answer whatever bearer is attached, for a client must learn the DID before it can name it (D2).
"""

from fastapi import APIRouter, Request
from starlette.responses import Response

from inbox.clock import millis
from ops.model import World

from ..config import Settings
from ..problems import problem
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
            "access": {"public": True, "publicCaps": "read-only", "userAutoCreate": settings.auto_create},
        }
    )


@router.get("/.well-known/did.json")
async def did_document(request: Request) -> Response:
    """The DID document: the venue's key, and where its API is."""
    world: World = request.app.state.world
    key = world.signer.kid
    method = f"{world.did}#{key}"
    document = {
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"],
        "id": world.did,
        "alsoKnownAs": sorted(world.aliases),
        "verificationMethod": [
            {"id": method, "type": "Multikey", "controller": world.did, "publicKeyMultibase": key}
        ],
        **{purpose: [method] for purpose in _PURPOSES},
        "service": [
            {
                "id": f"{world.did}#api",
                "type": "Covia.API.v1",
                "serviceEndpoint": f"{_base(request)}/api/v1",
            }
        ],
    }
    response = json_response(document)
    response.headers["content-type"] = "application/did+json"
    return response


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


def _base(request: Request) -> str:
    settings: Settings = request.app.state.settings
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    return str(request.base_url).rstrip("/")
