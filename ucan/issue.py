"""Signing tokens: nothing empty, nothing malformed, nothing wider or longer than what it rests on (D9)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from .authority import Held, check_attenuation
from .capability import Capability, parse
from .chain import MAX_LINKS, MAX_PROOFS, Resolve, gather, height, never
from .did import is_did, weak_dids
from .errors import BrokenChain, Malformed, NotLive
from .jwt import VERSION, sign
from .keys import Signer
from .strict import MAX_INT
from .token import Token


def issue(
    signer: Signer,
    *,
    audience: str,
    capabilities: Sequence[Capability],
    expires: int | None,
    now: int,
    nonce: str,
    facts: Sequence[Mapping[str, Any]] = (),
    proofs: Sequence[str] = (),
    not_before: int | None = None,
    resolve: Resolve | None = None,
    revoked: Callable[[str], bool] = never,
) -> str:
    """A signed token: `capabilities` to `audience` until `expires` (unix seconds; None is for ever).

    Resources are made absolute under the signer's DID and otherwise spelled as offered (D6). With proofs,
    each must be sound at `now` and given to the signer, every capability must lie inside one of one proof,
    caveats included, and no proof may end before `expires`. Without, the grant is the signer's own word, and
    what that is worth is for the roots of whoever verifies it (D7).

    Raises `Malformed`, `NotLive` (`expired`; `too_long` for outliving a proof), `BrokenChain`
    (`amplification`, `broken_chain`, `too_deep`), and whatever refuses a proof.
    """
    granted = _granted(signer, audience, capabilities)
    _check_window(now, expires, not_before, nonce)
    _check_proofs(
        signer, granted, expires, proofs, partial(gather, now=now, resolve=resolve, memo={}, revoked=revoked)
    )
    claims: dict[str, Any] = {
        "iss": signer.did,
        "aud": audience,
        "ucv": VERSION,
        "att": [capability.as_claim() for capability in granted],
        "prf": list(proofs),
        "exp": expires,
        "nnc": nonce,
    }
    if not_before is not None:
        claims["nbf"] = not_before
    if facts:
        claims["fct"] = [dict(fact) for fact in facts]
    return sign(signer, claims)


def identity(signer: Signer, *, audience: str, expires: int, now: int, nonce: str) -> str:
    """An identity UCAN: it says who calls the venue `audience`, and gives nothing (D2). Raises as `issue`."""
    _check_audience(audience)
    _check_window(now, expires, None, nonce)
    claims = {
        "iss": signer.did,
        "aud": audience,
        "ucv": VERSION,
        "att": [],
        "prf": [],
        "exp": expires,
        "nnc": nonce,
    }
    return sign(signer, claims)


def _check_audience(audience: str) -> None:
    if not is_did(audience) or audience in weak_dids():
        raise Malformed("malformed", "The audience is not a DID, or is a key that anybody can sign for.")


def _granted(signer: Signer, audience: str, capabilities: Sequence[Capability]) -> list[Capability]:
    """The capabilities as they will be read back, or `Malformed`."""
    _check_audience(audience)
    if not capabilities:
        raise Malformed("malformed", "A grant without capabilities gives nothing.")
    return [parse(capability.as_claim(), signer.did) for capability in capabilities]


def _check_window(now: int, expires: int | None, not_before: int | None, nonce: str) -> None:
    if not nonce:
        raise Malformed("malformed", "A token needs a nonce.")
    if any(type(at) is not int or abs(at) > MAX_INT for at in (expires, not_before) if at is not None):
        raise Malformed("malformed", "Times are whole seconds within plus or minus 2**53 - 1.")
    if expires is not None and expires <= max(now, now if not_before is None else not_before):
        raise NotLive("expired", "The token would never be live.")


def _check_proofs(
    signer: Signer,
    granted: Sequence[Capability],
    expires: int | None,
    proofs: Sequence[str],
    gather_one: Callable[[str], dict[str, Token]],
) -> None:
    found: dict[str, Token] = {}
    for proof in proofs:
        below = gather_one(proof)
        parent = below[proof]
        check_attenuation(parent, Held(below))
        if parent.aud != signer.did:
            raise BrokenChain("broken_chain", "A proof was given to somebody else than the signer.")
        if height(parent, below) >= MAX_LINKS:
            raise BrokenChain("too_deep", f"The chain would have more than {MAX_LINKS} links.")
        found |= below
    if len(found) > MAX_PROOFS:
        raise BrokenChain("too_deep", f"There would be more than {MAX_PROOFS} proofs.")
    ends = [token.exp for token in found.values() if token.exp is not None]
    if ends and (expires is None or expires > min(ends)):
        raise NotLive("too_long", "The token would outlive a proof.")
    held = [above for proof in proofs for above in found[proof].att]
    if proofs and not all(any(above.covers(capability) for above in held) for capability in granted):
        raise BrokenChain("amplification", "The grant is wider than any one capability of the proofs.")
