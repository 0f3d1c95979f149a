"""The little SQL that the SQLite store and its migrations share: quote, run, and a unit of work.

It works on a connection that the product made, so it relies on none of its settings: not on the isolation
level, not on a row factory, not on a text factory.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from sqlite3 import Connection, Cursor


def quoted(name: str) -> str:
    """A name as an SQL identifier.

    Raises `ValueError` for a name that SQLite cannot have: an empty one, or one with NUL in it.
    """
    if not name or "\0" in name:
        raise ValueError("a table needs a name without NUL")
    return '"' + name.replace('"', '""') + '"'


def run(connection: Connection, sql: str, *values: object) -> Cursor:
    """Execute one statement; its rows are plain tuples, whatever the connection's row factory."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor.execute(sql, values)


def texts(connection: Connection, sql: str, *values: object) -> list[str]:
    """The first column of what a query finds, as text, whatever the connection's text factory."""
    return [str(as_text(row[0])) for row in run(connection, sql, *values).fetchall()]


def as_text(value: object) -> str | None:
    """A column's value as text: a product's text factory may hand out bytes."""
    if value is None:
        return None
    return value.decode() if isinstance(value, bytes) else str(value)


@contextmanager
def unit(connection: Connection) -> Iterator[None]:
    """A unit of work on a connection: a transaction of its own, or a savepoint inside the one that is open.

    The product's transaction is neither committed nor rolled back; an exception undoes what the unit wrote.
    """
    begin, commit, rollback = _SAVEPOINT if connection.in_transaction else _TRANSACTION
    run(connection, begin)
    try:
        yield
        run(connection, commit)
    except BaseException:
        # A full disk or an interrupt may have rolled back already, and with that ended the savepoint too.
        if connection.in_transaction:
            for statement in rollback:
                run(connection, statement)
        raise


# IMMEDIATE: a deferred BEGIN that reads first and then writes does not wait for another writer, it fails.
_TRANSACTION: tuple[str, str, tuple[str, ...]] = ("BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",))
# Savepoints nest by name, innermost first, so one name serves all depths.
_SAVEPOINT: tuple[str, str, tuple[str, ...]] = (
    "SAVEPOINT hitl_gate",
    "RELEASE hitl_gate",
    ("ROLLBACK TO hitl_gate", "RELEASE hitl_gate"),
)
