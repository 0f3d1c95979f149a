"""Credentials that say who calls, and give nothing: identity UCANs and self-issued JWTs (D2; V17 to V20)."""

from collections.abc import Collection
from typing import Any

from .chain import Resolve, check_times, is_did_key, keys_of
from .did import agent_id_of, is_did, managed_by
from .errors import BadSignature, Malformed, NotCovered, NotLive
from .jwt import Jws, check_signature, read
from .token import Token
from .verdict import Verdict

MAX_IDENTITY_LIFE = 60 * 60
MAX_BEARER_LIFE = 15 * 60
MAX_AHEAD = 30


def check_identity(token: Token, venue: Collection[str], now: int) -> None:
    """V17 to V19: an identity UCAN gives nothing, is for this venue, and ends within an hour of `now`.

    Raises `NotCovered` (`not_covered`, `wrong_audience`) and `NotLive` (`too_long`).
    """
    if token.att or token.unread:
        message = "A token that carries capabilities is a proof, not a credential."
        raise NotCovered("not_covered", message, check="V17")
    if token.aud not in venue:
        raise NotCovered(
            "wrong_audience", "The credential is for another audience than this venue.", check="V18"
        )
    if token.exp is None or token.exp - now > MAX_IDENTITY_LIFE:
        raise NotLive(
            "too_long", f"An identity token lives at most {MAX_IDENTITY_LIFE} seconds.", check="V19"
        )


def read_self_issued(
    text: str, venue: Collection[str], now: int, require_audience: bool, resolve: Resolve | None
) -> Verdict:
    """All of D2's self-issued JWT but whether a `subject` other than the issuer is bound to the key.

    Raises any `UcanError`.
    """
    jws = read(text)
    issuer, subject, expires = _check_shape(jws)
    check_signature(jws, *keys_of(issuer, resolve))
    check_times(now, expires, jws.claims.get("nbf"))
    _check_audience(jws.claims, venue, require_audience)
    if jws.claims["iat"] - now > MAX_AHEAD:
        raise NotLive("not_yet", f"It was issued more than {MAX_AHEAD} seconds from now.", check="V19")
    if expires - now > MAX_BEARER_LIFE:
        raise NotLive(
            "too_long", f"A self-issued bearer lives at most {MAX_BEARER_LIFE} seconds.", check="V19"
        )
    _check_subject(issuer, subject, jws.header.get("kid"))
    return Verdict(True, issuer=issuer, subject=subject, expires=expires)


def _check_shape(jws: Jws) -> tuple[str, str, int]:
    claims = jws.claims
    if jws.typ != "JWT" or jws.header["alg"] != "EdDSA":
        raise Malformed("malformed", "A self-issued bearer has `typ` JWT and `alg` EdDSA.", check="V2")
    if "att" in claims:
        raise Malformed("malformed", "A capability token is no self-issued bearer.", check="V3")
    for name, kind in (("iss", str), ("sub", str), ("iat", int), ("exp", int)):
        if type(claims.get(name)) is not kind:
            raise Malformed("malformed", f"The claim `{name}` is missing or of the wrong type.", check="V3")
    if "nbf" in claims and type(claims["nbf"]) is not int:
        raise Malformed("malformed", "The claim `nbf` is of the wrong type.", check="V3")
    if not is_did(claims["iss"]) or not is_did(claims["sub"]):
        raise Malformed("malformed", "The issuer or the subject is not a DID.", check="V4")
    return claims["iss"], claims["sub"], claims["exp"]


def _check_audience(claims: dict[str, Any], venue: Collection[str], required: bool) -> None:
    if "aud" not in claims and not required:
        return
    audience = claims.get("aud")
    if not isinstance(audience, str) or audience not in venue:
        raise NotCovered("wrong_audience", "The credential is not for this venue's DID.", check="V18")


def _check_subject(issuer: str, subject: str, kid: str | None) -> None:
    if subject != issuer and agent_id_of(subject) is None and managed_by(subject) is None:
        message = "The subject is neither the issuer nor an agent or managed user."
        raise NotCovered("wrong_subject", message, check="V20")
    if kid is None or not is_did_key(issuer):
        return
    # A bare multikey, a did:key, or `<subject>#<multikey>`: a hint, so it may be absent, but not contradict.
    hinted = kid.removeprefix(f"{subject}#").removeprefix("did:key:")
    if f"did:key:{hinted}" != issuer:
        raise BadSignature(
            "bad_signature", "The header's `kid` names another key than the issuer's.", check="V20"
        )
