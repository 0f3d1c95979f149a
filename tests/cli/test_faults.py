"""What goes wrong between a terminal and a venue: each with a status and the next step in the message."""

import json
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from inbox.clock import system_clock
from tests.harness.proxy import Proxy, drop_answer, refuse, stall
from tests.harness.served import Served
from venue.cli import app, connection
from venue.cli.settings import masked
from venue.client import sync

from .kit import Person


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A venue that a test may stop."""
    with Served(tmp_path / "data") as venue:
        yield venue


def test_nobody_there(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status 3, once it was tried for a while."""
    monkeypatch.setattr(connection, "PATIENCE", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    done = ada.call("inbox", "ls", "--url", f"http://127.0.0.1:{port}", "--json")
    assert (done.status, json.loads(done.err)["code"]) == (3, "unreachable")


@pytest.mark.parametrize("words", [("ask", "T"), ("inbox", "ls"), ("job", "show", "0" * 32)])
def test_what_is_no_address(ada: Person, words: tuple[str, ...]) -> None:
    """Status 2, with one that would do; nothing was sent."""
    for address in ("nonsense", "ftp://venue.example", "http://me:secret@venue.example"):
        done = ada.call(*words, "--url", address, "--json")
        assert (done.out, done.status, json.loads(done.err)["code"]) == ("", 2, "bad_settings")


def test_an_address_at_which_something_else_answers(served: Served, ada: Person) -> None:
    """Another path of the right server too; the message doubts the address."""
    done = ada.call("inbox", "ls", "--url", f"{served.url}/elsewhere", "--json")
    said = json.loads(done.err)
    assert (done.status, said["code"]) == (1, "not_a_venue")
    assert "Is the address right?" in said["error"]


def test_a_venue_that_fails_or_is_slow(served: Served, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status 3, told apart by their codes, and how to ask again so that nothing is asked twice."""
    monkeypatch.setattr("venue.cli.ask._PATIENCE", 0.5)
    for fault, code in ((refuse(500), "unknown"), (refuse(502), "unknown"), (drop_answer, "unreachable")):
        with Proxy(served.url) as proxy:
            proxy.inject("POST /api/v1/invoke", fault, float("inf"))
            done = ada.call("ask", "Once?", "--no-wait", "--url", proxy.url, "--once", code, "--json")
        assert (done.status, json.loads(done.err.splitlines()[-1])["code"]) == (3, code)
        assert f"try again with: --once {code}" in done.err
    ada.call("ask", "Once?", "--no-wait", "--once", "unreachable").ok()
    assert ada.actor.run("v/ops/hitl/list", {}).ok()["count"] == 1
    monkeypatch.setattr(connection, "PATIENCE", 0.5)
    with Proxy(served.url) as proxy:
        proxy.inject("POST /api/v1/invoke", refuse(200, {"Content-Type": "application/json"}, "{}"), 1)
        done = ada.call("ask", "T", "--no-wait", "--url", proxy.url, "--json")
        assert (done.status, json.loads(done.err)["code"]) == (1, "not_a_venue")
        proxy.inject("POST /api/v1/run", stall(3), float("inf"))
        done = ada.call("inbox", "ls", "--url", proxy.url, "--json")
        assert (done.status, json.loads(done.err)["code"]) == (3, "no_answer")
        proxy.inject("GET /api/v1/values", refuse(503), float("inf"))
        assert "its operator finds why" in ada.call("inbox", "show", "0" * 32, "--url", proxy.url).err


@pytest.mark.skipif(sys.platform != "linux", reason="there is no full disk to be had elsewhere")
def test_an_output_that_takes_no_letters_or_nothing(ada: Person) -> None:
    """Letters that a pipe does not know come as escapes; a full disk is told in a line, with status 1."""
    request = ada.actor.ask(title="日本")
    done = ada.run("inbox", "show", request, environ={"PYTHONIOENCODING": "ascii"}).ok()
    assert "\\u65e5\\u672c" in done.out
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "venue", "inbox", "show", request]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=ada.environment(), text=True)
    assert (ended.returncode, ended.stderr) == (1, "venue: [Errno 28] No space left on device\n")


def test_a_server_that_restarts_while_one_waits(own: Served, tmp_path: Path) -> None:
    """The wait goes on, and the question was asked once."""
    ada = Person(own, tmp_path)
    helper = Person(own, tmp_path, token=own.agent(ada.actor).token)
    request = helper.call("ask", "Once?", "--no-wait").ok().out.strip()
    running = helper.start("job", "wait", request)
    own.kill()
    own.start()
    ada.actor.respond(request, answers={"approve": True}).ok()
    assert running.done().ok().out == "true\n"
    assert ada.actor.run("v/ops/hitl/list", {}).ok()["count"] == 1


def test_another_venue_at_the_same_address(own: Served, tmp_path: Path) -> None:
    """Refused before anything is signed for it; the message says which line to delete."""
    ada = Person(own, tmp_path)
    ada.run("inbox", "ls").ok()
    known = tmp_path / "venue" / "known-venues"
    assert known.read_text() == f"{own.url} {own.did}\n"
    assert known.stat().st_mode & 0o777 == 0o600
    before = own.did
    own.kill()
    for name in ("venue.key", "venue.db", "venue.db-wal", "venue.db-shm"):
        (own.data / name).unlink(missing_ok=True)
    own.start()
    done = ada.run("inbox", "ls")
    assert done.status == 1
    assert f"is {own.did}, not {before}" in done.err
    assert f"delete the line of this address from {known}" in done.err
    assert json.loads(ada.call("inbox", "ls", "--json").err)["code"] == "wrong_venue"
    known.unlink()
    ada.call("inbox", "ls").ok()


def test_a_revoked_agent_and_a_wrong_key(served: Served, ada: Person, helper: Person) -> None:
    """Status 1, with what to look at."""
    ada.call("agent", "revoke", "helper").ok()
    done = helper.run("ask", "T")
    assert (done.status, "it was revoked" in done.err, "venue agent enrol" in done.err) == (1, True, True)
    assert "eyJ" not in done.err
    bound = ada.call("inbox", "ls", "--as", f"{ada.did}:g:helper", "--json")
    assert (bound.status, json.loads(bound.err)["code"]) == (1, "unauthorised")
    wrong = ada.call("inbox", "ls", environ={"VENUE_PASSPHRASE": "wrong"})
    assert (wrong.status, "the passphrase is another" in wrong.err) == (1, True)
    nobody = ada.call("inbox", "ls", environ={"VENUE_KEY": None, "VENUE_TOKEN": None})
    assert (nobody.status, "say who calls" in nobody.err) == (2, True)


def test_a_clock_that_is_wrong(served: Served, ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bearer is refused, and the message says that it is the clock, and by how much."""
    late = sync.Venue.__init__.__kwdefaults__
    monkeypatch.setitem(late, "clock", lambda: system_clock() - timedelta(hours=1))
    done = ada.call("inbox", "ls")
    assert done.status == 1
    assert "seconds behind the venue's: set it" in done.err
    assert json.loads(ada.call("inbox", "ls", "--json").err)["code"] == "clock_skew"


def test_too_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """429 is waited out; if it does not end in time, status 1, and nothing has happened."""
    slow = {"VENUE_LIMITS__OPEN_PER_REQUESTER": "1"}
    with Served(tmp_path / "data", environ=slow) as venue:
        ada = Person(venue, tmp_path)
        ada.call("ask", "One", "--no-wait").ok()
        monkeypatch.setattr("venue.cli.ask._PATIENCE", 0.0)
        done = ada.call("ask", "Two", "--no-wait", "--json")
        assert (done.status, json.loads(done.err)["code"]) == (1, "too_many_open")
        assert ada.actor.run("v/ops/hitl/list", {}).ok()["count"] == 1


def test_agents_tokens_and_settings(served: Served, ada: Person) -> None:
    """Enrol into a file of mode 0600, list, use, revoke; revoke a token; the settings, secrets masked."""
    done = ada.call("agent", "enrol", "bot", "--cap", "w/x/:crud/read", "--out", str(ada.home / "bot.token"))
    assert "eyJ" not in done.ok().out + done.err
    file = ada.home / "bot.token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert ada.call("agent", "enrol", "bot", "--out", str(file)).status == 2
    bot = Person(served, ada.home, token="")
    asked = bot.call("ask", "Hi?", "--no-wait", "--token-file", str(file), environ={"VENUE_TOKEN": None}).ok()
    assert ada.actor.record(asked.out.strip())["agent"] == "g/bot"
    listed = ada.call("agent", "ls").ok().out
    assert "bot" in listed
    assert "crud/read on w/x/" in listed
    assert ada.call("agent", "ls", "--json").ok().json["items"][0]["agentId"] == "bot"
    token = ada.actor.run(
        "v/ops/ucan/issue",
        {"aud": bot.did, "att": [{"with": "w/x", "can": "crud/read"}], "exp": int(time.time()) + 3_600},
    ).ok()["token"]
    fell = ada.run("token", "revoke", "-", "--json", given=token).ok().json["revoked"]
    assert len(fell) == 1
    assert "revoked before" in ada.call("token", "revoke", "--hash", fell[0]).ok().out
    assert ada.call("token", "revoke").status == 2
    assert ada.call("agent", "revoke", "bot").ok().out == "Revoked bot.\n"
    assert ada.call("agent", "revoke", "bot").status == 1


def test_config_masks_what_is_secret(tmp_path: Path) -> None:
    """Effective values by their names; a wrong one is status 2."""
    shown = CliRunner().invoke(app, ["config", "--json"], env={"VENUE_LIMITS__ASKS": "7"})
    assert json.loads(shown.stdout)["limits"]["asks"] == 7
    plain = CliRunner().invoke(app, ["config"], env={"VENUE_LIMITS__ASKS": "7"})
    assert "limits.asks                    7" in plain.stdout.splitlines()
    assert CliRunner().invoke(app, ["config"], env={"VENUE_LIMITS__ASKS": "-7"}).exit_code == 2
    url = "postgresql://venue:hunter2@db.example/venue"
    said = masked(
        {"database": url, "auth": {"token": "t0p", "audience": "required"}, "url": "https://x.example"}
    )
    assert "hunter2" not in str(said)
    assert "t0p" not in str(said)
    assert said["database"].startswith("postgresql://venue:***")
    assert (said["auth"]["audience"], said["url"]) == ("required", "https://x.example")


def test_doctor(own: Served) -> None:
    """All is well with a venue that serves; not with open modes, a missing key, or a broken pair."""

    def seen() -> tuple[int, dict[str, bool]]:
        words = ["doctor", "--data", str(own.data), "--json"]
        done = CliRunner().invoke(app, words, env={"VENUE_PORT": str(own.port)})
        found: dict[str, bool] = {}
        for finding in json.loads(done.stdout)["findings"]:
            found[finding["about"]] = found.get(finding["about"], True) and finding["fine"]
        return done.exit_code, found

    own.data.chmod(0o700)
    ada = own.owner()
    request = ada.ask()
    status, found = seen()
    assert (status, set(found.values())) == (0, {True}), found
    assert set(found) == {"packages", "data", "key", "clock", "schema", "identity", "requests", "port"}
    own.kill()
    (own.data / "venue.key").chmod(0o644)
    assert seen()[1]["key"] is False
    (own.data / "venue.key").chmod(0o600)
    _break(own.data / "venue.db", request)
    status, found = seen()
    assert (status, found["requests"]) == (1, False)
    (own.data / "venue.key").unlink()
    assert seen()[1]["key"] is False


def _break(database: Path, job: str) -> None:
    with sqlite3.connect(database) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("UPDATE job SET status = 'FAILED' WHERE id = ?", (job,))
    connection.close()


def test_the_token_may_lie_in_a_file_that_a_variable_names(ada: Person, helper: Person, own: Served) -> None:
    """As for the client; and the variables of callers are no settings of a venue."""
    file = ada.home / "bot.token"
    file.write_text(str(helper.environ["VENUE_TOKEN"]), encoding="utf-8")
    variables = {"VENUE_TOKEN": None, "VENUE_TOKEN_FILE": str(file)}
    asked = helper.call("ask", "T", "--no-wait", environ=variables).ok().out.strip()
    assert ada.actor.record(asked)["agent"] == "g/helper"
    both = helper.call("ask", "T", "--no-wait", environ={"VENUE_TOKEN_FILE": str(file)})
    assert (both.status, "VENUE_TOKEN_FILE" in both.err) == (2, True)
    assert ada.call("config", environ={**variables, "VENUE_DID": "did:key:zX"}).status == 0


def test_a_token_of_the_venue_that_was_here_before_says_what_to_do(helper: Person) -> None:
    """The file of known venues is named: that is where to accept the other one."""
    helper.call("ask", "T", "--no-wait").ok()
    known = next(helper.home.rglob("known-venues"))
    known.write_text(re.sub("did:key:[A-Za-z0-9]+", "did:key:zOther", known.read_text()), encoding="utf-8")
    done = helper.call("ask", "T", "--no-wait")
    assert (done.status, str(known) in done.err) == (2, True), done.err
