"""Which venue, and who calls: the options that all commands over HTTP share, and how each error ends one."""

import functools
import getpass
import inspect
import os
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from inbox.clock import millis, system_clock
from ucan.did import did_key
from ucan.errors import UcanError
from ucan.jwt import read as read_token

from .. import keyfile
from ..client import (
    BadSettings,
    ClockSkew,
    NotAuthenticated,
    TooFast,
    Unreachable,
    Venue,
    VenueError,
    VenueFault,
    WrongVenue,
)
from ..client.identity import base_url
from ..version import CLI_AGENT, VERSION
from . import known
from .output import refusal
from .status import Status, code, of

PATIENCE = 10.0
"""How many seconds a venue that cannot be reached is tried, where the command does not wait anyway."""

_SILENT = 3.0
_GROUP = "Venue and caller"
UrlOption = Annotated[
    str | None,
    typer.Option("--url", help="Address of the venue [VENUE_URL].", rich_help_panel=_GROUP),
]
KeyOption = Annotated[
    Path | None,
    typer.Option("--key", help="Call as a person, by this key file [VENUE_KEY].", rich_help_panel=_GROUP),
]
TokenOption = Annotated[
    Path | None,
    typer.Option(
        "--token-file", help="Call by the token in this file; or VENUE_TOKEN.", rich_help_panel=_GROUP
    ),
]
AsOption = Annotated[
    str | None,
    typer.Option(
        "--as", help="DID of the agent or managed user that the key speaks for.", rich_help_panel=_GROUP
    ),
]


class Usage(Exception):
    """The command was called wrongly: status 2."""


class Connection:
    """A venue to be called by somebody; opened by the first call."""

    def __init__(
        self, url: str | None, key: Path | None, token_file: Path | None, subject: str | None
    ) -> None:
        self.url = base_url(url)
        self._key = key
        self._token_file = token_file
        self._subject = subject
        self._venue: Venue | None = None
        self.me = ""
        self.key: Ed25519PrivateKey | None = None

    def open(self, patience: float | None = None) -> Venue:
        """The venue. Its DID is what this address had before, or is remembered from now on.

        Raises Usage, VenueError, KeyFileError, KnownError.
        """
        if self._venue is not None:
            return self._venue
        token, key = self._credential()
        self.me = _subject(token, key, self._subject)
        self.key = key
        remembered = known.expected(self.url)
        venue = Venue(
            self.url,
            token=token,
            key=key,
            subject=self._subject,
            did=remembered,
            patience=PATIENCE if patience is None else patience,
            user_agent=f"{CLI_AGENT}/{VERSION}",
        )
        self._venue = venue
        did = self._asked(venue)
        if remembered is None:
            known.remember(self.url, did)
        return venue

    def _asked(self, venue: Venue) -> str:
        """The venue's DID; while nobody answers it says so, once, and goes on."""
        note = threading.Timer(_SILENT, say, [f"venue: nobody answers at {self.url} yet, still trying"])
        note.daemon = True
        note.start()
        try:
            return venue.did()
        finally:
            note.cancel()

    def close(self) -> None:
        """Let go of the connections."""
        if self._venue is not None:
            self._venue.close()

    def _credential(self) -> tuple[str | None, Ed25519PrivateKey | None]:
        if self._key is not None and self._token_file is not None:
            raise Usage("--key or --token-file, not both")
        if self._token_file is not None:
            return _token_of(self._token_file), None
        if self._key is not None:
            return None, opened(self._key)
        names = ("VENUE_TOKEN", "VENUE_TOKEN_FILE", "VENUE_KEY")
        token, file, key = (os.environ.get(name) for name in names)
        if len([value for value in (token, file, key) if value]) > 1:
            raise Usage(f"more than one of {', '.join(names)} is set: unset it, or say --key or --token-file")
        if file:
            return _token_of(Path(file)), None
        if not token and not key:
            raise Usage(
                "say who calls: --key FILE for a person, --token-file FILE for an agent (venue key new)"
            )
        return (token, None) if token else (None, opened(Path(str(key))))


def connected(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say which venue and who calls. It takes them as one `Connection`, and
    what it raises ends it with the right status.
    """
    signature = inspect.signature(command)
    first, *own = signature.parameters.values()
    options = {"url": UrlOption, "key": KeyOption, "token_file": TokenOption, "subject": AsOption}
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in options.items()
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        who = {name: given.pop(name) for name in options}
        with_json = bool(given.get("as_json"))
        try:
            with closing(Connection(**who)) as connection:
                command(connection, **given)
        except KeyboardInterrupt:
            raise typer.Exit(Status.INTERRUPTED) from None
        except (VenueError, Usage, keyfile.KeyFileError, known.KnownError) as error:
            raise failed(error, as_json=with_json) from None

    del run.__wrapped__
    own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    run.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    kept = {name: value for name, value in command.__annotations__.items() if name != first.name}
    run.__annotations__ = {**kept, **options}
    return run


def failed(error: Exception, *, as_json: bool = False) -> typer.Exit:
    """Say what went wrong and what to do next on standard error, and end with the right status."""
    status = of(error) if isinstance(error, VenueError) else Status.REFUSED
    word = code(error) if isinstance(error, VenueError) else "refused"
    if isinstance(error, Usage):
        status, word = Status.USAGE, "usage"
    return refusal(str(error), word, status, as_json=as_json, do=_next_step(error))


def say(text: str) -> None:
    """A word for the person, on standard error."""
    typer.echo(text, err=True)


def now() -> int:
    """The time, in epoch milliseconds."""
    return millis(system_clock())


def opened(file: Path) -> Ed25519PrivateKey:
    """The key of a file, under VENUE_PASSPHRASE, or a passphrase that is asked for. Raises KeyFileError."""
    given = os.environ.get("VENUE_PASSPHRASE")
    if given is not None:
        return keyfile.read(file, given.encode())
    try:
        return keyfile.read(file, None)
    except keyfile.KeyFileError as error:
        if "is encrypted" not in str(error) or not sys.stdin.isatty():
            raise
    return keyfile.read(file, getpass.getpass(f"Passphrase of {file}: ").encode())


def write_secret(file: Path, text: str) -> None:
    """Write a token to a new file that only its owner can read. Raises Usage when there is one already."""
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise Usage(f"{file} exists already, and is not overwritten") from None
    except OSError as error:
        raise Usage(f"{file}: {error.strerror}") from None
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(f"{text}\n")


def _token_of(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(f"--token-file {file}: {getattr(error, 'strerror', None) or 'is no text'}") from None
    if not text or any(character.isspace() for character in text):
        raise Usage(f"--token-file {file}: holds no single token")
    return text


def _subject(token: str | None, key: Ed25519PrivateKey | None, subject: str | None) -> str:
    """Who one's own credential says one is; empty when it does not say. The venue decides by itself."""
    if key is not None:
        return subject or did_key(key.public_key().public_bytes_raw())
    try:
        return str(read_token(token or "").claims.get("sub", ""))
    except UcanError:
        return ""


def _next_step(error: Exception) -> str:
    match error:
        case WrongVenue():
            return f"\nNothing was sent. To accept it, delete the line of this address from {known.path()}"
        case BadSettings() if "This token is for the venue" in str(error):
            return f"\nIf the venue was set up anew, delete the line of this address from {known.path()}"
        case ClockSkew():
            return ""
        case NotAuthenticated():
            return "\nIs --key or --token-file the one meant? A new token for an agent: venue agent enrol."
        case TooFast():
            return "\nNothing has happened. Try again in a while."
        case Unreachable():
            return "\nSee --url and `venue doctor`, and try again: nothing is asked twice."
        case VenueFault():
            return (
                "\nIt failed, or something before it did; its operator finds why in its log. Try again later."
            )
    return ""
