"""Each rule of settling is held by a test: break one, and the suite must notice.

A mutant is a copy of the package in which one piece of source text is exchanged. The suites run against it in
a process of their own, and have to fail.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent
SUITES = [
    "tests/gates/test_settle.py",
    "tests/gates/test_gate_behaviour.py",
    "tests/conformance/test_gates.py",
]

CHOSEN = (
    "not own_file and not product_connection and not flipped and not GS- and not GZ- and (not sqlite or GT-)"
)
"""In memory for speed; on SQLite the races, where the guard of the write is its own."""

MUTANTS = {
    "the deadline itself is still in time": ("settle.py", "now >= deadline", "now > deadline"),
    "a settled gate can fall due": ("settle.py", "if not is_open:", "if False:"),
    "a later repeat is forgiven": ("settle.py", "read_open\n        and ", "True\n        and "),
    "any status is the same answer": ("settle.py", "wanted.status == won.status", "True"),
    "any payload is the same answer": ("settle.py", "json_equal(wanted.payload, won.payload)", "True"),
    "any reason is the same answer": ("settle.py", "wanted.reason == won.reason", "True"),
    "true is the number 1": ("jsonvalue.py", "return one is other", "return one == other"),
    "the deadline may pass before the write": ("gates/store.py", "if in_time:", "if True:"),
    "the product is not asked": ("gates/store.py", "self._policy.authorize(gate, kept_resolver)", "pass"),
    "no is yes": ("gates/policy.py", "if not allowed:", "if allowed is None:"),
    "1 is a boolean": ("gates/policy.py", "isinstance(allowed, bool)", "isinstance(allowed, int)"),
    "a rule binds nobody": ("gates/policy.py", "resolver.actor_class not in gate.rule.resolvers", "False"),
    "a delegate needs no authorize": ("gates/policy.py", "self._authorize is not None\n", "True\n"),
    "an allowance is for any payload": ("gates/policy.py", "json_equal(allowance.payload, payload)", "True"),
    "an allowance is for any step": ("gates/policy.py", "allowance.step_id == step_of(gate.id)", "True"),
    "a policy may say something like yes": ("gates/policy.py", "evidence) is True", "evidence)"),
    "a write lands on any row, in memory": ("gates/memory.py", 'or row["status"] != PENDING', ""),
    "a write lands on any row, in SQLite": ("gates/sqlite.py", "id = ? AND status = '{PENDING}'", "id = ?"),
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package and its tests, elsewhere, with no configuration and no plugins: these only cost time."""
    for part in ("inbox", "tests/gates", "tests/conformance", "tests/data"):
        shutil.copytree(PROJECT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("tests/__init__.py", "tests/conftest.py"):
        shutil.copy(PROJECT / part, tmp_path / part)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return tmp_path


def run_suites(copy: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", CHOSEN, *SUITES],
        cwd=copy,
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_suite_catches(mutant: str, copy: Path) -> None:
    file, text, instead = MUTANTS[mutant]
    source = copy / "inbox" / file
    original = source.read_text()
    assert original.count(text) == 1, f"{file} no longer has exactly one {text!r}"
    source.write_text(original.replace(text, instead))
    ran = run_suites(copy)
    assert ran.returncode == 1, ran.stdout[-2000:]
    assert " failed" in ran.stdout


def test_without_a_mutation_it_passes(copy: Path) -> None:
    ran = run_suites(copy)
    assert ran.returncode == 0, ran.stdout[-2000:]
