"""Names of principals: did:key, did:web, and the two shapes of this venue's own, managed users and agents.

A DID is compared as text, so each principal must have one spelling only; whatever could be a second spelling
is refused (section 2 of the design; D1, D4, D7). One segment, of a user's name or an agent's id, is 1 to 64
of `A-Z a-z 0-9 . _ -` and starts with a letter, digit or `_`: a leading dot would make `.`, `..` and hidden
files, a leading hyphen an option on a command line.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from .errors import BadSignature, Malformed

_DID = re.compile(r"did:[a-z0-9]++(?::(?:[A-Za-z0-9._-]++|%[0-9A-Fa-f]{2})++)++")
_SEGMENT = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?"
_MAX_DID = 512
_MAX_DID_KEY = len("did:key:") + 50  # the longest of the three kinds takes 49

_AGENT = ":g:"
_USER = ":u:"
_KEY = "did:key:"
_WEB = "did:web:"

_CODECS = {"ed25519": b"\xed\x01", "p256": b"\x80\x24", "secp256k1": b"\xe7\x01"}
_CURVES = {code: curve for curve, code in _CODECS.items()}
_SIZES = {"ed25519": 32, "p256": 33, "secp256k1": 33}

_P = 2**255 - 19
_SIGN = 1 << 255
_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7  # y of a point of order eight


class PublicKey(NamedTuple):
    """A public key: `curve` "ed25519", "p256" or "secp256k1", `raw` 32 bytes or a compressed point of 33."""

    curve: str
    raw: bytes


def _small_order() -> frozenset[bytes]:
    """Every 32-byte spelling, canonical or not, of the eight points of small order."""
    ys = (0, 1, _P - 1, _ORDER_8, _P - _ORDER_8, _P, _P + 1)
    return frozenset((y | sign).to_bytes(32, "little") for y in ys for sign in (0, _SIGN))


SMALL_ORDER = _small_order()


def is_canonical_point(raw: bytes) -> bool:
    """Whether 32 bytes spell an Ed25519 point the one right way, and the point has a large order."""
    return int.from_bytes(raw, "little") & (_SIGN - 1) < _P and raw not in SMALL_ORDER


def is_did(text: str) -> bool:
    """Whether `text` is a DID by DID Core's grammar, of at most 512 characters: no path, query or fragment.

    `:g:` may occur once and only before a well-formed agent id at the end, so that no DID is an agent of an
    agent. It is the last one that counts: `<venue>:u:g:g:<agent id>` is an agent of the managed user `g`.
    """
    if len(text) > _MAX_DID or _DID.fullmatch(text) is None:
        return False
    owner, marker, agent_id = text.rpartition(_AGENT)
    return not marker or (_AGENT not in owner and re.fullmatch(_SEGMENT, agent_id) is not None)


def agent_id_of(did: str) -> str | None:
    """The agent id of `<owner>:g:<agent id>`, or None when `did` names no agent."""
    _, marker, agent_id = did.rpartition(_AGENT)
    return agent_id if marker and is_did(did) else None


def owner_of(did: str) -> str:
    """The owner of an agent's DID; any other DID owns itself."""
    return did if agent_id_of(did) is None else did.rpartition(_AGENT)[0]


def agent_did(owner: str, agent_id: str) -> str:
    """`<owner>:g:<agent id>`. Raises `Malformed` for an owner that is no DID or an agent, or a bad id."""
    if not is_did(owner) or _AGENT in owner or re.fullmatch(_SEGMENT, agent_id) is None:
        raise Malformed(
            "malformed", "An agent needs an owner's DID and an id of up to 64 of A-Z a-z 0-9 . _ -"
        )
    return f"{owner}{_AGENT}{agent_id}"


def managed_did(venue: str, name: str) -> str:
    """`<venue>:u:<name>`. Raises `Malformed` for a venue that is no DID, or a bad name."""
    if not is_did(venue) or re.fullmatch(_SEGMENT, name) is None:
        raise Malformed(
            "malformed", "A managed user needs a venue's DID and a name of up to 64 of A-Z a-z 0-9 . _ -"
        )
    return f"{venue}{_USER}{name}"


def managed_by(did: str) -> str | None:
    """The venue DID of a managed user `<venue>:u:<name>`, or None when `did` is no such user."""
    venue, marker, name = did.rpartition(_USER)
    if not marker or re.fullmatch(_SEGMENT, name) is None or not is_did(venue) or _AGENT in venue:
        return None
    return venue


@cache
def _multibase() -> tuple[Callable[[str, bytes], str], Callable[[str], tuple[str, bytes]]]:
    """Encode and decode; loaded with the first key, for it is a tenth of what importing this costs."""
    from multiformats import multibase  # noqa: PLC0415

    return multibase.encode, multibase.decode


def did_key(public: bytes, curve: str = "ed25519") -> str:
    """The did:key of a key of 32 bytes, or a compressed point of 33. Raises `Malformed` for another size."""
    if _SIZES.get(curve) != len(public):
        raise Malformed(
            "malformed", "A did:key here is of 32 bytes Ed25519, or of 33 bytes P-256 or secp256k1."
        )
    return _KEY + _multibase()[0]("base58btc", _CODECS[curve] + public)


def public_key(did: str) -> PublicKey:
    """The key that a did:key names; a strict adapter over multiformats.

    The length is capped before anything is decoded (base58 takes quadratic time); only base58btc, only the
    three codecs in their shortest form and exact size, and encoding the key again must give `did` back.
    Whether 33 bytes are a point on their curve shows when a signature is checked: `keys.verify` is False if
    not.

    Raises `Malformed` (`malformed`, or `unsupported` for another kind of key) and `BadSignature`
    (`weak_key`).
    """
    if not did.startswith(_KEY + "z") or len(did) > _MAX_DID_KEY:
        raise _bad_did_key(did)
    try:
        _, data = _multibase()[1](did[len(_KEY) :])
    except ValueError:  # what multiformats raises is one
        raise _bad_did_key(did) from None
    raw = data[2:]
    curve = _CURVES.get(data[:2])
    if curve is None:
        raise Malformed(
            "unsupported", "The did:key holds a kind of key that is not Ed25519, P-256 or secp256k1."
        )
    if len(raw) != _SIZES[curve] or did_key(raw, curve) != did:
        raise _bad_did_key(did)
    if curve == "ed25519":
        if not is_canonical_point(raw):
            raise BadSignature(
                "weak_key", "The did:key is one that anybody can sign for, or a second spelling of one."
            )
    elif raw[0] not in (2, 3):
        raise Malformed("malformed", "The did:key holds a point that is not compressed.")
    return PublicKey(curve, raw)


def _bad_did_key(did: str) -> Malformed:
    return Malformed(
        "unsupported" if len(did) > _MAX_DID_KEY else "malformed", "This is not the spelling of a did:key."
    )


@cache
def weak_dids() -> frozenset[str]:
    """The did:keys that anybody can sign for."""
    return frozenset(did_key(raw) for raw in SMALL_ORDER)


def web_did(host: str, port: int | None = None) -> str:
    """`did:web:<host>`, a port as `%3A<port>` (D1). Raises `Malformed` for what is no host name."""
    if re.fullmatch(_HOST, host) is None or len(host) > 253 or (port is not None and not 0 < port < 65536):
        raise Malformed("malformed", "A did:web needs a host name, and a port between 1 and 65535.")
    return _WEB + host.lower() + ("" if port is None else f"%3A{port}")


def web_url(did: str) -> str:
    """The https URL of a did:web's document: `/.well-known/did.json`, or `/<path>/did.json` below the host.

    Raises `Malformed` for another method and for a host or path that could name another place: only
    `%3A<port>` may be percent-encoded, and no segment starts with a dot.
    """
    if not is_did(did) or not did.startswith(_WEB):
        raise Malformed("malformed", "This is not a did:web.")
    host, *path = did[len(_WEB) :].split(":")
    name, colon, port = host.partition("%3A")
    if re.fullmatch(_HOST, name) is None or (
        colon and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536)
    ):
        raise Malformed("malformed", "The did:web names no host.")
    if any(re.fullmatch(_SEGMENT, segment) is None for segment in path):
        raise Malformed("malformed", "A segment of the did:web's path is not plain.")
    authority = f"{name}:{port}" if colon else name
    return f"https://{authority}/{'/'.join(path) if path else '.well-known'}/did.json"
