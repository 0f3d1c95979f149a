"""One-time links: a code by which a managed user binds a fresh key, once, within minutes (D35).

Opening a link does nothing; only a POST with the code and a proof of the key uses it up. The store keeps the
code's hash alone.
"""

import hashlib

from inbox import audit
from ucan.did import managed_did
from ucan.errors import UcanError
from ucan.verify import self_issued

from . import users
from .errors import BadInput, LinkRefused
from .model import Call

LIFETIME = 15 * 60
"""How long a code is good, in seconds."""

_BYTES = 24


def make(call: Call, name: str) -> str:
    """A code for a managed user; it leaves an audit line. Only the command line, on the data directory,
    makes one. Raises BadInput for who is no managed user here.
    """
    did = _did(call, name)
    if not users.registered(call.tx, did):
        raise BadInput(f"user: {did} is not a user whom this venue manages")
    code, exp = call.world.entropy(_BYTES).hex(), call.now_seconds + LIFETIME
    call.tx.run("link.insert", hash=_hash(code), did=did, exp=exp * 1000)
    audit.append(call.tx, did, "link.made", call.now, by=call.caller.did, exp=exp)
    return code


def use(call: Call, name: str, code: str, proof: str) -> str:
    """Use a code up, for the user of this name; returns their DID. The key in `proof` is still to be bound.

    A proof that is no good leaves the code as it was. Raises LinkRefused (`link_refused`) for a code that
    was used, is too old, or was never made for this user; BadInput for a bad proof.
    """
    did = _did(call, name)
    verdict = self_issued(proof, venue=call.world.dids, now=call.now_seconds)
    if not verdict or verdict.subject != did:
        raise BadInput(f"proof: {verdict.reason or 'must name the user as its subject'}")
    row = call.tx.one("link.get", hash=_hash(code))
    if row is None or row["did"] != did:
        raise LinkRefused("This link was not made for this user here")
    if row["used"] is not None:
        raise LinkRefused("This link was used already; ask for a new one")
    if call.tx.one("link.use", hash=row["hash"], now=call.now) is None:
        raise LinkRefused("This link has expired; ask for a new one")
    return did


def _did(call: Call, name: str) -> str:
    try:
        return managed_did(call.world.did, name)
    except UcanError as error:
        raise BadInput(f"user: {error}") from error


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8")).hexdigest()
