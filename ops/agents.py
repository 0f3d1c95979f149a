"""Agents: sub-principals in their owner's namespace, by token or by a key of their own (D3, D23)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inbox.canonical import canonical, plain
from inbox.store.base import Row, Transaction
from ucan.did import agent_did

from . import bindings, ledger
from .errors import WrongState


@dataclass(frozen=True, slots=True)
class LiveAgent:
    """An agent that may act now: its configured capabilities, None when it has none configured."""

    caps: Sequence[Mapping[str, Any]] | None


def enrol(
    tx: Transaction, owner: str, agent_id: str, caps: Sequence[Mapping[str, Any]] | None, now: int
) -> None:
    """Record an agent, unless it is enrolled already with the very same caps.

    Raises WrongState (`wrong_state`) for an id that was revoked (it is never used again), or for other caps
    than the agent has.
    """
    text = None if caps is None else canonical(list(caps))
    row = tx.one("agent.get", owner=owner, agent_id=agent_id)
    if row is None:
        tx.run("agent.insert", owner=owner, agent_id=agent_id, caps=text, created=now)
    elif row["revoked"] is not None:
        raise WrongState(f"the agent id {agent_id!r} was revoked and is never used again")
    elif row["caps"] != text:
        raise WrongState(f"the agent {agent_id!r} is enrolled with other caps; revoke it and enrol a new id")


def add_token(tx: Transaction, owner: str, agent_id: str, jti: str, exp: int) -> None:
    """Record a live token of an agent; `exp` in unix seconds."""
    tx.run("agent_token.insert", jti=jti, owner=owner, agent_id=agent_id, exp=exp)


def by_token(tx: Transaction, owner: str, agent_id: str, jti: str) -> LiveAgent | None:
    """The agent behind a token, unless the token or the agent was revoked."""
    row = tx.one("agent_token.live", jti=jti, owner=owner, agent_id=agent_id)
    return None if row is None else _live(row)


def by_id(tx: Transaction, owner: str, agent_id: str) -> LiveAgent | None:
    """An agent that is enrolled and not revoked."""
    row = tx.one("agent.get", owner=owner, agent_id=agent_id)
    return None if row is None or row["revoked"] is not None else _live(row)


def revoke(tx: Transaction, owner: str, agent_id: str, now: int) -> bool:
    """Revoke an agent, its tokens, its keys and what was minted for it, at once and for good (D3).

    Says whether there was a live agent to revoke. `now` in epoch milliseconds.
    """
    if tx.run("agent.revoke", owner=owner, agent_id=agent_id, now=now) == 0:
        return False
    did = agent_did(owner, agent_id)
    tx.run("agent_token.drop", owner=owner, agent_id=agent_id)
    bindings.revoke_all(tx, did, now)
    ledger.revoke_minted_for(tx, did, owner, now)
    return True


def listed(tx: Transaction, owner: str) -> Sequence[Row]:
    """A user's agents by id, revoked ones too; `exp` is when the last token ends, in unix seconds."""
    return tx.all("agent.list", owner=owner)


def _live(row: Row) -> LiveAgent:
    return LiveAgent(None if row["caps"] is None else plain(row["caps"]))
