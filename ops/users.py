"""Who has an inbox here: users, and the agents that act for them (D3, D4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inbox.canonical import canonical, plain
from inbox.store.base import Row, Transaction

from .errors import WrongState


@dataclass(frozen=True, slots=True)
class LiveAgent:
    """An agent whose token is live: its configured capabilities, None when it has none configured."""

    caps: Sequence[Mapping[str, Any]] | None


def registered(tx: Transaction, did: str) -> bool:
    """Whether this DID has an inbox here."""
    return tx.one("user.get", did=did) is not None


def register(tx: Transaction, did: str, now: int) -> None:
    """Give a DID an inbox; once is enough. `now` in epoch milliseconds."""
    tx.run("user.insert", did=did, created=now)


def enrol(
    tx: Transaction,
    owner: str,
    agent_id: str,
    caps: Sequence[Mapping[str, Any]] | None,
    jti: str,
    exp: int,
    now: int,
) -> None:
    """Record an agent and its first live token, or another token for an agent that is enrolled already.

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
    tx.run("agent_token.insert", jti=jti, owner=owner, agent_id=agent_id, exp=exp)


def live_agent(tx: Transaction, owner: str, agent_id: str, jti: str) -> LiveAgent | None:
    """The agent behind a token, unless the token or the agent was revoked."""
    row = tx.one("agent_token.live", jti=jti, owner=owner, agent_id=agent_id)
    if row is None:
        return None
    return LiveAgent(None if row["caps"] is None else plain(row["caps"]))


def revoke(tx: Transaction, owner: str, agent_id: str, now: int) -> bool:
    """Revoke an agent and every token of it at once; says whether there was one to revoke."""
    changed = tx.run("agent.revoke", owner=owner, agent_id=agent_id, now=now) > 0
    tx.run("agent_token.drop", owner=owner, agent_id=agent_id)
    return changed


def agents(tx: Transaction, owner: str) -> Sequence[Row]:
    """A user's agents, revoked ones too, by id;
    `exp` is when the last of its tokens ends, in unix seconds.
    """
    return tx.all("agent.list", owner=owner)
