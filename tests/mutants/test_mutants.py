"""Each clause of the settle law is broken in turn, in a copy of the code; the law's checks have to notice.

A mutant is one edit of one file. It is caught when a check fails; an edit that no longer fits the source, or
a copy that does not even start, is a failure of this test and not a caught mutant.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from .law import CAUGHT

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("ucan", "inbox", "ops", "venue", "tests/harness", "tests/mutants")
SETTLE, RULES, SQL = "ops/settle.py", "inbox/rules.py", "inbox/sql/inbox.sql"


@dataclass(frozen=True)
class Mutant:
    """One edit: in which file, what stands there, what is put in its place."""

    file: str
    old: str
    new: str


MUTANTS = {
    "the guard takes settled rows": Mutant(SQL, "WHERE id = :id AND status = 'open'\n", "WHERE id = :id\n"),
    "the guard knows no deadline": Mutant(
        SQL,
        "AND CASE WHEN :status = 'expired' THEN expires <= :now ELSE expires IS NULL OR expires > :now END",
        "",
    ),
    "the guard answers at the deadline": Mutant(SQL, "expires > :now END", "expires >= :now END"),
    "the guard expires too late": Mutant(SQL, "THEN expires <= :now", "THEN expires < :now"),
    "the guard expires too early": Mutant(SQL, "THEN expires <= :now", "THEN 1"),
    "the timer skips what is just due": Mutant(SQL, "expires <= :now\nORDER", "expires < :now\nORDER"),
    "the law is exclusive": Mutant("inbox/settle.py", "now >= deadline", "now > deadline"),
    "rules decide on what is closed": Mutant(
        RULES, "    check_open(request, now)\n    if reply.digest", "    if reply.digest"
    ),
    "rules delete what is closed": Mutant(
        RULES, "    check_open(request, now)\n    return Settlement", "    return Settlement"
    ),
    "rules forget the digest": Mutant(RULES, "reply.digest != request.digest", "False"),
    "expired is rejected": Mutant(RULES, "Settlement(Status.EXPIRED", "Settlement(Status.REJECTED"),
    "cancelled is expired": Mutant(RULES, "Settlement(Status.CANCELLED", "Settlement(Status.EXPIRED"),
    "late is only not open": Mutant(
        RULES, "return Expired(request.id", "return AlreadySettled(request.id, 'x'"
    ),
    "a rejection loses its reason": Mutant(
        RULES, 'f"{REJECTED}: {reply.comment}" if reply.comment else ', ""
    ),
    "minted before it was claimed": Mutant(
        SETTLE,
        "    if not requests.settle_row(tx, request.id, settlement, resolver, channel, now):\n"
        "        raise _lost(call, request)\n"
        "    _finish_job(call, request, settlement)\n",
        "    _finish_job(call, request, settlement)\n"
        "    if not requests.settle_row(tx, request.id, settlement, resolver, channel, now):\n"
        "        raise _lost(call, request)\n",
    ),
    "the loser goes on": Mutant(SETTLE, "        raise _lost(call, request)\n", "        pass\n"),
    "the loser is told that it won": Mutant(
        SETTLE, "        raise _lost(call, request)\n", "        return\n"
    ),
    "the job is left parked": Mutant(SETTLE, "    _finish_job(call, request, settlement)\n", ""),
    "the job ends another way": Mutant(
        SETTLE, "Status.CANCELLED: JobStatus.CANCELLED", "Status.CANCELLED: JobStatus.FAILED"
    ),
    "a lost job is no matter": Mutant(
        SETTLE, "if settlement.status in (Status.ANSWERED, Status.REJECTED):", "if False:"
    ),
    "the inbox does not hear": Mutant(
        SETTLE, "    events.append(tx, request.owner, kind, request.id, now)\n", ""
    ),
    "the audit does not hear": Mutant(SETTLE, "audit.append(\n        tx,", "str.format(\n        '',"),
    "no receipt is written": Mutant(
        SETTLE, "    receipts.write(call, request, settlement, line, resolver, channel)\n", ""
    ),
    "the receipt forgets who": Mutant(
        SETTLE, "settlement, line, resolver, channel)", "settlement, line, None, channel)"
    ),
    "the audit forgets who": Mutant(SETTLE, "        resolver=resolver,\n        channel", "        channel"),
    "the row forgets who": Mutant(
        SETTLE, "settlement, resolver, channel, now)", "settlement, 'x', channel, now)"
    ),
    "anybody answers": Mutant(
        SETTLE, "requests.get(call.tx, call.caller.user, request_id)", "requests.find(call.tx, request_id)"
    ),
    "a delete leaves the record": Mutant(
        SETTLE, "    requests.delete(call.tx, request.owner, request.id)\n", ""
    ),
    "a delete does not settle": Mutant(SETTLE, "if request.status is Status.OPEN:", "if False:"),
    "the owner gets the token": Mutant(SETTLE, "audience=request.requester", "audience=request.owner"),
    "the token lives too long": Mutant("inbox/consent.py", "return min((", "return max(("),
    "every offer is triggered": Mutant(
        "inbox/consent.py",
        "triggered_offers(asks, reply.answers)",
        "[o for ask in asks for place in (ask, *ask.options) for o in place.grants]",
    ),
    "what was offered is granted unasked": Mutant(
        "inbox/consent.py", "in enumerate(reply.echoes)", "in enumerate([o.raw() for o in triggered])"
    ),
    "told before the commit": Mutant(
        "inbox/store/sqlite.py",
        "            self._commit(connection)\n",
        "            self._tell(frozenset().union(*(unit.topics for unit in units)))\n"
        "            self._commit(connection)\n",
    ),
    "never told": Mutant(
        "inbox/store/sqlite.py",
        "self._tell(frozenset().union(*(unit.topics for unit in units)))",
        "self._tell(frozenset())",
    ),
    "a finished job is written again": Mutant(
        "ops/sql/ops.sql",
        "\nWHERE id = :id AND status NOT IN ('COMPLETE', 'FAILED', 'CANCELLED', 'REJECTED')",
        "\nWHERE id = :id",
    ),
    "the launch looks away": Mutant("ops/sweep.py", "settle.withdraw(call, request)", "pass"),
}


def broken_copy(folder: Path, mutant: Mutant | None, *more: str) -> None:
    """Copy the code and whatever of the tests is needed, and break it."""
    for part in (*PARTS, *more):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / part, folder / part, ignore=ignored)
    shutil.copy(ROOT / "tests/__init__.py", folder / "tests/__init__.py")
    if mutant is not None:
        file = folder / mutant.file
        source = file.read_text(encoding="utf-8")
        assert source.count(mutant.old) >= 1, "the source has changed: this mutant has to be written anew"
        file.write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")


def _law_of(folder: Path, mutant: Mutant | None) -> subprocess.CompletedProcess[str]:
    """Hold a copy of the code, broken or not, against the law."""
    broken_copy(folder, mutant)
    command = [sys.executable, "-m", "tests.mutants.law"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def test_the_code_as_it_is_keeps_the_law(tmp_path: Path) -> None:
    """Without this, every mutant would be caught."""
    done = _law_of(tmp_path, None)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_law_is_noticed(tmp_path: Path, name: str) -> None:
    """Whatever clause is broken, some check fails, and it is a check that fails."""
    done = _law_of(tmp_path, MUTANTS[name])
    assert done.returncode == CAUGHT, f"survived: {name}\n{done.stdout}\n{done.stderr}"
