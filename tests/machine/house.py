"""The venue under the machine: every part that ships below HTTP, on a real file, one call at a time.

Callers come in by their bearer where that can be revoked (agents), and everything is closed and opened again
for a restart. The file lies in memory where the system has such a place: nothing here cuts the power.
"""

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from inbox.clock import millis
from inbox.errors import InboxError
from inbox.store.base import Work
from ops import notary, sweep, users
from ops.desk import Desk
from ops.errors import OpsError
from ops.invoke import Invoker
from ops.model import Caller
from ops.registry import Registry
from ops.units import Units
from tests.harness.clock import FrozenClock
from tests.harness.site import no_web, seed_of
from ucan.did import agent_did, managed_did
from ucan.keys import Ed25519Signer
from venue.app import OPERATIONS, build_world, claim, open_database
from venue.auth import Authenticator
from venue.config import LimitTable, Settings
from venue.didweb import DidWeb
from venue.limits import Rates
from venue.problems import HttpProblem

T = TypeVar("T")

MOST_PER_REQUESTER, MOST_PER_INBOX = 3, 4
SETTINGS = Settings(limits=LimitTable(open_per_requester=MOST_PER_REQUESTER, open_per_inbox=MOST_PER_INBOX))
VENUE = Ed25519Signer.from_seed(seed_of("machine"))
ADA, BOB = (Ed25519Signer.from_seed(seed_of(name)) for name in ("ada", "bob"))
MIA = managed_did(VENUE.did, "mia")
PERSONS = (ADA.did, BOB.did, MIA)
SIGNERS = {ADA.did: ADA, BOB.did: BOB}
AGENTS = {"helper": (ADA.did, BOB.did, MIA), "clerk": (ADA.did,)}
NO_CAPS = "clerk"
"""The agent whose caps are empty: it may do nothing (D23)."""

_FAST = Path("/dev/shm")


@dataclass(frozen=True)
class Refused:
    """A call that was refused, by its code."""

    code: str


class House:
    """A venue that is up, on the file of one run."""

    def __init__(
        self, path: Path, clock: FrozenClock, bearers: dict[str, str], entropy: "count[int]"
    ) -> None:
        self.path = path
        self.clock = clock
        self.bearers = bearers
        self._entropy = entropy
        self._loop = asyncio.new_event_loop()
        self.heard: list[frozenset[str]] = []
        self._open()

    @property
    def now(self) -> int:
        """The instant at which the clock stands, in epoch milliseconds."""
        return millis(self.clock())

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run one call to its end."""

        async def called() -> T:
            return await work()

        return self._loop.run_until_complete(called())

    def write(self, work: Work[T]) -> T:
        """Run one unit of work."""
        return self.run(lambda: self.db.write(work))

    def read(self, work: Work[T]) -> T:
        """Read in one snapshot."""
        return self.run(lambda: self.db.read(work))

    def call(
        self, who: str, operation: str, data: Any, proofs: Sequence[str] = (), key: str | None = None
    ) -> Any:
        """Invoke an operation as somebody: its job (one that reads: its output), or how it was refused."""
        return self.run(lambda: self.calling(who, operation, data, proofs, key))

    async def calling(
        self, who: str, operation: str, data: Any, proofs: Sequence[str] = (), key: str | None = None
    ) -> Any:
        """`call`, for whoever runs several at once."""
        try:
            caller = replace(await self._caller(who), proofs=tuple(proofs))
            if self._registry.find(operation).read_only:
                return await self._invoker.run(operation, data, caller)
            return await self._invoker.invoke(operation, data, caller, key)
        except (InboxError, OpsError, HttpProblem) as error:
            return Refused(error.code)

    def together(self, calls: Sequence[Awaitable[Any]]) -> list[Any]:
        """Run several calls at once; the writer takes them in this order."""
        return self.run(lambda: asyncio.gather(*calls))

    def cancel(self, who: str, job: str, reason: str | None) -> Any:
        """Cancel a job: as it is then, or how it was refused."""
        return self.run(lambda: self.cancelling(who, job, reason))

    def cancelling(self, who: str, job: str, reason: str | None) -> Awaitable[Any]:
        """`cancel`, for whoever runs several at once."""
        return self._desk(who, lambda caller: self.desk.cancel(job, reason, caller))

    def delete_job(self, who: str, job: str) -> Any:
        """Delete a job: None, or how it was refused."""
        return self.run(lambda: self._desk(who, lambda caller: self.desk.delete(job, caller)))

    def job(self, who: str, job: str) -> Any:
        """A job as somebody sees it, or how it was refused."""
        return self.run(lambda: self._desk(who, lambda caller: self.desk.job(job, caller)))

    def sweep(self) -> int:
        """What the timer does."""
        return self.run(lambda: sweep.expire_due(self.db, self.world))

    def sign_root(self) -> None:
        """What the notary does."""
        self.write(lambda tx: notary.sign_root(tx, self.world))

    def restart(self, down: int) -> int:
        """Close, let time pass, open and launch again. Returns how many breaches the launch repaired."""
        self.run(self.db.close)
        self.clock.advance(down)
        self._open()
        return self.run(lambda: sweep.launch(self.db, self.world))

    def close(self) -> None:
        """The end of the run."""
        self.run(self.db.close)
        self._loop.close()

    def _open(self) -> None:
        self.db = open_database(self.path)
        web = DidWeb(no_web, self.clock)
        self.world = build_world(
            SETTINGS, VENUE, self.clock, lambda size: next(self._entropy).to_bytes(size, "big"), web
        )
        units, self._registry = Units(self.db, self.world), _registry()
        self.desk, self._invoker = Desk(units), Invoker(units, self._registry)
        rates = Rates(self.clock, None, 1)
        self._auth = Authenticator(self.db, self.world, web, rates, auto_create=False, require_audience=True)
        self.run(lambda: self.db.open(self.heard.append))

    async def _caller(self, who: str) -> Caller:
        if who in PERSONS:
            return Caller(who, who)
        return await self._auth.identify(f"Bearer {self.bearers[who]}", "api")

    async def _desk(self, who: str, work: Callable[[Caller], Awaitable[Any]]) -> Any:
        try:
            return await work(await self._caller(who))
        except (InboxError, OpsError, HttpProblem) as error:
            return Refused(error.code)


@cache
def _registry() -> Registry:
    return Registry(OPERATIONS, {VENUE.did})


class Builder:
    """Hands out houses that begin alike: three persons and their agents, made once and copied."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(dir=_FAST if _FAST.is_dir() else None)
        self._numbers = count()
        template, entropy = Path(self._folder.name) / "template.db", count()
        house = House(template, FrozenClock(), {}, entropy)
        house.write(lambda tx: claim(tx, house.world, VENUE))
        house.write(lambda tx: [users.register(tx, did, house.now) for did in PERSONS[:2]])
        house.write(lambda tx: users.register(tx, MIA, house.now, "mia"))
        for name, owners in AGENTS.items():
            for owner in owners:
                caps: dict[str, Any] = {"caps": []} if name == NO_CAPS else {}
                job = house.call(owner, "agent:enrol", {"agentId": name, **caps})
                house.bearers[agent_did(owner, name)] = job.output["token"]
        house.close()
        with closing(sqlite3.connect(template)) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._template, self._bearers, self._used = template, house.bearers, next(entropy)

    def house(self) -> House:
        """A venue of its own for one run."""
        path = Path(self._folder.name) / f"{next(self._numbers)}.db"
        shutil.copyfile(self._template, path)
        return House(path, FrozenClock(), dict(self._bearers), count(self._used))

    def demolish(self, house: House) -> None:
        """Close a house and take its file away."""
        house.close()
        for file in house.path.parent.glob(f"{house.path.name}*"):
            file.unlink()

    def close(self) -> None:
        """Take everything away."""
        self._folder.cleanup()
