"""`--json` of every command: one document in ASCII, whatever others wrote, and a refusal as one line."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness.served import Served

from .kit import Done, Person
from .test_docs import commands

HOSTILE = "\x1b]0;owned\x07\u202e\u200b\u2028日本 \x9b2J"
CAP = {"with": "w/x", "can": "crud/read"}
ASKS: list[dict[str, Any]] = [
    {"id": "ok", "type": "approval", "prompt": HOSTILE, "required": True, "grants": [CAP]},
    {"id": "why", "type": "text", "prompt": HOSTILE},
    {"id": "of", "type": "choice", "prompt": HOSTILE, "options": [{"id": "a", "label": HOSTILE}]},
]


class Scene:
    """A person, an agent of theirs, and a question whose every text is hostile."""

    def __init__(self, served: Served, ada: Person, helper: Person) -> None:
        self.ada = ada
        self.helper = helper
        self.data = ("--data", str(served.data))

    def asked(self) -> str:
        """The id of the question, by the agent."""
        asks = [word for ask in ASKS for word in ("--ask", json.dumps(ask))]
        words = ("ask", HOSTILE.replace("\u2028", ""), *asks, "--description", HOSTILE, "--no-wait")
        return self.helper.call(*words).ok().out.strip()

    def answered(self) -> str:
        """The same, answered."""
        request = self.asked()
        said = {"answers": {"ok": True, "why": HOSTILE}, "comment": HOSTILE, "grants": [CAP]}
        self.ada.actor.respond(request, **said).ok()
        return request

    def token(self) -> str:
        """A token that the venue signed."""
        said = {"aud": self.helper.did, "att": [CAP], "exp": int(time.time()) + 3_600}
        return str(self.ada.actor.run("v/ops/ucan/issue", said).ok()["token"])

    def managed(self) -> str:
        """The name of a user whom the venue manages."""
        self.ada.call("user", "add", "carol", *self.data).ok()
        return "carol"


Play = Callable[[Scene], Done]
PLAYS: dict[str, Play] = {
    "agent enrol": lambda s: s.ada.call("agent", "enrol", "other", "--cap", "w/日本/:crud/read", "--json"),
    "agent ls": lambda s: s.ada.call("agent", "ls", "--json"),
    "agent revoke": lambda s: s.ada.call("agent", "revoke", "helper", "--json"),
    "ask": lambda s: s.helper.call("ask", "T", "--no-wait", "--json"),
    "audit tail": lambda s: s.ada.call("audit", "tail", s.ada.did, *s.data, "--json"),
    "audit verify": lambda s: s.ada.call("audit", "verify", *s.data, "--json"),
    "config": lambda s: s.ada.call("config", "--data", f"{s.ada.home}/{HOSTILE}", "--json"),
    "doctor": lambda s: s.ada.call("doctor", "--data", f"{s.ada.home}/{HOSTILE}", "--json"),
    "inbox answer": lambda s: s.ada.call(
        "inbox", "answer", s.asked(), "--set", "ok=true", "--set", f"why={HOSTILE}", "--json"
    ),
    "inbox ls": lambda s: (s.asked(), s.ada.call("inbox", "ls", "--json"))[1],
    "inbox reject": lambda s: s.ada.call("inbox", "reject", s.asked(), "--reason", HOSTILE, "--json"),
    "inbox show": lambda s: s.ada.call("inbox", "show", s.answered(), "--json"),
    "job cancel": lambda s: s.helper.call("job", "cancel", s.asked(), "--reason", HOSTILE, "--json"),
    "job show": lambda s: s.helper.call("job", "show", s.answered(), "--json"),
    "job wait": lambda s: s.helper.call("job", "wait", s.answered(), "--json"),
    "key new": lambda s: s.ada.call("key", "new", str(s.ada.home / "日本\u202e.pem"), "--json"),
    "key show": lambda s: s.ada.call("key", "show", str(s.ada.environ["VENUE_KEY"]), "--json"),
    "token inspect": lambda s: s.ada.call("token", "inspect", s.token(), "--json"),
    "token issue": lambda s: s.ada.call(
        *("token", "issue", "--key", str(s.ada.environ["VENUE_KEY"]), "--to", s.helper.did),
        *("--with", "w/x", "--can", "crud/read", "--json"),
    ),
    "token operator": lambda s: s.ada.call("token", "operator", *s.data, "--json"),
    "token revoke": lambda s: s.ada.call("token", "revoke", s.token(), "--json"),
    "token verify": lambda s: s.ada.call("token", "verify", s.token(), "--json"),
    "user add": lambda s: s.ada.call("user", "add", s.ada.did, *s.data, "--json"),
    "user keys": lambda s: s.ada.call("user", "keys", s.managed(), *s.data, "--json"),
    "user link": lambda s: s.ada.call("user", "link", s.managed(), *s.data, "--json"),
    "user signin": lambda s: s.ada.call("user", "signin", s.managed(), *s.data, "--json"),
    "user signout": lambda s: s.ada.call("user", "signout", s.managed(), *s.data, "--json"),
    "user ls": lambda s: s.ada.call("user", "ls", *s.data, "--json"),
}


KEYS = {
    "agent enrol": "",
    "agent ls": "items",
    "agent revoke": "agent revoked",
    "ask": "id",
    "audit tail": "says",
    "audit verify": "ok problems",
    "config": "",
    "doctor": "ok findings",
    "inbox answer": "id status answers grants",
    "inbox ls": "items count more",
    "inbox reject": "id status reason",
    "inbox show": "id status digest verified wrote asks response settled",
    "job cancel": "id status",
    "job show": "id op name status created updated input output",
    "job wait": "id outcome answers comment grants token status",
    "key new": "did file",
    "key show": "did file",
    "token inspect": "hash header claims",
    "token issue": "token hash",
    "token operator": "token exp",
    "token revoke": "revoked",
    "token verify": "valid code issuer audience expires att",
    "user add": "did created",
    "user keys": "principal items",
    "user link": "link",
    "user ls": "did created",
    "user signin": "token sub exp jti",
    "user signout": "revoked",
}
"""What a script may count on."""


@pytest.fixture
def scene(served: Served, ada: Person, helper: Person) -> Scene:
    """As above."""
    return Scene(served, ada, helper)


def test_every_command_with_json_is_played() -> None:
    """Those below and `serve`, which prints one line and stays."""
    known = {" ".join(name) for name, one in commands() if "as_json" in [each.name for each in one.params]}
    assert known == {*PLAYS, "serve"}


@pytest.mark.parametrize("name", PLAYS)
def test_one_document_in_ascii(scene: Scene, name: str) -> None:
    """Nothing in it acts on a terminal, and it says what it always says."""
    done = PLAYS[name](scene)
    for printed in (done.out, done.err):
        assert printed.replace("\n", "").isprintable()
        assert printed.isascii()
    found = json.loads(done.out)
    first = found[0] if isinstance(found, list) else found
    assert set(first) >= set(KEYS[name].split())
    assert done.ok().err.count("\n") <= 1


REFUSED = {
    "agent enrol": ["x"],
    "agent ls": [],
    "agent revoke": ["x"],
    "ask": ["T"],
    "inbox answer": ["0" * 32],
    "inbox ls": [],
    "inbox reject": ["0" * 32],
    "inbox show": ["0" * 32],
    "job cancel": ["0" * 32],
    "job show": ["0" * 32],
    "job wait": ["0" * 32],
    "token revoke": ["--hash", "0" * 64],
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_one_line(ada: Person, name: str) -> None:
    """On standard error, with a code and the status; for every command that calls a venue."""
    done = ada.call(*name.split(), *REFUSED[name], "--json", environ={"VENUE_KEY": None, "VENUE_TOKEN": "x"})
    *_, last = done.err.splitlines()
    assert (done.out, done.status) == ("", 1)
    assert set(json.loads(last)) == {"error", "code", "status"}
    assert (json.loads(last)["code"], json.loads(last)["status"]) == ("unauthorised", 1)


def test_a_refusal_without_a_server_is_one_line(ada: Person) -> None:
    """Without a server: a configuration that is not there, a key that is there already."""
    file = ada.environ["VENUE_KEY"]
    for words, status, code in (
        (("audit", "verify", "--config", "nowhere.toml"), 1, "refused"),
        (("config", "--config", "nowhere.toml"), 2, "usage"),
        (("doctor", "--config", "nowhere.toml"), 2, "usage"),
        (("key", "new", file), 1, "refused"),
        (("key", "show", "nowhere"), 1, "refused"),
    ):
        done = ada.call(*words, "--json")
        assert (done.out, done.status, json.loads(done.err)["code"]) == ("", status, code), words


def test_settled_before_is_a_refusal_too(ada: Person, scene: Scene) -> None:
    """Who, what and when stand in it; a job that cannot be withdrawn any more ends with status 1 as well."""
    request = scene.answered()
    done = ada.call("inbox", "reject", request, "--json")
    assert (done.out, done.status, json.loads(done.err)["code"]) == ("", 1, "not_open")
    assert "answered by you (api) at 20" in json.loads(done.err)["error"]
    late = scene.helper.call("job", "cancel", request, "--json")
    assert (late.status, late.json) == (1, {"id": request, "status": "COMPLETE"})


def test_serve_says_that_it_is_ready_on_one_line(tmp_path: Path) -> None:
    """The harness reads just that line."""
    with Served(tmp_path / "data") as venue:
        assert (venue.did[:8], venue.port > 0) == ("did:key:", True)
