"""`venue inbox` through pipes: lists, cards, answers typed by the ask, and what ends with which status."""

import json
import time
from typing import Any

import pytest
from rich.cells import cell_len

from tests.harness.served import Served
from venue.cli import card, typed

from .kit import Person

READ = {"with": "w/reports/", "can": "crud/read"}
WRITE = {"with": "w/drafts/", "can": "crud/write", "lifetime": 3_600}
ASKS: list[dict[str, Any]] = [
    {"id": "access", "type": "approval", "prompt": "OK?", "required": True, "grants": [READ, WRITE]},
    {
        "id": "plan",
        "type": "choice",
        "prompt": "Which?",
        "options": [{"id": "basic"}, {"id": "full", "grants": [{"with": "w/full", "can": "crud/read"}]}],
    },
    {"id": "boxes", "type": "checkboxes", "prompt": "Any?", "options": [{"id": "a,b"}, {"id": "c"}]},
    {"id": "why", "type": "text", "prompt": "Why?"},
]


@pytest.fixture
def asked(served: Served, ada: Person) -> str:
    """The id of a request in her inbox, by an agent of hers."""
    return served.agent(ada.actor).ask(title="May I?", asks=ASKS, timeout=3_600)


def test_the_list_fits_and_says_when_there_is_more(ada: Person) -> None:
    """Eighty columns whatever the title holds; more pages are said to be there, and --all has them."""
    for number in range(4):
        ada.actor.ask(title=f"{number} 日本語 \x1b[2J\u202e " + "long " * 40)
    done = ada.run("inbox", "ls", "--limit", "3").ok()
    rows = done.out.splitlines()
    assert len(rows) == 4
    assert all(cell_len(row) <= 80 and row.isprintable() for row in rows)
    assert "3 of 4 are shown; --all" in done.err
    page = ada.run("inbox", "ls", "--limit", "3", "--json").ok().json
    assert (len(page["items"]), page["count"], page["more"]) == (3, 4, True)
    everything = ada.run("inbox", "ls", "--limit", "3", "--all", "--json").ok().json
    assert (len(everything["items"]), everything["count"], everything["more"]) == (4, 4, False)
    assert [item["title"][0] for item in everything["items"]] == ["0", "1", "2", "3"]


def test_an_empty_list_says_when_it_was_looked_at(ada: Person) -> None:
    """All clear, and when; that is not the same as an error."""
    done = ada.call("inbox", "ls").ok()
    assert "Nothing open in your inbox at 20" in done.out


def test_show_in_a_pipe_is_plain(ada: Person, asked: str) -> None:
    """No colour, no picture of a key in a DID, nothing unprintable, nothing wider than 78."""
    card = ada.run("inbox", "show", asked).ok().out
    assert "\x1b" not in card
    assert f"{ada.did}:g:helper" in card
    assert all(line.isprintable() and cell_len(line) <= 78 for line in card.splitlines())
    shown = ada.run("inbox", "show", f"0x{asked.upper()}", "--json").ok().json
    assert shown["verified"]["behalf"] == ada.did
    assert [offer["with"] for offer in shown["asks"][0]["choices"]["access"]["grants"]] == [
        "w/reports/",
        "w/drafts/",
    ]


WRONG = {
    "yes is no boolean": (["access=yes"], "access: true or false"),
    "1e999 is no boolean": (["access=1e999"], "access: true or false"),
    "True is no boolean": (["access=True"], "access: true or false"),
    "abc is no option": (["access=true", "plan=abc"], "plan: one of basic, full"),
    "a label is no option": (["access=true", "boxes=d"], "boxes: one of a,b, c"),
    "an option twice": (["access=true", "boxes=c,c"], "boxes: each option once"),
    "a broken list": (["access=true", "boxes=[1"], "boxes: option ids"),
    "no such ask": (["access=true", "wy=x"], "NAME is one of access, plan, boxes, why"),
    "no value": (["access"], "NAME=VALUE"),
    "twice": (["access=true", "access=false"], "access: given twice"),
    "required": (["why=x"], "required, and not answered: access"),
}


@pytest.mark.parametrize("case", WRONG)
def test_an_answer_that_does_not_fit_is_a_usage_error(ada: Person, asked: str, case: str) -> None:
    """Refused here, naming what would fit, and nothing is sent."""
    values, said = WRONG[case]
    done = ada.call("inbox", "answer", asked, *(word for value in values for word in ("--set", value)))
    assert done.status == 2
    assert said in done.err
    assert ada.actor.record(asked)["status"] == "open"


def test_an_answer_arrives_as_it_was_typed(ada: Person, asked: str) -> None:
    """Each by its type; an option id with a comma goes as JSON; the channel is the command line."""
    done = ada.run(
        *("inbox", "answer", asked, "--set", "access=true", "--set", "plan=full", "--set", 'boxes=["a,b"]'),
        *("--set", "why=a=b yes", "--comment", "all of it", "--remark", "why=hm", "--json"),
    ).ok()
    assert done.json["grants"] == []
    response = ada.actor.record(asked)["response"]
    assert response["answers"] == {"access": True, "plan": "full", "boxes": ["a,b"], "why": "a=b yes"}
    assert (response["comment"], response["comments"]) == ("all of it", {"why": "hm"})
    lines = ada.actor.run("v/ops/audit/read", {"limit": 1000}).ok()["items"]
    channels = [line["says"].get("channel") for line in lines if line["says"].get("request") == asked]
    assert channels == ["cli"]


def test_without_an_echo_nothing_is_conferred_and_it_says_so(ada: Person, asked: str) -> None:
    """An approval alone hands over no authority."""
    done = ada.run("inbox", "answer", asked, "--set", "access=true").ok()
    assert "Nothing was conferred for access" in done.err
    assert "token" not in ada.actor.job(asked).ok()["output"]


ECHOES = {
    "an ask": (["access"], [], [READ, WRITE]),
    "an option": (["plan/full"], [], [{"with": "w/full", "can": "crud/read"}]),
    "the options of an ask": (["plan"], [], [{"with": "w/full", "can": "crud/read"}]),
    "one offer": (["w/drafts/:crud/write"], [], [WRITE]),
    "twice the same": (["access", "w/reports/:crud/read"], [], [READ, WRITE]),
    "narrowed": (
        ["w/reports/:crud/read"],
        ["w/reports/:crud/read.with=w/reports/q3"],
        [{**READ, "narrow": {"with": "w/reports/q3"}}],
    ),
}


@pytest.mark.parametrize("case", ECHOES)
def test_what_is_echoed_is_conferred(ada: Person, asked: str, case: str) -> None:
    """Exactly that, and for the requester."""
    names, narrow, grants = ECHOES[case]
    words = [word for name in names for word in ("--echo", name)]
    words += [word for text in narrow for word in ("--narrow", text)]
    ada.call("inbox", "answer", asked, "--set", "access=true", "--set", "plan=full", *words).ok()
    output = ada.actor.job(asked).ok()["output"]
    assert sorted(output["grants"], key=_key) == sorted(grants, key=_key)
    assert "token" in output


def test_a_narrowed_end_is_a_length_of_time(ada: Person, asked: str) -> None:
    """An hour from now, in unix seconds."""
    narrow = ("--narrow", "plan/full.exp=1h")
    ada.call(
        "inbox", "answer", asked, "--set", "access=true", "--set", "plan=full", "--echo", "plan", *narrow
    ).ok()
    grant = ada.actor.job(asked).ok()["output"]["grants"][0]
    assert abs(grant["narrow"]["exp"] - time.time() - 3_600) < 60


BAD_ECHOES = {
    "not triggered": (["--echo", "plan/full"], "plan=full"),
    "not offered": (["--echo", "w/all:crud/read"], "one of access, plan/full"),
    "narrowed and not echoed": (["--narrow", "access.exp=1h"], "names 0 echoed offers"),
    "two offers narrowed": (["--echo", "access", "--narrow", "access.exp=1h"], "names 2 echoed offers"),
    "narrowed otherwise": (["--echo", "access", "--narrow", "access.nb=1"], "--narrow: ECHO.with"),
}


@pytest.mark.parametrize("case", BAD_ECHOES)
def test_an_echo_that_fits_nothing_is_a_usage_error(ada: Person, asked: str, case: str) -> None:
    """It names the choice that would, and nothing is sent."""
    words, said = BAD_ECHOES[case]
    done = ada.call("inbox", "answer", asked, "--set", "access=true", "--set", "plan=basic", *words)
    assert (done.status, said in done.err) == (2, True), done.err
    assert ada.actor.record(asked)["status"] == "open"


def test_a_reason_reaches_whoever_asked(ada: Person, asked: str) -> None:
    """Word for word."""
    ada.run("inbox", "reject", asked, "--reason", "Not  today: “no”").ok()
    assert ada.actor.job(asked).ok()["error"] == "HITL request rejected: Not  today: “no”"


def test_another_digest_than_was_shown_is_refused(ada: Person, asked: str) -> None:
    """Status 1, and it stays open."""
    other = "sha256:" + "0" * 64
    done = ada.run("inbox", "answer", asked, "--set", "access=true", "--digest", other, "--json")
    assert (done.status, json.loads(done.err)["code"]) == (1, "stale_digest")
    assert ada.actor.record(asked)["status"] == "open"


@pytest.mark.parametrize(("how", "status"), [("answered", 1), ("rejected", 1), ("cancelled", 5)])
def test_settled_elsewhere_says_who_what_and_when(ada: Person, asked: str, how: str, status: int) -> None:
    """Each way a request can be settled before, with a status of its own where there is one."""
    if how == "cancelled":
        ada.actor.cancel(asked).ok()
    else:
        outcome = {"answered": "answer", "rejected": "reject"}[how]
        ada.actor.respond(
            asked, outcome, **({"answers": {"access": False}} if how == "answered" else {})
        ).ok()
    for words in (("answer", asked, "--set", "access=true"), ("reject", asked)):
        done = ada.call("inbox", *words)
        assert done.status == status
        said = "withdrawn" if how == "cancelled" else how
        assert f"{said} by you (api) at 20" in done.err
    assert how == ada.call("inbox", "show", asked, "--json").ok().json["settled"]["how"]


def test_expired_is_status_four(served: Served, ada: Person) -> None:
    """Nobody settled it; the deadline is said."""
    request = ada.actor.ask(timeout=1)
    ada.actor.request("GET", f"/api/v1/jobs/{request}/sse").ok()  # it ends when the job does
    done = ada.call("inbox", "reject", request)
    assert done.status == 4
    assert "expired, and nobody answered at 20" in done.err


def test_what_is_no_id_or_not_mine(served: Served, ada: Person) -> None:
    """A title is no id; somebody else's request is not there."""
    other = served.owner()
    assert ada.call("inbox", "show", "May I?").status == 2
    done = ada.call("inbox", "show", other.ask(), "--json")
    assert (done.status, json.loads(done.err)["code"]) == (1, "not_found")


def test_an_ask_of_another_kind_still_has_a_card() -> None:
    """A newer venue may send what is not known here: it is shown, and answered as JSON."""
    ask = {"id": "n", "type": "number", "prompt": "How many?", "required": True}
    record = {
        "id": "0" * 32,
        "from": "did:key:zA",
        "title": "T",
        "asks": [ask],
        "status": "open",
        "created": 0,
    }
    assert "How many?" in "\n".join(line.text for line in card.lines(card.View(record, "", 0)))
    assert typed.answers([ask], ["n=7"]) == {"n": 7}


def _key(grant: dict[str, Any]) -> str:
    return f"{grant['with']} {grant['can']}"
