"""Binding a key to a principal: shared by `agent:bind` and `user:bind` (D3)."""

from typing import Any

from pydantic import BaseModel

from inbox import audit, events
from ucan.verify import self_issued

from .. import bindings
from ..errors import BadInput
from ..model import Call


class KeyOutput(BaseModel):
    """The key that was bound, and whom it speaks for."""

    key: str
    principal: str


class KeyShape(BaseModel):
    """One key of a principal; times in epoch milliseconds."""

    key: str
    created: int
    revoked: int | None = None


class KeysOutput(BaseModel):
    """The keys of a principal, oldest first."""

    principal: str
    items: list[KeyShape]


def bind(call: Call, feed: str, principal: str, proof: str) -> dict[str, str]:
    """Bind the key that signed `proof`, if the proof names the principal and this venue and is fresh.

    Raises BadInput (`invalid_input`), WrongState (`wrong_state`).
    """
    verdict = self_issued(proof, venue=call.world.dids, now=call.now_seconds)
    if not verdict:
        raise BadInput(f"proof: {verdict.reason}")
    if verdict.subject != principal or verdict.issuer == principal:
        raise BadInput(f"proof: must be signed by a did:key and name {principal} as its subject")
    bindings.bind(call.tx, verdict.issuer, principal, call.now)
    audit.append(
        call.tx, feed, "key.bound", call.now, key=verdict.issuer, principal=principal, by=call.caller.did
    )
    events.append(call.tx, feed, "key.bound", principal, call.now)
    return {"key": verdict.issuer, "principal": principal}


def listed(call: Call, principal: str) -> dict[str, Any]:
    """The keys of a principal, revoked ones too."""
    items = []
    for row in bindings.listed(call.tx, principal):
        said = {"key": row["key"], "created": row["created"], "revoked": row["revoked"]}
        items.append({name: value for name, value in said.items() if value is not None})
    return {"principal": principal, "items": items}


def unbind(call: Call, feed: str, principal: str, key: str) -> dict[str, bool]:
    """Revoke a key of a principal; says whether it was live."""
    revoked = bindings.revoke(call.tx, key, principal, call.now)
    if revoked:
        audit.append(call.tx, feed, "key.revoked", call.now, key=key, principal=principal, by=call.caller.did)
        events.append(call.tx, feed, "key.revoked", principal, call.now)
    return {"revoked": revoked}
