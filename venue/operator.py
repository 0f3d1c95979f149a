"""The operator's bearer: whoever holds the venue's key says so, for a minute (D5)."""

from ucan.jwt import sign
from ucan.keys import Signer

OPERATOR_TYPE = "venue-operator+jwt"
OPERATOR_LIFE = 60
"""How long an operator's bearer lives at most, in seconds."""


def bearer(signer: Signer, *, now: int, nonce: str) -> str:
    """A bearer that the venue signs for itself, good for `user:*`, audit and configuration, and for nothing
    that acts for anybody. It cannot be revoked; it ends `OPERATOR_LIFE` after `now` (unix seconds).
    """
    claims = {"iss": signer.did, "sub": signer.did, "aud": signer.did, "iat": now, "jti": nonce}
    return sign(signer, {**claims, "exp": now + OPERATOR_LIFE}, typ=OPERATOR_TYPE)
