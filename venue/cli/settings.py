"""`venue config`: the settings that a server would run with here (D30)."""

import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import typer

from .. import config
from .local import ConfigOption, DataOption
from .output import JsonOption, print_json, refusal
from .status import Status

_SECRET = re.compile(r"secret|password|passphrase|token|credential|private", re.IGNORECASE)
_MASK = "********"


def show(data: DataOption = None, file: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Print the effective settings: defaults, then the file, then VENUE_… variables. Secrets are masked.

    Example: VENUE_LIMITS__ASKS=10 venue config --config venue.toml
    """
    try:
        settings = config.load(file, data=data)
    except config.ConfigError as error:
        raise refusal(str(error), "usage", Status.USAGE, as_json=as_json, by="venue config") from None
    found = masked(settings.model_dump(mode="json"))
    if as_json:
        print_json(found)
        return
    for name, value in flat(found):
        typer.echo(f"{name:<30} {'none' if value is None else value}")


def masked(value: Any, name: str = "") -> Any:
    """Settings without what is secret in them: by name, and the password in an address."""
    if isinstance(value, dict):
        return {key: masked(item, key) for key, item in value.items()}
    if not isinstance(value, str) or not value:
        return value
    return _MASK if _SECRET.search(name) else _without_password(value)


def flat(table: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Settings as names with dots, and their values."""
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        if isinstance(value, dict):
            found += flat(value, f"{prefix}{name}.")
        else:
            found.append((f"{prefix}{name}", ", ".join(value) if isinstance(value, list) else value))
    return found


def _without_password(text: str) -> str:
    parts = urlsplit(text)
    if not parts.scheme or "@" not in parts.netloc:
        return text
    user, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}:{_MASK}@{host}"))
