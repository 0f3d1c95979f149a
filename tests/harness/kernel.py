"""A venue without HTTP: the database, the operations and a clock that stands where it was put."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any

from inbox.clock import millis
from inbox.events import Bells
from inbox.store.base import Transaction
from inbox.store.sqlfile import Statement
from inbox.store.sqlite import SqliteDatabase
from ops import agents, sweep, users
from ops.desk import Desk
from ops.invoke import Invoker
from ops.model import Call, Caller, Job, Kind, World
from ucan.keys import Ed25519Signer
from venue.app import create_app, open_database
from venue.config import Settings

from .clock import FrozenClock
from .site import no_web

ASKS = [{"id": "ok", "type": "approval", "prompt": "OK?", "grants": [{"with": "w/r", "can": "crud/read"}]}]
ECHO = [{"with": "w/r", "can": "crud/read"}]


@dataclass
class Kernel:
    """Operations on one database. `told` holds the topics of each commit, as the event loop heard of them."""

    db: SqliteDatabase
    world: World
    clock: FrozenClock
    invoker: Invoker
    desk: Desk
    path: Path
    told: list[frozenset[str]] = field(default_factory=list)
    bells: Bells = field(default_factory=Bells)

    def hear(self, topics: frozenset[str]) -> None:
        """What the database tells after a commit."""
        self.told.append(topics)
        self.bells.ring(topics)

    @property
    def now(self) -> int:
        """The instant at which the clock stands, in epoch milliseconds."""
        return millis(self.clock())

    def register(self, tx: Transaction) -> None:
        """Give three persons an inbox, and each an agent."""
        for number in (1, 2, 3):
            did = self.person(number).did
            users.register(tx, did, self.now)
            agents.enrol(tx, did, "helper", None, self.now)

    def person(self, number: int) -> Caller:
        """A registered person."""
        did = Ed25519Signer.from_seed(bytes([number]) * 32).did
        return Caller(did, did)

    def agent(self, owner: Caller) -> Caller:
        """An agent of a person."""
        return replace(owner, did=f"{owner.did}:g:helper", kind=Kind.AGENT, agent_id="helper")

    async def ask(self, caller: Caller, **fields: Any) -> str:
        """Post a request into the caller's own user's inbox, and return its id."""
        data = {"title": "T", "asks": ASKS, **fields}
        return (await self.invoker.invoke("v/ops/hitl/request", data, caller)).id

    async def respond(self, caller: Caller, request: str, outcome: str = "answer", **fields: Any) -> Job:
        """`hitl:respond`; an answer approves unless it says otherwise."""
        answers = {"answers": {"ok": True}} if outcome == "answer" else {}
        data = {"id": request, "outcome": outcome, **answers, **fields}
        return await self.invoker.invoke("v/ops/hitl/respond", data, caller)

    async def delete(self, caller: Caller, request: str) -> bool:
        """`covia:delete` of a record."""
        job = await self.invoker.invoke("v/ops/covia/delete", {"path": f"h/{request}"}, caller)
        return bool(job.output["deleted"])

    async def expire(self) -> int:
        """What the timer does."""
        return await sweep.expire_due(self.db, self.world)

    def call(self, tx: Transaction, caller: Caller) -> Call:
        """A call inside a unit of work, for what stands below the operations."""
        return Call(tx, self.world, caller, self.now, self.world.new_id())


@asynccontextmanager
async def kernel(
    path: Path,
    *,
    extra: Mapping[str, Statement] | None = None,
    store: Callable[..., SqliteDatabase] = SqliteDatabase,
) -> AsyncIterator[Kernel]:
    """A kernel on a database file, with three registered people; `extra` are statements of the test's own."""
    shipped = open_database(path)
    db = store(path, {**shipped._statements, **(extra or {})}, shipped._schema)
    clock, numbers = FrozenClock(), count()

    def entropy(size: int) -> bytes:
        return next(numbers).to_bytes(size, "big")

    signer = Ed25519Signer.from_seed(bytes(32))
    app = create_app(Settings(), db=db, signer=signer, clock=clock, entropy=entropy, fetch=no_web)
    state = app.state
    built = Kernel(db, state.world, clock, state.invoker, state.desk, path)
    await db.open(built.hear)
    try:
        await db.write(built.register)
        yield built
    finally:
        await db.close()
