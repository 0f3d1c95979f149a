"""The one-time link of a managed user: what its page posts, once, after a click (D35)."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from ops import links
from ops.builtin import proofs
from ops.model import Call, Caller
from ops.units import Units
from ucan.did import managed_did
from ucan.errors import UcanError

from ..auth import CallerOf, channel_of
from ..problems import HttpProblem
from ..respond import json_response
from ..wire import LinkBody, body_of

router = APIRouter(prefix="/api/v1")


@router.post("/link")
async def link(request: Request, _: CallerOf) -> Response:
    """Use a code up and bind the key, in one transaction; the code is all the credential there is."""
    body = await body_of(request, LinkBody)
    units: Units = request.app.state.units
    try:
        did = managed_did(units.world.did, body.user)
    except UcanError:
        raise HttpProblem("link_refused", "This link was not made for a user here") from None

    def work(call: Call) -> dict[str, str]:
        links.use(call, body.user, body.code, body.proof)
        return proofs.bind(call, did, did, body.proof)

    return json_response(await units.write(Caller(did, did, channel=channel_of(request)), work))
