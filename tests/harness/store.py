"""What is really in a venue's database, read past the venue: rows, whole states, and where a text stands."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any


class Store:
    """A SQLite database that a venue may be serving from; every question takes a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def count(self, table: str, **where: Any) -> int:
        """How many rows of a table have these values."""
        return int(self._one(f"SELECT COUNT(*) FROM {table}{_where(where)}", where)[0])

    def has_user(self, did: str) -> bool:
        """Whether a DID has an account."""
        return self.count("user", did=did) > 0

    def overdue(self, now: int) -> bool:
        """Whether an open request is past its deadline; `now` in epoch milliseconds."""
        found = self._one(
            "SELECT COUNT(*) FROM request WHERE status = 'open' AND expires <= :now", {"now": now}
        )
        return int(found[0]) > 0

    def status(self, table: str, key: str) -> str | None:
        """The status of a request or a job."""
        row = self._one(f"SELECT (SELECT status FROM {table} WHERE id = :id)", {"id": key})
        return None if row[0] is None else str(row[0])

    def record(self, key: str) -> dict[str, Any] | None:
        """A request's record, put together from its row."""
        with self._connection() as connection:
            row = connection.execute("SELECT * FROM request WHERE id = ?", (key,)).fetchone()
        if row is None:
            return None
        record: dict[str, Any] = {**json.loads(row["body"]), "status": row["status"], "digest": row["digest"]}
        return record if row["response"] is None else {**record, "response": json.loads(row["response"])}

    def newest_request(self, owner: str) -> str | None:
        """The id of the newest request of an inbox."""
        row = self._one("SELECT MAX(id) FROM request WHERE owner = :owner", {"owner": owner})
        return None if row[0] is None else str(row[0])

    def audit(self, kind: str) -> list[dict[str, Any]]:
        """Every audit line of one kind, over all inboxes."""
        with self._connection() as connection:
            lines = [json.loads(row["line"]) for row in connection.execute("SELECT line FROM audit")]
        return [line for line in lines if line["kind"] == kind]

    def dump(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything, table by table, to compare two states."""
        with self._connection() as connection:
            return {
                table: sorted(map(tuple, connection.execute(f"SELECT * FROM {table}")), key=repr)
                for table in _tables(connection)
            }

    def places_of(self, needle: str) -> list[str]:
        """Every place where a text stands, a job's as its path in `j/`; and the files, when it is in no row.

        A text that was in a row and is in none now may still lie in a free page or in the log of changes.
        """
        found = []
        with self._connection() as connection:
            for table in _tables(connection):
                for row in connection.execute(f"SELECT * FROM {table}"):
                    found += _places(table, dict(row), needle)
        return found or [
            f"file {file.name}" for file in self._files() if needle.encode() in file.read_bytes()
        ]

    def _files(self) -> list[Path]:
        return sorted(self._path.parent.glob(f"{self._path.name}*"))

    def _one(self, sql: str, values: dict[str, Any]) -> Any:
        with self._connection() as connection:
            return connection.execute(sql, values).fetchone()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            yield connection


def _where(values: dict[str, Any]) -> str:
    return f" WHERE {' AND '.join(f'{name} = :{name}' for name in values)}" if values else ""


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [row["name"] for row in rows]


def _places(table: str, row: dict[str, Any], needle: str) -> Iterator[str]:
    for column, value in row.items():
        if needle not in str(value):
            continue
        if table == "job" and column in ("input", "output"):
            base = f"{row['owner']}/j/{row['id']}/{column}"
            yield from (f"{base}{path}" for path in _paths(json.loads(value), needle))
        else:
            yield f"table {table}, column {column}"


def _paths(value: Any, needle: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if needle in key:
                yield f"/{key}"
            yield from (f"/{key}{path}" for path in _paths(inner, needle))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from (f"/{index}{path}" for path in _paths(inner, needle))
    elif needle in str(value):
        yield ""
