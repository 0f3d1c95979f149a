"""Who calls (step 2 of the flow; D2-D5): absent, good and bad credentials are three answers.

Exactly one verifier is chosen by the bearer's own shape, and what it refuses is 401, never a fall-back to
anonymous.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Request

from inbox.clock import millis
from inbox.store.base import Database, Transaction
from ops import access, agents, bindings, users
from ops.builtin.agent import TOKEN_TYPE
from ops.builtin.user import SESSION_TYPE
from ops.errors import NotAdmitted
from ops.model import Caller, Kind, World
from ucan.chain import is_did_key
from ucan.did import agent_id_of, managed_by, owner_of, public_key
from ucan.errors import UcanError
from ucan.jwt import Jws, check_signature, read
from ucan.verify import Verdict, authenticate, self_issued

from .didweb import DidWeb
from .limits import Rates
from .operator import OPERATOR_LIFE, OPERATOR_TYPE
from .problems import HttpProblem
from .version import CLI_AGENT

_PROOFS_DIFFER = "A bearer says who you are; a token that confers capabilities goes into ucans"


class Authenticator:
    """Turns the headers of a request into a caller."""

    def __init__(
        self,
        db: Database,
        world: World,
        web: DidWeb,
        rates: Rates,
        *,
        auto_create: bool,
        require_audience: bool,
    ) -> None:
        self._db = db
        self._world = world
        self._web = web
        self._rates = rates
        self._auto_create = auto_create
        self._require_audience = require_audience
        self._admitted: set[str] = set()

    async def identify(self, authorization: str | None, channel: str) -> Caller:
        """The caller that this Authorization header names, if they do not call too fast.

        Raises HttpProblem (`unauthorised`) for a bad credential, NotAdmitted (`not_admitted`) for a stranger,
        TooFast (`rate_limited`).
        """
        found = await self.recognise(authorization, channel)
        self._rates.check(found.did)
        return found

    async def recognise(self, authorization: str | None, channel: str) -> Caller:
        """The same without counting it as a call; a stream asks now and then whether it may go on (D25)."""
        if authorization is None:
            public = f"{self._world.did}:public"
            return Caller(public, public, Kind.ANONYMOUS, channel=channel)
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise HttpProblem("unauthorised", "Only bearer tokens are understood here")
        try:
            found = await self._by_shape(token.strip())
        except UcanError as error:
            raise HttpProblem("unauthorised", f"Token rejected: {error}") from None
        return replace(found, channel=channel)

    async def _by_shape(self, token: str) -> Caller:
        jws = read(token)
        match jws.typ:
            case typ if typ == TOKEN_TYPE:
                return await self._agent(jws)
            case typ if typ == SESSION_TYPE:
                return await self._session(jws)
            case typ if typ == OPERATOR_TYPE:
                return self._operator(jws)
        if "att" in jws.claims:
            return await self._identity(token, jws)
        return await self._self_issued(token, jws)

    async def _self_issued(self, token: str, jws: Jws) -> Caller:
        judge = partial(
            self_issued,
            token,
            venue=self._world.dids,
            now=self._now(),
            require_audience=self._require_audience,
        )
        if is_did_key(str(jws.claims.get("iss"))):
            verdict = judge()  # a did:key is its own key: nothing has to be looked up
        else:
            await self._learn(token, jws)
            verdict = await self._db.read(lambda tx: judge(resolve=access.keyring(tx, self._world)))
        if not verdict:
            raise HttpProblem("unauthorised", f"Self-issued token rejected: {verdict.reason}")
        if verdict.subject == verdict.issuer and managed_by(verdict.subject) not in self._world.dids:
            await self._admit(verdict.subject)
            return Caller(verdict.subject, verdict.subject)
        return await self._bound(verdict.issuer, verdict.subject)

    async def _bound(self, key: str, principal: str) -> Caller:
        """The agent or managed user that a bound key speaks for."""

        def find(tx: Transaction) -> Caller | None:
            if not bindings.speaks_for(tx, key, principal):
                return None
            agent_id, owner = agent_id_of(principal), owner_of(principal)
            if agent_id is None:
                return Caller(principal, principal) if users.registered(tx, principal) else None
            live = agents.by_id(tx, owner, agent_id)
            return None if live is None else Caller(principal, owner, Kind.AGENT, agent_id, live.caps)

        caller = await self._db.read(find)
        if caller is None:
            raise HttpProblem(
                "unauthorised", "Self-issued token rejected: that key does not speak for its subject"
            )
        return caller

    async def _identity(self, token: str, jws: Jws) -> Caller:
        if jws.claims["att"]:
            raise HttpProblem("unauthorised", f"UCAN bearer rejected: {_PROOFS_DIFFER}")
        await self._learn(token, jws)

        def judge(tx: Transaction) -> Verdict:
            return authenticate(
                token,
                venue=self._world.dids,
                now=self._now(),
                resolve=access.keyring(tx, self._world),
                revoked=access.revocations(tx),
            )

        verdict = await self._db.read(judge)
        if not verdict:
            raise HttpProblem("unauthorised", f"UCAN bearer rejected: {verdict.reason}")
        if agent_id_of(verdict.subject) is not None:
            raise HttpProblem("unauthorised", "UCAN bearer rejected: an agent has a token or a key, not this")
        await self._admit(verdict.subject)
        return Caller(verdict.subject, verdict.subject, Kind.RELAYED)

    async def _agent(self, jws: Jws) -> Caller:
        did, jti, _ = self._venue_signed(jws, "Agent token")
        agent_id, owner = agent_id_of(did), owner_of(did)
        live = None
        if agent_id is not None:
            name = agent_id
            live = await self._db.read(lambda tx: agents.by_token(tx, owner, name, jti))
        if live is None:
            raise HttpProblem("unauthorised", "Agent token rejected: it was revoked")
        return Caller(did, owner, Kind.AGENT, agent_id, live.caps)

    async def _session(self, jws: Jws) -> Caller:
        did, jti, _ = self._venue_signed(jws, "Sign-in")
        if not await self._db.read(lambda tx: users.live_session(tx, did, jti)):
            raise HttpProblem("unauthorised", "Sign-in rejected: it was revoked")
        return Caller(did, did)

    def _operator(self, jws: Jws) -> Caller:
        did, _, exp = self._venue_signed(jws, "Operator token")
        if did not in self._world.dids or exp - self._now() > OPERATOR_LIFE:
            raise HttpProblem("unauthorised", "Operator token rejected: it is not one of this venue's own")
        return Caller(did, did, Kind.OPERATOR)

    def _venue_signed(self, jws: Jws, what: str) -> tuple[str, str, int]:
        """Subject, jti and end of a token that this venue signed for itself, and that is live."""
        claims = jws.claims
        check_signature(jws, public_key(f"did:key:{self._world.signer.kid}"))
        did, jti, exp = claims.get("sub"), claims.get("jti"), claims.get("exp")
        ours = claims.get("iss") in self._world.dids and claims.get("aud") in self._world.dids
        if not ours or not (isinstance(did, str) and isinstance(jti, str) and isinstance(exp, int)):
            raise HttpProblem("unauthorised", f"{what} rejected: it is not one of this venue's")
        if exp <= self._now():
            raise HttpProblem("unauthorised", f"{what} rejected: it has expired")
        return did, jti, exp

    async def _learn(self, token: str, jws: Jws) -> None:
        """Look up a did:web issuer, if it is one whom this venue would admit: strangers make it fetch
        nothing.
        """
        issuer = str(jws.claims.get("iss"))
        if issuer.startswith("did:web:") and issuer not in self._world.dids:
            known = await self._db.read(lambda tx: users.registered(tx, issuer))
            if known or self._auto_create:
                await self._web.learn([token])

    async def _admit(self, did: str) -> None:
        """Raises NotAdmitted for a DID that has no inbox here and gets none by itself (D4)."""
        if did in self._admitted:
            return
        if not await self._db.read(lambda tx: users.registered(tx, did)):
            if not self._admits(did):
                raise NotAdmitted(f"{did} has no account here; the operator can create one (user:create)")
            await self._db.write(lambda tx: self._register(tx, did))
        self._admitted.add(did)

    def _admits(self, did: str) -> bool:
        """Whether a DID may get an inbox by itself: no agent, none of our managed users, not this venue."""
        ours = did in self._world.dids or managed_by(did) in self._world.dids
        return self._auto_create and not ours and agent_id_of(did) is None

    def _register(self, tx: Transaction, did: str) -> None:
        if bindings.is_bound(tx, did):
            raise NotAdmitted(f"{did} speaks for somebody else here, and is no user of its own")
        users.register(tx, did, millis(self._world.clock()))

    def _now(self) -> int:
        return millis(self._world.clock()) // 1000


def channel_of(request: Request) -> str:
    """How the call came in, for the record (D28): a browser says where its page is from, the command line
    which program it is, and everything else is the API. It is a claim, and nothing is allowed because of it.
    """
    if "origin" in request.headers:
        return "web"
    return "cli" if request.headers.get("user-agent", "").startswith(f"{CLI_AGENT}/") else "api"


async def identify(request: Request) -> Caller:
    """Who calls, for a route."""
    authenticator: Authenticator = request.app.state.authenticator
    return await authenticator.identify(request.headers.get("authorization"), channel_of(request))


async def still_good(request: Request) -> Caller:
    """Who calls, once more, for a stream that goes on. Raises as `identify` does, but never TooFast."""
    authenticator: Authenticator = request.app.state.authenticator
    return await authenticator.recognise(request.headers.get("authorization"), channel_of(request))


async def with_proofs(
    request: Request, caller: Caller, proofs: Sequence[str], judged: Sequence[str] = ()
) -> Caller:
    """The caller with the proofs that came along, once the did:web keys that they need were looked up.

    `judged` are tokens that an operation will be asked about; they need the same keys and are no proofs.
    """
    if not caller.anonymous:
        web: DidWeb = request.app.state.web
        await web.learn([*proofs, *judged])
    return replace(caller, proofs=tuple(proofs))


CallerOf: Any = Annotated[Caller, Depends(identify)]
