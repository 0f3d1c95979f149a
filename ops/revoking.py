"""Who may revoke a token, and what falls with it (D11)."""

from collections.abc import Sequence

from inbox import audit, events
from ucan.capability import split
from ucan.chain import Resolve, gather

from . import ledger
from .errors import Forbidden
from .model import Call


def revoke_token(call: Call, text: str, resolve: Resolve) -> Sequence[str]:
    """Revoke a token that the caller holds the text of; returns the hashes newly revoked.

    Its signatures are checked, its times are not: what has ended may be revoked. Raises UcanError for a text
    that is no token, Forbidden (`denied`) for a caller who is none of those that may.
    """
    chain = gather(text, now=None, resolve=resolve)
    leaf = chain[text]
    row = ledger.minted(call.tx, leaf.hash)
    may = {token.iss for token in chain.values()} | ({row["grantor"]} if row else set())
    owners = {capability.owner for capability in leaf.att}
    return _revoke(call, leaf.hash, may, owners)


def revoke_minted(call: Call, token_hash: str) -> Sequence[str]:
    """Revoke a token of the ledger by its hash. Raises Forbidden, for a hash that is not there as well."""
    row = ledger.minted(call.tx, token_hash)
    if row is None:
        raise Forbidden("There is no such token in the ledger, or it is not yours to revoke")
    owners = {split(grant["with"])[0] for grant in row["grants"]}
    return _revoke(call, token_hash, {row["grantor"]}, owners)


def _revoke(call: Call, token_hash: str, may: set[str], owners: set[str]) -> Sequence[str]:
    user = call.caller.user
    if user not in may and owners != {user}:
        raise Forbidden("There is no such token in the ledger, or it is not yours to revoke")
    revoked = ledger.revoke(call.tx, token_hash, user, call.now)
    if revoked:
        audit.append(call.tx, user, "token.revoked", call.now, token=token_hash, fell=list(revoked))
        events.append(call.tx, user, "token.revoked", token_hash, call.now)
    return revoked
