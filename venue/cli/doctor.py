"""`venue doctor`: whether a venue's data directory, packages, clock and port are as they should be (D21)."""

import asyncio
import importlib.metadata
import importlib.util
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import typer

from inbox.clock import millis, system_clock
from inbox.errors import InboxError
from inbox.store.base import Transaction

from .. import config, keyfile
from . import plain, words
from .local import ConfigOption, DataOption
from .output import JsonOption, print_json, refusal
from .status import Status

_PACKAGES = ("ucan", "inbox", "ops", "venue")
_RIVAL = "multiformats"
_AHEAD = 60_000
_RELEASED = 1_767_225_600_000


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at: fine or not, what was found, and what to do about it."""

    about: str
    fine: bool
    found: str
    do: str = ""


def doctor(data: DataOption = None, file: ConfigOption = None, as_json: JsonOption = False) -> None:
    """Look for what is wrong with a venue here, without changing anything. Status 1 if something is.

    Example: venue doctor --data data --config venue.toml
    """
    try:
        settings = config.load(file, data=data)
    except config.ConfigError as error:
        raise refusal(str(error), "usage", Status.USAGE, as_json=as_json, by="venue doctor") from None
    findings = [
        *_packages(),
        *_directory(settings.data),
        *_database(settings),
        *_port(settings),
    ]
    well = all(finding.fine for finding in findings)
    if as_json:
        print_json({"ok": well, "findings": [vars(finding) for finding in findings]})
    else:
        for finding in findings:
            typer.echo(f"{'ok ' if finding.fine else 'BAD'} {finding.about:<10} {plain.line(finding.found)}")
            if not finding.fine and finding.do:
                typer.echo(f"    {'':<10} {finding.do}")
    if not well:
        raise typer.Exit(Status.REFUSED)


def _packages() -> Iterable[Finding]:
    """Whether another distribution's packages stand where ours should (D33's last section)."""
    home = Path(__file__).resolve().parents[2]
    elsewhere = [name for name in _PACKAGES if not _is_at(name, home)]
    found = f"{', '.join(elsewhere)} come from elsewhere" if elsewhere else f"all of {home}"
    own = "give the venue a virtual environment of its own"
    yield Finding("packages", not elsewhere, found, own)
    try:
        version = importlib.metadata.version(_RIVAL)
    except importlib.metadata.PackageNotFoundError:
        return
    yield Finding(
        "packages",
        False,
        f"{_RIVAL} {version} and py-multiformats share an import name",
        f"{own}: both break",
    )


def _is_at(name: str, home: Path) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and Path(spec.origin).resolve().parents[1] == home


def _directory(data: Path) -> Iterable[Finding]:
    if not data.is_dir():
        yield Finding("data", True, f"{data} is not there yet; `venue serve` makes it")
        return
    yield _private("data", data, 0o700)
    key = data / keyfile.VENUE_KEY
    if key.exists():
        yield _private("key", key, 0o600)
        try:
            keyfile.read(key, None)
        except keyfile.KeyFileError as error:
            yield Finding("key", False, str(error), "restore the key from your copy: the venue is its key")
    elif (data / "venue.db").exists():
        lost = "restore it: without it nothing can be signed, and the venue's DID is lost"
        yield Finding("key", False, f"{key} is missing, and there is a database", lost)


def _private(about: str, path: Path, most: int) -> Finding:
    mode = stat.S_IMODE(path.stat().st_mode)
    return Finding(about, not mode & ~most, f"{path} has mode {mode:04o}", f"chmod {most:o} {path}")


def _database(settings: config.Settings) -> Iterable[Finding]:
    now = millis(system_clock())
    yield Finding(
        "clock", now > _RELEASED, words.moment(now), "set the clock: deadlines and tokens follow it"
    )
    path = settings.data / "venue.db"
    if not path.exists() or not path.stat().st_size:
        yield Finding("database", True, f"{path} is not there yet; `venue serve` makes it")
        return
    try:
        identity, broken, latest = asyncio.run(_looked(path))
    except InboxError as error:
        yield Finding("schema", False, str(error), "use the version of the venue that made it, or migrate")
        return
    yield Finding("schema", True, "of this version")
    yield _identity(settings, identity)
    jobs, records = broken
    found = f"{len(jobs)} parked jobs without a record, {len(records)} open records without a job"
    if jobs or records:
        found += ": " + ", ".join([*jobs, *records][:10])
    repaired = "a start of the server puts it right: job failed, record cancelled"
    yield Finding("requests", not (jobs or records), found, repaired)
    if latest is not None:
        ahead = latest - now > _AHEAD
        yield Finding(
            "clock",
            not ahead,
            f"the last change was at {words.moment(latest)}",
            "the clock went back: set it",
        )


async def _looked(path: Path) -> tuple[Any, tuple[list[str], list[str]], int | None]:
    from ops.sweep import breaches  # noqa: PLC0415 - these are half of the start of every command

    from ..app import open_database  # noqa: PLC0415

    def look(tx: Transaction) -> tuple[Any, tuple[list[str], list[str]], int | None]:
        row = tx.one("job.latest")
        return tx.one("venue.get"), breaches(tx), None if row is None else row["at"]

    db = open_database(path)
    await db.open(lambda _: None)
    try:
        return await db.read(look)
    finally:
        await db.close()


def _identity(settings: config.Settings, row: Any) -> Finding:
    from ..app import signer_for  # noqa: PLC0415

    key = settings.data / keyfile.VENUE_KEY
    if row is None or not key.exists():
        return Finding("identity", True, "not fixed yet")
    try:
        signer = signer_for(settings, keyfile.read(key, None).private_bytes_raw())
    except keyfile.KeyFileError as error:
        return Finding("identity", False, str(error))
    same = (row["did"], row["key_did"]) == (signer.did, signer.key_did)
    found = row["did"] if same else f"the database says {row['did']}, settings and key say {signer.did}"
    return Finding(
        "identity", same, found, "undo the change of public_url or of the key: an identity is fixed"
    )


def _port(settings: config.Settings) -> Iterable[Finding]:
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    url = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}"
    if not settings.port:
        return
    try:
        did = str(httpx.get(f"{url}/api/v1/status", timeout=5).json()["did"])
    except httpx.ConnectError:
        yield Finding("port", True, f"nothing listens at {url}")
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        yield Finding("port", False, f"something that is no venue answers at {url}", "choose another port")
    else:
        yield Finding("port", True, f"the venue {did} serves at {url}")
