"""What the gate tests share: a clock that stands still, an owner, and the stores that one suite runs on."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from inbox.gates import GateStore, MemoryGateStore, Resolver
from inbox.gates.sqlite import SqliteGateStore

T0 = datetime(2026, 1, 1, tzinfo=UTC)
OWNER = Resolver("owner-terminal", "ada", "cli")
REMOTE = Resolver("owner-remote", "ada", "phone")
RULE = {"table": "F5", "version": "1.0.0", "rule_id": "REL-CO", "resolvers": ["owner-terminal"]}
SOON = 20.0
"""Seconds within which anything that is waited for in a test must have happened."""


class Approval(BaseModel):
    approved: bool
    note: str | None = None


class StillClock:
    """Shows T0 until it is moved."""

    def __init__(self) -> None:
        self.now = T0

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


@contextmanager
def memory(path: Path, **options: Any) -> Iterator[GateStore]:
    yield MemoryGateStore(**options)


@contextmanager
def own_file(path: Path, **options: Any) -> Iterator[GateStore]:
    with SqliteGateStore(path / "gates.db", **options) as store:
        store._connection.execute("PRAGMA synchronous = OFF")  # no test cuts the power
        yield store


@contextmanager
def product_connection(path: Path, **options: Any) -> Iterator[GateStore]:
    """A connection with everything set differently from what the library would choose."""
    connection = sqlite3.connect(path / "product.db", isolation_level="EXCLUSIVE")
    connection.row_factory = sqlite3.Row
    connection.text_factory = bytes
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    try:
        yield SqliteGateStore(connection, **options)
    finally:
        connection.close()


STORES: dict[str, Callable[..., Any]] = {
    "memory": memory,
    "own_file": own_file,
    "product_connection": product_connection,
}
