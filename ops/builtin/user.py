"""`user:*`: who has an inbox here, and the keys and sign-ins of managed users (D3-D5)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inbox import audit, events
from ucan.chain import is_did_key
from ucan.did import agent_id_of, is_did, managed_by, managed_did, public_key
from ucan.errors import UcanError
from ucan.jwt import sign

from .. import bindings, users
from ..errors import BadInput, Forbidden, refused
from ..model import OPERATORS, PERSONS, Call, Kind, Operation
from . import proofs
from .agent import RevokeOutput
from .proofs import KeyOutput, KeysOutput

SESSION_TYPE = "venue-session+jwt"
MAX_SESSION = 12 * 60 * 60
"""The longest that a sign-in lives, in seconds."""


class CreateInput(BaseModel):
    """Either a name, for a user whom the venue manages, or a DID that somebody brought."""

    model_config = ConfigDict(strict=True, extra="forbid")

    username: str | None = Field(default=None, description="A name for a user whom the venue manages.")
    did: str | None = Field(default=None, description="Or the DID of a user who brings their own.")

    @model_validator(mode="after")
    def _one_of_them(self) -> "CreateInput":
        if (self.username is None) == (self.did is None):
            raise ValueError("give a username or a did")
        return self


class CreateOutput(BaseModel):
    """The user's DID, and whether it is new here."""

    did: str
    created: bool


class ListInput(BaseModel):
    """Which page."""

    model_config = ConfigDict(strict=True)

    limit: int = Field(default=100, ge=1, le=1_000, description="How many at most.")
    cursor: str | None = Field(default=None, description="The `cursor` of the page before.")


class UserShape(BaseModel):
    """One user; `name` is there when the venue manages them."""

    did: str
    created: int
    name: str | None = None


class ListOutput(BaseModel):
    """A page of users in the order of their DIDs."""

    items: list[UserShape]
    count: int
    cursor: str | None = None


class WhoseInput(BaseModel):
    """Whose; the operator has to say, anybody else means themselves."""

    model_config = ConfigDict(strict=True, extra="forbid")

    user: str | None = Field(default=None, description="A DID, or the name of a managed user.")


class SignOutInput(WhoseInput):
    """Which sign-in; all of them when absent."""

    jti: str | None = Field(default=None, description="The sign-in's `jti`.")


class SignOutOutput(BaseModel):
    """How many sign-ins were revoked."""

    revoked: int


class BindInput(WhoseInput):
    """A JWT by the key (`iss` its did:key, `sub` the user, `aud` this venue), to prove it."""

    proof: str = Field(description="That JWT.")


class UnbindInput(WhoseInput):
    """Which key."""

    key: str = Field(description="The did:key to revoke.")


def create(call: Call, data: CreateInput) -> dict[str, Any]:
    """Give somebody an inbox. An agent-shaped DID is never a user, nor is a key that speaks for somebody."""
    did = _managed(call, data.username) if data.username is not None else _brought(call, data.did or "")
    created = users.register(call.tx, did, call.now, data.username)
    if created:
        audit.append(call.tx, did, "user.created", call.now, by=call.caller.did)
        events.append(call.tx, did, "user.created", did, call.now)
    return {"did": did, "created": created}


def list_users(call: Call, data: ListInput) -> dict[str, Any]:
    """A page of users."""
    rows = users.page(call.tx, data.cursor or "", data.limit + 1)
    page = [{key: value for key, value in row.items() if value is not None} for row in rows[: data.limit]]
    result = {"items": page, "count": users.count(call.tx)}
    return {**result, "cursor": page[-1]["did"]} if len(rows) > data.limit else result


def sign_in(call: Call, name: str, lifetime: int) -> str:
    """Sign a managed user in for `lifetime` seconds, at most 12 hours. Not an operation: only the command
    line, on the data directory, may do this, and it leaves an audit line. Raises BadInput.
    """
    did = _whose(call, name)
    if not 0 < lifetime <= MAX_SESSION:
        raise BadInput(f"lifetime: a sign-in lives between 1 and {MAX_SESSION} seconds")
    jti, exp = call.world.entropy(16).hex(), call.now_seconds + lifetime
    users.open_session(call.tx, did, jti, exp)
    audit.append(call.tx, did, "user.signed_in", call.now, by=call.caller.did, jti=jti, exp=exp)
    claims = {"iss": call.world.did, "sub": did, "aud": call.world.did, "iat": call.now_seconds, "exp": exp}
    return sign(call.world.signer, {**claims, "jti": jti}, typ=SESSION_TYPE)


def sign_out(call: Call, data: SignOutInput) -> dict[str, int]:
    """Revoke sign-ins, at once."""
    did = _whose(call, data.user)
    revoked = users.close_sessions(call.tx, did, data.jti)
    if revoked:
        audit.append(call.tx, did, "user.signed_out", call.now, by=call.caller.did, jti=data.jti)
        events.append(call.tx, did, "user.signed_out", did, call.now)
    return {"revoked": revoked}


def bind(call: Call, data: BindInput) -> dict[str, str]:
    """Let a managed user sign for themselves with a key of their own."""
    did = _whose(call, data.user)
    return proofs.bind(call, did, did, data.proof)


def keys(call: Call, data: WhoseInput) -> dict[str, Any]:
    """The keys of a managed user, revoked ones too."""
    return proofs.listed(call, _whose(call, data.user))


def unbind(call: Call, data: UnbindInput) -> dict[str, bool]:
    """Revoke a key of a managed user, at once and for good."""
    did = _whose(call, data.user)
    return proofs.unbind(call, did, did, data.key)


def _managed(call: Call, name: str) -> str:
    try:
        return managed_did(call.world.did, name)
    except UcanError as error:
        raise refused(error, "username") from error


def _brought(call: Call, did: str) -> str:
    if agent_id_of(did) is not None:
        raise Forbidden("An agent is never a user; the person it works for is")
    if not is_did(did) or did in call.world.dids:
        raise BadInput("did: must be the DID of a person, and not of this venue")
    if managed_by(did) in call.world.dids:
        raise BadInput("did: a managed user is created by name")
    if bindings.is_bound(call.tx, did):
        raise BadInput("did: that key speaks for somebody else here")
    _check_key(did)
    return did


def _check_key(did: str) -> None:
    """A did:key that is no key, or one that anybody can sign for, is nobody's."""
    if is_did_key(did):
        try:
            public_key(did)
        except UcanError as error:
            raise refused(error, "did") from error


def _whose(call: Call, user: str | None) -> str:
    """The managed user that is meant: the caller, or for the operator whoever it names."""
    if call.caller.kind is Kind.OPERATOR:
        if user is None:
            raise BadInput("user: say whose")
        did = user if user.startswith("did:") else _managed(call, user)
    else:
        did = call.caller.user
        if user not in (None, did):
            raise BadInput("user: only the operator acts for others")
    if managed_by(did) not in call.world.dids or not users.registered(call.tx, did):
        raise BadInput(f"user: {did} is not a user whom this venue manages")
    return did


_EITHER = PERSONS | OPERATORS

OPERATIONS = (
    Operation(
        path="v/ops/user/create",
        adapter="user:create",
        name="Create User",
        description="Give somebody an inbox: by name, whom the venue then manages, or by a DID of their own.",
        input=CreateInput,
        output=CreateOutput,
        handler=create,
        callers=OPERATORS,
        read_only=False,
    ),
    Operation(
        path="v/ops/user/list",
        adapter="user:list",
        name="List Users",
        description="List who has an inbox here.",
        input=ListInput,
        output=ListOutput,
        handler=list_users,
        callers=OPERATORS,
        read_only=True,
    ),
    Operation(
        path="v/ops/user/signout",
        adapter="user:signout",
        name="Sign Out",
        description="Revoke one sign-in of a managed user, or all of them.",
        input=SignOutInput,
        output=SignOutOutput,
        handler=sign_out,
        callers=_EITHER,
        read_only=False,
    ),
    Operation(
        path="v/ops/user/bind",
        adapter="user:bind",
        name="Bind User Key",
        description="Let a managed user sign for themselves with a key of their own.",
        input=BindInput,
        output=KeyOutput,
        handler=bind,
        callers=_EITHER,
        read_only=False,
        hidden=frozenset({"proof"}),
    ),
    Operation(
        path="v/ops/user/keys",
        adapter="user:keys",
        name="List User Keys",
        description="List the keys of a managed user.",
        input=WhoseInput,
        output=KeysOutput,
        handler=keys,
        callers=_EITHER,
        read_only=True,
    ),
    Operation(
        path="v/ops/user/unbind",
        adapter="user:unbind",
        name="Revoke User Key",
        description="Revoke a key of a managed user, at once and for good.",
        input=UnbindInput,
        output=RevokeOutput,
        handler=unbind,
        callers=_EITHER,
        read_only=False,
    ),
)
