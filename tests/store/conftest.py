"""The stores under test. What holds of one holds of all: a new store is one more entry of STORES."""

from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from inbox.store.base import Database
from inbox.store.migrate import Migration
from inbox.store.sqlfile import parse
from inbox.store.sqlite import SqliteDatabase

STATEMENTS = parse("""
-- name: item.insert
INSERT INTO item (id, value) VALUES (:id, :value)
-- name: item.set
UPDATE item SET value = :value WHERE id = :id
-- name: item.get
SELECT id, value FROM item WHERE id = :id
-- name: item.all
SELECT id, value FROM item ORDER BY id
-- name: item.drop
DELETE FROM item WHERE id = :id RETURNING value
-- name: item.broken
SELECT nothing FROM nowhere
""")

SCHEMA = (
    Migration(
        "shop", 1, "0001_shop.sql", "CREATE TABLE item (id TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    ),
)

Make = Callable[..., Database]


class Told:
    """The topics of each commit, as the event loop heard of them."""

    def __init__(self) -> None:
        self.heard: list[frozenset[str]] = []

    def __call__(self, topics: frozenset[str]) -> None:
        self.heard.append(topics)


def _sqlite(folder: Path, **options: Any) -> Database:
    return SqliteDatabase(folder / "store.db", STATEMENTS, options.pop("schema", SCHEMA), **options)


STORES: dict[str, Callable[..., Database]] = {"sqlite": _sqlite}


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Makes a store on this test's own database; call it again for the same database once more."""
    build = STORES[request.param]
    return lambda **options: build(tmp_path, **options)


@asynccontextmanager
async def opened(db: Database, told: Callable[[frozenset[str]], None] = lambda _: None) -> Any:
    """An open store, closed at the end."""
    await db.open(told)
    try:
        yield db
    finally:
        await db.close()
