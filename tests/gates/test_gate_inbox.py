"""A gate as a request in a person's inbox: what is special about it, and what it cannot promise."""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest
from gate_stores import OWNER, RULE, SOON, Approval
from pydantic import BaseModel, TypeAdapter

from inbox.gates import (
    GateArgumentInvalid,
    GateCancelled,
    GateExpiryInvalid,
    GateNotFound,
    GateResolverRefused,
    GateRuleInvalid,
    GateSchemaInvalid,
    Resolver,
    open_gate,
    wait_for_gate,
)
from tests.conftest import ROOT
from tests.harness.actors import Actor
from tests.harness.inboxes import inbox, until
from tests.harness.proxy import Proxy, drop_answer
from tests.harness.served import Served
from ucan.jwt import read
from venue.client import GateNotAskable, Unreachable, Venue, VenueGateStore


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("inbox") / "data") as venue:
        yield venue


@pytest.fixture
def ada(served: Served) -> Actor:
    return served.owner()


@pytest.fixture
def token(served: Served, ada: Actor) -> str:
    return served.agent(ada).token


@pytest.fixture
def store(served: Served, token: str) -> Iterator[VenueGateStore]:
    with Venue(served.url, token=token) as venue:
        yield VenueGateStore(venue)


class Inner(BaseModel):
    ok: bool


class Mixed(BaseModel):
    fine: bool
    count: int
    inner: Inner
    when: list[str]


ANY_OBJECT: dict[str, Any] = {"type": "object"}


@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        (None, ("$",)),
        ({}, ("$",)),
        (ANY_OBJECT, ("$",)),
        (int, ("$",)),
        (float, ("$",)),
        (list[str], ("$",)),
        (dict[str, bool], ("$",)),
        (list[Literal["a"]] | bool, ("$",)),
        (tuple[Literal["a"], Literal["b"]], ("$",)),
        (Mixed, ("count", "inner", "when")),
        ({"type": "object", "properties": {"a": True}}, ("a",)),
        ({"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["b"]}, ("b",)),
        ({"enum": [None]}, ("$",)),
        ({"enum": [1, "1"]}, ("$",)),
        ({"enum": [""]}, ("$",)),
        ({"enum": [["a"]]}, ("$",)),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_schema_that_no_inbox_can_ask_is_refused(
    store: VenueGateStore, ada: Actor, schema: Any, paths: tuple[str, ...]
) -> None:
    with pytest.raises(GateNotAskable) as caught:
        store.create(id="g1", prompt="p", schema=schema)
    assert (caught.value.gate_id, caught.value.code, caught.value.paths) == ("g1", "not_askable", paths)
    assert isinstance(caught.value, GateSchemaInvalid)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), vars(again)) == (GateNotAskable, str(caught.value), vars(caught.value))
    assert inbox(ada) == []
    assert store.get("g1") is None


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"rule": RULE}, GateRuleInvalid),
        ({"expires_at": "2020-01-01T00:00:00Z"}, GateExpiryInvalid),
        ({"expires_at": "9999-01-01T00:00:00Z"}, GateArgumentInvalid),
        ({"prompt": " \n"}, GateArgumentInvalid),
        ({"schema": TypeAdapter(Literal[*range(101)])}, GateArgumentInvalid),
    ],
    ids=["rule", "past", "far", "blank", "large"],
)
def test_what_the_venue_cannot_keep_is_refused_and_opens_nothing(
    store: VenueGateStore, ada: Actor, given: dict[str, Any], error: Any
) -> None:
    with pytest.raises(error):
        store.create(**{"id": "g1", "prompt": "p", "schema": bool, **given})
    assert inbox(ada) == []


def test_what_the_person_reads(store: VenueGateStore, ada: Actor) -> None:
    options = ({"id": "y", "label": "Yes", "recommended": True}, {"id": "n", "label": "No"})
    open_gate(
        store,
        prompt="ship(1.4.0)",
        schema=Approval,
        summary="Ship 1.4.0?",
        evidence_ref="https://ci.example/7",
        questions=[{"id": "q", "question": "Now?", "options": options}],
    )
    open_gate(store, prompt=f"{'x' * 300}\nmore", schema=bool)
    open_gate(store, prompt="Ship?", schema=bool)
    first, second, third = inbox(ada)
    assert first["title"] == "Ship 1.4.0?"
    assert first["description"] == (
        "ship(1.4.0)\n\nEvidence: https://ci.example/7\n\nNow?\n- Yes (recommended)\n- No"
    )
    assert [(ask["id"], ask["type"], ask["required"]) for ask in first["asks"]] == [
        ("approved", "approval", True),
        ("note", "text", False),
    ]
    assert (len(second["title"]), second["description"]) == (280, f"{'x' * 300}\nmore")
    assert (third["title"], third.get("description"), third["asks"][0]["prompt"]) == ("Ship?", None, "Ship?")


def test_only_the_person_answers(store: VenueGateStore, ada: Actor) -> None:
    gate = open_gate(store, id="g1", prompt="p", schema=bool)
    with pytest.raises(GateResolverRefused) as caught:
        store.resolve("g1", True, OWNER)
    assert "inbox" in caught.value.reason
    with pytest.raises(GateNotFound):
        store.resolve("g2", True, OWNER)
    ada.respond(inbox(ada)[0]["id"], answers={"answer": True}).ok()
    assert gate.wait() is True
    record = store.get("g1")
    assert record is not None
    assert record.resolved_by == Resolver("owner-remote", ada.did, "api")


@pytest.mark.parametrize("comment", [None, "not on a Friday"])
def test_a_rejection_is_a_cancel_with_the_persons_reason(
    store: VenueGateStore, ada: Actor, comment: str | None
) -> None:
    gate = open_gate(store, id="g1", prompt="p", schema=bool)
    said = {} if comment is None else {"comment": comment}
    ada.respond(inbox(ada)[0]["id"], "reject", **said).ok()
    with pytest.raises(GateCancelled) as caught:
        gate.wait()
    assert caught.value.reason == comment
    record = store.get("g1")
    assert record is not None
    assert record.resolved_by is not None  # nobody resolved a gate that was only withdrawn
    assert record.resolved_by.id == ada.did


def test_gates_of_others_are_none_of_ours(served: Served, store: VenueGateStore, ada: Actor) -> None:
    store.create(id="g1", prompt="p", schema=bool)
    ada.ask()
    with Venue(served.url, token=served.agent(ada, "other").token) as venue:
        other = VenueGateStore(venue)
        assert other.get("g1") is None
        other.create(id="g1", prompt="another", schema=bool)
        assert [gate.prompt for gate in other.list_pending()] == ["another"]
    assert [gate.prompt for gate in store.list_pending()] == ["p"]
    assert len(inbox(ada)) == 3


def test_a_gate_in_somebody_elses_inbox(
    served: Served, store: VenueGateStore, ada: Actor, token: str
) -> None:
    bob = served.owner()
    assert bob.read("w/a").status == 200
    grant = bob.grant(str(read(token).claims["sub"]), "h/", "hitl/request")
    with Venue(served.url, token=token) as venue:
        theirs = VenueGateStore(venue, to=bob.did, ucans=[grant])
        gate = open_gate(theirs, id="g1", prompt="For Bob", schema=bool)
        store.create(id="g1", prompt="For Ada", schema=bool)
        assert [each.prompt for each in theirs.list_pending()] == ["For Bob"]
        assert [each.prompt for each in store.list_pending()] == ["For Ada"]
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(gate.wait, poll_ms=20)
            bob.respond(inbox(bob)[0]["id"], answers={"answer": False}).ok()
            assert waiting.result(SOON) is False


def test_waiting_costs_one_request_per_poll(served: Served, ada: Actor, token: str) -> None:
    with (
        Proxy(served.url) as proxy,
        Venue(proxy.url, token=token) as venue,
        ThreadPoolExecutor(20) as pool,
    ):
        store = VenueGateStore(venue)
        gates = [open_gate(store, id=f"g{number}", prompt="p", schema=bool) for number in range(20)]
        start = time.monotonic()
        waits = [pool.submit(gate.wait, poll_ms=200) for gate in gates]
        until(lambda: proxy.count("POST /api/v1/run") >= 4)
        records = inbox(ada)
        asked = len(proxy.seen)
        assert proxy.count("POST /api/v1/run") <= (time.monotonic() - start) / 0.2 + 2
        for record in records:
            ada.respond(record["id"], answers={"answer": True}).ok()
        assert [wait.result(SOON) for wait in waits] == [True] * 20
        assert asked <= 20 * 3 + 20 + (time.monotonic() - start) / 0.2 + 2


def test_a_connection_that_drops_in_mid_open_opens_one(served: Served, ada: Actor, token: str) -> None:
    with Proxy(served.url) as proxy, Venue(proxy.url, token=token) as venue:
        store = VenueGateStore(venue)
        store.get("g1")
        proxy.inject("POST /api/v1/invoke", drop_answer, 3)
        assert store.create(id="g1", prompt="p", schema=bool).status == "pending"
        assert len(inbox(ada)) == 1


OPEN = """
from inbox.gates import open_gate
from venue.client import VenueGateStore
with VenueGateStore() as store:
    open_gate(store, id="ship", prompt="Ship?", schema=bool).wait()
"""


def test_the_opener_and_the_server_die_and_the_answer_arrives(tmp_path: Path) -> None:
    with Served(tmp_path / "data") as served:
        ada = served.owner()
        token = served.agent(ada).token
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "VENUE_URL": served.url, "VENUE_TOKEN": token}
        opener = subprocess.Popen([sys.executable, "-c", OPEN], env=environment)
        (record,) = until(lambda: inbox(ada))
        opener.kill()
        opener.wait()
        with Venue(served.url, token=token) as venue, ThreadPoolExecutor(1) as pool:
            store = VenueGateStore(venue)
            assert [gate.id for gate in store.list_pending()] == ["ship"]
            waiting = pool.submit(wait_for_gate, store, "ship", bool, poll_ms=50)
            served.kill()
            time.sleep(0.3)
            served.start()
            served.owner(ada.signer).respond(record["id"], answers={"answer": True}).ok()
            assert waiting.result(SOON) is True


def test_a_venue_that_is_away_is_named(token: str) -> None:
    with Venue("http://127.0.0.1:1", token=token, patience=0) as venue, pytest.raises(Unreachable):
        VenueGateStore(venue).list_pending()


def test_a_store_closes_the_client_that_it_made_and_no_other(
    served: Served, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENUE_TOKEN", token)
    with VenueGateStore(served.url) as own:
        own.create(id="g1", prompt="p", schema=bool)
    with Venue(served.url) as venue:
        with VenueGateStore(venue) as store:
            assert [gate.id for gate in store.list_pending()] == ["g1"]
        assert venue.did() == served.did
