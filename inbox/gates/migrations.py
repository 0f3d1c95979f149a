# ruff: noqa: S608 - the only thing put into a statement is the table's quoted name
"""The gate table and its migrations, for a product that keeps its own list of them.

Each migration may run on any table, in any order and any number of times, and backfills nothing. Each ends by
giving the table exactly the triggers that its columns call for, so the order in which a product listed them
leaves no trace.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from sqlite3 import Connection

from .model import PENDING, STATUSES
from .statements import quoted, run, texts, unit
from .triggers import WITH_DELEGATES, own_name, triggers

TABLE = "hitl_gate"

_BRIEF = ("summary", "evidence_ref", "questions")


@dataclass(frozen=True)
class Migration:
    """One step of a schema. `apply` takes it onto a connection, inside the transaction that is open there."""

    version: int
    name: str
    apply: Callable[[Connection], None]


def gate_migration(version: int, table: str = TABLE) -> Migration:
    """The table itself, and the triggers that keep its status within the four."""
    return _migration("gate_migration", version, table)


def gate_resolver_migration(version: int, table: str = TABLE) -> Migration:
    """Who resolved, and the triggers that refuse a resolve by nobody."""
    return _migration("gate_resolver_migration", version, table, "resolved_by")


def gate_rule_migration(version: int, table: str = TABLE) -> Migration:
    """The rule of a gate, and the triggers that hold it to its rule."""
    return _migration("gate_rule_migration", version, table, "rule")


def gate_brief_migration(version: int, table: str = TABLE) -> Migration:
    """The brief: summary, evidence_ref and questions."""
    return _migration("gate_brief_migration", version, table, *_BRIEF)


def gate_evidence_migration(version: int, table: str = TABLE) -> Migration:
    """The evidence that a resolve carried."""
    return _migration("gate_evidence_migration", version, table, "resolved_evidence")


def gate_delegate_migration(version: int, table: str = TABLE) -> Migration:
    """Lets the triggers admit the delegates that a gate's own rule names."""
    return _migration("gate_delegate_migration", version, table, "rule", delegates=True)


def all_migrations(table: str = TABLE) -> list[Migration]:
    """The six, numbered from 1."""
    steps = (
        gate_migration,
        gate_resolver_migration,
        gate_rule_migration,
        gate_brief_migration,
        gate_evidence_migration,
        gate_delegate_migration,
    )
    return [step(version, table) for version, step in enumerate(steps, start=1)]


def apply_migrations(connection: Connection, migrations: Iterable[Migration], table: str = TABLE) -> None:
    """Run migrations in one unit of work, and note their versions in `<table>_migration`.

    For a product without a list of its own, and for the store's `migrate=True`.
    """
    ledger = quoted(f"{table}_migration")
    columns = "(version INTEGER PRIMARY KEY, name TEXT NOT NULL)"
    with unit(connection):
        run(connection, f"CREATE TABLE IF NOT EXISTS {ledger} {columns}")
        for migration in migrations:
            migration.apply(connection)
            noted = f"INSERT OR IGNORE INTO {ledger} VALUES (?, ?)"
            run(connection, noted, migration.version, migration.name)


def gate_table_ddl(table: str = TABLE) -> str:
    """The statement that creates the gate table under any name; migrations add the rest."""
    statuses = ", ".join(f"'{status}'" for status in STATUSES)
    return f"""CREATE TABLE {quoted(table)} (
    id TEXT PRIMARY KEY NOT NULL,
    prompt TEXT NOT NULL,
    schema TEXT,
    status TEXT NOT NULL CHECK (status IN ({statuses})),
    payload TEXT,
    reason TEXT,
    created_at TEXT NOT NULL,
    resolved_at TEXT,
    expires_at TEXT
) WITHOUT ROWID"""


def features_of(connection: Connection, table: str) -> frozenset[str]:
    """The migrations whose work is there, by name. A table that is not there has none."""
    columns = _columns(connection, table)
    signs = {
        "gate_migration": "id" in columns,
        "gate_resolver_migration": "resolved_by" in columns,
        "gate_rule_migration": "rule" in columns,
        "gate_brief_migration": columns.issuperset(_BRIEF),
        "gate_evidence_migration": "resolved_evidence" in columns,
        "gate_delegate_migration": _admits_delegates(connection, table),
    }
    return frozenset(name for name, is_there in signs.items() if is_there)


def _migration(name: str, version: int, table: str, *columns: str, delegates: bool = False) -> Migration:
    def apply(connection: Connection) -> None:
        with unit(connection):
            _ensure_table(connection, table)
            for column in columns:
                if column not in _columns(connection, table):
                    run(connection, f"ALTER TABLE {quoted(table)} ADD COLUMN {column} TEXT")
            _renew_triggers(connection, table, delegates=delegates)

    return Migration(version, name, apply)


def _ensure_table(connection: Connection, table: str) -> None:
    if not _columns(connection, table):
        run(connection, gate_table_ddl(table))
    # A list of the pending gates must not read through every gate that ever was.
    index = f"{quoted(own_name(table, PENDING))} ON {quoted(table)} (created_at, id)"
    run(connection, f"CREATE INDEX IF NOT EXISTS {index} WHERE status = '{PENDING}'")


def _renew_triggers(connection: Connection, table: str, *, delegates: bool) -> None:
    delegates = delegates or _admits_delegates(connection, table)
    for name in _own_triggers(connection, table):
        run(connection, f"DROP TRIGGER {quoted(name)}")
    for trigger in triggers(table, _columns(connection, table), delegates=delegates):
        run(connection, trigger.ddl(table))


def _columns(connection: Connection, table: str) -> frozenset[str]:
    return frozenset(texts(connection, "SELECT name FROM pragma_table_info(?)", table))


def _admits_delegates(connection: Connection, table: str) -> bool:
    return own_name(table, WITH_DELEGATES) in _own_triggers(connection, table)


def _own_triggers(connection: Connection, table: str) -> frozenset[str]:
    sql = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE"
    return frozenset(name for name in texts(connection, sql, table) if name.startswith(own_name(table, "")))
