"""What the database itself refuses, whoever asks: raw SQL from another connection at the venue's tables.

Each rule once with the good case and then with one thing wrong.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from inbox.store.migrate import migrations
from inbox.store.sqlite import _split
from tests.harness.books import connect

SETTLE = "UPDATE request SET status = '{}', settled = {}, resolver = {} WHERE id = '{}'"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A venue's tables: an open request, one with a deadline, a settled one; a parked and a finished job."""
    path = tmp_path / "venue.db"
    with closing(connect(path)) as maker:
        maker.execute("BEGIN")
        for migration in (*migrations("inbox", "sql/sqlite"), *migrations("ops", "sql/sqlite")):
            for statement in _split(migration.sql):
                maker.execute(statement)
        for name, expires in (("open", "NULL"), ("timed", "1000"), ("done", "NULL")):
            maker.execute(_insert(name, expires))
        maker.execute(SETTLE.format("answered", 500, "'o'", "done"))
        for name, status in (("parked", "INPUT_REQUIRED"), ("finished", "COMPLETE")):
            maker.execute(_job(name, status))
        maker.execute("INSERT INTO audit (inbox, seq, line, hash) VALUES ('o', 1, '{}', 'h')")
        maker.execute("INSERT INTO venue (one, did, key_did, created) VALUES (1, 'did:a', 'did:b', 1)")
        maker.execute("COMMIT")
    with closing(connect(path)) as other:
        yield other


def _insert(name: str, expires: str = "NULL", **wrong: str) -> str:
    columns = {
        "id": f"'{name}'",
        "owner": "'o'",
        "requester": "'r'",
        "maker": "'m'",
        "title": "'t'",
        "body": "'{}'",
        "digest": "'d'",
        "created": "1",
        "expires": expires,
        **wrong,
    }
    return f"INSERT INTO request ({', '.join(columns)}) VALUES ({', '.join(columns.values())})"


def _job(name: str, status: str) -> str:
    return (
        "INSERT INTO job (id, op, adapter, name, owner, maker, status, created, updated) "
        f"VALUES ('{name}', 'op', 'ad', 'n', 'o', 'm', '{status}', 1, 1)"
    )


def refused(db: sqlite3.Connection, sql: str) -> bool:
    """Whether the database refuses a statement; a refused one changes nothing."""
    before = db.total_changes
    try:
        db.execute(sql)
    except sqlite3.IntegrityError:
        assert db.total_changes == before
        return True
    assert db.total_changes > before, f"nothing was changed: {sql}"
    return False


def test_a_settled_request_does_not_change(db: sqlite3.Connection) -> None:
    """Not its end, not who settled it, not a word of its response; an open one settles."""
    assert not refused(db, SETTLE.format("answered", 500, "'o'", "open"))
    for change in (
        "status = 'open'",
        "status = 'rejected'",
        "resolver = 'x'",
        "response = '{}'",
        "settled = 501",
    ):
        assert refused(db, f"UPDATE request SET {change} WHERE id = 'done'"), change


def test_a_request_keeps_its_body(db: sqlite3.Connection) -> None:
    """A settle changes how it stands and nothing of what was asked."""
    for column in ("id", "owner", "requester", "maker", "title", "body", "digest"):
        assert refused(db, f"UPDATE request SET {column} = 'other' WHERE id = 'open'"), column
    for column in ("created", "expires"):
        assert refused(db, f"UPDATE request SET {column} = 7 WHERE id = 'open'"), column
    assert refused(db, "UPDATE request SET expires = NULL WHERE id = 'timed'")
    assert not refused(db, SETTLE.format("cancelled", 500, "NULL", "open"))


@pytest.mark.parametrize("status", ["answered", "rejected"])
@pytest.mark.parametrize("nobody", ["NULL", "''"])
def test_an_answer_names_its_resolver(db: sqlite3.Connection, status: str, nobody: str) -> None:
    """So does a rejection; time and a withdrawal need none."""
    assert refused(db, SETTLE.format(status, 500, nobody, "open"))
    assert not refused(db, SETTLE.format(status, 500, "'o'", "open"))
    assert not refused(db, SETTLE.format("expired", 1000, "NULL", "timed"))


@pytest.mark.parametrize("status", ["answered", "rejected"])
def test_an_answer_is_in_time(db: sqlite3.Connection, status: str) -> None:
    """The instant of the deadline is too late, the millisecond before it is not."""
    for late in (1000, 1001):
        assert refused(db, SETTLE.format(status, late, "'o'", "timed"))
    assert not refused(db, SETTLE.format(status, 999, "'o'", "timed"))


def test_a_request_begins_open_and_under_an_id_of_its_own(db: sqlite3.Connection) -> None:
    """None is born settled, and none replaces another."""
    assert not refused(db, _insert("new"))
    assert refused(db, _insert("new2", status="'answered'", settled="5", resolver="'o'"))
    assert refused(db, _insert("new"))
    assert refused(db, _insert("open").replace("INSERT", "INSERT OR REPLACE"))
    assert refused(db, _insert("done").replace("INSERT", "INSERT OR REPLACE"))


def test_a_request_stands_in_one_of_five_ways(db: sqlite3.Connection) -> None:
    """An unknown status is none; what is open has no response, and what is settled says when."""
    assert refused(db, SETTLE.format("approved", 500, "'o'", "open"))
    assert refused(db, SETTLE.format("answered", "NULL", "'o'", "open"))
    assert refused(db, "UPDATE request SET response = '{}' WHERE id = 'open'")
    assert refused(db, "UPDATE request SET resolver = 'o' WHERE id = 'open'")
    assert refused(db, _insert("blob", body="NULL"))


def test_an_open_request_is_settled_before_it_goes(db: sqlite3.Connection) -> None:
    """Deleting cannot be a way around settling."""
    assert refused(db, "DELETE FROM request WHERE id = 'open'")
    assert refused(db, "DELETE FROM request")
    assert not refused(db, "DELETE FROM request WHERE id = 'done'")


def test_the_audit_chain_is_append_only(db: sqlite3.Connection) -> None:
    """No line changes, none goes, and no place in the chain is taken twice."""
    assert not refused(db, "INSERT INTO audit (inbox, seq, line, hash) VALUES ('o', 2, '{}', 'h')")
    assert refused(db, "INSERT INTO audit (inbox, seq, line, hash) VALUES ('o', 2, '{\"x\":1}', 'i')")
    assert refused(db, "UPDATE audit SET line = '{}' WHERE seq = 1")
    assert refused(db, "UPDATE audit SET hash = 'x' WHERE seq = 1")
    assert refused(db, "DELETE FROM audit WHERE seq = 1")
    assert refused(
        db, "INSERT OR REPLACE INTO audit (inbox, seq, line, hash) VALUES ('o', 1, '{\"x\":1}', 'i')"
    )


@pytest.mark.parametrize("status", ["COMPLETE", "FAILED", "CANCELLED", "REJECTED"])
def test_a_job_ends_once(db: sqlite3.Connection, status: str) -> None:
    """A parked job moves to its end, and there it stays."""
    assert not refused(db, f"UPDATE job SET status = '{status}' WHERE id = 'parked'")
    for change in ("status = 'INPUT_REQUIRED'", "output = '{}'", "error = 'e'", "updated = 9"):
        assert refused(db, f"UPDATE job SET {change} WHERE id = 'parked'"), change
    assert refused(db, _job("parked", "INPUT_REQUIRED").replace("INSERT", "INSERT OR REPLACE"))
    assert not refused(db, _job("new", status))


def test_a_venue_keeps_its_identity(db: sqlite3.Connection) -> None:
    """There is one row, and it does not change."""
    assert refused(db, "UPDATE venue SET did = 'did:other'")
    assert refused(db, "INSERT INTO venue (one, did, key_did, created) VALUES (1, 'did:c', 'did:d', 1)")
    assert refused(
        db, "INSERT OR REPLACE INTO venue (one, did, key_did, created) VALUES (1, 'did:c', 'did:d', 1)"
    )
    assert refused(db, "INSERT INTO venue (one, did, key_did, created) VALUES (2, 'did:c', 'did:d', 1)")
    with pytest.raises(AssertionError, match="nothing was changed"):
        refused(db, "UPDATE user SET created = 2")
