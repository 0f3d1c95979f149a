"""Who has an inbox here: people with a DID of their own, and those whom the venue manages (D3, D4)."""

from collections.abc import Sequence

from inbox.store.base import Row, Transaction


def registered(tx: Transaction, did: str) -> bool:
    """Whether this DID has an inbox here."""
    return tx.one("user.get", did=did) is not None


def register(tx: Transaction, did: str, now: int, name: str | None = None) -> bool:
    """Give a DID an inbox; once is enough. Says whether it is new. `now` in epoch milliseconds.

    `name` is the user's own when the venue manages it.
    """
    if registered(tx, did):
        return False
    tx.run("user.insert", did=did, name=name, created=now)
    return True


def page(tx: Transaction, after: str, limit: int) -> Sequence[Row]:
    """Users in the order of their DIDs: did, name, created."""
    return tx.all("user.page", after=after, limit=limit)


def count(tx: Transaction) -> int:
    """How many users there are."""
    row = tx.one("user.count")
    return 0 if row is None else int(row["count"])


def open_session(tx: Transaction, did: str, jti: str, exp: int) -> None:
    """Record the live sign-in of a managed user; `exp` in unix seconds."""
    tx.run("session.insert", jti=jti, did=did, exp=exp)


def live_session(tx: Transaction, did: str, jti: str) -> bool:
    """Whether this sign-in is this user's and was not revoked; its end is the token's own affair."""
    row = tx.one("session.get", jti=jti)
    return row is not None and row["did"] == did


def close_sessions(tx: Transaction, did: str, jti: str | None) -> int:
    """Revoke one sign-in of a user, or all of them; returns how many there were."""
    if jti is None:
        return tx.run("session.drop_all", did=did)
    return tx.run("session.drop", did=did, jti=jti)
