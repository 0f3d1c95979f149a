"""Whom an owner does not want to hear from (D12): a requester, its agents, and whatever is delegated through
it.
"""

from collections.abc import Iterable, Sequence

from ucan.did import owner_of

from .store.base import Row, Transaction


def block(tx: Transaction, owner: str, requester: str, now: int) -> None:
    """Block the user family of a requester; once is enough. `now` in epoch milliseconds."""
    tx.run("block.insert", owner=owner, requester=owner_of(requester), created=now)


def unblock(tx: Transaction, owner: str, requester: str) -> bool:
    """Lift a block; says whether there was one."""
    return tx.run("block.delete", owner=owner, requester=owner_of(requester)) > 0


def listed(tx: Transaction, owner: str) -> Sequence[Row]:
    """Everybody whom an owner has blocked: requester and created."""
    return tx.all("block.list", owner=owner)


def any_blocked(tx: Transaction, owner: str, principals: Iterable[str]) -> bool:
    """Whether an owner has blocked the family of any of these principals."""
    families = {owner_of(principal) for principal in principals}
    return any(tx.one("block.get", owner=owner, requester=family) is not None for family in sorted(families))
