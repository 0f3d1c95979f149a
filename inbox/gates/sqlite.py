# ruff: noqa: S608 - the only thing put into a statement is the table's quoted name
"""A store on SQLite: a file of its own, or a table beside the product's in a connection that it already has.

Nothing but this module and those it names here imports `sqlite3`; `import inbox.gates` does not.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from sqlite3 import Connection, Cursor, connect
from threading import RLock
from types import TracebackType
from typing import Self, Unpack

from ..jsonvalue import Issue, to_json
from .errors import GateArgumentInvalid, GateStoreSchemaOutdated, GateWaitInTransaction
from .migrations import (
    TABLE,
    Migration,
    all_migrations,
    apply_migrations,
    features_of,
    gate_brief_migration,
    gate_delegate_migration,
    gate_evidence_migration,
    gate_migration,
    gate_resolver_migration,
    gate_rule_migration,
    gate_table_ddl,
)
from .model import EXPIRED, PENDING
from .rows import Row
from .statements import as_text, quoted, run, texts, unit
from .store import Feature, GateStore, StoreOptions

__all__ = [
    "Migration",
    "SqliteGateStore",
    "all_migrations",
    "apply_migrations",
    "gate_brief_migration",
    "gate_delegate_migration",
    "gate_evidence_migration",
    "gate_migration",
    "gate_resolver_migration",
    "gate_rule_migration",
    "gate_table_ddl",
]

BUSY_SECONDS = 30.0
"""How long a store that opened its own file waits for another writer before sqlite3 says it is locked."""


class SqliteGateStore(GateStore):
    """Gates in a table of an SQLite database.

    Given a path, the store opens a connection of its own, safe from any thread (one at a time), and `close`
    closes it. The path is taken literally: `~` is a directory of that name. The file's settings stay.

    Given a connection, it works on that, whatever its journal mode and isolation level: inside the open
    transaction if there is one, which it neither commits nor rolls back, else in one of its own. Such a store
    is as safe from other threads as the connection is: by default sqlite3 refuses them, and with
    `check_same_thread=False` a call from one thread joins a transaction that another has open.

    `table` renames the table, so that one database can host several gate spaces. `migrate=False` installs
    nothing: the product's own list of migrations does.

    Raises `GateStoreSchemaOutdated` when, without `migrate`, the table lacks what every gate needs, or the
    brief under `require_brief`; `GateArgumentInvalid` for a table name that SQLite cannot have.
    """

    def __init__(
        self,
        database: Connection | str | os.PathLike[str],
        *,
        table: str = TABLE,
        migrate: bool = True,
        **options: Unpack[StoreOptions],
    ) -> None:
        super().__init__(**options)
        try:
            self._table = quoted(table)
        except ValueError as error:
            raise GateArgumentInvalid("", [Issue("table", str(error))]) from error
        self.table = table
        self._lock = RLock()
        self._owns = not isinstance(database, Connection)
        if isinstance(database, Connection):
            self._connection = database
        else:
            self._connection = connect(
                database, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        self._features: frozenset[str] = frozenset()
        try:
            self._prepare(migrate)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the connection if the store opened it. Gates stay; waits on this store end with an error."""
        if self._owns:
            with self._lock:
                self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def no_longer_pending(self, ids: Iterable[str]) -> list[str]:
        """Which of these gates are not pending, or not there, in one query."""
        sql = f"""SELECT asked.value FROM json_each(?) AS asked LEFT JOIN {self._table} AS gate
            ON gate.id = asked.value WHERE gate.status IS NOT '{PENDING}'"""
        with self._lock:
            return texts(self._connection, sql, to_json([*ids]))

    def check_can_wait(self, id: str) -> None:
        """Inside an open transaction the answer of another connection is never seen.

        Raises `GateWaitInTransaction`.
        """
        if self._connection.in_transaction:
            raise GateWaitInTransaction(id)

    @property
    def may_block(self) -> bool:
        """Another process may hold the file; a connection of our own may be used from any thread."""
        return self._owns

    def _prepare(self, migrate: bool) -> None:
        wanted = all_migrations(self.table)
        with self._lock:
            self._features = features_of(self._connection, self.table)
            if migrate and not self._features.issuperset(each.name for each in wanted):
                apply_migrations(self._connection, wanted, self.table)
                self._features = features_of(self._connection, self.table)
        needed = ["gate_migration", "gate_resolver_migration"]
        if self._require_brief:
            needed.append("gate_brief_migration")
        for name in needed:
            if name not in self._features:
                raise GateStoreSchemaOutdated("", self.table, name)

    def _require(self, gate_id: str, feature: Feature, needed: bool) -> None:
        migration = f"gate_{feature}_migration"
        if not needed or migration in self._features:
            return
        with self._lock:  # somebody else may have migrated since this store was made
            self._features = features_of(self._connection, self.table)
        if migration not in self._features:
            raise GateStoreSchemaOutdated(gate_id, self.table, migration)

    @contextmanager
    def _unit(self) -> Iterator[None]:
        with self._lock, unit(self._connection):
            yield

    def _read(self, id: str) -> Row | None:
        rows = self._rows(f"SELECT * FROM {self._table} WHERE id = ?", id)
        return rows[0] if rows else None

    def _read_pending(self) -> list[Row]:
        return self._rows(f"SELECT * FROM {self._table} WHERE status = '{PENDING}' ORDER BY created_at, id")

    def _rows(self, sql: str, *values: object) -> list[Row]:
        # By name and not by number: a product or a later migration may have added columns meanwhile.
        with self._lock:
            cursor = self._run(sql, *values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, map(as_text, row), strict=True)) for row in cursor.fetchall()]

    def _insert(self, row: Row) -> None:
        columns, marks = ", ".join(row), ", ".join("?" * len(row))
        self._run(f"INSERT INTO {self._table} ({columns}) VALUES ({marks})", *row.values())

    def _update_pending(self, id: str, changes: Row) -> bool:
        sets = ", ".join(f"{column} = ?" for column in changes)
        where = f"WHERE id = ? AND status = '{PENDING}'"
        return self._run(f"UPDATE {self._table} SET {sets} {where}", *changes.values(), id).rowcount == 1

    def _expire(self, ids: Iterable[str]) -> None:
        among = "id IN (SELECT value FROM json_each(?))"
        sets = f"status = '{EXPIRED}', resolved_at = expires_at"
        self._run(f"UPDATE {self._table} SET {sets} WHERE status = '{PENDING}' AND {among}", to_json([*ids]))

    def _run(self, sql: str, *values: object) -> Cursor:
        return run(self._connection, sql, *values)
