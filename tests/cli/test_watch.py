"""`venue inbox watch` on a pseudo-terminal: what is seen, what is typed, and what is left afterwards."""

import json
import os
import signal
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.harness.actors import Actor
from tests.harness.served import Served
from ucan.jwt import read
from ucan.verify import verify
from venue.cli import board as boards
from venue.cli.keys import Decoder, Key, of_console
from venue.cli.screen import lines
from venue.client import Summary

from .kit import Person
from .screen import DOWN, ENTER, ESC, UP, Screen

OFFER = {"with": "w/releases/", "can": "crud/write", "lifetime": 3_600}
ASKS: list[dict[str, Any]] = [
    {"id": "ship", "type": "approval", "prompt": "Ship it?", "required": True, "grants": [OFFER]},
    {"id": "why", "type": "text", "prompt": "And why?"},
]
CAPS = [{"with": "w/releases/", "can": "crud/write"}, {"with": "w/", "can": "crud/read"}]
TOKEN_ASK = {
    "id": "key",
    "type": "token",
    "prompt": "A token of yours",
    "required": True,
    "token": {"caps": CAPS, "lifetime": 600},
}


@pytest.fixture
def asked(served: Served, ada: Person) -> str:
    """The id of a request in her inbox, by an agent of hers."""
    return served.agent(ada.actor).ask(
        title="Ship 1.4.0?", description="All green.", asks=ASKS, timeout=3_600
    )


def test_a_person_reads_answers_and_confers(ada: Person, asked: str) -> None:
    """List, card, each question, the grant by a typed yes, a remark, the summary; then all is clear."""
    with Screen(ada, "inbox", "watch") as screen:
        screen.sees("1 open", "live", "Ship 1.4.0?", "your helper", "59m left")
        screen.type(ENTER)
        screen.sees("verified by the venue", f"{ada.did}:g:helper", "behind the rail", "All green.")
        screen.type("a")
        screen.sees("Ship it?", "type yes or no")
        screen.type("y" + ENTER)
        screen.sees("type yes or no, not 'y'")
        screen.type("\x15yes" + ENTER)
        screen.sees("And why?")
        screen.type("it is greem\x7fn" + ENTER)
        screen.sees(
            "offers to confer this", "write “releases” in your workspace", "crud/write", "1 hour from"
        )
        screen.type("yes" + ENTER)
        screen.sees("A remark on the whole")
        screen.type("go" + ENTER)
        summary = screen.sees(
            "This is your answer", "Enter SENDS it", "It confers 1 grant:", "why: it is green"
        )
        assert "ship: yes" in summary
        assert ada.actor.record(asked)["status"] == "open"
        screen.type(ENTER)
        screen.sees("All clear", "Checked 20", "Answered, conferring 1 grant: Ship 1.4.0?", "0 open")
        screen.type("q")
        assert screen.ends() == 0
        assert screen.is_restored()
    output = ada.actor.job(asked).ok()["output"]
    assert output["answers"] == {"ship": True, "why": "it is green"}
    assert (output["grants"], output["comment"]) == ([OFFER], "go")
    assert read(output["token"]).claims["aud"] == f"{ada.did}:g:helper"


def test_no_single_key_confers_or_settles(ada: Person, asked: str) -> None:
    """Enter at every step confers nothing; pasting the whole script of a yes enters nothing."""
    with Screen(ada, "inbox", "watch") as screen:
        screen.sees("Ship 1.4.0?")
        screen.type("\x1b[200~a\ryes\r\ryes\r\r\r\x1b[201~")
        screen.type("a")
        screen.sees("type yes or no")
        screen.type("\x1b[200~yes\r\ryes\r\r\r\x1b[201~")
        screen.sees("> yes  yes")
        screen.type("\x15yes" + ENTER)
        screen.sees("And why?")
        screen.type(ENTER)
        screen.sees("type yes to confer it; Enter alone confers nothing")
        screen.type(ENTER)
        screen.sees("A remark on the whole")
        screen.type(ENTER)
        screen.sees("It confers nothing.")
        screen.type(ENTER)
        screen.sees("All clear")
    assert "token" not in ada.actor.job(asked).ok()["output"]


def test_a_question_is_read_before_it_is_answered(ada: Person, helper: Person) -> None:
    """A description longer than the screen does not hide what a yes is for; the last screen says it again."""
    ask = {"id": "pay", "type": "approval", "prompt": "Wire 9,000 to Mallory?"}
    long = "\n\n".join(f"Line {number}." for number in range(60))
    words = ("ask", "Small", "--ask", json.dumps(ask), "--description", long, "--no-wait")
    request = helper.call(*words).ok().out.strip()
    with Screen(ada, "inbox", "watch") as screen:
        screen.sees("Small")
        screen.type("a")
        screen.sees("more lines: PgDn")
        screen.type("yes" + ENTER)
        screen.sees("Read on first")
        assert ada.actor.record(request)["status"] == "open"
        for _ in range(30):
            screen.type("\x1b[6~")
        screen.sees("Wire 9,000 to Mallory?")
        screen.type(ENTER)
        screen.sees("A remark on the whole")
        screen.type(ENTER)
        screen.sees("asked: Wire 9,000 to Mallory?", "pay: yes")
        screen.type(ENTER)
        screen.sees("All clear")
    assert ada.actor.job(request).ok()["output"]["answers"] == {"pay": True}


def test_reject_with_a_reason(ada: Person, asked: str) -> None:
    """From the list; two lines, as typed."""
    with Screen(ada, "inbox", "watch") as screen:
        screen.sees("Ship 1.4.0?")
        screen.type("r")
        screen.sees("why not", "Asked by your agent helper")
        screen.type("not\ntoday" + ENTER)
        screen.sees("Rejected: Ship 1.4.0?", "All clear")
    assert ada.actor.job(asked).ok()["error"] == "HITL request rejected: not\ntoday"


def claims_of(token: str) -> dict[str, Any]:
    """What a token says, its nonce apart."""
    return {name: value for name, value in read(token).claims.items() if name != "nnc"}


@pytest.mark.parametrize(
    ("typed", "chosen", "lives"), [("sign", CAPS, 600), ("sign 1 12h", CAPS[:1], 43_200)]
)
def test_a_token_is_signed_shown_and_delivered(
    served: Served, ada: Person, typed: str, chosen: list[dict[str, str]], lives: int
) -> None:
    """All that is asked for, or some of it for another time; its owner reads what it says before it goes."""
    agent = served.agent(ada.actor)
    asked = agent.ask(title="Sign, please", asks=[TOKEN_ASK])
    with Screen(ada, "inbox", "watch", height=40) as screen:
        screen.sees("Sign, please")
        screen.type("a")
        screen.sees("(1) write “releases” in your workspace", "!! BROAD", "(2) read your WHOLE", "10 minutes")
        screen.type("sing" + ENTER)
        screen.sees("this is no token")
        screen.type("\x15sign 3" + ENTER)
        screen.sees("numbers from 1 to 2 if not all")
        earliest = int(time.time())
        screen.type(f"\x15{typed}{ENTER}")
        screen.sees("A remark on the whole")
        latest = int(time.time())
        screen.type(ENTER)
        shown = screen.sees(
            "This is your answer", "key: a token, which says:", "confers 1 token", "signed by"
        )
        assert ("(2) read your WHOLE" in shown) is (len(chosen) == 2)
        assert ada.actor.record(asked)["status"] == "open"
        screen.type(ENTER)
        screen.sees("All clear", "Answered, conferring 1 token: Sign, please")
        assert "eyJ" not in screen.raw
    (token,) = agent.job(asked).ok()["output"]["tokens"].values()
    claims = claims_of(token)
    until = claims.pop("exp")
    assert earliest + lives <= until <= latest + lives
    assert f"{datetime.fromtimestamp(until, UTC):%Y-%m-%d %H:%M:%S} UTC" in shown
    assert claims == {
        "iss": ada.did,
        "aud": f"{ada.did}:g:helper",
        "ucv": "0.10.0",
        "att": [{**cap, "with": f"{ada.did}/{cap['with']}"} for cap in chosen],
        "prf": [],
    }
    assert verify(token, now=until - 1)
    assert token not in str(ada.actor.record(asked))


def test_a_token_that_was_signed_and_not_sent_goes_nowhere(served: Served, ada: Person) -> None:
    """Esc before the last Enter, then no: whoever asked gets a rejection, and no token."""
    agent = served.agent(ada.actor)
    asked = agent.ask(title="Sign, please", asks=[{**TOKEN_ASK, "token": {"caps": CAPS[:1]}}])
    with Screen(ada, "inbox", "watch", height=40) as screen:
        screen.sees("Sign, please")
        screen.type("a")
        screen.sees("7 days, as it does not say")
        screen.type("sign" + ENTER)
        screen.sees("A remark on the whole")
        screen.type(ENTER)
        screen.sees("This is your answer", "key: a token, which says:")
        screen.type(ESC)
        screen.sees("verified by the venue")
        assert ada.actor.record(asked)["status"] == "open"
        screen.type("r")
        screen.sees("why not")
        screen.type(ENTER)
        screen.sees("Rejected: Sign, please", "All clear")
    job = agent.job(asked).ok()
    assert (job["status"], job["error"]) == ("FAILED", "HITL request rejected")
    assert "eyJ" not in str(job) + str(ada.actor.record(asked))


def test_whoever_is_not_their_own_key_cannot_sign_here(served: Served, ada: Person, tmp_path: Path) -> None:
    """Somebody who signed in with a token is told so, and what was typed stays."""
    data = ("--data", str(served.data))
    bob = ada.call("user", "add", "bob", *data).ok().out.strip()
    token = ada.call("user", "signin", "bob", *data).ok().out.strip()
    Actor(served.http, served.did, token=token).ask(title="Sign, please", asks=[TOKEN_ASK])
    with Screen(Person(served, tmp_path, token=token), "inbox", "watch", height=40) as screen:
        screen.sees("Sign, please")
        screen.type("a")
        screen.sees(bob, "type sign")
        screen.type("sign" + ENTER)
        screen.sees("only whoever is their own key can sign here", "> sign")


def test_settled_elsewhere_while_you_type(ada: Person, asked: str) -> None:
    """Who, what and when is shown at once, and what was typed stays; nothing of it is sent."""
    with Screen(ada, "inbox", "watch") as screen:
        screen.sees("Ship 1.4.0?")
        screen.type("a")
        screen.sees("type yes or no")
        screen.type("yes" + ENTER)
        screen.sees("And why?")
        screen.type("because I have typed a lot")
        screen.sees("because I have typed a lot")
        ada.actor.respond(asked, "reject", comment="no").ok()
        screen.sees("Settled meanwhile: rejected by you (api) at 20", "because I have typed a lot", "0 open")
        screen.type(ENTER)
        screen.sees("It was settled meanwhile", "because I have typed a lot")
        screen.type(ESC)
        screen.sees("state", "rejected by you (api)")
        screen.type("q")
        screen.sees("All clear")


def test_the_list_is_live_and_what_is_chosen_stays_chosen(served: Served, ada: Person) -> None:
    """New ones come, settled ones go, the count is that of the list; the mark does not move to another."""
    first, second = ada.actor.ask(title="First"), ada.actor.ask(title="Second")
    with Screen(ada, "inbox", "watch") as screen:
        screen.sees("2 open", "First", "Second")
        screen.type(DOWN)
        ada.actor.ask(title="Third")
        screen.sees("3 open", "Third")
        ada.actor.respond(first, "reject").ok()
        screen.sees("2 open", without="First")
        screen.type("r")
        screen.sees("why not", "Second")
        screen.type(ESC)
        screen.sees("verified by the venue")
        screen.type(ESC)
        screen.sees("2 open", "Second", "Third")
        screen.type("?")
        screen.sees("choose a request", "any key goes back")
        screen.type("xk" + UP)
        served_now = ada.run("inbox", "ls", "--json").ok().json["count"]
        assert served_now == 2
    assert ada.actor.record(second)["status"] == "open"


def test_what_is_not_listed_is_said_to_be_there() -> None:
    """A list is loaded up to a thousand; the head says that there are more."""
    item = Summary.model_validate(
        {"id": "0" * 32, "from": "did:key:zA", "title": "T", "status": "open", "created": 0}
    )
    for count, said in ((1, "· 1 open · "), (3, "· 3 open, the oldest 1 are shown · ")):
        board = boards.listed(boards.Board("did:key:zB"), (item,), count, 0)
        assert said in lines(board, 80, 24, 0)[0].text


def test_esc_keeps_what_was_typed(ada: Person, asked: str) -> None:
    """Back to the card and in again: the same step, the same text; and a step back brings its text."""
    with Screen(ada, "inbox", "watch") as screen:
        screen.sees("Ship 1.4.0?")
        screen.type("a")
        screen.sees("type yes or no")
        screen.type("yes" + ENTER)
        screen.sees("And why?")
        screen.type("half a thou")
        screen.sees("half a thou")
        screen.type(ESC)
        screen.sees("verified by the venue")
        screen.type("a")
        screen.sees("half a thou")
        screen.type(UP)
        screen.sees("type yes or no", "> yes")


def test_resize_and_hostile_text(ada: Person) -> None:
    """A smaller terminal is filled anew; what others wrote is escaped, and no line is wider than it."""
    ada.actor.ask(title="\x1b[2J\u202eevil", description="\x1b]0;owned\x07" + "x" * 200)
    with Screen(ada, "inbox", "watch", environ={"COLUMNS": "200", "LINES": "50"}) as screen:
        screen.sees("evil", "\\u{001B}[2J")
        screen.resize(60, 12)
        screen.type(ENTER)
        screen.sees("more lines: PgDn")
        assert len(screen.rows) <= 12
        assert all(len(row.rstrip()) <= 60 for row in screen.rows)
        screen.type("\x1b[6~")
        screen.sees("\\u{001B}]0;owned")
        assert "\x1b]0;" not in screen.raw
        assert "\u202e" not in screen.raw


@pytest.mark.parametrize("how", ["q", "\x03", "SIGINT", "SIGTERM", "SIGHUP", "revoked"])
def test_the_terminal_is_restored_on_every_exit(
    served: Served, ada: Person, tmp_path: Path, how: str
) -> None:
    """By key, by signal, and when the venue no longer wants to hear from us."""
    person, status = ada, 0
    if how == "revoked":
        person, status = Person(served, tmp_path, token=served.agent(ada.actor, "watcher").token), 1
    with Screen(person, "inbox", "watch") as screen:
        screen.sees("All clear")
        if how == "revoked":
            ada.actor.run("v/ops/agent/revoke", {"agentId": "watcher"}).ok()
            screen.type("R")
        elif how.startswith("SIG"):
            status = 128 + getattr(signal, how)
            os.kill(screen.process.pid, getattr(signal, how))
        else:
            screen.type(how)
        assert screen.ends() == status
        assert screen.is_restored()
        assert how != "revoked" or "no longer" in screen.raw or "revoked" in screen.raw


def test_a_server_that_goes_and_comes_back(tmp_path: Path) -> None:
    """It says that it is not connected, keeps what is typed, and is live again by itself."""
    with Served(tmp_path / "data") as venue:
        ada = Person(venue, tmp_path)
        request = ada.actor.ask(title="Still there?")
        with Screen(ada, "inbox", "watch") as screen:
            screen.sees("Still there?", "live")
            screen.type("r")
            screen.sees("why not")
            venue.kill()
            screen.sees("NOT CONNECTED")
            screen.type("too late?" + ENTER)
            screen.sees("cannot be reached", "too late?")
            venue.start()
            screen.sees("· live")
            screen.type(ENTER)
            screen.sees("Rejected: Still there?")
        assert ada.actor.record(request)["response"] == {"outcome": "reject", "comment": "too late?"}


def test_it_needs_a_terminal(ada: Person) -> None:
    """Status 2, and it says what to use instead."""
    done = ada.run("inbox", "watch")
    assert (done.status, "needs a terminal" in done.err) == (2, True)


def test_a_passphrase_is_asked_for(ada: Person) -> None:
    """On the terminal, and not shown; a wrong one is refused."""
    for passphrase, status, said in (
        ("correct horse", 0, "Nothing open"),
        ("wrong", 1, "passphrase is another"),
    ):
        with Screen(ada, "inbox", "ls", environ={"VENUE_PASSPHRASE": None}) as screen:
            screen.sees("Passphrase of")
            screen.type(passphrase + ENTER)
            screen.sees(said)
            assert screen.ends() == status
            assert passphrase not in screen.raw


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_keys_are_the_same_however_they_are_cut(size: int) -> None:
    """Sequences, letters of several bytes and pastes in pieces; an unknown sequence is nothing."""
    data = "a\x1b[A\u00fc\x1bOB\x1b[99;5~\x1b[200~x\ry\x1b[201~\r".encode()
    decoder, found = Decoder(), []
    for start in range(0, len(data), size):
        found += decoder.feed(data[start : start + size])
    names = [
        Key("char", "a"),
        Key("up"),
        Key("char", "\u00fc"),
        Key("down"),
        Key("paste", "x\ry"),
        Key("enter"),
    ]
    assert found == names
    assert decoder.feed(b"\x1b") == []
    assert decoder.flush() == [Key("escape")]


CONSOLE: dict[str, tuple[list[str], list[Key]]] = {
    "an arrow of the number pad": (["\x00H"], [Key("up")]),
    "the other arrows": (["\xe0P"], [Key("down")]),
    "held down": (["\xe0K", "\xe0K", "\xe0M"], [Key("left"), Key("left"), Key("right")]),
    "other special keys": (
        ["\xe0G", "\xe0O", "\xe0I", "\xe0Q", "\xe0S"],
        [Key("home"), Key("end"), Key("pageup"), Key("pagedown"), Key("delete")],
    ),
    "one without a meaning": (["\x00;"], []),
    "a letter": (["a"], [Key("char", "a")]),
    "the letter that is a prefix": (["\xe0 "], [Key("paste", "\xe0 ")]),
    "enter": (["\r"], [Key("enter")]),
    "escape": (["\x1b"], [Key("escape")]),
    "backspace": (["\x08"], [Key("backspace")]),
    "a new line": (["\n"], [Key("newline")]),
    "a character of two units": (["\ud83d", "\ude80"], [Key("char", "\U0001f680")]),
    "half of one": (["\ud83d"], [Key("char", "\ufffd")]),
    "pasted": (list("yes\r"), [Key("paste", "yes\r")]),
    "an arrow and then a letter": (["\xe0H", "r"], [Key("up"), Key("char", "r")]),
}


@pytest.mark.parametrize("case", CONSOLE)
def test_keys_of_a_windows_console(case: str) -> None:
    """Characters in UTF-16, special keys in two parts, as `getwch` gives them; many at once are a paste."""
    presses, keys = CONSOLE[case]
    assert of_console(presses) == keys
