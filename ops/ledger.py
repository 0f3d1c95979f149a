"""The ledger of what this venue signed, and what was revoked (D9, D11). It holds hashes, never tokens.

A revocation takes with it whatever was minted in reliance on what it names; a chain below it falls when it is
checked, for every link is asked about.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from inbox.canonical import canonical, plain
from inbox.store.base import Row, Transaction


def record(
    tx: Transaction,
    token_hash: str,
    *,
    grantor: str,
    audience: str,
    grants: Sequence[Mapping[str, Any]],
    exp: int | None,
    request: str | None,
    proofs: Sequence[str],
    now: int,
) -> None:
    """Write what was minted.

    `proofs` are the hashes of what it relied on; `exp` in unix seconds, `now` in ms.
    """
    relied_on = sorted(set(proofs))
    tx.run(
        "mint.insert",
        hash=token_hash,
        grantor=grantor,
        audience=audience,
        grants=canonical(list(grants)),
        exp=exp,
        request=request,
        proofs=canonical(relied_on),
        created=now,
    )
    for proof in relied_on:
        tx.run("mint_proof.insert", proof=proof, mint=token_hash)


def minted(tx: Transaction, token_hash: str) -> Row | None:
    """The row of a minted token, its grants decoded; None for a token that this venue did not mint."""
    row = tx.one("mint.get", hash=token_hash)
    return None if row is None else {**row, "grants": plain(row["grants"])}


def grantors(tx: Transaction, token_hashes: Iterable[str]) -> set[str]:
    """At whose word these tokens were minted, and those that they relied on; nobody's for what was not."""
    found: set[str] = set()
    waiting, seen = list(token_hashes), set[str]()
    while waiting:
        current = waiting.pop()
        row = None if current in seen else tx.one("mint.get", hash=current)
        seen.add(current)
        if row is not None:
            found.add(row["grantor"])
            waiting += plain(row["proofs"])
    return found


def live_by(
    tx: Transaction, grantor: str, now: int, after: tuple[int, str], limit: int
) -> Sequence[dict[str, Any]]:
    """A grantor's minted tokens that are live, oldest first, after a (created, hash).

    `now` in unix seconds.
    """
    rows = tx.all("mint.live_by", grantor=grantor, now=now, created=after[0], hash=after[1], limit=limit)
    return [{**row, "grants": plain(row["grants"])} for row in rows]


def is_revoked(tx: Transaction, token_hash: str) -> bool:
    """Whether a token was revoked, itself or by what it relied on."""
    return tx.one("revocation.get", hash=token_hash) is not None


def revoke(tx: Transaction, token_hash: str, revoker: str, now: int) -> Sequence[str]:
    """Revoke a token and what was minted in reliance on it; returns what was newly revoked. `now` in ms."""
    waiting, done = [token_hash], []
    while waiting:
        current = waiting.pop()
        if tx.run("revocation.insert", hash=current, revoker=revoker, at=now):
            done.append(current)
        waiting += [
            row["mint"]
            for row in tx.all("mint_proof.relying", proof=current)
            if not is_revoked(tx, row["mint"])
        ]
    return done


def revoke_minted_for(tx: Transaction, audience: str, revoker: str, now: int) -> None:
    """Revoke every live token that was minted for a principal; `now` in epoch milliseconds."""
    for row in tx.all("mint.live_for", audience=audience, now=now // 1000):
        revoke(tx, row["hash"], revoker, now)
