"""docs/gates.md: its examples are the files that stand beside it, they run, and its tables are the code's."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from gate_stores import SOON

from inbox import gates
from inbox.gates.errors import GateError
from inbox.gates.sqlite import SqliteGateStore
from tests.harness.inboxes import asked
from tests.harness.served import Served

PROJECT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = PROJECT / "docs" / "examples"
PAGE = (PROJECT / "docs" / "gates.md").read_text()


def start(name: str, directory: Path, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(EXAMPLES / name)],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "PYTHONWARNINGS": "error", **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def said(process: subprocess.Popen[str], answer: str = "") -> str:
    out, _ = process.communicate(answer, timeout=SOON)
    assert process.returncode == 0
    return out


@pytest.mark.parametrize(("answer", "outcome"), [("y", "shipping"), ("n", "held back")])
def test_a_deploy_in_two_terminals_survives_a_crash(answer: str, outcome: str, tmp_path: Path) -> None:
    with SqliteGateStore(tmp_path / "gates.db") as store:
        first = start("gates_deploy.py", tmp_path)
        while not store.list_pending():
            with pytest.raises(subprocess.TimeoutExpired):
                first.wait(0.02)
    first.kill()
    first.communicate()
    assert said(start("gates_answer.py", tmp_path), f"{answer}\n") == "Ship 1.4.0? [y/n] "
    assert said(start("gates_deploy.py", tmp_path)) == f"{outcome}\n"


def test_a_gate_beside_a_products_own_tables(tmp_path: Path) -> None:
    assert said(start("gates_beside_tables.py", tmp_path)) == "('p-17', 'released')\n"


def test_an_agent_step(tmp_path: Path) -> None:
    assert said(start("gates_agent.py", tmp_path)) in ("merge hold\n", "hold merge\n")


def test_the_page_shows_the_examples_as_they_are() -> None:
    shown = re.findall(r"`examples/(\S+\.py)`[^`]*```python\n(.*?)```", PAGE, flags=re.DOTALL)
    assert {name for name, _ in shown} == {path.name for path in EXAMPLES.glob("gates_*.py")}
    for name, text in shown:
        assert text == (EXAMPLES / name).read_text(), name


def test_the_page_names_every_error_and_its_code() -> None:
    rows = set(re.findall(r"^\| `(Gate\w+)` \| `(\w+)` \|", PAGE, flags=re.MULTILINE))
    errors = {each for each in vars(gates).values() if isinstance(each, type) and issubclass(each, GateError)}
    assert rows == {(each.__name__, each.code) for each in errors - {GateError, gates.GateInvalid}}


def test_the_page_names_every_call() -> None:
    calls = {name for name in gates.__all__ if name.islower()}
    assert {name for name in calls if f"`{name}" not in PAGE} == set()


def test_an_agent_step_in_a_persons_inbox(tmp_path: Path) -> None:
    """The same step as above, with another store; the program is killed once while it waits."""
    with Served(tmp_path / "data") as served:
        ada = served.owner()
        environment = {"VENUE_URL": served.url, "VENUE_TOKEN": served.agent(ada).token}
        first = start("gates_inbox.py", tmp_path, **environment)
        records = asked(ada, 2)
        first.kill()
        first.communicate()
        docs, code = sorted(records, key=lambda record: record["title"], reverse=True)
        ada.respond(docs["id"], answers={"decision": "merge"}).ok()
        ada.respond(code["id"], "reject", comment="not yet").ok()
        assert said(start("gates_inbox.py", tmp_path, **environment)) == "merge hold\n"


def test_only_the_store_is_another() -> None:
    """The step itself is letter for letter the one that waits on a file, but for what a rejection brings."""
    files = [(EXAMPLES / name).read_text() for name in ("gates_agent.py", "gates_inbox.py")]
    steps = [
        re.findall(r"^async def ask.*?(?=^    except)", text, flags=re.DOTALL | re.MULTILINE)
        for text in files
    ]
    assert steps[0] == steps[1]
    assert len(steps[0]) == 1
