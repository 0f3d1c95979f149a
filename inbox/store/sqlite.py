"""SQLite behind the kernel's two verbs: one writer with grouped commits, and readers that never wait for it.

The writer is a thread with one connection. It takes every unit of work that waits, runs each in a savepoint
inside one `BEGIN IMMEDIATE`, and commits once with `synchronous=FULL`; only then is anybody told. So a unit
that fails leaves nothing, its neighbours are not harmed, and an answer that was acknowledged survives power
loss (D29). A caller that is cancelled while it waits leaves no transaction behind: the thread finishes what
it began.
"""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread, local
from typing import Any

from ..errors import StoreBusy, StoreError
from .base import Row, T, Work
from .migrate import Migration, missing
from .sqlfile import Statement

_BUSY_MS = 5_000
_VERSIONS = """
CREATE TABLE IF NOT EXISTS schema_version (
  component TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (component, number)
) STRICT
"""


class SqliteTransaction:
    """A unit of work on one connection; see `Transaction`."""

    def __init__(self, connection: sqlite3.Connection, statements: Mapping[str, Statement]) -> None:
        self._connection = connection
        self._statements = statements
        self.topics: set[str] = set()

    def _execute(self, name: str, values: Mapping[str, Any]) -> sqlite3.Cursor:
        statement = self._statements[name]
        return self._connection.execute(statement.sql, statement.bind(values))

    def run(self, name: str, /, **values: Any) -> int:
        """Run a statement and return how many rows it changed."""
        return self._execute(name, values).rowcount

    def one(self, name: str, /, **values: Any) -> Row | None:
        """Run a statement and return its first row, or None."""
        cursor = self._execute(name, values)
        row = cursor.fetchone()
        cursor.close()  # an open cursor would keep its savepoint from being released
        return None if row is None else dict(row)

    def all(self, name: str, /, **values: Any) -> Sequence[Row]:
        """Run a statement and return every row."""
        return [dict(row) for row in self._execute(name, values).fetchall()]

    def tell(self, topic: str) -> None:
        """Wake whoever waits on a topic, after the commit and only then."""
        self.topics.add(topic)


class _Unit:
    """A unit of work that waits for the writer, and the future of whoever handed it in."""

    __slots__ = ("error", "future", "result", "topics", "work")

    def __init__(self, work: Work[Any]) -> None:
        self.work = work
        self.future: Future[Any] = Future()
        self.future.set_running_or_notify_cancel()
        self.result: Any = None
        self.error: BaseException | None = None
        self.topics: frozenset[str] = frozenset()

    def finish(self, failure: StoreError | None = None) -> None:
        error = failure or self.error
        if error is not None:
            self.future.set_exception(error)
        else:
            self.future.set_result(self.result)


class SqliteDatabase:
    """The store on one SQLite file; see `Database`. Open it once, inside a running event loop."""

    def __init__(
        self,
        path: Path,
        statements: Mapping[str, Statement],
        schema: Sequence[Migration],
        *,
        readers: int = 2,
        batch: int = 64,
    ) -> None:
        self._path = path
        self._statements = statements
        self._schema = schema
        self._reader_count = readers
        self._batch = batch
        self._queue: SimpleQueue[_Unit | None] = SimpleQueue()
        self._writer: Thread | None = None
        self._readers: ThreadPoolExecutor | None = None
        self._local = local()
        self._connections: list[sqlite3.Connection] = []
        self._tell: Callable[[frozenset[str]], None] = lambda _: None

    async def open(self, tell: Callable[[frozenset[str]], None]) -> None:
        """Connect and, when the file is empty, create the schema.

        Raises StoreError (`store`) for a file that cannot be opened, SchemaMismatch (`schema`) for one that
        was made by another version.
        """
        loop = asyncio.get_running_loop()
        self._tell = lambda topics: _post(loop, tell, topics)
        started: Future[None] = Future()
        self._writer = Thread(target=self._write_loop, args=(started,), name="sqlite-writer", daemon=True)
        self._writer.start()
        await asyncio.wrap_future(started)
        self._readers = ThreadPoolExecutor(self._reader_count, "sqlite-reader", self._open_reader)

    async def close(self) -> None:
        """Finish what was handed in, then let go of every connection."""
        writer, self._writer = self._writer, None  # from here on, what comes is refused and not queued
        if writer is not None:
            self._queue.put(None)
            await asyncio.to_thread(writer.join)
        if self._readers is not None:
            await asyncio.to_thread(self._readers.shutdown)
            self._readers = None
            while self._connections:
                self._connections.pop().close()

    def write(self, work: Work[T]) -> Awaitable[T]:
        """Run a unit of work in one transaction and return once its commit is durable."""
        unit = _Unit(work)
        if self._writer is None:
            unit.finish(StoreError("the database is closed"))
        else:
            self._queue.put(unit)
        return asyncio.wrap_future(unit.future)

    def read(self, work: Work[T]) -> Awaitable[T]:
        """Run a unit of work on one consistent snapshot; it cannot change anything."""
        if self._readers is None:
            raise StoreError("the database is closed")
        return asyncio.get_running_loop().run_in_executor(self._readers, self._read, work)

    # --- readers
    # -----------------------------------------------------------------------------------------------

    def _open_reader(self) -> None:
        # Used by its own thread alone, but closed by whoever closes the store.
        connection = _connect(self._path, check_same_thread=False)
        connection.execute("PRAGMA query_only = ON")
        self._local.connection = connection
        self._connections.append(connection)

    def _read(self, work: Work[T]) -> T:
        connection: sqlite3.Connection = self._local.connection
        try:
            connection.execute("BEGIN")
            try:
                return work(SqliteTransaction(connection, self._statements))
            finally:
                connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise _translated(error) from error

    # --- the writer
    # --------------------------------------------------------------------------------------------

    def _write_loop(self, started: Future[None]) -> None:
        try:
            connection = _connect(self._path)
            _create(connection, self._schema)
        except BaseException as error:  # noqa: BLE001 - whatever it is, whoever opens the store must hear it
            started.set_exception(_translated(error) if isinstance(error, sqlite3.Error) else error)
            return
        started.set_result(None)
        going = True
        while going:
            batch, going = self._next_batch()
            if batch:
                self._run_batch(connection, batch)
        connection.close()

    def _next_batch(self) -> tuple[list[_Unit], bool]:
        """Wait for a unit of work and take what else is there; the second value says whether to go on."""
        first = self._queue.get()
        if first is None:
            return [], False
        units = [first]
        while len(units) < self._batch:
            try:
                unit = self._queue.get_nowait()
            except Empty:
                break
            if unit is None:
                return units, False
            units.append(unit)
        return units, True

    def _run_batch(self, connection: sqlite3.Connection, units: Sequence[_Unit]) -> None:
        failure: StoreError | None = None
        try:
            connection.execute("BEGIN IMMEDIATE")
            for unit in units:
                self._run_unit(connection, unit)
            self._commit(connection)
        except sqlite3.Error as error:
            failure = _translated(error)
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        if failure is None:
            self._tell(frozenset().union(*(unit.topics for unit in units)))
        for unit in units:
            unit.finish(failure)

    def _commit(self, connection: sqlite3.Connection) -> None:
        connection.execute("COMMIT")

    def _run_unit(self, connection: sqlite3.Connection, unit: _Unit) -> None:
        transaction = SqliteTransaction(connection, self._statements)
        connection.execute("SAVEPOINT unit")
        try:
            unit.result = unit.work(transaction)
        except BaseException as error:
            if not connection.in_transaction:
                raise sqlite3.OperationalError("the whole transaction was rolled back") from error
            connection.execute("ROLLBACK TO unit")
            unit.error = _translated(error) if isinstance(error, sqlite3.Error) else error
        else:
            unit.topics = frozenset(transaction.topics)
        connection.execute("RELEASE unit")


def _connect(path: Path, *, check_same_thread: bool = True) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=check_same_thread)
    connection.row_factory = sqlite3.Row
    connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _create(connection: sqlite3.Connection, schema: Sequence[Migration]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(_VERSIONS)
        rows = connection.execute("SELECT component, number FROM schema_version").fetchall()
        for migration in missing(schema, [(row["component"], row["number"]) for row in rows]):
            for statement in _split(migration.sql):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO schema_version (component, number, name) VALUES (?, ?, ?)",
                (migration.component, migration.number, migration.name),
            )
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _split(script: str) -> list[str]:
    """The statements of a script; a trigger's body may hold semicolons of its own."""
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements


def _translated(error: BaseException) -> StoreError:
    busy = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
    return StoreBusy("the database is locked by another process") if busy else StoreError(str(error))


def _post(
    loop: asyncio.AbstractEventLoop, tell: Callable[[frozenset[str]], None], topics: frozenset[str]
) -> None:
    if topics and not loop.is_closed():
        loop.call_soon_threadsafe(tell, topics)
