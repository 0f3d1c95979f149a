"""Who a client is, and where its venue: a key that signs each call, or a token; from an argument, the
environment, or a file.
"""

import os
import secrets
from pathlib import Path
from typing import Protocol, TypeAlias
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from inbox.clock import Clock, millis
from ucan.errors import UcanError
from ucan.jwt import read, sign
from ucan.keys import Ed25519Signer

from .. import keyfile
from .errors import BadSettings

PATIENCE = 30.0
"""How long a call is tried again while the venue is away, slow or busy, in seconds."""

LIFE = 300
"""How long a self-issued bearer lives, in seconds."""

_AHEAD = 30
_LOCAL = "http://127.0.0.1:8080"

Token: TypeAlias = str | Path
"""A token itself, or the path of the file that holds it."""

Key: TypeAlias = Ed25519PrivateKey | Path | str
"""A key itself, or where its file is."""


class Credential(Protocol):
    """Something that makes a bearer for a venue."""

    venue: str | None
    """The DID of the only venue that this is good for, if there is one."""

    did: str | None
    """The DID of whoever calls, if it can be told."""

    def bearer(self, venue: str) -> str | None:
        """The bearer to send to the venue with this DID, or None to call anonymously."""
        ...

    def outdated_by(self, seconds: int) -> bool:
        """Whether a clock that is so far ahead of the venue's makes bearers that it must refuse."""
        ...


class Nobody:
    """Calls without saying who."""

    venue: str | None = None
    did: str | None = None

    def bearer(self, venue: str) -> str | None:  # noqa: ARG002 - the protocol's
        """No bearer."""
        return None

    def outdated_by(self, seconds: int) -> bool:  # noqa: ARG002 - the protocol's
        """No: there is nothing to date."""
        return False


class ByToken:
    """An agent's or managed user's token. It is sent to the venue that signed it, and to no other."""

    def __init__(self, token: str) -> None:
        if not token.isascii() or not token.isprintable() or not token or " " in token:
            raise BadSettings("The token is none: it has characters that no token has, or is empty")
        self._token = token
        try:
            claims = read(token).claims
        except UcanError:
            claims = {}
        self.venue: str | None = str(claims["iss"]) if "iss" in claims else None
        self.did: str | None = str(claims["sub"]) if "sub" in claims else None

    def bearer(self, venue: str) -> str | None:  # noqa: ARG002 - the protocol's
        """The token, which names its venue itself."""
        return self._token

    def outdated_by(self, seconds: int) -> bool:  # noqa: ARG002 - the protocol's
        """No: the venue dated it."""
        return False

    def __repr__(self) -> str:
        return "ByToken(…)"


class ByKey:
    """A key of one's own: each call carries a fresh bearer, for this venue and for minutes."""

    venue: str | None = None

    def __init__(self, signer: Ed25519Signer, clock: Clock, subject: str | None = None) -> None:
        self.did: str | None = subject or signer.did
        self._signer = signer
        self._clock = clock

    def bearer(self, venue: str) -> str | None:
        """A new self-issued JWT."""
        now = millis(self._clock()) // 1000
        claims = {"iss": self._signer.did, "sub": self.did, "aud": venue, "iat": now, "exp": now + LIFE}
        return sign(self._signer, {**claims, "jti": secrets.token_hex(8)})

    def outdated_by(self, seconds: int) -> bool:
        """Too far ahead the bearer is not yet valid, too far behind it has expired already (D2)."""
        return seconds >= _AHEAD or seconds <= -LIFE

    def __repr__(self) -> str:
        return f"ByKey({self.did})"


def credential(
    clock: Clock,
    *,
    token: Token | None = None,
    key: Key | None = None,
    passphrase: str | None = None,
    subject: str | None = None,
) -> Credential:
    """What was given; else VENUE_TOKEN, the file that VENUE_TOKEN_FILE names, or the key file that VENUE_KEY
    names; else nobody.

    `subject` is the agent or managed user that a bound key speaks for. Raises BadSettings for a file that
    cannot be used, and for more than one of these.
    """
    if token is None and key is None:
        token, key = _from_environment()
    if token is not None and key is not None:
        raise BadSettings("Give a token or a key, not both")
    if token is not None:
        return ByToken(_text_of(token) if isinstance(token, Path) else token.strip())
    if key is None:
        return Nobody()
    if not isinstance(key, Ed25519PrivateKey):
        key = _opened(Path(key).expanduser(), passphrase)
    return ByKey(Ed25519Signer(key), clock, subject)


def base_url(url: str | None) -> str:
    """The address of the venue: what was given, else VENUE_URL, else the loopback one. Raises BadSettings."""
    address = (url or _variable("VENUE_URL") or _LOCAL).rstrip("/")
    try:
        parts = urlsplit(address)
        sound = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise BadSettings(
            f"{address!r} is no address of a venue: it looks like {_LOCAL} or https://venue.example"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise BadSettings("The address of a venue has no user name, password, query or fragment in it")
    return address


def expected_did(did: str | None, found: Credential) -> str | None:
    """The DID that the venue must have: what was given, else VENUE_DID, else the venue that signed the token.

    Raises BadSettings when a token is another venue's.
    """
    wanted = did or _variable("VENUE_DID")
    if wanted and found.venue and wanted != found.venue:
        raise BadSettings(f"This token is for the venue {found.venue}, not for {wanted}")
    return wanted or found.venue


def _from_environment() -> tuple[Token | None, Key | None]:
    token, file = _variable("VENUE_TOKEN"), _variable("VENUE_TOKEN_FILE")
    if token and file:
        raise BadSettings("Set VENUE_TOKEN or VENUE_TOKEN_FILE, not both")
    return token or (Path(file) if file else None), _variable("VENUE_KEY")


def _variable(name: str) -> str | None:
    """A variable of the environment; an empty one is as good as none."""
    return os.environ.get(name) or None


def _text_of(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise BadSettings(f"{path} holds no token") from None
    except OSError as error:
        raise BadSettings(f"{path}: {error.strerror}") from None


def _opened(path: Path, passphrase: str | None) -> Ed25519PrivateKey:
    given = passphrase if passphrase is not None else os.environ.get("VENUE_PASSPHRASE")
    try:
        return keyfile.read(path, None if given is None else given.encode())
    except keyfile.KeyFileError as error:
        raise BadSettings(str(error)) from None
