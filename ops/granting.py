"""The one function that signs authority, for the answer to a request and for `ucan:issue` (D9; step 5 of the
flow).

Who may be conferred what is decided here, on the grantor's own authority; what was consented to was decided
before (`inbox.consent`). Whatever is signed has its row in the ledger and its line in the audit, in the same
transaction.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from inbox import audit
from inbox.errors import NotGrantable
from inbox.model import Grant
from ucan.capability import Capability, split
from ucan.did import managed_by
from ucan.errors import UcanError
from ucan.issue import issue
from ucan.jwt import parse as parse_token
from ucan.jwt import token_hash
from ucan.token import Token

from . import access, ledger
from .errors import refused
from .model import Call


def confer(
    call: Call,
    grants: Sequence[Grant],
    *,
    audience: str,
    exp: int | None,
    request: str | None,
) -> str:
    """Sign one token over these grants for `audience`, as the venue, at the instruction of the caller.

    `exp` in unix seconds. Raises NotGrantable (`denied`) when any of them is not the caller's to give,
    BadInput (`invalid_input`) for what no token can say.
    """
    relied_on: list[str] = []
    for grant in grants:
        relied_on += _authority(call, grant, exp)
    grantor = call.caller.user
    facts: dict[str, Any] = (
        {"grantor": grantor} if request is None else {"grantor": grantor, "request": request}
    )
    try:
        token = issue(
            call.world.signer,
            audience=audience,
            capabilities=[Capability(grant.resource, grant.can, grant.nb) for grant in grants],
            expires=exp,
            now=call.now_seconds,
            nonce=call.world.entropy(12).hex(),
            facts=[facts],
        )
    except UcanError as error:  # too large for a token, or an audience that anybody can sign for
        raise refused(error, "grants") from error
    _record(call, token, grants, audience, exp, request, relied_on)
    return token


def _authority(call: Call, grant: Grant, exp: int | None) -> Sequence[str]:
    """The hashes of the proofs that let the caller give this; none are needed for what is their own."""
    owner, _ = split(grant.resource)
    managed = managed_by(owner) in call.world.dids
    if owner == call.caller.user:
        if not managed and call.world.terms.grants.attest == "managed":
            raise NotGrantable(
                "This venue signs only for the users that it manages: sign the grant with your own key"
            )
        return ()
    if not managed:
        raise NotGrantable(
            f"{grant.resource} is not yours to give, and this venue does not sign for its owner"
        )
    verdict = access.by_proof(call, f"grant/{grant.can}", grant.resource)
    if not verdict:
        raise NotGrantable(f"No granting right over {grant.resource}: {verdict.reason}")
    carried = _carried(verdict.chain[0])
    ends = [token.exp for token in carried if token.exp is not None]
    if ends and (exp is None or exp > min(ends)):
        raise NotGrantable(f"The granting right over {grant.resource} ends before the grant would")
    return [token.hash for token in carried]


def _carried(leaf: Token) -> Sequence[Token]:
    """A verified token and every proof in it, needed or not: it falls with each of them (D8, D11)."""
    found, waiting = {leaf.hash: leaf}, list(leaf.prf)
    while waiting:
        token = parse_token(waiting.pop())
        if token.hash not in found:
            found[token.hash] = token
            waiting += token.prf
    return list(found.values())


def _record(
    call: Call,
    token: str,
    grants: Sequence[Grant],
    audience: str,
    exp: int | None,
    request: str | None,
    relied_on: Sequence[str],
) -> None:
    digest = token_hash(token)
    listed = [_entry(grant) for grant in grants]
    ledger.record(
        call.tx,
        digest,
        grantor=call.caller.user,
        audience=audience,
        grants=listed,
        exp=exp,
        request=request,
        proofs=relied_on,
        now=call.now,
    )
    audit.append(
        call.tx,
        call.caller.user,
        "token.minted",
        call.now,
        token=digest,
        audience=audience,
        grants=listed,
        exp=exp,
        request=request,
    )


def _entry(grant: Grant) -> Mapping[str, Any]:
    entry: dict[str, Any] = {"with": grant.resource, "can": grant.can}
    return entry if grant.nb is None else {**entry, "nb": dict(grant.nb)}
