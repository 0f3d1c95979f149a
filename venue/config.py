"""Settings: one TOML file and `VENUE_…` variables, read once into a frozen object (D30).

A variable overrides the file; `VENUE_GRANTS__MAX_LIFETIME` is `max_lifetime` in the table `[grants]`. A key
or variable that nobody knows is an error: a misspelt limit must not silently be no limit.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from inbox.explain import explain
from inbox.model import DAY, GrantPolicy, Limits
from ucan.did import is_did, web_did
from ucan.errors import UcanError

PREFIX = "VENUE_"
_NOT_SETTINGS = frozenset(
    {"VENUE_DID", "VENUE_KEY", "VENUE_PASSPHRASE", "VENUE_TOKEN", "VENUE_TOKEN_FILE", "VENUE_URL"}
)
"""Variables of the same prefix that belong to the command line, not to the server."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class ConfigError(Exception):
    """The settings cannot be used; the message names the key and what to do."""


def _none(value: Any) -> Any:
    return None if value == "none" else value


def _list(value: Any) -> Any:
    return [part for part in value.replace(",", " ").split() if part] if isinstance(value, str) else value


Ceiling = Annotated[Annotated[int, Field(gt=0)] | None, BeforeValidator(_none)]
Names = Annotated[tuple[str, ...], BeforeValidator(_list)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Users(_Table):
    """Who is admitted (D4)."""

    auto_create: bool | None = None


class Auth(_Table):
    """How callers prove who they are (D2)."""

    audience: Literal["required", "optional"] = "required"
    trusted_issuers: Names = ()

    @field_validator("trusted_issuers")
    @classmethod
    def _dids(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not is_did(name):
                raise ValueError(f"{name[:64]!r} is no DID")
        return names


class Grants(_Table):
    """What answers may confer (D7, D10): the ceiling in seconds, `none` lifts it."""

    max_lifetime: Ceiling = 90 * DAY
    attest: Literal["all", "managed"] = "all"


class Ucan(_Table):
    """What `ucan:issue` may confer (D10): the ceiling in seconds, `none` lifts it."""

    max_lifetime: Ceiling = 365 * DAY


class LimitTable(_Table):
    """The limits of D22; sizes in characters but for `body` and `workspace`, which are in bytes."""

    body: int = Field(default=1024 * 1024, gt=0)
    depth: int = Field(default=32, gt=0, le=100)
    title: int = Field(default=280, gt=0)
    description: int = Field(default=64 * 1024, gt=0)
    asks: int = Field(default=50, gt=0)
    options: int = Field(default=100, gt=0)
    prompt: int = Field(default=4_000, gt=0)
    text: int = Field(default=64 * 1024, gt=0)
    offers: int = Field(default=50, gt=0)
    timeout: int = Field(default=3_653 * DAY, gt=0)
    token: int = Field(default=64 * 1024, gt=0)
    open_per_requester: int = Field(default=100, gt=0)
    open_per_inbox: int = Field(default=1_000, gt=0)
    posts_per_minute: Ceiling = None
    workspace: int = Field(default=64 * 1024 * 1024, gt=0)
    streams: int = Field(default=20, gt=0)
    requests_per_second: Ceiling = 100
    burst: int = Field(default=300, gt=0)


class Settings(_Table):
    """Everything that an operator can say. Frozen: what the venue started with is what it runs with."""

    data: Path = Path("data")
    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=0, le=65_535)
    name: str = "venue"
    public_url: str | None = None
    insecure_http: bool = False
    trusted_proxies: Names = ()
    cors_origins: Names = ()
    users: Users = Users()
    auth: Auth = Auth()
    grants: Grants = Grants()
    ucan: Ucan = Ucan()
    limits: LimitTable = LimitTable()

    @model_validator(mode="after")
    def _reachable_safely(self) -> "Settings":
        if self.public_url is not None:
            _check_public_url(self.public_url)
        elif not self.loopback and not self.insecure_http:
            raise ValueError(
                f"host: {self.host} is reachable from elsewhere, and tokens would travel in the clear. Set "
                'public_url = "https://…" and put a proxy in front, or say --insecure-http if you mean it'
            )
        return self

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach the venue."""
        return self.host in _LOOPBACK

    @property
    def auto_create(self) -> bool:
        """Whether a stranger who proves a DID gets an inbox; by default on one's own machine only (D4)."""
        if self.users.auto_create is not None:
            return self.users.auto_create
        return self.loopback and self.public_url is None and not self.trusted_proxies

    @property
    def public_host(self) -> str | None:
        """The public host name, with its port, or None; a venue below a path has no did:web of its own."""
        if self.public_url is None:
            return None
        url = urlsplit(self.public_url)
        return url.netloc if url.path in ("", "/") else None

    @property
    def prefix(self) -> str:
        """The path below which clients see this venue, through a proxy: empty, or such as `/venue`."""
        return "" if self.public_url is None else urlsplit(self.public_url).path.rstrip("/")

    def grant_policy(self) -> GrantPolicy:
        """What answers may confer, as the rules take it."""
        return GrantPolicy(self.grants.max_lifetime, self.grants.attest)

    def request_limits(self) -> Limits:
        """The limits that bind requests and answers, as the rules take them."""
        return Limits(**{name: getattr(self.limits, name) for name in Limits.__slots__})


def load(path: Path | None = None, **given: Any) -> Settings:
    """Read the file, then the environment, then what the command line gave; raises ConfigError."""
    values: dict[str, Any] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"{path}: {error}") from error
    _merge(values, _from_environment(os.environ))
    _merge(values, {key: value for key, value in given.items() if value is not None})
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise ConfigError(explain(error)) from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in environ.items():
        if name.startswith(PREFIX) and name not in _NOT_SETTINGS:
            *tables, key = name.removeprefix(PREFIX).lower().split("__")
            inner = values
            for table in tables:
                inner = inner.setdefault(table, {})
                if not isinstance(inner, dict):
                    raise ConfigError(f"{name}: {table} is a value in another variable, and a table here")
            inner[key] = value
    return values


def _merge(values: dict[str, Any], over: Mapping[str, Any]) -> None:
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(values.get(key), dict):
            _merge(values[key], value)
        else:
            values[key] = value


def _check_public_url(text: str) -> None:
    url = urlsplit(text)
    if url.scheme != "https" or not url.hostname or url.query or url.fragment or url.username:
        raise ValueError("public_url: must be https://<host>[:port][/prefix]")
    try:
        web_did(url.hostname, url.port)
    except UcanError:
        raise ValueError("public_url: must have a host name, and a port between 1 and 65535") from None
