"""Who a client is: a key that signs each call, or an agent's token; from an argument, the environment, or a
file.
"""

import os
import secrets
from pathlib import Path
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from inbox.clock import Clock, millis
from ucan.jwt import sign
from ucan.keys import Ed25519Signer

from .. import keyfile
from .errors import VenueError

LIFE = 300
"""How long a self-issued bearer lives, in seconds."""


class Credential(Protocol):
    """Something that makes a bearer for a venue."""

    def bearer(self, venue: str) -> str | None:
        """The bearer to send to the venue with this DID, or None to call anonymously."""
        ...


class Nobody:
    """Calls without saying who."""

    def bearer(self, venue: str) -> str | None:  # noqa: ARG002 - the protocol's
        """No bearer."""
        return None


class ByToken:
    """An agent's or managed user's token."""

    def __init__(self, token: str) -> None:
        self._token = token.strip()

    def bearer(self, venue: str) -> str | None:  # noqa: ARG002 - the protocol's
        """The token, which names its venue itself."""
        return self._token

    def __repr__(self) -> str:
        return "ByToken(…)"


class ByKey:
    """A key of one's own: each call carries a fresh bearer, for this venue and for minutes."""

    def __init__(self, signer: Ed25519Signer, clock: Clock, subject: str | None = None) -> None:
        self.did = subject or signer.did
        self._signer = signer
        self._clock = clock

    def bearer(self, venue: str) -> str | None:
        """A new self-issued JWT."""
        now = millis(self._clock()) // 1000
        claims = {"iss": self._signer.did, "sub": self.did, "aud": venue, "iat": now, "exp": now + LIFE}
        return sign(self._signer, {**claims, "jti": secrets.token_hex(8)})

    def __repr__(self) -> str:
        return f"ByKey({self.did!r})"


def credential(
    clock: Clock,
    *,
    token: str | None = None,
    key: Ed25519PrivateKey | Path | str | None = None,
    passphrase: str | None = None,
    subject: str | None = None,
) -> Credential:
    """What was given; else VENUE_TOKEN, or the key file that VENUE_KEY names; else nobody.

    `subject` is the agent or managed user that a bound key speaks for. Raises VenueError for a key file that
    cannot be used, and for both a token and a key.
    """
    if token is not None and key is not None:
        raise VenueError("Give a token or a key, not both")
    if token is None and key is None:
        token, key = os.environ.get("VENUE_TOKEN"), os.environ.get("VENUE_KEY")
    if token is not None:
        return ByToken(token)
    if key is None:
        return Nobody()
    if not isinstance(key, Ed25519PrivateKey):
        key = _opened(Path(key), passphrase)
    return ByKey(Ed25519Signer(key), clock, subject)


def base_url(url: str | None) -> str:
    """The address of the venue: what was given, else VENUE_URL, else the loopback one."""
    return (url or os.environ.get("VENUE_URL") or "http://127.0.0.1:8080").rstrip("/")


def _opened(path: Path, passphrase: str | None) -> Ed25519PrivateKey:
    given = passphrase if passphrase is not None else os.environ.get("VENUE_PASSPHRASE")
    try:
        return keyfile.read(path, None if given is None else given.encode())
    except keyfile.KeyFileError as error:
        raise VenueError(str(error)) from None
