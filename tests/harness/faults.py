"""A store in whose transactions the process can be killed, before or after a named statement.

It wraps the real store and every unit of work that crosses into it, so what is killed is what ships.
"""

import os
import signal
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from inbox.store.base import Database, Row, T, Transaction, Work


@dataclass(frozen=True)
class Failpoint:
    """Where to die: `when` the statement `statement` runs, on its next run."""

    statement: str
    when: Literal["before", "after"] = "after"


class FaultyDatabase:
    """A `Database` that dies where it is told to; see `Database`."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.armed: Failpoint | None = None

    async def open(self, tell: Callable[[frozenset[str]], None]) -> None:
        """Open the real store."""
        await self._inner.open(tell)

    async def close(self) -> None:
        """Close the real store."""
        await self._inner.close()

    def read(self, work: Work[T]) -> Awaitable[T]:
        """Read from the real store."""
        return self._inner.read(work)

    def write(self, work: Work[T]) -> Awaitable[T]:
        """Write into the real store, statement by statement past the failpoint."""
        return self._inner.write(lambda tx: work(_Watched(tx, self)))


class _Watched:
    """A transaction that looks at the name of every statement."""

    def __init__(self, inner: Transaction, faults: FaultyDatabase) -> None:
        self._inner = inner
        self._faults = faults

    def run(self, name: str, /, **values: Any) -> int:
        return self._past(name, lambda: self._inner.run(name, **values))

    def one(self, name: str, /, **values: Any) -> Row | None:
        return self._past(name, lambda: self._inner.one(name, **values))

    def all(self, name: str, /, **values: Any) -> Sequence[Row]:
        return self._past(name, lambda: self._inner.all(name, **values))

    def tell(self, topic: str) -> None:
        self._inner.tell(topic)

    def _past(self, name: str, statement: Callable[[], T]) -> T:
        if self._faults.armed == Failpoint(name, "before"):
            _die()
        result = statement()
        if self._faults.armed == Failpoint(name, "after"):
            _die()
        return result


def _die() -> None:
    """kill -9 by one's own hand: no handler runs, nothing is flushed."""
    os.kill(os.getpid(), signal.SIGKILL)
