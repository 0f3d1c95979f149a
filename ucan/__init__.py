"""Capability tokens: UCANs of the profile `ucv` 0.10.0 with `att` and `prf` arrays, read, judged and signed.

Pure throughout: the time, a nonce, a memo of verified signatures, revocation and the resolving of DIDs are
arguments.
"""

from .authority import Rights, Roots
from .capability import Capability
from .did import is_did, public_key
from .errors import BadSignature, BrokenChain, Malformed, NotCovered, NotLive, NotOwner, Revoked, UcanError
from .issue import identity, issue
from .jwt import encode, parse, token_hash
from .keys import Ed25519Signer, PublicKey, Signer
from .token import Token
from .verdict import Verdict
from .verify import authenticate, authorise, rights_of, self_issued, verify

__all__ = [
    "BadSignature",
    "BrokenChain",
    "Capability",
    "Ed25519Signer",
    "Malformed",
    "NotCovered",
    "NotLive",
    "NotOwner",
    "PublicKey",
    "Revoked",
    "Rights",
    "Roots",
    "Signer",
    "Token",
    "UcanError",
    "Verdict",
    "authenticate",
    "authorise",
    "encode",
    "identity",
    "is_did",
    "issue",
    "parse",
    "public_key",
    "rights_of",
    "self_issued",
    "token_hash",
    "verify",
]
