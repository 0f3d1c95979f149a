"""The wire: a strict compact JWS, and a capability token in it. The only module that knows the format.

No JWT library refuses duplicate keys, NaN, a second spelling of base64 or a foreign `typ`, so this one is
ours. The received segments are kept: what was signed is verified, named and re-encoded as received, never as
re-serialised.
"""

import json
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.hashes import SHA256, Hash

from .capability import Capability
from .capability import parse as parse_capability
from .did import PublicKey, is_did, weak_dids
from .errors import BadSignature, Malformed, UcanError
from .keys import Signer, is_high_s, verify
from .strict import loads
from .token import Token

MAX_BYTES = 64 * 1024
VERSION = "0.10.0"

_CURVE_OF = {"EdDSA": "ed25519", "ES256": "p256", "ES256K": "secp256k1"}
_TO_STANDARD = bytes.maketrans(b"-_", b"+/")
_TO_URL = bytes.maketrans(b"+/", b"-_")
_NULL = type(None)
_SHA256 = SHA256()  # not hashlib, which loads a second OpenSSL when it is imported

# Exact types: a bool is no int here, and 1.0 is none either.
_REQUIRED: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("iss", (str,)),
    ("aud", (str,)),
    ("ucv", (str,)),
    ("att", (list,)),
    ("prf", (list,)),
    ("exp", (int, _NULL)),
)
_OPTIONAL: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("nbf", (int,)),
    ("nnc", (str,)),
    ("fct", (list, dict)),
)


class Jws(NamedTuple):
    """A compact JWS that is well formed; whether its signature is good, `check_signature` says."""

    header: dict[str, Any]
    claims: dict[str, Any]
    segments: tuple[str, str, str]
    signing_input: bytes
    signature: bytes

    @property
    def typ(self) -> object:
        """The header's `typ` as received, None if absent. Every reader compares it exactly (D1)."""
        return self.header.get("typ")

    @property
    def hash(self) -> str:
        """SHA-256 of the signing input in hex (D11)."""
        digest = Hash(_SHA256)
        digest.update(self.signing_input)
        return digest.finalize().hex()

    def __repr__(self) -> str:
        return f"<Jws {self.hash[:12]}>"


def read(text: str) -> Jws:
    """Read a compact JWS of any `typ`: V1 the text, V2 the header, V3 that the claims are one JSON object.

    Raises `Malformed`: `too_large` beyond 64 KiB, `unsupported` for an algorithm or extension that is not
    spoken here, otherwise `malformed`.
    """
    if len(text) > MAX_BYTES:
        raise Malformed("too_large", f"The token is larger than {MAX_BYTES} bytes.", check="V1")
    try:
        header, payload, signature = text.encode("ascii").split(b".")
    except ValueError:
        raise Malformed("malformed", "The token is unparseable: no three segments.", check="V1") from None
    fields = _json(header, "V2")
    _check_header(fields)
    return Jws(
        fields,
        _json(payload, "V3"),
        (header.decode(), payload.decode(), signature.decode()),
        b"%b.%b" % (header, payload),
        _decode(signature),
    )


def parse(text: str) -> Token:
    """Read a capability token of this profile: V1 to V4. Its signature and its times are not looked at.

    Raises `Malformed` (`malformed`, `too_large`, `unsupported`) and `BadSignature` (`weak_key`).
    """
    return token_of(read(text))


def token_of(jws: Jws) -> Token:
    """The capability token in a JWS: V2 its `typ`, V3 its claims, V4 its principals. Raises as `parse`."""
    if jws.typ != "JWT":
        raise Malformed("malformed", "The header's `typ` is not `JWT`.", check="V2")
    claims = jws.claims
    _check_claims(claims)
    issuer, audience = claims["iss"], claims["aud"]
    if not is_did(issuer) or not is_did(audience):
        raise Malformed("malformed", "The issuer or the audience is not a DID.", check="V4")
    if audience in weak_dids():
        raise BadSignature("weak_key", "The audience is a key that anybody can sign for.", check="V4")
    capabilities = _capabilities(claims["att"], issuer)
    return Token(
        issuer,
        audience,
        capabilities,
        claims["exp"],
        claims.get("nbf"),
        claims.get("nnc"),
        claims.get("fct"),
        tuple(claims["prf"]),
        VERSION,
        len(claims["att"]) - len(capabilities),
        MappingProxyType(jws.header),
        jws.segments,
        jws.hash,
    )


def encode(token: Token) -> str:
    """The text that `token` was read from, segment for segment."""
    return ".".join(token.segments)


def token_hash(text: str) -> str:
    """The name of a token: SHA-256 of its signing input in hex (D11). Raises `Malformed` for no JWS."""
    return read(text).hash


def sign(signer: Signer, claims: Mapping[str, Any], *, typ: str = "JWT") -> str:
    """A compact JWS of `claims` by `signer`, with header `alg` EdDSA, `typ` and the signer's `kid`.

    It signs what it is given: `issue` decides what may be in a capability token. Raises `Malformed` for
    claims that its own reader would refuse: not strict JSON, or more than 64 KiB.
    """
    header = {"alg": "EdDSA", "typ": typ, "kid": signer.kid}
    signing_input = b"%b.%b" % (_encode(header), _encode(claims))
    text = b"%b.%b" % (signing_input, _to_base64url(signer.sign(signing_input)))
    if len(text) > MAX_BYTES:
        raise Malformed("too_large", f"The token would be larger than {MAX_BYTES} bytes.")
    return text.decode()


def check_signature(jws: Jws, *keys: PublicKey) -> None:
    """V5: the algorithm is the one of a key. V6: the signature is by such a key, over the received segments.

    `keys` are all that the issuer may sign with; which of them did is not asked of the header. ES256K has one
    spelling only, low s. Raises `BadSignature` (`bad_signature`).
    """
    algorithm = jws.header["alg"]
    fitting = [key for key in keys if key.curve == _CURVE_OF[algorithm]]
    if not fitting:
        raise BadSignature("bad_signature", "The algorithm is not the one of the issuer's key.", check="V5")
    if algorithm == "ES256K" and is_high_s(jws.signature):
        raise BadSignature("bad_signature", "The ES256K signature is a second spelling (high s).", check="V6")
    if not any(verify(key, jws.signature, jws.signing_input) for key in fitting):
        raise BadSignature("bad_signature", "The signature is not by the key of the issuer.", check="V6")


def _check_header(header: dict[str, Any]) -> None:
    algorithm = header.get("alg")
    if not isinstance(algorithm, str):
        raise Malformed("malformed", "The header names no algorithm.", check="V2")
    if algorithm not in _CURVE_OF:
        raise Malformed("unsupported", "The algorithm is none of EdDSA, ES256 and ES256K.", check="V2")
    if "crit" in header or "b64" in header:
        raise Malformed("unsupported", "The header asks for an extension that is not understood.", check="V2")
    if not isinstance(header.get("kid", ""), str):
        raise Malformed("malformed", "The header's `kid` is not a text.", check="V2")


def _check_claims(claims: dict[str, Any]) -> None:
    for name, kinds in _REQUIRED:
        if name not in claims:
            raise Malformed("malformed", f"The claim `{name}` is missing.", check="V3")
        if type(claims[name]) not in kinds:
            raise Malformed("malformed", f"The claim `{name}` is of the wrong type.", check="V3")
    for name, kinds in _OPTIONAL:
        if name in claims and type(claims[name]) not in kinds:
            raise Malformed("malformed", f"The claim `{name}` is of the wrong type.", check="V3")
    if claims["ucv"] != VERSION:
        raise Malformed("unsupported", f"The token is not of version {VERSION}.", check="V3")
    if not all(type(proof) is str for proof in claims["prf"]):
        raise Malformed("malformed", "A proof in `prf` is not a text.", check="V3")
    facts = claims.get("fct")
    if type(facts) is list and not all(type(fact) is dict for fact in facts):
        raise Malformed("malformed", "A fact in `fct` is not an object.", check="V3")


def _capabilities(entries: list[object], issuer: str) -> tuple[Capability, ...]:
    """The well-formed ones. An entry that is not gives nothing, and takes nothing from those beside it."""
    read_ones = []
    for entry in entries:
        try:
            read_ones.append(parse_capability(entry, issuer))
        except Malformed:
            continue
    return tuple(read_ones)


def _json(segment: bytes, check: str) -> dict[str, Any]:
    try:
        value = loads(_decode(segment))
    except UcanError as error:
        error.check = error.check or check
        raise
    if not isinstance(value, dict):
        raise Malformed("malformed", "The header and the claims are one JSON object each.", check=check)
    return value


def _decode(segment: bytes) -> bytes:
    """Decode base64url; encoding again gives the same, or it had padding, stray bits, other characters."""
    try:
        data = a2b_base64(segment.translate(_TO_STANDARD) + b"===")
    except Base64Error:
        data = b""
    if _to_base64url(data) != segment:
        raise Malformed("malformed", "A segment of the token is not exact base64url.", check="V1")
    return data


def _to_base64url(data: bytes) -> bytes:
    return b2a_base64(data, newline=False).translate(_TO_URL).rstrip(b"=")


def _encode(value: Mapping[str, Any]) -> bytes:
    try:
        data = json.dumps(dict(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise Malformed("malformed", "The claims are not JSON.") from None
    loads(data)
    return _to_base64url(data)
