"""A token that an ask wants, signed by the key of whoever answers it (D15)."""

import secrets
from collections.abc import Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ucan.capability import parse
from ucan.errors import UcanError
from ucan.issue import issue
from ucan.keys import Ed25519Signer

from .connection import Usage

_WEEK = 7 * 86_400


def signed(record: Mapping[str, Any], ask: Mapping[str, Any], key: Ed25519PrivateKey, now: int) -> str:
    """Exactly what the ask's spec says, for its audience or the requester, for as long as it hints or a week.

    `now` is in epoch milliseconds. Raises Usage for a spec that cannot be signed.
    """
    spec = ask.get("token") or {}
    signer = Ed25519Signer(key)
    wanted = [
        {name: cap[name] for name in ("with", "can", "nb") if name in cap} for cap in spec.get("caps") or []
    ]
    try:
        return issue(
            signer,
            audience=str(spec.get("audience") or record["from"]),
            capabilities=[parse(cap, signer.did) for cap in wanted],
            expires=now // 1000 + int(spec.get("lifetime") or _WEEK),
            now=now // 1000,
            nonce=secrets.token_hex(12),
        )
    except UcanError as error:
        raise Usage(f"what it wants cannot be signed: {error}") from None
