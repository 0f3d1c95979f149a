"""Signing with Ed25519; verifying Ed25519, P-256 (ES256) and secp256k1 (ES256K).

`cryptography` accepts Ed25519 keys and R values of small order, under which a "signature" by nobody verifies,
so they are refused before it is asked. A secret has no printable form and cannot be pickled or copied (house
rule 8).
"""

from collections.abc import Callable
from typing import Never, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from .did import PublicKey, did_key, is_canonical_point, is_did
from .errors import Malformed

__all__ = ["Ed25519Signer", "PublicKey", "Signer", "is_high_s", "verify"]

_SECP256K1_N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


class Signer(Protocol):
    """Whoever can sign as `did`: `sign` gives the raw 64-byte Ed25519 signature of a message.

    `kid` is the multikey of the signing key, a hint that no verifier trusts.
    """

    @property
    def did(self) -> str: ...

    @property
    def kid(self) -> str: ...

    def sign(self, message: bytes) -> bytes: ...


class Ed25519Signer:
    """An Ed25519 key that signs as `did`: its own did:key, or a DID that the key is bound to (D1, D3)."""

    __slots__ = ("_sign", "did", "key_did", "kid", "public_bytes")

    did: str
    key_did: str
    kid: str
    public_bytes: bytes
    _sign: Callable[[bytes], bytes]

    def __init__(self, key: Ed25519PrivateKey, did: str | None = None) -> None:
        self.public_bytes = key.public_key().public_bytes_raw()
        self.key_did = did_key(self.public_bytes)
        self.kid = self.key_did.removeprefix("did:key:")
        self.did = self.key_did if did is None else did
        self._sign = key.sign
        if not is_did(self.did):
            raise Malformed("malformed", "A signer signs as a DID.")

    @classmethod
    def from_seed(cls, seed: bytes, did: str | None = None) -> "Ed25519Signer":
        """The signer of a 32-byte seed. Raises `Malformed` for another length or a `did` that is none."""
        if len(seed) != 32:
            raise Malformed("malformed", "An Ed25519 seed is 32 bytes.")
        return cls(Ed25519PrivateKey.from_private_bytes(seed), did)

    def sign(self, message: bytes) -> bytes:
        """The raw 64-byte signature of `message`."""
        return self._sign(message)

    def __repr__(self) -> str:
        return f"<Ed25519Signer {self.did}>"

    def __reduce_ex__(self, _protocol: object) -> Never:
        raise TypeError("a signer cannot be pickled or copied")


def verify(key: PublicKey, signature: bytes, message: bytes) -> bool:
    """Whether `signature` (64 raw bytes: R and S, or r and s) of `message` is by `key`.

    Ed25519 refuses keys and R values that are of small order or not canonical. ECDSA is over SHA-256 and
    takes either s, as the standards do; a reader that wants one spelling asks `is_high_s`. A key that is no
    key: False.
    """
    if len(signature) != 64:
        return False
    return (_verify_ed25519 if key.curve == "ed25519" else _verify_ecdsa)(key, signature, message)


def is_high_s(signature: bytes) -> bool:
    """Whether a raw ES256K signature has its s in the upper half, where a second spelling of it lives."""
    return int.from_bytes(signature[32:], "big") > _SECP256K1_N // 2


def _verify_ed25519(key: PublicKey, signature: bytes, message: bytes) -> bool:
    if len(key.raw) != 32 or not is_canonical_point(key.raw) or not is_canonical_point(signature[:32]):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _verify_ecdsa(key: PublicKey, signature: bytes, message: bytes) -> bool:
    # Few tokens are signed with these curves, and importing them costs as much as the rest of this package.
    from cryptography.hazmat.primitives.asymmetric import ec, utils  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    curves: dict[str, type[ec.EllipticCurve]] = {"p256": ec.SECP256R1, "secp256k1": ec.SECP256K1}
    curve = curves.get(key.curve)
    if curve is None or len(key.raw) != 33:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    try:
        point = ec.EllipticCurvePublicKey.from_encoded_point(curve(), key.raw)
        point.verify(utils.encode_dss_signature(r, s), message, ec.ECDSA(SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True
