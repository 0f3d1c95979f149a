"""Who calls (step 2 of the flow; D2-D4): absent, good and bad credentials are three answers.

Exactly one verifier is chosen by the bearer's own shape, and what it refuses is 401, never a fall-back to
anonymous.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import Depends, Request

from inbox.clock import millis
from inbox.store.base import Database, Transaction
from ops import users
from ops.builtin.agent import TOKEN_TYPE
from ops.errors import NotAdmitted
from ops.model import Caller, World
from ucan.did import agent_id_of, owner_of, public_key
from ucan.errors import UcanError
from ucan.jwt import Jws, check_signature, read
from ucan.verify import self_issued

from .problems import HttpProblem

_PROOFS_DIFFER = "A bearer says who you are; a token that confers capabilities goes into ucans"


@dataclass(frozen=True, slots=True)
class Identified:
    """A caller, and until when the credential that said so is good (unix seconds;
    None for an anonymous one).
    """

    caller: Caller
    expires: int | None = None


class Authenticator:
    """Turns the headers of a request into a caller."""

    def __init__(
        self,
        db: Database,
        world: World,
        *,
        auto_create: bool,
        require_audience: bool,
    ) -> None:
        self._db = db
        self._world = world
        self._auto_create = auto_create
        self._require_audience = require_audience
        self._admitted: set[str] = set()

    async def identify(self, authorization: str | None, channel: str) -> Identified:
        """The caller that this Authorization header names.

        Raises HttpProblem (`unauthorised`) for a bad credential, NotAdmitted (`not_admitted`) for a stranger.
        """
        if authorization is None:
            public = f"{self._world.did}:public"
            return Identified(Caller(public, public, channel=channel, anonymous=True))
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise HttpProblem("unauthorised", "Only bearer tokens are understood here")
        try:
            found = await self._by_shape(token.strip())
        except UcanError as error:
            raise HttpProblem("unauthorised", f"Token rejected: {error}") from None
        return replace(found, caller=replace(found.caller, channel=channel))

    async def _by_shape(self, token: str) -> Identified:
        jws = read(token)
        if jws.typ == TOKEN_TYPE:
            return await self._agent(jws)
        if "att" in jws.claims:
            raise HttpProblem("unauthorised", f"Token rejected: {_PROOFS_DIFFER}")
        return await self._self_issued(token)

    async def _self_issued(self, token: str) -> Identified:
        verdict = self_issued(
            token, venue=self._world.dids, now=self._now(), require_audience=self._require_audience
        )
        if not verdict:
            raise HttpProblem("unauthorised", f"Self-issued token rejected: {verdict.reason}")
        if verdict.subject != verdict.issuer:
            raise HttpProblem(
                "unauthorised", "Self-issued token rejected: the key is not bound to that subject"
            )
        await self._admit(verdict.subject)
        return Identified(Caller(verdict.subject, verdict.subject), verdict.expires)

    async def _agent(self, jws: Jws) -> Identified:
        claims = jws.claims
        check_signature(jws, public_key(f"did:key:{self._world.signer.kid}"))
        did, jti, exp = claims.get("sub"), claims.get("jti"), claims.get("exp")
        if claims.get("iss") != self._world.did or claims.get("aud") not in self._world.dids:
            raise HttpProblem("unauthorised", "Agent token rejected: it is not one of this venue's")
        if not (isinstance(did, str) and isinstance(jti, str) and isinstance(exp, int)):
            raise HttpProblem("unauthorised", "Agent token rejected: it does not say whose it is")
        agent_id = agent_id_of(did)
        if agent_id is None or exp <= self._now():
            raise HttpProblem("unauthorised", "Agent token rejected: it has expired")
        owner = owner_of(did)
        live = await self._db.read(lambda tx: users.live_agent(tx, owner, agent_id, jti))
        if live is None:
            raise HttpProblem("unauthorised", "Agent token rejected: it was revoked")
        return Identified(Caller(did, owner, agent_id=agent_id, caps=live.caps), exp)

    async def _admit(self, did: str) -> None:
        """Raises NotAdmitted for a DID that has no inbox here and gets none by itself (D4)."""
        if did in self._admitted:
            return
        if not await self._db.read(lambda tx: users.registered(tx, did)):
            if not self._auto_create:
                raise NotAdmitted(f"{did} has no account here; the operator can create one")
            await self._db.write(lambda tx: self._register(tx, did))
        self._admitted.add(did)

    def _register(self, tx: Transaction, did: str) -> None:
        users.register(tx, did, millis(self._world.clock()))

    def _now(self) -> int:
        return millis(self._world.clock()) // 1000


def channel_of(request: Request) -> str:
    """How the call came in: a browser says where its page is from, and nothing else does."""
    return "web" if "origin" in request.headers else "api"


async def identify(request: Request) -> Identified:
    """Who calls, for a route."""
    authenticator: Authenticator = request.app.state.authenticator
    return await authenticator.identify(request.headers.get("authorization"), channel_of(request))


async def _caller(request: Request) -> Caller:
    return (await identify(request)).caller


CallerOf: Any = Annotated[Caller, Depends(_caller)]
