"""`venue audit verify` (D26): good on what a venue wrote, bad after every way of writing it again.

Whoever changes the file here has more than the SQL guards let anybody do: the triggers are gone first. What
they have not is the venue's key.
"""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.harness.commands import Done, inside
from tests.harness.commands import venue as command
from tests.harness.served import Served
from tests.harness.town import offering


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The data directory of a venue that was used, stopped, used and stopped: two roots; and a user's DID."""
    data = tmp_path_factory.mktemp("audit") / "data"
    with Served(data) as served:
        ada, bob = served.owner(), served.owner()
        signer = ada.signer
        for person in (ada, bob):
            agent = served.agent(person)
            request = agent.ask(**offering())
            person.respond(request, answers={"ok": True}, grants=[{"with": "w/r", "can": "crud/read"}]).ok()
            person.respond(agent.ask(), "reject").ok()
        assert command("audit", "verify", data=data).status == 0
        assert served.stop() in (0, -15)
        served.start()
        again = served.owner(signer)
        again.respond(again.ask(), answers={"ok": True}).ok()
        assert served.stop() in (0, -15)
        yield data, ada.did


def verified(data: Path) -> Done:
    """What `venue audit verify --json` says."""
    return inside("audit", "verify", "--json", data=data)


def test_what_the_venue_wrote_is_good(history: tuple[Path, str]) -> None:
    """In words and as JSON; and every line is covered by a root, for it stopped."""
    data, did = history
    assert command("audit", "verify", data=data).status == 0
    assert verified(data).json == {"ok": True, "problems": []}
    with closing(sqlite3.connect(data / "venue.db")) as db:
        assert db.execute("SELECT COUNT(*) FROM audit_root").fetchone()[0] >= 2
        assert db.execute("SELECT COUNT(*) FROM audit_head WHERE signed < seq").fetchone()[0] == 0
    lines = command("audit", "tail", did, "--lines", "3", data=data).ok().splitlines()
    assert [json.loads(line)["inbox"] for line in lines] == [did] * 3
    assert len(command("audit", "tail", did, "--lines", "1000", "--json", data=data).json) > 3
    assert command("audit", "tail", "did:key:zNobody", data=data).ok() == ""


def _first(db: sqlite3.Connection) -> tuple[str, int]:
    row = db.execute(
        "SELECT inbox, MAX(seq) FROM audit GROUP BY inbox ORDER BY MAX(seq) DESC LIMIT 1"
    ).fetchone()
    return str(row[0]), int(row[1])


def _change_line(db: sqlite3.Connection) -> None:
    inbox, _ = _first(db)
    db.execute("UPDATE audit SET line = replace(line, 'api', 'web') WHERE inbox = ?", (inbox,))


def _rewrite_chain(db: sqlite3.Connection) -> None:
    """Change a line and make the whole chain and its head fit again; only the roots tell."""
    inbox, _ = _first(db)
    before = "0" * 64
    for seq, line in db.execute(
        "SELECT seq, line FROM audit WHERE inbox = ? ORDER BY seq", (inbox,)
    ).fetchall():
        said = {**json.loads(line), "before": before, **({"at": 1} if seq == 2 else {})}
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        before = hashlib.sha256(text.encode()).hexdigest()
        db.execute(
            "UPDATE audit SET line = ?, hash = ? WHERE inbox = ? AND seq = ?", (text, before, inbox, seq)
        )
    db.execute("UPDATE audit_head SET hash = ? WHERE inbox = ?", (before, inbox))


def _remove(where: str) -> Callable[[sqlite3.Connection], None]:
    def work(db: sqlite3.Connection) -> None:
        inbox, last = _first(db)
        db.execute(f"DELETE FROM audit WHERE inbox = :inbox AND {where}", {"inbox": inbox, "last": last})

    return work


def _cut(db: sqlite3.Connection) -> None:
    """Take the last line away, and let the head say so."""
    inbox, last = _first(db)
    db.execute("DELETE FROM audit WHERE inbox = ? AND seq = ?", (inbox, last))
    row = db.execute("SELECT hash FROM audit WHERE inbox = ? AND seq = ?", (inbox, last - 1)).fetchone()
    db.execute(
        "UPDATE audit_head SET seq = ?, hash = ?, signed = ? WHERE inbox = ?",
        (last - 1, row[0], last - 1, inbox),
    )


def _swap(db: sqlite3.Connection) -> None:
    inbox, _ = _first(db)
    for old, new in ((2, -1), (3, 2), (-1, 3)):
        db.execute("UPDATE audit SET seq = ? WHERE inbox = ? AND seq = ?", (new, inbox, old))


def _forget(db: sqlite3.Connection) -> None:
    """Take a whole inbox away, with its head."""
    inbox, _ = _first(db)
    for table in ("audit", "audit_head"):
        db.execute(f"DELETE FROM {table} WHERE inbox = ?", (inbox,))


def _move(db: sqlite3.Connection) -> None:
    inbox, _ = _first(db)
    for table in ("audit", "audit_head"):
        db.execute(f"UPDATE {table} SET inbox = 'did:key:zOther' WHERE inbox = ?", (inbox,))


def _headless(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM audit_head WHERE inbox = ?", (_first(db)[0],))


def _sql(*statements: str) -> Callable[[sqlite3.Connection], None]:
    def work(db: sqlite3.Connection) -> None:
        for statement in statements:
            assert db.execute(statement).rowcount > 0

    return work


TAMPERINGS: dict[str, Callable[[sqlite3.Connection], None]] = {
    "a line changed": _change_line,
    "a line that is no JSON": _sql("UPDATE audit SET line = 'x' WHERE seq = 1"),
    "a line that is no object": _sql("UPDATE audit SET line = '7' WHERE seq = 1"),
    "a line empty": _sql("UPDATE audit SET line = '' WHERE seq = 2"),
    "a hash changed": _sql(f"UPDATE audit SET hash = '{'0' * 64}' WHERE seq = 1"),
    "the first line removed": _remove("seq = 1"),
    "a middle line removed": _remove("seq = 2"),
    "the last line removed": _remove("seq = :last"),
    "all lines removed": _remove("seq > 0"),
    "lines swapped": _swap,
    "a chain written again": _rewrite_chain,
    "a chain cut": _cut,
    "an inbox forgotten": _forget,
    "an inbox moved": _move,
    "a head removed": _headless,
    "a head's hash changed": _sql(f"UPDATE audit_head SET hash = '{'0' * 64}'"),
    "a head set back": _sql("UPDATE audit_head SET seq = seq - 1"),
    "a head set forward": _sql("UPDATE audit_head SET seq = seq + 1"),
    "the first root removed": _sql("DELETE FROM audit_root WHERE seq = 1"),
    "the last root removed": _sql("DELETE FROM audit_root WHERE seq = (SELECT MAX(seq) FROM audit_root)"),
    "all roots removed": _sql("DELETE FROM audit_root"),
    "a root's heads changed": _sql("UPDATE audit_root SET heads = replace(heads, '[', '[1') WHERE seq = 1"),
    "a root's heads no JSON": _sql("UPDATE audit_root SET heads = 'x' WHERE seq = 1"),
    "a root's heads emptied": _sql("UPDATE audit_root SET heads = '{}' WHERE seq = 1"),
    "a root changed": _sql("UPDATE audit_root SET root = replace(root, '.', '.x') WHERE seq = 1"),
    "a root empty": _sql("UPDATE audit_root SET root = '' WHERE seq = 1"),
    "a root repeated": _sql(
        "UPDATE audit_root SET root = (SELECT root FROM audit_root WHERE seq = 1) WHERE seq = 2"
    ),
    "a root that is a receipt": _sql(
        "UPDATE audit_root SET root = (SELECT receipt FROM receipt LIMIT 1) WHERE seq = 2"
    ),
}


@pytest.mark.parametrize("how", TAMPERINGS)
def test_what_was_tampered_with_is_bad(history: tuple[Path, str], tmp_path: Path, how: str) -> None:
    """Status 1, and a sentence that says what is wrong; never a traceback."""
    data = tmp_path / "data"
    shutil.copytree(history[0], data)
    with closing(sqlite3.connect(data / "venue.db", isolation_level=None)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        before = _all(db)
        TAMPERINGS[how](db)
        assert _all(db) != before
    done = verified(data)
    assert done.status == 1, done.out
    assert done.json["ok"] is False
    assert all(problem.strip() for problem in done.json["problems"])


def _all(db: sqlite3.Connection) -> list[Any]:
    return [
        db.execute(f"SELECT * FROM {table}").fetchall() for table in ("audit", "audit_head", "audit_root")
    ]


def test_a_root_by_another_key_is_bad(history: tuple[Path, str], tmp_path: Path) -> None:
    """The chain is checked with the key of this venue; under another's data it is somebody else's."""
    data = tmp_path / "data"
    shutil.copytree(history[0], data)
    (data / "venue.key").unlink()
    assert command("audit", "verify", data=data).status == 1


def test_the_guards_of_the_database_refuse_what_the_shell_would_do(
    history: tuple[Path, str], tmp_path: Path
) -> None:
    """Without dropping the triggers not even the operator's shell changes a line (D26)."""
    shutil.copytree(history[0], tmp_path / "data")
    with closing(sqlite3.connect(tmp_path / "data" / "venue.db", isolation_level=None)) as db:
        for statement in (
            "UPDATE audit SET line = ''",
            "DELETE FROM audit",
            "UPDATE receipt SET receipt = ''",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                db.execute(statement)


def test_no_audit_of_a_venue_that_is_not_there(tmp_path: Path) -> None:
    """A path that was mistyped is not an empty venue in order, and does not become one."""
    for words in (
        ("audit", "verify"),
        ("audit", "tail", "did:key:zX"),
        ("user", "ls"),
        ("user", "signin", "x"),
    ):
        done = command(*words, data=tmp_path / "nowhere")
        assert (done.status, done.out) == (1, "")
        assert "there is no venue in" in done.err
    assert not (tmp_path / "nowhere").exists()
