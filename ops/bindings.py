"""Keys that speak for an agent or a managed user (D3): one key, one principal, for ever."""

from collections.abc import Sequence

from inbox.store.base import Row, Transaction

from . import users
from .errors import WrongState


def bind(tx: Transaction, key: str, principal: str, now: int) -> None:
    """Bind a did:key, which has proved itself, to a principal. `now` in epoch milliseconds.

    Raises WrongState (`wrong_state`) when the key belongs to a user here, or belongs or belonged to any
    principal.
    """
    if users.registered(tx, key):
        raise WrongState("that key is a user here: it speaks for itself, and for nobody else")
    if tx.one("bound_key.get", key=key) is not None:
        raise WrongState("that key is bound already, or was: one key belongs to one principal")
    tx.run("bound_key.insert", key=key, principal=principal, created=now)


def speaks_for(tx: Transaction, key: str, principal: str) -> bool:
    """Whether a did:key is bound to a principal now."""
    row = tx.one("bound_key.get", key=key)
    return row is not None and row["principal"] == principal and row["revoked"] is None


def is_bound(tx: Transaction, key: str) -> bool:
    """Whether a did:key belongs or belonged to a principal; then it is no user of its own."""
    return tx.one("bound_key.get", key=key) is not None


def live_keys(tx: Transaction, principal: str) -> Sequence[str]:
    """The did:keys that speak for a principal now."""
    return [row["key"] for row in listed(tx, principal) if row["revoked"] is None]


def listed(tx: Transaction, principal: str) -> Sequence[Row]:
    """The keys of a principal, revoked ones too: key, principal, created, revoked."""
    return tx.all("bound_key.list", principal=principal)


def revoke(tx: Transaction, key: str, principal: str, now: int) -> bool:
    """Revoke a key of a principal; says whether it was live."""
    return tx.run("bound_key.revoke", key=key, principal=principal, now=now) > 0


def revoke_all(tx: Transaction, principal: str, now: int) -> None:
    """Revoke every key of a principal."""
    tx.run("bound_key.revoke_all", principal=principal, now=now)
