"""The table defends itself against raw SQL, in every spelling, with `recursive_triggers` off and on."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from gate_stores import OWNER, RULE

from inbox.gates import GateAlreadyExists
from inbox.gates.sqlite import SqliteGateStore
from inbox.gates.triggers import NOT_REPLACEABLE, OUTSIDE_RULE, RESOLVER_REQUIRED, UNKNOWN_STATUS

INSIDE = json.dumps({"class": "owner-terminal", "id": "ada", "channel": "cli"})
OUTSIDE = json.dumps({"class": "owner-remote", "id": "ada", "channel": "phone"})
WIDER = json.dumps({**RULE, "resolvers": ["owner-terminal", "owner-remote"]})


@pytest.fixture(params=[0, 1], ids=["plain", "recursive_triggers"])
def raw(request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    """A raw writer on a table with a bound gate `bound`, a free one `free`, and a settled bound one."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f"PRAGMA recursive_triggers = {request.param}")
    store = SqliteGateStore(connection)
    store.create(id="bound", prompt="p", rule=RULE)
    store.create(id="free", prompt="p")
    store.create(id="5", prompt="p", rule=RULE)
    store.create(id="settled", prompt="p", rule=RULE)
    store.resolve("settled", True, OWNER)
    yield connection
    connection.close()


def refused(raw: sqlite3.Connection, sql: str, message: str, *values: object) -> None:
    before = raw.execute("SELECT * FROM hitl_gate ORDER BY id").fetchall()
    with pytest.raises(sqlite3.IntegrityError) as caught:
        raw.execute(sql, values)
    assert str(caught.value) == message
    assert raw.execute("SELECT * FROM hitl_gate ORDER BY id").fetchall() == before


CONFLICTS = ["", "OR ABORT", "OR FAIL", "OR IGNORE", "OR REPLACE", "OR ROLLBACK"]
UPSERTS = ["ON CONFLICT DO NOTHING", "ON CONFLICT (id) DO UPDATE SET rule = NULL, status = 'cancelled'"]


@pytest.mark.parametrize("conflict", CONFLICTS)
@pytest.mark.parametrize("id", ["'bound'", "5"])
def test_no_insert_replaces_a_bound_gate(raw: sqlite3.Connection, conflict: str, id: str) -> None:
    row = f"INTO hitl_gate (id, prompt, status, created_at) VALUES ({id}, 'p', 'pending', 'now')"
    refused(raw, f"INSERT {conflict} {row}", NOT_REPLACEABLE)
    refused(raw, f"REPLACE {row}", NOT_REPLACEABLE)
    for upsert in UPSERTS:
        refused(raw, f"INSERT {row} {upsert}", NOT_REPLACEABLE)
    chosen = f"SELECT {id}, 'p', 'pending', 'now'"
    refused(raw, f"REPLACE INTO hitl_gate (id, prompt, status, created_at) {chosen}", NOT_REPLACEABLE)


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_no_update_moves_a_row_over_a_bound_gate_or_it_away(raw: sqlite3.Connection, conflict: str) -> None:
    refused(raw, f"UPDATE {conflict} hitl_gate SET id = 'bound' WHERE id = 'free'", NOT_REPLACEABLE)
    refused(raw, f"UPDATE {conflict} hitl_gate SET id = 'bound' WHERE id = 'settled'", NOT_REPLACEABLE)
    refused(raw, f"UPDATE {conflict} hitl_gate SET id = 'elsewhere' WHERE id = 'bound'", NOT_REPLACEABLE)


def test_there_is_no_rowid_to_collide_on(raw: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="rowid"):
        raw.execute("SELECT rowid FROM hitl_gate")


def test_a_bound_gate_cannot_be_deleted_until_it_settled(raw: sqlite3.Connection) -> None:
    refused(raw, "DELETE FROM hitl_gate WHERE id = 'bound'", NOT_REPLACEABLE)
    refused(raw, "DELETE FROM hitl_gate", NOT_REPLACEABLE)
    raw.execute("DELETE FROM hitl_gate WHERE id IN ('settled', 'free')")
    raw.execute("UPDATE hitl_gate SET status = 'cancelled' WHERE id = 'bound'")
    raw.execute("DELETE FROM hitl_gate WHERE id = 'bound'")


def test_a_settled_bound_gate_may_be_replaced(raw: sqlite3.Connection) -> None:
    raw.execute(
        "REPLACE INTO hitl_gate (id, prompt, status, created_at) VALUES ('settled', 'p', 'pending', 'x')"
    )


@pytest.mark.parametrize("conflict", CONFLICTS)
@pytest.mark.parametrize("rule", [WIDER, None, "", "no json"])
@pytest.mark.parametrize("id", ["bound", "settled", "free"])
def test_no_update_changes_a_rule(raw: sqlite3.Connection, conflict: str, rule: str | None, id: str) -> None:
    if (id, rule) == ("free", None):
        return  # no change
    refused(raw, f"UPDATE {conflict} hitl_gate SET rule = ? WHERE id = ?", OUTSIDE_RULE, rule, id)
    both = f"UPDATE {conflict} hitl_gate SET rule = ?, status = 'resolved', resolved_by = ? WHERE id = ?"
    refused(raw, both, OUTSIDE_RULE, rule, OUTSIDE, id)


NOBODY = [
    None,
    "",
    "null",
    "{}",
    "[]",
    '"owner-terminal"',
    '{"class": null}',
    '{"class": " "}',
    "{not json",
    b"{}",
]


@pytest.mark.parametrize("conflict", CONFLICTS)
@pytest.mark.parametrize("resolver", NOBODY)
def test_nobody_resolves(raw: sqlite3.Connection, conflict: str, resolver: object) -> None:
    resolve = (
        f"UPDATE {conflict} hitl_gate SET status = 'resolved', payload = '1', resolved_by = ? WHERE id = ?"
    )
    refused(raw, resolve, RESOLVER_REQUIRED, resolver, "free")
    with pytest.raises(sqlite3.IntegrityError, match="hitl: "):
        raw.execute(resolve, (resolver, "bound"))
    insert = f"INSERT {conflict} INTO hitl_gate (id, prompt, status, created_at, resolved_by)"
    refused(raw, f"{insert} VALUES ('new', 'p', 'resolved', 'now', ?)", RESOLVER_REQUIRED, resolver)


@pytest.mark.parametrize("conflict", CONFLICTS)
def test_nobody_outside_the_rule_resolves(raw: sqlite3.Connection, conflict: str) -> None:
    resolve = (
        f"UPDATE {conflict} hitl_gate SET status = 'resolved', payload = '1', resolved_by = ? WHERE id = ?"
    )
    refused(raw, resolve, OUTSIDE_RULE, OUTSIDE, "bound")
    insert = f"INSERT {conflict} INTO hitl_gate (id, prompt, status, created_at, rule, resolved_by)"
    values = "VALUES ('new', 'p', 'resolved', 'now', ?, ?)"
    for rule in (json.dumps(RULE), "no json", "{}", '{"resolvers": {"class": "owner-remote"}}', "[]"):
        if "class" not in rule:
            refused(raw, f"{insert} {values}", OUTSIDE_RULE, rule, OUTSIDE)
    raw.execute(resolve, (INSIDE, "bound"))
    raw.execute(resolve, (OUTSIDE, "free"))


def test_an_answer_does_not_change_hands(raw: sqlite3.Connection) -> None:
    """A second resolve of a resolved row by somebody else is judged like the first."""
    refused(raw, "UPDATE hitl_gate SET resolved_by = ? WHERE id = 'settled'", OUTSIDE_RULE, OUTSIDE)
    with pytest.raises(sqlite3.IntegrityError, match="hitl: "):
        raw.execute("UPDATE hitl_gate SET resolved_by = NULL WHERE id = 'settled'")
    raw.execute("UPDATE hitl_gate SET payload = '\"redacted\"' WHERE id = 'settled'")


@pytest.mark.parametrize("conflict", CONFLICTS)
@pytest.mark.parametrize("status", ["done", "", "RESOLVED", None, 1])
def test_the_four_are_all_the_statuses_there_are(
    raw: sqlite3.Connection, conflict: str, status: object
) -> None:
    refused(raw, f"UPDATE {conflict} hitl_gate SET status = ? WHERE id = 'free'", UNKNOWN_STATUS, status)
    insert = f"INSERT {conflict} INTO hitl_gate (id, prompt, created_at, status)"
    refused(raw, f"{insert} VALUES ('new', 'p', 'now', ?)", UNKNOWN_STATUS, status)


def test_old_writers_cancel_and_expire(raw: sqlite3.Connection) -> None:
    raw.execute("UPDATE hitl_gate SET status = 'cancelled', reason = 'r' WHERE id = 'bound'")
    raw.execute("UPDATE hitl_gate SET status = 'expired' WHERE id = 'free'")
    raw.execute(
        "INSERT INTO hitl_gate (id, prompt, status, created_at) VALUES ('old', 'p', 'pending', 'now')"
    )


def test_a_store_says_in_its_own_words_what_a_trigger_would(tmp_path: Path) -> None:
    with SqliteGateStore(tmp_path / "gates.db") as store:
        store.create(id="bound", prompt="p", rule=RULE)
        with pytest.raises(GateAlreadyExists):
            store.create(id="bound", prompt="p")
