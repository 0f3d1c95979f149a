"""The venues that were met before: which DID each address had, so that another one there is noticed (D1)."""

import os
import sys
from pathlib import Path

NAME = "known-venues"


class KnownError(Exception):
    """The file cannot be read or written; the message says which and why."""


def path() -> Path:
    """Where the file is: below XDG_CONFIG_HOME, or where this system keeps such things."""
    given = os.environ.get("XDG_CONFIG_HOME")
    if given:
        return Path(given) / "venue" / NAME
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", str(Path.home()))) / "venue" / NAME
    else:  # noqa: RET505 - a type checker leaves out the other system's branch, not what follows it
        return Path.home() / ".config" / "venue" / NAME


def expected(url: str) -> str | None:
    """The DID that an address had, None for a new one. Raises KnownError."""
    return _read().get(url)


def remember(url: str, did: str) -> None:
    """Write down the DID of an address that was not known. Raises KnownError."""
    file = path()
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # One short line in one write: two commands at once both leave theirs whole.
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8") as stream:
            stream.write(f"{url} {did}\n")
    except OSError as error:
        raise KnownError(f"{file}: {error.strerror}") from None


def _read() -> dict[str, str]:
    file = path()
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise KnownError(f"{file}: {getattr(error, 'strerror', None) or 'is no text'}") from None
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        url, _, did = line.strip().partition(" ")
        if not did.startswith("did:"):
            raise KnownError(f"{file}, line {number}: is no address and DID; delete the line")
        found.setdefault(url, did)
    return found
