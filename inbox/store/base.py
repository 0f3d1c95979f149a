"""What a store promises to the code above it.

A *unit of work* is an ordinary function of a transaction. It crosses into the database's thread once, whole:
it either commits or leaves nothing. The statements that it runs stand by name in SQL files (`sqlfile`), so
that one text serves every backend.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

Row = Mapping[str, Any]
T = TypeVar("T")


class Transaction(Protocol):
    """One unit of work on its way: named statements in, rows out."""

    def run(self, name: str, /, **values: Any) -> int:
        """Run a statement and return how many rows it changed."""
        ...

    def one(self, name: str, /, **values: Any) -> Row | None:
        """Run a statement and return its first row, or None."""
        ...

    def all(self, name: str, /, **values: Any) -> Sequence[Row]:
        """Run a statement and return every row."""
        ...

    def tell(self, topic: str) -> None:
        """Wake whoever waits on a topic, after the commit and only then (D16)."""
        ...


Work = Callable[[Transaction], T]


class Database(Protocol):
    """A durable store. `read` and `write` raise `StoreError`, or whatever the unit of work raises."""

    async def open(self, tell: Callable[[frozenset[str]], None]) -> None:
        """Connect; `tell` is called on the event loop with the topics of each commit."""
        ...

    async def close(self) -> None:
        """Finish what was handed in, then let go of every connection."""
        ...

    def read(self, work: Work[T]) -> Awaitable[T]:
        """Run a unit of work on one consistent snapshot; it cannot change anything."""
        ...

    def write(self, work: Work[T]) -> Awaitable[T]:
        """Run a unit of work in one transaction and return once its commit is durable (D29)."""
        ...
