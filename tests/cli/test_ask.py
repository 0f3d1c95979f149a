"""`venue ask` and `venue job` from a shell script: what is printed, and every exit status."""

import json
import signal
from typing import Any

import pytest

from ucan.jwt import read

from .kit import Done, Person, Running


def open_request(ada: Person, running: Running, title: str) -> str:
    """The id of the request with this title, once it is in her inbox."""
    while True:
        assert running.process.poll() is None, running.done().err
        for item in ada.actor.run("v/ops/hitl/list", {"status": "open"}).ok()["items"]:
            if item["title"] == title:
                return str(item["id"])


def settled(ada: Person, running: Running, title: str, outcome: str = "answer", **said: Any) -> Done:
    """What the command comes to once she has answered."""
    ada.actor.respond(open_request(ada, running, title), outcome, **said).ok()
    return running.done()


@pytest.mark.parametrize(("yes", "status", "printed"), [(True, 0, "true\n"), (False, 1, "false\n")])
def test_yes_and_no(ada: Person, helper: Person, yes: bool, status: int, printed: str) -> None:
    """An approval that is answered no is status 1, as a rejection is: nothing was approved."""
    done = settled(ada, helper.start("ask", "Ship?"), "Ship?", answers={"approve": yes})
    assert (done.status, done.out) == (status, printed)


def test_answers_for_a_script(ada: Person, helper: Person) -> None:
    """Several as NAME=VALUE, a single one bare; a remark on standard error."""
    words = (
        "--choice",
        "tier=Which tier?:basic,full",
        "--checkboxes",
        "extras=Any?:a,b",
        "--text",
        "why=Why?",
    )
    answers = {"tier": "full", "extras": ["a", "b"], "why": "x=y\nz"}
    done = settled(ada, helper.start("ask", "T", *words), "T", answers=answers, comment="well\x1b[2J")
    assert done.ok().out.splitlines() == ["extras=a,b", "tier=full", "why=x=y", "z"]
    assert done.err == "Remark: well\\u{001B}[2J\n"
    one = settled(ada, helper.start("ask", "U", "--text", "why=Why?"), "U", answers={"why": "so"})
    assert one.ok().out == "so\n"


def test_a_conferred_token_goes_where_it_is_told(ada: Person, helper: Person) -> None:
    """Into a new file that only its owner reads, or into the JSON; never beside the answer by itself."""
    offer = {"with": "w/x/", "can": "crud/read", "lifetime": 60}
    words = (
        "ask",
        "Read?",
        "--approve",
        "OK?",
        "--grant",
        "w/x/:crud/read:1m",
        "--save-token",
        str(helper.home / "t.jwt"),
    )
    done = settled(ada, helper.start(*words), "Read?", answers={"approve": True}, grants=[offer])
    file = helper.home / "t.jwt"
    assert done.ok().out == "true\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert read(file.read_text().strip()).claims["att"] == [{"with": f"{ada.did}/w/x/", "can": "crud/read"}]
    assert helper.call(*words).status == 2


def test_a_signed_token_goes_where_it_is_told(ada: Person, helper: Person) -> None:
    """The same for a token ask: into the file, and never on the screen."""
    spec = {"caps": [{"with": "w/x", "can": "crud/read"}]}
    ask = json.dumps({"id": "key", "type": "token", "prompt": "Sign", "required": True, "token": spec})
    issue = (
        "--key",
        ada.environ["VENUE_KEY"],
        "--to",
        f"{ada.did}:g:helper",
        "--with",
        "w/x",
        "--can",
        "crud/read",
    )
    token = ada.call("token", "issue", *issue).ok().out.strip()
    file = helper.home / "signed.jwt"
    running = helper.start("ask", "Sign?", "--ask", ask, "--save-token", str(file))
    ada.call("inbox", "answer", open_request(ada, running, "Sign?"), "--set", f"key={token}").ok()
    done = running.done().ok()
    assert (file.read_text(), file.stat().st_mode & 0o777) == (f"{token}\n", 0o600)
    assert f"A token was signed for key; it is in {file}." in done.err
    assert "eyJ" not in done.out + done.err
    request = ada.actor.run("v/ops/hitl/list", {"status": "answered"}).ok()["items"][0]["id"]
    assert helper.call("job", "wait", request, "--save-token", str(file)).status == 2
    again = helper.home / "again.jwt"
    helper.call("job", "wait", request, "--save-token", str(again)).ok()
    assert again.read_text() == file.read_text()


def test_an_agent_that_is_revoked_while_it_waits(ada: Person, helper: Person) -> None:
    """Status 1, and nothing is said to stand that does not."""
    running = helper.start("ask", "Revoked?")
    request = open_request(ada, running, "Revoked?")
    ada.call("agent", "revoke", "helper").ok()
    done = running.done()
    assert (done.status, "what a revoked agent asked is withdrawn" in done.err) == (1, True)
    assert ada.actor.record(request)["status"] == "cancelled"


def test_rejected_expired_withdrawn(ada: Person, helper: Person) -> None:
    """1 with the reason on standard error, 4, 5; and as JSON."""
    done = settled(ada, helper.start("ask", "A"), "A", "reject", comment="not today")
    assert (done.status, done.out, done.err) == (1, "", "venue: rejected: not today\n")
    done = helper.run("ask", "B", "--timeout", "1s", "--json")
    assert (done.status, done.json["outcome"], done.json["status"]) == (4, "expired", 4)
    running = helper.start("ask", "C")
    job = open_request(ada, running, "C")
    assert helper.call("job", "cancel", job, "--reason", "never mind").ok().out == f"Withdrawn {job}.\n"
    done = running.done()
    assert (done.status, done.err) == (5, "venue: withdrawn: never mind\n")
    assert helper.call("job", "wait", job, "--json").json["outcome"] == "cancelled"
    assert helper.call("job", "cancel", job).status == 0


def test_ask_now_and_wait_later(ada: Person, helper: Person) -> None:
    """The id is printed; another process waits for it, and the same text asks the same question."""
    first = (
        helper.run("ask", "Later?", "--no-wait", "--once", "build 7", "--description", "Because.").ok().out
    )
    again = (
        helper.call("ask", "Later?", "--no-wait", "--once", "build 7", "--description", "Because.").ok().out
    )
    assert first == again
    request = first.strip()
    assert ada.actor.record(request)["description"] == "Because."
    ada.actor.respond(request, answers={"approve": True}).ok()
    assert helper.call("job", "wait", request).ok().out == "true\n"
    assert "COMPLETE" in helper.call("job", "show", request).ok().out
    assert ada.actor.run("v/ops/hitl/list", {}).ok()["count"] == 1
    done = helper.call("job", "cancel", request)
    assert (done.status, "finished before" in done.err) == (1, True)


def test_ctrl_c_leaves_the_question_and_says_how_to_go_on(ada: Person, helper: Person) -> None:
    """Status 130 within a moment; the request stays open."""
    running = helper.start("ask", "Wait for me")
    request = open_request(ada, running, "Wait for me")
    running.process.send_signal(signal.SIGINT)
    done = running.done()
    assert done.status == 130
    assert f"venue job wait {request}" in done.err or "try again with: --once " in done.err
    assert ada.actor.record(request)["status"] == "open"


USAGE = {
    "a grant on nothing": (["--text", "a=A?", "--grant", "w/x:crud/read"], "--grant: goes with --approve"),
    "half a grant": (["--grant", "crud/read"], "--grant: WITH:CAN"),
    "a slip for a lifetime": (["--grant", "w/:crud/read:1hr"], "a lifetime is a number"),
    "no lifetime": (["--grant", "w/:crud/read:zz"], "a lifetime is a number"),
    "no options": (["--choice", "a=A?"], "--choice: ID=PROMPT:option,option"),
    "no prompt": (["--text", "a"], "--text: ID=PROMPT"),
    "no JSON": (["--ask", "{"], "--ask: one ask as JSON"),
    "no length of time": (["--timeout", "soon"], "--timeout: such as"),
    "no such file": (["--description", "@nowhere"], "--description @nowhere: No such file"),
    "a token kept nowhere": (["--save-token", "no/such/place.jwt"], "nothing can be written into no/such"),
    "two credentials": (["--key", "k", "--token-file", "t"], "--key or --token-file, not both"),
}


@pytest.mark.parametrize("case", USAGE)
def test_usage(helper: Person, case: str) -> None:
    """Status 2, naming the option; nothing is asked."""
    words, said = USAGE[case]
    done = helper.call("ask", "T", *words)
    assert (done.status, said in done.err) == (2, True), done.err


def test_what_the_venue_refuses_is_status_one(ada: Person, helper: Person) -> None:
    """With its own code, as one line of JSON if wanted."""
    done = helper.call("ask", "two\nlines", "--json")
    assert (done.status, json.loads(done.err)["code"]) == (1, "invalid_input")
    done = helper.call(
        "ask", "T", "--to", "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp", "--json"
    )
    assert (done.status, json.loads(done.err)["code"]) == (1, "denied")
    assert ada.actor.run("v/ops/hitl/list", {}).ok()["count"] == 0
