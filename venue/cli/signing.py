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
from .draft import Wish


def signed(record: Mapping[str, Any], wish: Wish, key: Ed25519PrivateKey, now: int) -> str:
    """Exactly what is wished, for the audience that the ask names or the requester; `now` in milliseconds.

    Raises Usage for what cannot be signed.
    """
    signer = Ed25519Signer(key)
    wanted = [{name: cap[name] for name in ("with", "can", "nb") if name in cap} for cap in wish.caps]
    try:
        return issue(
            signer,
            audience=str(wish.audience or record["from"]),
            capabilities=[parse(cap, signer.did) for cap in wanted],
            expires=now // 1000 + wish.lifetime,
            now=now // 1000,
            nonce=secrets.token_hex(12),
        )
    except UcanError as error:
        raise Usage(f"what it wants cannot be signed: {error}") from None
