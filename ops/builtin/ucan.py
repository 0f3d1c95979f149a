"""`ucan:issue` and `ucan:verify`: confer what is yours, and ask what a token is worth (D9, D10)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from inbox.model import MAX_SECONDS, Grant
from ucan.capability import absolute, parse
from ucan.did import is_did
from ucan.errors import UcanError
from ucan.verify import Verdict, rights_of, verify

from .. import access, granting, ledger, revoking
from ..errors import BadInput, refused
from ..model import ASKERS, PERSONS, Call, Operation

_MOST = 50


class CapabilityShape(BaseModel):
    """One capability; unknown keys are refused, for a misspelt scope must not widen it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    with_: str = Field(alias="with", min_length=1, description="The resource; a bare path is your own.")
    can: str = Field(min_length=1, description="The ability, such as crud/read.")
    nb: dict[str, Any] | None = Field(default=None, description="Caveats, carried unchanged.")


class IssueInput(BaseModel):
    """What to confer on whom, and until when."""

    model_config = ConfigDict(strict=True, extra="forbid")

    aud: str = Field(description="Who may use the token: a DID.")
    att: list[CapabilityShape] = Field(
        min_length=1, max_length=_MOST, description="What the token confers; it is yours to give."
    )
    exp: int = Field(description="When it ends, in unix seconds.")


class IssueOutput(BaseModel):
    """The signed token."""

    token: str


class RevokeInput(BaseModel):
    """Either a token, or the hash of one that this venue minted."""

    model_config = ConfigDict(strict=True, extra="forbid")

    token: str | None = Field(default=None, description="The token itself.")
    hash: str | None = Field(
        default=None, pattern="^[0-9a-f]{64}$", description="Or its hash, as `ucan:list` gives it."
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> "RevokeInput":
        if (self.token is None) == (self.hash is None):
            raise ValueError("give a token or a hash")
        return self


class RevokeOutput(BaseModel):
    """The hashes of everything that was revoked now: the token, and what was minted in reliance on it."""

    revoked: list[str]


class ListInput(BaseModel):
    """Which page."""

    model_config = ConfigDict(strict=True)

    limit: int = Field(default=100, ge=1, le=1_000, description="How many at most.")
    cursor: str | None = Field(
        default=None, pattern="^[0-9]{1,15}-[0-9a-f]{64}$", description="The `cursor` of the page before."
    )


class MintShape(BaseModel):
    """A live token that the caller's word stands behind: for whom, over what, until when (unix seconds)."""

    hash: str
    audience: str
    grants: list[dict[str, Any]]
    created: int
    exp: int | None = None
    request: str | None = None


class ListOutput(BaseModel):
    """A page of live mints, oldest first."""

    items: list[MintShape]
    cursor: str | None = None


class VerifyInput(BaseModel):
    """A token, and optionally what it is to be used for; a bare `with` belongs to the audience."""

    model_config = ConfigDict(strict=True, populate_by_name=True)

    token: str = Field(description="The token, as a JWT.")
    with_: str | None = Field(default=None, alias="with", description="The resource it is to be used on.")
    can: str | None = Field(default=None, description="The ability it is to be used for.")
    aud: str | None = Field(default=None, description="Who would present it; the caller when absent.")


class VerifyOutput(BaseModel):
    """What the token is worth here.

    `valid` speaks of signatures and times, `rootAuthority` of whose word it is.
    """

    valid: bool
    reason: str | None = None
    iss: str | None = None
    aud: str | None = None
    exp: int | None = None
    chainDepth: int | None = None  # noqa: N815 - the wire's name
    rootIssuer: str | None = None  # noqa: N815 - the wire's name
    att: list[dict[str, Any]] | None = None
    authorises: bool | None = None
    audience: str | None = None


def issue(call: Call, data: IssueInput) -> dict[str, str]:
    """Sign a grant over what is the caller's to give."""
    if not is_did(data.aud):
        raise BadInput("aud: must be a DID")
    _check_end(call, data.exp)
    grants = [_grant(call, entry, index, data.exp) for index, entry in enumerate(data.att)]
    return {"token": granting.confer(call, grants, audience=data.aud, exp=data.exp, request=None)}


def check(call: Call, data: VerifyInput) -> dict[str, Any]:
    """Say what a token is worth; a bad one is an answer, not an error."""
    verdict = verify(
        data.token,
        now=call.now_seconds,
        resolve=access.keyring(call.tx, call.world),
        revoked=access.revocations(call.tx),
    )
    if not verdict:
        return {"valid": False, "reason": verdict.reason}
    return {"valid": True, **_described(call, verdict), **_authorisation(call, data)}


def revoke(call: Call, data: RevokeInput) -> dict[str, list[str]]:
    """Revoke a token, and everything that rests on it, at once (D11)."""
    if data.hash is not None:
        return {"revoked": list(revoking.revoke_minted(call, data.hash))}
    try:
        keyring = access.keyring(call.tx, call.world)
        return {"revoked": list(revoking.revoke_token(call, data.token or "", keyring))}
    except UcanError as error:
        raise refused(error, "token") from error


def list_mints(call: Call, data: ListInput) -> dict[str, Any]:
    """The live tokens that this venue signed at the caller's word."""
    created, _, token_hash = (data.cursor or "0-").partition("-")
    after = (int(created), token_hash)
    rows = ledger.live_by(call.tx, call.caller.user, call.now_seconds, after, data.limit + 1)
    page = [{key: value for key, value in row.items() if value is not None} for row in rows[: data.limit]]
    if len(rows) <= data.limit:
        return {"items": page}
    return {"items": page, "cursor": f"{page[-1]['created']}-{page[-1]['hash']}"}


def _described(call: Call, verdict: Verdict) -> dict[str, Any]:
    rights = rights_of(verdict, access.roots(call))
    token = verdict.chain[0]
    return {
        "iss": token.iss,
        "aud": token.aud,
        "exp": token.exp,
        "chainDepth": rights.chain_depth - 1,  # the wire counts hops, not tokens
        "rootIssuer": rights.root_issuer,
        "att": [{**capability.as_claim(), "rootAuthority": word} for capability, word in rights.att],
    }


def _authorisation(call: Call, data: VerifyInput) -> dict[str, Any]:
    if data.with_ is None or data.can is None:
        return {}
    audience = data.aud or call.caller.did
    try:
        resource = absolute(data.with_, audience)
    except UcanError:
        return {"authorises": False, "audience": audience}
    verdict = access.worth(call, [data.token], audience, data.can, resource)
    return {"authorises": bool(verdict), "audience": audience}


def _check_end(call: Call, exp: int) -> None:
    now, ceiling = call.now_seconds, call.world.issue_max_lifetime
    if exp <= now:
        raise BadInput(f"exp: {exp} is in the past")
    if exp > MAX_SECONDS:
        raise BadInput(f"exp: {exp} looks like milliseconds; give unix seconds")
    if ceiling is not None and exp - now > ceiling:
        raise BadInput(f"exp: {exp - now} seconds is beyond this venue's ceiling of {ceiling} seconds")


def _grant(call: Call, entry: CapabilityShape, index: int, exp: int) -> Grant:
    offered = entry.model_dump(by_alias=True, exclude_unset=True)
    try:
        capability = parse(offered, call.caller.user)
    except UcanError as error:
        raise refused(error, f"att[{index}]") from error
    return Grant(offered, capability.with_, capability.can, entry.nb, exp)


OPERATIONS = (
    Operation(
        path="v/ops/ucan/issue",
        adapter="ucan:issue",
        name="Issue UCAN Token",
        description="Have the venue sign a token that confers what is yours on one audience.",
        input=IssueInput,
        output=IssueOutput,
        handler=issue,
        callers=PERSONS,
        read_only=False,
    ),
    Operation(
        path="v/ops/ucan/verify",
        adapter="ucan:verify",
        name="Verify UCAN Token",
        description="Say whether a token is valid now, whose word it carries, and what it authorises.",
        input=VerifyInput,
        output=VerifyOutput,
        handler=check,
        callers=ASKERS,
        read_only=True,
        hidden=frozenset({"token"}),
    ),
    Operation(
        path="v/ops/ucan/revoke",
        adapter="ucan:revoke",
        name="Revoke UCAN Token",
        description="Revoke a token that is yours to revoke, and everything that rests on it.",
        input=RevokeInput,
        output=RevokeOutput,
        handler=revoke,
        callers=PERSONS,
        read_only=False,
        hidden=frozenset({"token"}),
    ),
    Operation(
        path="v/ops/ucan/list",
        adapter="ucan:list",
        name="List Minted Tokens",
        description="List the live tokens that this venue signed at your word.",
        input=ListInput,
        output=ListOutput,
        handler=list_mints,
        callers=PERSONS,
        read_only=True,
    ),
)
