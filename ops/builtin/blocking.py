"""`hitl:block|unblock|blocked`: whom an owner does not want to hear from (D12)."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from inbox import audit, blocks, events
from ucan.did import is_did, owner_of

from ..errors import BadInput
from ..model import PERSONS, Call, Operation


class BlockInput(BaseModel):
    """Whom not to hear from."""

    model_config = ConfigDict(strict=True, extra="forbid")

    requester: str = Field(description="A DID; its whole user family is meant.")


class BlockOutput(BaseModel):
    """The user whose whole family is blocked now, or not any more."""

    requester: str
    blocked: bool


class BlockedInput(BaseModel):
    """Nothing to say."""


class BlockedShape(BaseModel):
    """Somebody who is blocked, and since when in epoch milliseconds."""

    requester: str
    created: int


class BlockedOutput(BaseModel):
    """Everybody whom the caller has blocked."""

    items: list[BlockedShape]
    count: int


def block(call: Call, data: BlockInput) -> dict[str, Any]:
    """Hear no more from a requester, its agents, and whatever is delegated through it."""
    family = _family(call, data.requester)
    blocks.block(call.tx, call.caller.user, family, call.now)
    audit.append(call.tx, call.caller.user, "requester.blocked", call.now, requester=family)
    events.append(call.tx, call.caller.user, "requester.blocked", family, call.now)
    return {"requester": family, "blocked": True}


def unblock(call: Call, data: BlockInput) -> dict[str, Any]:
    """Lift a block."""
    family = _family(call, data.requester)
    if blocks.unblock(call.tx, call.caller.user, family):
        audit.append(call.tx, call.caller.user, "requester.unblocked", call.now, requester=family)
        events.append(call.tx, call.caller.user, "requester.unblocked", family, call.now)
    return {"requester": family, "blocked": False}


def blocked(call: Call, _: BlockedInput) -> dict[str, Any]:
    """Everybody whom the caller has blocked."""
    items = [dict(row) for row in blocks.listed(call.tx, call.caller.user)]
    return {"items": items, "count": len(items)}


def _family(call: Call, requester: str) -> str:
    if not is_did(requester):
        raise BadInput("requester: must be a DID")
    if owner_of(requester) == call.caller.user:
        raise BadInput("requester: you cannot block yourself; revoke an agent instead")
    return owner_of(requester)


OPERATIONS = (
    Operation(
        path="v/ops/hitl/block",
        adapter="hitl:block",
        name="Block Requester",
        description="Hear no more from a requester, its agents, and whatever is delegated through it.",
        input=BlockInput,
        output=BlockOutput,
        handler=block,
        callers=PERSONS,
        read_only=False,
    ),
    Operation(
        path="v/ops/hitl/unblock",
        adapter="hitl:unblock",
        name="Unblock Requester",
        description="Hear from a blocked requester again.",
        input=BlockInput,
        output=BlockOutput,
        handler=unblock,
        callers=PERSONS,
        read_only=False,
    ),
    Operation(
        path="v/ops/hitl/blocked",
        adapter="hitl:blocked",
        name="Blocked Requesters",
        description="List everybody whom you have blocked.",
        input=BlockedInput,
        output=BlockedOutput,
        handler=blocked,
        callers=PERSONS,
        read_only=True,
    ),
)
