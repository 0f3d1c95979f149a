"""docs/client.md: its examples are the files beside it and run; its tables are the code's."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.harness.actors import Actor
from tests.harness.inboxes import asked, inbox
from tests.harness.served import Served
from venue import client
from venue.client import AsyncVenue, Venue, VenueError

EXAMPLES = ROOT / "docs" / "examples"
PAGE = (ROOT / "docs" / "client.md").read_text(encoding="utf-8")
SOON = 30

Process = subprocess.Popen[str]
Start = Callable[..., Process]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A venue of its own."""
    with Served(tmp_path_factory.mktemp("page") / "data") as venue:
        yield venue


@pytest.fixture
def start(served: Served, tmp_path: Path) -> Iterator[Start]:
    """Starts an example, or `-m venue …`, with variables; what still runs in the end is ended."""
    started: list[Process] = []
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "VENUE_URL": served.url}

    def begin(*command: str, **variables: str) -> Process:
        first = str(EXAMPLES / command[0]) if command[0].endswith(".py") else command[0]
        process = subprocess.Popen(
            [sys.executable, "-W", "error", first, *command[1:]],
            cwd=tmp_path,
            env={**environment, **variables},
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def ada(served: Served) -> Actor:
    """Who decides."""
    return served.owner()


@pytest.fixture
def token(served: Served, ada: Actor) -> str:
    """The token of her agent."""
    return served.agent(ada).token


def said(process: Process) -> str:
    """What an example printed, once it has ended well."""
    out, _ = process.communicate(timeout=SOON)
    assert process.returncode == 0
    return out


@pytest.mark.parametrize(
    ("outcome", "fields", "printed"),
    [
        ("answer", {"answers": {"ship": True, "where": "live"}}, "to live"),
        ("answer", {"answers": {"ship": False}}, "held back"),
        ("reject", {"comment": "not on a Friday"}, "not on a Friday"),
    ],
)
def test_ten_lines(
    start: Start, ada: Actor, token: str, outcome: str, fields: dict[str, Any], printed: str
) -> None:
    waiting = start("client_ship.py", VENUE_TOKEN=token)
    (record,) = asked(ada)
    ada.respond(record["id"], outcome, **fields).ok()
    assert said(waiting) == f"{printed}\n"


def test_an_agent_that_died_publishes_and_the_rest_is_rejected(
    start: Start, served: Served, tmp_path: Path
) -> None:
    """The person decides by the example, too, with a key that the command line made."""
    key = {"VENUE_KEY": "ada.pem", "VENUE_PASSPHRASE": "correct horse"}
    said(start("-m", "venue", "key", "new", "ada.pem", **key))
    with Venue(served.url, key=tmp_path / "ada.pem", passphrase="correct horse") as person:
        token = person.run("v/ops/agent/enrol", {"agentId": "helper"})["token"]
        first = start("client_grant.py", VENUE_TOKEN=token)
        assert first.stdout is not None
        waiting = first.stdout.readline()
        first.kill()
        ship = start("client_ship.py", VENUE_TOKEN=token)
        while len(person.inbox()) < 2:
            assert ship.poll() is None
        told = said(start("client_decide.py", **key))
        assert sorted(line.rpartition(" asks: ")[2] for line in told.splitlines()) == [
            "Publish 1.4.0?",
            "Ship 1.4.0?",
        ]
        assert said(ship) == "Not on a Friday\n"
        assert said(start("client_grant.py", VENUE_TOKEN=token)) == f"{waiting}published\n"
        assert person.read("w/releases/1.4.0") == {"by": "helper"}
        assert len(person.inbox(None)) == 2


def test_many_questions_at_once(start: Start, ada: Actor, token: str) -> None:
    waiting = start("client_async.py", VENUE_TOKEN=token)
    for record in asked(ada, 2):
        docs = "docs" in record["title"]
        ada.respond(
            record["id"], *([] if docs else ["reject"]), **({"answers": {"merge": True}} if docs else {})
        ).ok()
    assert said(waiting) == "[True, False]\nnot yet\n"
    assert [record["title"] for record in inbox(ada)] == ["Merge tests?"]


def test_the_page_shows_the_examples_as_they_are() -> None:
    shown = re.findall(r"`examples/(\S+\.py)`[^`]*```python\n(.*?)```", PAGE, flags=re.DOTALL)
    assert {name for name, _ in shown} == {path.name for path in EXAMPLES.glob("client_*.py")}
    for name, text in shown:
        assert text == (EXAMPLES / name).read_text(encoding="utf-8"), name


def test_the_page_names_every_error_every_call_and_every_variable() -> None:
    table = "\n".join(line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `"))
    named = set(re.findall(r"`(\w+)", table))
    errors = {
        name
        for name, each in vars(client).items()
        if isinstance(each, type) and issubclass(each, VenueError) and each is not VenueError
    }
    assert errors - named == set()
    calls = {name for kind in (Venue, AsyncVenue) for name in vars(kind) if not name.startswith("_")}
    assert calls - named - {"ask", "attach"} == set()
    source = (ROOT / "venue" / "client" / "identity.py").read_text(encoding="utf-8")
    assert {name for name in re.findall(r"VENUE_[A-Z_]+", source) if name not in PAGE} == set()
