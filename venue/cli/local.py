"""The venue on disk, as its operator sees it: whoever can read the data directory (D5)."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from inbox.clock import millis, system_clock
from inbox.errors import InboxError
from inbox.store.base import Transaction
from inbox.store.sqlite import SqliteDatabase
from ops.errors import OpsError
from ops.invoke import Invoker
from ops.model import Call, Caller, Kind, World
from ops.registry import Registry
from ops.units import Units
from ucan.keys import Ed25519Signer

from .. import config, keyfile
from ..didweb import DidWeb, fetch_public
from . import output
from .status import Status

T = TypeVar("T")
DATABASE = "venue.db"

DataOption = Annotated[Path | None, typer.Option(help="Directory of the database and the venue's key.")]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="A TOML file with settings.")]


class Local:
    """A venue's data directory, opened by its operator; a server may be serving from it meanwhile."""

    def __init__(self, db: SqliteDatabase, world: World) -> None:
        from ..app import OPERATIONS  # noqa: PLC0415 - as below

        self._db = db
        self._world = world
        self._invoker = Invoker(Units(db, world), Registry(OPERATIONS, world.dids))
        self._operator = Caller(world.did, world.did, Kind.OPERATOR, channel="cli")

    async def run(self, operation: str, data: dict[str, Any]) -> Any:
        """Run an operation as the operator. Raises OpsError, InboxError."""
        return await self._invoker.run(operation, data, self._operator)

    async def write(self, work: Callable[[Call], T]) -> T:
        """Do something that no operation offers, in one transaction."""

        def unit(tx: Transaction) -> T:
            return work(Call(tx, self._world, self._operator, millis(self._world.clock()), ""))

        return await self._db.write(unit)


def with_venue(
    data: Path | None,
    file: Path | None,
    work: Callable[[Local], Awaitable[T]],
    *,
    as_json: bool = False,
    create: bool = False,
) -> T:
    """Open the data directory, do something as the operator, close it; a refusal ends the command with status
    1. Where there is no venue none is made, unless `create`: a path that was mistyped is no empty venue.
    """
    try:
        return asyncio.run(_opened(_settings(data, file, create), work))
    except (OpsError, InboxError, config.ConfigError, keyfile.KeyFileError, OSError) as error:
        code = str(getattr(error, "code", "refused"))
        raise output.refusal(str(error), code, Status.REFUSED, as_json=as_json) from None


def _settings(data: Path | None, file: Path | None, create: bool) -> config.Settings:
    settings = config.load(file, data=data, insecure_http=True)
    if not create and not (settings.data / DATABASE).exists():
        raise config.ConfigError(f"there is no venue in {settings.data}")
    return settings


def signer_of(data: Path | None, file: Path | None) -> Ed25519Signer:
    """The key of a venue, under its DID; it makes none. Raises ConfigError, KeyFileError."""
    from ..app import signer_for  # noqa: PLC0415 - as below

    settings = config.load(file, data=data, insecure_http=True)
    return signer_for(settings, keyfile.read(settings.data / keyfile.VENUE_KEY, None).private_bytes_raw())


async def _opened(settings: config.Settings, work: Callable[[Local], Awaitable[T]]) -> T:
    from ..app import (  # noqa: PLC0415 - half of the start; the commands over HTTP need none of it
        build_world,
        claim,
        open_database,
        signer_for,
    )

    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    signer = signer_for(settings, keyfile.venue_seed(settings.data))
    world = build_world(
        settings, signer, system_clock, secrets.token_bytes, DidWeb(fetch_public, system_clock)
    )
    db = open_database(settings.data / DATABASE)
    await db.open(lambda _: None)
    try:
        await db.write(lambda tx: claim(tx, world, signer))
        return await work(Local(db, world))
    finally:
        await db.close()
