"""The migrations: any order, any number of times, from any age, and always the same table in the end."""

import itertools
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from gate_stores import OWNER, RULE

from inbox.gates import GateStoreSchemaOutdated, Resolver
from inbox.gates.sqlite import (
    Migration,
    SqliteGateStore,
    all_migrations,
    apply_migrations,
    gate_delegate_migration,
    gate_table_ddl,
)

COLUMNS = 15


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    yield connection
    connection.close()


def objects(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Every trigger and index there is, and the columns of the table."""
    made = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'index')")
    columns = connection.execute("SELECT 'column', name, type FROM pragma_table_info('hitl_gate')")
    return {*made, *columns}


def test_any_order_ends_in_the_same_table(database: sqlite3.Connection) -> None:
    SqliteGateStore(database)
    fresh = objects(database)
    assert sum(kind == "column" for kind, _, _ in fresh) == COLUMNS
    for order in itertools.islice(itertools.permutations(all_migrations()), 0, None, 7):
        database.execute("DROP TABLE hitl_gate")
        for migration in order:
            migration.apply(database)
        assert objects(database) == fresh


def test_each_is_idempotent(database: sqlite3.Connection) -> None:
    for migration in all_migrations():
        migration.apply(database)
        after = objects(database)
        migration.apply(database)
        assert objects(database) == after


def test_none_backfills(database: sqlite3.Connection) -> None:
    all_migrations()[0].apply(database)
    columns = "(id, prompt, status, payload, created_at)"
    database.execute(
        f"INSERT INTO hitl_gate {columns} VALUES ('old', 'p', 'resolved', '1', '2020-01-01T00:00:00Z')"
    )
    store = SqliteGateStore(database)
    gate = store.get("old")
    assert gate is not None
    assert (gate.status, gate.payload, gate.resolved_by, gate.rule, gate.questions) == (
        "resolved",
        1,
        None,
        None,
        (),
    )


def test_a_list_that_fails_leaves_nothing(database: sqlite3.Connection) -> None:
    def fail(connection: sqlite3.Connection) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        apply_migrations(database, [*all_migrations(), Migration(7, "product", fail)])
    assert database.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)


def test_a_store_notices_a_migration_made_after_it(database: sqlite3.Connection) -> None:
    *others, last = all_migrations()
    apply_migrations(database, others)
    store = SqliteGateStore(database, migrate=False)
    rule = {**RULE, "delegates": ["coordinator"]}
    with pytest.raises(GateStoreSchemaOutdated) as caught:
        store.create(id="g1", prompt="p", rule=rule)
    assert caught.value.migration == gate_delegate_migration.__name__
    last.apply(database)
    assert store.create(id="g1", prompt="p", rule=rule).rule is not None


def test_a_delegate_needs_its_migration_to_answer_too(database: sqlite3.Connection) -> None:
    """A row that another writer bound with delegates, on a table whose triggers do not know them yet."""
    *others, last = all_migrations()
    apply_migrations(database, others)
    store = SqliteGateStore(database, migrate=False, authorize=lambda gate, resolver: {"allowed": True})
    columns = "(id, prompt, status, created_at, rule)"
    rule = json.dumps({**RULE, "delegates": ["coordinator"]})
    database.execute(
        f"INSERT INTO hitl_gate {columns} VALUES ('g1', 'p', 'pending', '2020-01-01T00:00:00Z', ?)", (rule,)
    )
    coordinator = Resolver("coordinator", "c1", "bus")
    with pytest.raises(GateStoreSchemaOutdated):
        store.resolve("g1", True, coordinator)
    last.apply(database)
    assert store.resolve("g1", True, coordinator).resolved_by == coordinator


def test_many_processes_may_open_a_fresh_file_at_once(tmp_path: Path) -> None:
    def open_and_use(number: int) -> str:
        with SqliteGateStore(tmp_path / "gates.db") as store:
            return store.create(id=f"g{number}", prompt="p").id

    with ThreadPoolExecutor(8) as pool:
        assert len({*pool.map(open_and_use, range(16))}) == 16


def test_opening_a_complete_file_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "gates.db"
    SqliteGateStore(path).close()
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")  # whoever wanted to write now would have to wait
    with SqliteGateStore(path) as store:
        assert store.list_pending() == []
    holder.close()


def test_a_table_from_the_definition_alone_keeps_its_statuses(database: sqlite3.Connection) -> None:
    database.execute(gate_table_ddl("mine"))
    with pytest.raises(sqlite3.IntegrityError):
        database.execute("INSERT INTO mine (id, prompt, status, created_at) VALUES ('g', 'p', 'done', 'now')")


@pytest.mark.parametrize("table", ["hitl_gate", 'odd "name"; --', "select", "a b", "é"])
def test_any_table_name(database: sqlite3.Connection, table: str) -> None:
    for _ in range(2):
        store = SqliteGateStore(database, table=table)
    store.create(id="g1", prompt="p", rule=RULE)
    assert store.resolve("g1", True, OWNER).status == "resolved"
    assert store.list_pending() == []


def test_a_list_of_the_pending_does_not_read_the_settled(database: sqlite3.Connection) -> None:
    SqliteGateStore(database)
    plan = database.execute(
        "EXPLAIN QUERY PLAN SELECT * FROM hitl_gate WHERE status = 'pending' ORDER BY created_at, id"
    ).fetchall()
    assert ["hitl_gate: pending" in step[3] for step in plan] == [True]
