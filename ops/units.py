"""Units of work as calls: the database, the world and the clock, bound together."""

from collections.abc import Callable
from typing import TypeVar

from inbox import requests
from inbox.clock import millis
from inbox.store.base import Database, Transaction

from . import sweep
from .model import Call, Caller, World

T = TypeVar("T")


class Units:
    """Opens units of work for callers, on one database."""

    def __init__(self, db: Database, world: World) -> None:
        self.db = db
        self.world = world

    def call(self, tx: Transaction, caller: Caller, job_id: str = "") -> Call:
        """A call in a unit of work, at the venue's time now."""
        return Call(tx, self.world, caller, millis(self.world.clock()), job_id)

    async def write(self, caller: Caller, work: Callable[[Call], T], job_id: str = "") -> T:
        """Change something, in one transaction."""
        return await self.db.write(lambda tx: work(self.call(tx, caller, job_id)))

    async def read(self, caller: Caller, work: Callable[[Call], T]) -> T:
        """Read in one snapshot in which no open request is past its deadline (D17): what is due expires
        first.
        """

        def guarded(tx: Transaction) -> tuple[bool, T | None]:
            call = self.call(tx, caller)
            return (True, None) if requests.any_due(tx, call.now) else (False, work(call))

        due, result = await self.db.read(guarded)
        if due:
            await self.expire_due()
            return await self.db.read(lambda tx: work(self.call(tx, caller)))
        return result  # type: ignore[return-value]

    async def expire_due(self) -> None:
        """Settle every open request whose deadline has passed."""
        await sweep.expire_due(self.db, self.world)
