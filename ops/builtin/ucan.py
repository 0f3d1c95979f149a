"""`ucan:issue` and `ucan:verify`: confer what is yours, and ask what a token is worth (D9, D10)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from inbox.model import MAX_SECONDS, Grant
from ucan.capability import absolute, parse
from ucan.did import is_did
from ucan.errors import UcanError
from ucan.verify import Verdict, rights_of, verify

from .. import access, granting
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
    att: list[CapabilityShape] = Field(min_length=1, max_length=_MOST)
    exp: int = Field(description="When it ends, in unix seconds.")


class IssueOutput(BaseModel):
    """The signed token."""

    token: str


class VerifyInput(BaseModel):
    """A token, and optionally what it is to be used for; a bare `with` belongs to the audience."""

    model_config = ConfigDict(strict=True, populate_by_name=True)

    token: str
    with_: str | None = Field(default=None, alias="with")
    can: str | None = None
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
    ),
)
