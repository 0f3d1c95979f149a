"""A store on a connection that the product already has: its settings, transaction, tables and threads."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gate_stores import OWNER, RULE, SOON, Approval, StillClock

from inbox.gates import (
    GateAlreadySettled,
    GateArgumentInvalid,
    GatePayloadInvalid,
    GateRowInvalid,
    GateWaitInTransaction,
    open_gate,
    wait_for_gate,
)
from inbox.gates.sqlite import SqliteGateStore

ISOLATION: list[Any] = [None, "", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"]
JOURNALS = ["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "OFF"]


def product(path: Path, isolation_level: Any = "") -> sqlite3.Connection:
    """A product's database with a table of its own."""
    connection = sqlite3.connect(path / "product.db", isolation_level=isolation_level)
    connection.execute("CREATE TABLE IF NOT EXISTS release (version TEXT)")
    connection.commit()
    return connection


def statuses(path: Path) -> dict[str, str]:
    """What another connection sees."""
    other = sqlite3.connect(path / "product.db")
    try:
        return dict(other.execute("SELECT id, status FROM hitl_gate ORDER BY id"))
    finally:
        other.close()


@pytest.mark.parametrize("isolation_level", ISOLATION)
@pytest.mark.parametrize("journal", JOURNALS)
def test_any_isolation_level_and_journal_mode(tmp_path: Path, isolation_level: Any, journal: str) -> None:
    connection = product(tmp_path, isolation_level)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    store = SqliteGateStore(connection)
    gate = open_gate(store, id="g1", prompt="p", schema=Approval)
    assert not connection.in_transaction
    assert statuses(tmp_path) == {"g1": "pending"}
    store.resolve("g1", {"approved": True}, OWNER)
    assert not connection.in_transaction
    assert statuses(tmp_path) == {"g1": "resolved"}
    assert gate.wait() == Approval(approved=True)
    assert connection.execute("PRAGMA journal_mode").fetchone()[0] == journal.lower()
    assert connection.isolation_level == isolation_level
    connection.close()


@pytest.mark.parametrize("isolation_level", ISOLATION)
@pytest.mark.parametrize("ending", ["commit", "rollback"])
def test_the_products_transaction_decides(tmp_path: Path, isolation_level: Any, ending: str) -> None:
    connection = product(tmp_path, isolation_level)
    store = SqliteGateStore(connection)
    store.create(id="before", prompt="p")
    if isolation_level is None:
        connection.execute("BEGIN")
    connection.execute("INSERT INTO release VALUES ('1.4.0')")
    store.create(id="within", prompt="p")
    store.resolve("before", True, OWNER)
    assert connection.in_transaction
    getattr(connection, ending)()
    kept = ending == "commit"
    expected = {"before": "resolved", "within": "pending"} if kept else {"before": "pending"}
    assert statuses(tmp_path) == expected
    assert connection.execute("SELECT count(*) FROM release").fetchone()[0] == int(kept)
    connection.close()


def test_a_failure_undoes_only_what_the_store_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = product(tmp_path)
    store = SqliteGateStore(connection)
    connection.execute("INSERT INTO release VALUES ('1.4.0')")
    insert = store._insert

    def insert_and_break(row: Any) -> None:
        insert(row)
        raise OSError("disk full")

    monkeypatch.setattr(store, "_insert", insert_and_break)
    with pytest.raises(OSError, match="disk full"):
        store.create(id="g1", prompt="p")
    connection.commit()
    assert statuses(tmp_path) == {}
    assert connection.execute("SELECT version FROM release").fetchall() == [("1.4.0",)]
    connection.close()


def test_the_tables_may_be_made_within_the_products_transaction(tmp_path: Path) -> None:
    connection = product(tmp_path)
    connection.execute("INSERT INTO release VALUES ('1.4.0')")
    SqliteGateStore(connection)
    connection.rollback()
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert found == [("release",)]
    connection.close()


@pytest.mark.parametrize("settled", [False, True])
def test_nobody_waits_inside_a_transaction(tmp_path: Path, settled: bool) -> None:
    """The answer of another connection could not be seen; a gate that has settled needs no waiting."""
    connection = product(tmp_path)
    store = SqliteGateStore(connection)
    connection.execute("INSERT INTO release VALUES ('1.4.0')")
    gate = open_gate(store, id="g1", prompt="p")
    if settled:
        store.resolve("g1", True, OWNER)
        assert gate.wait() is True
    else:
        with pytest.raises(GateWaitInTransaction):
            gate.wait(timeout=SOON)
    connection.close()


def test_a_row_factory_and_a_text_factory_are_left_alone(tmp_path: Path) -> None:
    connection = product(tmp_path)
    connection.row_factory = lambda cursor, row: {"row": row}
    connection.text_factory = bytes
    store = SqliteGateStore(connection, table='Größe "x"')
    store.create(id="é", prompt="p", rule=RULE, schema=Approval)
    assert [gate.id for gate in store.list_pending()] == ["é"]
    assert store.no_longer_pending(["é", "nobody's"]) == ["nobody's"]
    assert connection.text_factory is bytes
    SqliteGateStore(connection, table='GRößE "x"')
    connection.close()


def test_columns_of_the_product_are_left_alone(tmp_path: Path) -> None:
    connection = product(tmp_path)
    store = SqliteGateStore(connection)
    connection.execute("ALTER TABLE hitl_gate ADD COLUMN team TEXT")
    store.create(id="g1", prompt="p")
    connection.execute("UPDATE hitl_gate SET team = 'ops'")
    connection.commit()
    assert store.resolve("g1", True, OWNER).status == "resolved"
    assert connection.execute("SELECT team FROM hitl_gate").fetchall() == [("ops",)]
    connection.close()


@pytest.mark.parametrize("table", ["", "a\0b"])
def test_a_table_needs_a_name(table: str) -> None:
    with pytest.raises(GateArgumentInvalid):
        SqliteGateStore(":memory:", table=table)


# -- rows that somebody edited ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("expires_at", "soon"),
        ("expires_at", "2026-01-01T00:00:00"),
        ("created_at", "9999-12-31T23:59:59-14:00"),
        ("schema", "[]"),
        ("schema", "{"),
        ("questions", "[]"),
    ],
)
def test_a_row_that_no_store_writes_is_named(tmp_path: Path, column: str, value: str) -> None:
    connection = product(tmp_path, None)
    store = SqliteGateStore(connection)
    store.create(id="g1", prompt="p")
    connection.execute(f"UPDATE hitl_gate SET {column} = ?", (value,))
    for read in (lambda: store.get("g1"), lambda: store.resolve("g1", True, OWNER), store.list_pending):
        with pytest.raises(GateRowInvalid) as caught:
            read()
        assert (caught.value.gate_id, caught.value.paths) == ("g1", (column,))
    connection.close()


@pytest.mark.parametrize("schema", [Approval, None])
def test_an_edited_answer_does_not_pass_the_waiter(tmp_path: Path, schema: Any) -> None:
    connection = product(tmp_path, None)
    store = SqliteGateStore(connection)
    open_gate(store, id="g1", prompt="p", schema=Approval)
    store.resolve("g1", {"approved": False}, OWNER)
    connection.execute("""UPDATE hitl_gate SET payload = '{"approved": "yes"}'""")
    with pytest.raises(GatePayloadInvalid):
        wait_for_gate(store, "g1", schema)
    connection.execute("""UPDATE hitl_gate SET payload = '{"approved": NaN}'""")
    with pytest.raises(GateRowInvalid):
        wait_for_gate(store, "g1", schema)
    connection.close()


# -- threads ---------------------------------------------------------------------------------------


def in_threads(count: int, work: Callable[[int], None]) -> list[BaseException]:
    """Run the work in threads at once; returns what they raised."""
    raised: list[BaseException] = []
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait(SOON)
        try:
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    return raised


def test_a_store_of_its_own_file_is_safe_from_any_thread(tmp_path: Path, clock: StillClock) -> None:
    with SqliteGateStore(tmp_path / "gates.db", now=clock) as store:

        def work(number: int) -> None:
            for step in range(5):
                store.create(id=f"{number}/{step}", prompt="p")
                store.resolve(f"{number}/{step}", number, OWNER)

        assert in_threads(8, work) == []
        store.create(id="one", prompt="p")
        raised = in_threads(8, lambda number: store.resolve("one", number, OWNER) and None)
        assert [type(error) for error in raised] == [GateAlreadySettled] * 7


def test_a_connection_stays_in_its_thread(tmp_path: Path) -> None:
    connection = product(tmp_path)
    store = SqliteGateStore(connection)
    store.create(id="g1", prompt="p")
    raised = in_threads(1, lambda number: wait_for_gate(store, "g1", timeout=SOON))
    assert [type(error) for error in raised] == [sqlite3.ProgrammingError]
    connection.close()


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SqliteGateStore(tmp_path / "gates.db")
    store.create(id="g1", prompt="p")
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.get("g1")
    with SqliteGateStore(tmp_path / "gates.db") as again:
        assert [gate.id for gate in again.list_pending()] == ["g1"]
