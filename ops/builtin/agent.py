"""`agent:enrol|list|revoke`: agents that work in their owner's namespace, by token (D3)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from inbox import audit, events
from inbox.canonical import plain
from inbox.model import DAY
from ucan.capability import parse_configured
from ucan.did import agent_did
from ucan.errors import UcanError
from ucan.jwt import sign

from .. import agents, settle
from ..errors import BadInput, refused
from ..model import PERSONS, Call, Operation
from . import proofs
from .proofs import KeyOutput, KeysOutput
from .shapes import Capabilities

TOKEN_TYPE = "venue-agent+jwt"  # noqa: S105 - the typ of such tokens (D1)
AGENT_ID = Field(alias="agentId", min_length=1, max_length=64, description="The agent's id, as you chose it.")


class EnrolInput(BaseModel):
    """Which agent, what it may do in its owner's namespace, and for how long its token lives."""

    model_config = ConfigDict(strict=True, extra="forbid", populate_by_name=True)

    agent_id: str = AGENT_ID
    caps: Capabilities = Field(
        default=None,
        description="What it may do in your namespace, as {with, can}. Absent: ask you. Empty: nothing.",
    )
    lifetime: int = Field(
        default=90 * DAY, ge=60, le=3_653 * DAY, description="Seconds that the token lives."
    )


class EnrolOutput(BaseModel):
    """The agent's DID and its token, which is handed out once and stored nowhere."""

    did: str
    token: str
    exp: int


class AgentInput(BaseModel):
    """Which agent."""

    model_config = ConfigDict(strict=True, extra="forbid", populate_by_name=True)

    agent_id: str = AGENT_ID


class BindInput(AgentInput):
    """A bearer-like JWT by the key (`iss` its did:key, `sub` the agent, `aud` this venue), to prove it."""

    proof: str = Field(description="That JWT.")


class UnbindInput(AgentInput):
    """Which key."""

    key: str = Field(description="The did:key to revoke.")


class ListInput(BaseModel):
    """Nothing to say."""


class AgentShape(BaseModel):
    """One agent; `exp` is when the last of its live tokens ends, `revoked` when it was revoked (epoch
    milliseconds).
    """

    did: str
    agentId: str  # noqa: N815 - the wire's name
    created: int
    caps: list[dict[str, Any]] | None = None
    exp: int | None = None
    revoked: int | None = None


class ListOutput(BaseModel):
    """The caller's agents by id."""

    items: list[AgentShape]
    count: int


class RevokeOutput(BaseModel):
    """Whether there was a live agent to revoke."""

    revoked: bool


def enrol(call: Call, data: EnrolInput) -> dict[str, Any]:
    """Enrol an agent, or give an enrolled one another token; the token is the only copy."""
    owner = call.caller.user
    did = _agent(owner, data.agent_id)
    for index, entry in enumerate(data.caps or ()):
        try:
            caveats = parse_configured(entry, owner).nb
        except UcanError as error:
            raise refused(error, f"caps[{index}]") from error
        if caveats is not None:
            raise BadInput(f"caps[{index}].nb: this venue evaluates no caveats")
    jti, exp = call.world.entropy(16).hex(), call.now_seconds + data.lifetime
    agents.enrol(call.tx, owner, data.agent_id, data.caps, call.now)
    agents.add_token(call.tx, owner, data.agent_id, jti, exp)
    audit.append(call.tx, owner, "agent.enrolled", call.now, agent=did, caps=data.caps, exp=exp, jti=jti)
    events.append(call.tx, owner, "agent.enrolled", data.agent_id, call.now)
    claims = {
        "iss": call.world.did,
        "sub": did,
        "aud": call.world.did,
        "iat": call.now_seconds,
        "exp": exp,
        "jti": jti,
    }
    return {"did": did, "token": sign(call.world.signer, claims, typ=TOKEN_TYPE), "exp": exp}


def list_agents(call: Call, _: ListInput) -> dict[str, Any]:
    """The caller's agents, revoked ones too; an agent may not look."""
    items = []
    for row in agents.listed(call.tx, call.caller.user):
        said = {
            "did": agent_did(call.caller.user, row["agent_id"]),
            "agentId": row["agent_id"],
            "created": row["created"],
            "caps": None if row["caps"] is None else plain(row["caps"]),
            "exp": row["exp"],
            "revoked": row["revoked"],
        }
        items.append({key: value for key, value in said.items() if value is not None})
    return {"items": items, "count": len(items)}


def revoke(call: Call, data: AgentInput) -> dict[str, bool]:
    """Revoke an agent: its tokens stop at once, what it asked is withdrawn, its id never used again."""
    owner = call.caller.user
    did = _agent(owner, data.agent_id)
    revoked = agents.revoke(call.tx, owner, data.agent_id, call.now)
    if revoked:
        settle.withdraw_all(call, did, "The agent that asked was revoked")
        audit.append(call.tx, owner, "agent.revoked", call.now, agent=did)
        events.append(call.tx, owner, "agent.revoked", data.agent_id, call.now)
    return {"revoked": revoked}


def bind(call: Call, data: BindInput) -> dict[str, str]:
    """Let an agent act by a key of its own, which proves itself by a statement that names the agent."""
    owner = call.caller.user
    did = _agent(owner, data.agent_id)
    if agents.by_id(call.tx, owner, data.agent_id) is None:
        raise BadInput(f"agentId: {data.agent_id!r} is not one of your live agents")
    return proofs.bind(call, owner, did, data.proof)


def keys(call: Call, data: AgentInput) -> dict[str, Any]:
    """The keys of an agent, revoked ones too."""
    return proofs.listed(call, _agent(call.caller.user, data.agent_id))


def unbind(call: Call, data: UnbindInput) -> dict[str, bool]:
    """Revoke a key of an agent, at once and for good."""
    return proofs.unbind(call, call.caller.user, _agent(call.caller.user, data.agent_id), data.key)


def _agent(owner: str, agent_id: str) -> str:
    try:
        return agent_did(owner, agent_id)
    except UcanError as error:
        raise refused(error, "agentId") from error


OPERATIONS = (
    Operation(
        path="v/ops/agent/enrol",
        adapter="agent:enrol",
        name="Enrol Agent",
        description="Give an agent an identity in your namespace, and a token that is shown once.",
        input=EnrolInput,
        output=EnrolOutput,
        handler=enrol,
        callers=PERSONS,
        read_only=False,
        secret=frozenset({"token"}),
    ),
    Operation(
        path="v/ops/agent/list",
        adapter="agent:list",
        name="List Agents",
        description="List your agents, live and revoked.",
        input=ListInput,
        output=ListOutput,
        handler=list_agents,
        callers=PERSONS,
        read_only=True,
    ),
    Operation(
        path="v/ops/agent/revoke",
        adapter="agent:revoke",
        name="Revoke Agent",
        description="Revoke an agent and all of its tokens, at once and for good.",
        input=AgentInput,
        output=RevokeOutput,
        handler=revoke,
        callers=PERSONS,
        read_only=False,
    ),
    Operation(
        path="v/ops/agent/bind",
        adapter="agent:bind",
        name="Bind Agent Key",
        description="Let an agent sign for itself with a key of its own.",
        input=BindInput,
        output=KeyOutput,
        handler=bind,
        callers=PERSONS,
        read_only=False,
        hidden=frozenset({"proof"}),
    ),
    Operation(
        path="v/ops/agent/keys",
        adapter="agent:keys",
        name="List Agent Keys",
        description="List the keys of one of your agents.",
        input=AgentInput,
        output=KeysOutput,
        handler=keys,
        callers=PERSONS,
        read_only=True,
    ),
    Operation(
        path="v/ops/agent/unbind",
        adapter="agent:unbind",
        name="Revoke Agent Key",
        description="Revoke a key of one of your agents, at once and for good.",
        input=UnbindInput,
        output=RevokeOutput,
        handler=unbind,
        callers=PERSONS,
        read_only=False,
    ),
)
