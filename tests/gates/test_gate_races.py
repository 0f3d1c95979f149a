"""Many processes on one file: each gate settles once, whoever else tries; and a crash loses nothing.

Every process runs `gates_racer.py`, which says what it did on its standard output.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from gate_stores import OWNER, Approval

from inbox.gates import wait_for_gate
from inbox.gates.sqlite import SqliteGateStore

RACER = Path(__file__).with_name("gates_racer.py")
PROJECT = Path(__file__).resolve().parent.parent.parent
GATES = 2000
PROCESSES = 8
LIMIT = 60
"""Seconds within which the race must be over."""


@contextmanager
def racing(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, str(RACER), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def race(path: Path) -> list[dict[str, str]]:
    """Eight processes settle all gates at once; what each was told, per gate."""
    with ExitStack() as stack:
        processes = [
            stack.enter_context(racing("settle", path, number, GATES)) for number in range(PROCESSES)
        ]
        for process in processes:
            assert line(process) == "ready"
        for process in processes:
            go(process)
        return [json.loads(process.communicate(timeout=LIMIT)[0]) for process in processes]


def test_each_of_2000_gates_settles_once_among_8_processes(tmp_path: Path) -> None:
    path = tmp_path / "gates.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    store = SqliteGateStore(connection)
    connection.executescript(
        "CREATE TABLE writes (gate TEXT); CREATE TRIGGER count_writes AFTER UPDATE ON hitl_gate "
        "BEGIN INSERT INTO writes VALUES (NEW.id); END"
    )
    connection.execute("BEGIN")
    for number in range(GATES):
        # A third of the gates falls due while the race runs: the racers move their clock as they go.
        expires_at = "2026-01-01T00:01:00Z" if number % 3 == 0 else None
        store.create(id=f"g{number}", prompt="p", expires_at=expires_at)
    connection.execute("COMMIT")

    told = race(path)

    assert connection.execute("SELECT count(*), count(DISTINCT gate) FROM writes").fetchone() == (
        GATES,
        GATES,
    )
    rows = connection.execute("SELECT id, status, payload, reason FROM hitl_gate").fetchall()
    connection.close()
    kinds: Counter[str] = Counter()
    for id, status, payload, reason in rows:
        answer = {"resolved": f"resolved {payload}", "cancelled": f"cancelled {reason}"}.get(status, status)
        outcomes = [each[id] for each in told]
        # Whoever was told that it settled the gate was told the answer that is there; others were refused.
        settled = [outcome for outcome in outcomes if not outcome.startswith("Gate")]
        assert set(settled) <= {answer}
        assert bool(settled) == (status != "expired")
        refusals = {outcome for outcome in outcomes if outcome.startswith("Gate")}
        assert refusals <= ({"GateExpired"} if status == "expired" else {"GateAlreadySettled"})
        kinds[status] += 1
        kinds["forgiven"] += len(settled) > 1
    assert all(kinds[each] > 0 for each in ("resolved", "cancelled", "expired")), kinds
    assert kinds["forgiven"] > 0, kinds


@pytest.mark.parametrize("ending", ["kill -9", "answered first"])
def test_a_waiter_that_was_killed_gets_its_answer_after_the_restart(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "gates.db"
    with racing("open", path) as opener:
        assert line(opener) == "waiting"
        if ending == "kill -9":
            opener.send_signal(signal.SIGKILL)
            assert opener.wait(LIMIT) == -signal.SIGKILL
        with racing("resolve", path) as resolver:
            assert resolver.wait(LIMIT) == 0
        if ending == "answered first":
            assert line(opener) == "approved=True note='after the crash'"
    with SqliteGateStore(path) as store:
        assert store.list_pending() == []
        again = wait_for_gate(store, "deploy", Approval, timeout=LIMIT)
    assert again == Approval(approved=True, note="after the crash")


def test_a_pending_gate_survives_the_crash(tmp_path: Path) -> None:
    path = tmp_path / "gates.db"
    with racing("open", path) as opener:
        assert line(opener) == "waiting"
        opener.kill()
        opener.wait(LIMIT)
    with SqliteGateStore(path) as store:
        assert [gate.id for gate in store.list_pending()] == ["deploy"]
        waiting: dict[str, Any] = {"store": store, "id": store.list_pending()[0].id, "schema": Approval}
        store.resolve("deploy", {"approved": False}, OWNER)
        assert wait_for_gate(**waiting) == Approval(approved=False)
