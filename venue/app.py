"""The composition root: the one visible place where everything is wired (house rule 9)."""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from inbox.clock import Clock, millis, system_clock
from inbox.errors import InboxError, SchemaMismatch
from inbox.events import Bells
from inbox.model import Terms
from inbox.store.base import Database, Transaction
from inbox.store.migrate import migrations
from inbox.store.sqlfile import load as load_statements
from inbox.store.sqlite import SqliteDatabase
from ops import notary, sweep
from ops.builtin import agent, audit, blocking, covia_read, covia_write, hitl, skills, ucan, user
from ops.desk import Desk
from ops.ids import IdSource
from ops.invoke import Invoker
from ops.model import Operation, World
from ops.registry import Registry, catalogue
from ops.units import Units
from ucan.did import web_did
from ucan.keys import Ed25519Signer

from . import openapi, problems
from .auth import Authenticator
from .config import Settings
from .didweb import DidWeb, Fetch, fetch_public
from .guard import Guard
from .limits import Rates
from .routes import discovery, invoke, jobs, links, streams, values, web
from .routes import operations as operation_routes
from .waiting import Waiters

log = logging.getLogger("venue")

OPERATIONS = (
    *hitl.OPERATIONS,
    *blocking.OPERATIONS,
    *ucan.OPERATIONS,
    *covia_read.OPERATIONS,
    *covia_write.OPERATIONS,
    *agent.OPERATIONS,
    *user.OPERATIONS,
    *audit.OPERATIONS,
)
ROUTERS = tuple(
    module.router for module in (discovery, invoke, jobs, links, operation_routes, streams, values)
)
_CORS_HEADERS = ["content-type", "authorization", "x-covia-ucans", "idempotency-key", "last-event-id"]
_STATEMENTS = (("inbox", "sql/inbox.sql"), ("ops", "sql/ops.sql"))


def open_database(path: Path) -> SqliteDatabase:
    """The store of a venue on one SQLite file, with its schema; it is not connected yet."""
    schema = (*migrations("inbox", "sql/sqlite"), *migrations("ops", "sql/sqlite"))
    return SqliteDatabase(path, load_statements(_STATEMENTS), schema)


def signer_for(settings: Settings, seed: bytes) -> Ed25519Signer:
    """The venue's key, under the DID that the settings give it (D1): did:web with a public host, else
    did:key.
    """
    if settings.public_host is None:
        return Ed25519Signer.from_seed(seed)
    host, _, port = settings.public_host.partition(":")
    return Ed25519Signer.from_seed(seed, web_did(host, int(port) if port else None))


def create_app(
    settings: Settings,
    *,
    db: Database,
    signer: Ed25519Signer,
    clock: Clock = system_clock,
    entropy: Callable[[int], bytes] = secrets.token_bytes,
    fetch: Fetch = fetch_public,
    operations: Sequence[Operation] = OPERATIONS,
) -> FastAPI:
    """The venue as an ASGI application. Its lifespan opens the database, puts right what a stop left, and
    closes it.

    Starting raises SchemaMismatch (`schema`) for a database of another version or of another venue.
    """
    did_web = DidWeb(fetch, clock, {signer.did, signer.key_did})
    world = build_world(settings, signer, clock, entropy, did_web, operations)
    registry = Registry(operations, world.dids)
    bells = Bells()
    units = Units(db, world)
    desk = Desk(units)
    waiters = Waiters(bells, desk, streams=settings.limits.streams)
    life = Life(db, world, signer, bells, waiters)

    app = FastAPI(title="venue", lifespan=life.of, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state.life = life
    app.state.settings = settings
    app.state.world = world
    app.state.registry = registry
    app.state.db = db
    app.state.bells = bells
    app.state.desk = desk
    app.state.units = units
    app.state.invoker = Invoker(units, registry)
    app.state.waiters = waiters
    app.state.web = did_web
    app.state.authenticator = Authenticator(
        db,
        world,
        did_web,
        Rates(clock, settings.limits.requests_per_second, settings.limits.burst),
        auto_create=settings.auto_create,
        require_audience=settings.auth.audience == "required",
    )
    app.state.routers = ROUTERS
    for router in ROUTERS:
        app.include_router(router)
    app.include_router(web.router)
    problems.install(app)
    openapi.install(app, ROUTERS)
    _protect(app, settings, entropy)
    return app


def _protect(app: FastAPI, settings: Settings, entropy: Callable[[int], bytes]) -> None:
    """Wrap the application: the guard outermost, within it the answers to other origins, if any."""
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "HEAD", "POST", "PUT"],
            allow_headers=_CORS_HEADERS,
            expose_headers=["ETag", "Location", "Retry-After", "X-Request-Id"],
        )
    app.add_middleware(Guard, settings=settings, entropy=entropy)


class Life:
    """From opening the database to closing it; `failure` says why a venue could not be launched."""

    def __init__(
        self, db: Database, world: World, signer: Ed25519Signer, bells: Bells, waiters: Waiters
    ) -> None:
        self._db = db
        self._world = world
        self._signer = signer
        self._bells = bells
        self._waiters = waiters
        self.failure: InboxError | None = None
        self.sweeper: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def of(self, _: FastAPI) -> AsyncIterator[None]:
        """Launch before the port opens; at the end let the waiters go, sign a last root, and close."""
        try:
            await self._launch()
        except InboxError as error:
            self.failure = error
            await self._db.close()
            raise
        self.sweeper = asyncio.create_task(sweep.run(self._db, self._world, self._bells))
        tasks = [self.sweeper, asyncio.create_task(notary.run(self._db, self._world))]
        try:
            yield
        finally:
            self._waiters.stop()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._db.write(lambda tx: notary.sign_root(tx, self._world))
            await self._db.close()

    async def _launch(self) -> None:
        await self._db.open(self._bells.ring)
        await self._db.write(lambda tx: claim(tx, self._world, self._signer))
        await sweep.launch(self._db, self._world)


def build_world(
    settings: Settings,
    signer: Ed25519Signer,
    clock: Clock,
    entropy: Callable[[int], bytes],
    web: DidWeb,
    operations: Sequence[Operation] = OPERATIONS,
) -> World:
    """What operations may know of this venue."""
    ceiling = settings.grants.max_lifetime
    described: dict[str, dict[str, Any]] = {
        name: {"description": said} for name, said in skills.ADAPTERS.items()
    }
    described["hitl"]["signsFor"] = settings.grants.attest
    if ceiling is not None:
        described["hitl"]["maxGrantLifetimeSecs"] = ceiling
    dids = frozenset({signer.did, signer.key_did})
    return World(
        did=signer.did,
        aliases=dids - {signer.did},
        signer=signer,
        clock=clock,
        entropy=entropy,
        new_id=IdSource(clock, entropy),
        terms=Terms(settings.grant_policy(), settings.request_limits(), dids),
        issue_max_lifetime=settings.ucan.max_lifetime,
        workspace_bytes=settings.limits.workspace,
        trusted=frozenset(settings.auth.trusted_issuers),
        web_keys=web.keys,
        catalogue=catalogue(operations, described, skills.SKILLS),
    )


def claim(tx: Transaction, world: World, signer: Ed25519Signer) -> None:
    """Fix the venue's identity in a new database, and refuse a database that belongs to another (D1)."""
    row = tx.one("venue.get")
    if row is None:
        tx.run("venue.insert", did=world.did, key_did=signer.key_did, created=millis(world.clock()))
    elif (row["did"], row["key_did"]) != (world.did, signer.key_did):
        raise SchemaMismatch(
            f"this database belongs to the venue {row['did']} with the key {row['key_did']}; the settings "
            f"and the key in the data directory say {world.did} with {signer.key_did}. "
            "The identity of a venue is fixed when it is created"
        )
