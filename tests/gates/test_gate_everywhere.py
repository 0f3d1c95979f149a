"""What a gate promises wherever it is kept: in memory, in a file, and as a request in a person's inbox.

Answers come from outside in all of them: from `resolve_gate`, or from the person whose inbox it is.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest
from gate_stores import OWNER, SOON, STORES, Approval
from pydantic import BaseModel, TypeAdapter
from test_gate_behaviour import BAD_EXPIRY

from inbox.gates import (
    GateAborted,
    GateAlreadyExists,
    GateAlreadySettled,
    GateArgumentInvalid,
    GateBriefInvalid,
    GateCancelled,
    GateExpired,
    GateExpiryInvalid,
    GateNotFound,
    GateRuleInvalid,
    GateSchemaInvalid,
    GateStore,
    cancel_gate,
    open_gate,
    wait_for_gate,
    wait_for_gate_async,
)
from tests.harness.actors import Actor
from tests.harness.served import Served
from venue.client import Venue, VenueGateStore

OPTIONS = ({"id": "yes", "label": "Yes", "recommended": True}, {"id": "no", "label": "No"})


@dataclass
class Place:
    """Somewhere to keep gates, how somebody answers there, and how another process would open it."""

    store: GateStore
    answer: Callable[[str, Any], None]
    again: Callable[[], GateStore]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("gates") / "data") as venue:
        yield venue


@pytest.fixture
def ada(served: Served) -> Actor:
    return served.owner()


def answers_of(payload: Any) -> dict[str, Any]:
    return payload if isinstance(payload, dict) else {"answer": payload}


@pytest.fixture(params=[*STORES, "venue"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param in STORES:
        with STORES[request.param](tmp_path) as store:
            yield Place(store, lambda id, payload: store.resolve(id, payload, OWNER), lambda: store)
        return
    served, ada = request.getfixturevalue("served"), request.getfixturevalue("ada")
    with Venue(served.url, token=served.agent(ada).token) as venue:
        store = VenueGateStore(venue)

        def answer(id: str, payload: Any) -> None:
            assert store.get(id) is not None
            ada.respond(store._requests[id].removeprefix("0x"), answers=answers_of(payload)).ok()

        yield Place(store, answer, lambda: VenueGateStore(venue))


class Where(Enum):
    TEST = "t"
    LIVE = "l"


class Everything(BaseModel):
    ship: bool
    where: Where
    size: Literal[1, 2]
    parts: list[Literal["a", "b"]]
    note: str | None
    extra: str = "none"


SCHEMAS: list[tuple[Any, Any, Any]] = [
    (Approval, {"approved": True}, Approval(approved=True)),
    (Approval, {"approved": False, "note": "no"}, Approval(approved=False, note="no")),
    (bool, False, False),
    (str, "", ""),
    (Where, "l", Where.LIVE),
    (TypeAdapter(Literal["merge", "hold"]), "hold", "hold"),
    (TypeAdapter(set[Literal["a", "b"]]), ["b", "a"], {"a", "b"}),
    ({"enum": ["x", "y"]}, "y", "y"),
    (
        Everything,
        {"ship": True, "where": "t", "size": 1, "parts": [], "note": None},
        Everything(ship=True, where=Where.TEST, size=1, parts=[], note=None),
    ),
]
KINDS = ["model", "optional", "bool", "str", "enum", "literal", "set", "json", "everything"]


@pytest.mark.parametrize(("schema", "payload", "answer"), SCHEMAS, ids=KINDS)
def test_an_answer_comes_back_as_its_type(place: Place, schema: Any, payload: Any, answer: Any) -> None:
    gate = open_gate(place.store, id="g1", prompt="Ship?", schema=schema)
    given = payload
    if isinstance(place.store, VenueGateStore) and isinstance(payload, dict):
        given = {name: str(value) if name == "size" else value for name, value in payload.items()}
    place.answer("g1", given)
    assert gate.wait(timeout=SOON) == answer
    assert wait_for_gate(place.again(), "g1", schema) == answer
    record = place.store.get("g1")
    assert record is not None
    assert (record.status, record.payload) == ("resolved", payload)
    assert record.resolved_by is not None


def test_every_field_comes_back_as_it_was(place: Place) -> None:
    given = place.store.create(
        id="run/step:2",
        prompt="Ship?\nIt is ready.",
        schema=Approval,
        expires_at=datetime.now(UTC) + timedelta(days=1),
        summary="Ship 1.4.0",
        evidence_ref="$ make check",
        questions=[{"id": "q", "question": "Ship?", "options": OPTIONS}],
    )
    for store in (place.store, place.again()):
        assert store.get("run/step:2") == given
        assert store.list_pending() == [given]


def test_an_id_is_opened_once(place: Place) -> None:
    first = place.store.create(id="g1", prompt="p", schema=bool)
    for store in (place.store, place.again()):
        with pytest.raises(GateAlreadyExists):
            store.create(id="g1", prompt="p", schema=bool)
    assert place.store.list_pending() == [first]
    place.answer("g1", True)
    with pytest.raises(GateAlreadyExists):
        place.store.create(id="g1", prompt="p", schema=bool)


def test_many_who_open_one_id_open_one_gate(place: Place) -> None:
    """Each through a store of its own, as processes would; those of a file are raced elsewhere."""
    stores = [place.again() for _ in range(8)]

    def create(store: GateStore) -> str:
        try:
            return store.create(id="g1", prompt="p", schema=bool).id
        except GateAlreadyExists:
            return ""

    with ThreadPoolExecutor(8 if isinstance(place.store, VenueGateStore) else 1) as pool:
        run = pool.map if isinstance(place.store, VenueGateStore) else map
        assert sorted(run(create, stores)) == [""] * 7 + ["g1"]


@pytest.mark.parametrize("reason", [None, "superseded", "HITL request rejected: not really"])
def test_a_cancel_settles_once(place: Place, reason: str | None) -> None:
    gate = open_gate(place.store, id="g1", prompt="p", schema=bool)
    settled = cancel_gate(place.store, "g1", reason)
    assert (settled.status, settled.reason, settled.resolved_by) == ("cancelled", reason, None)
    with pytest.raises(GateCancelled) as caught:
        gate.wait(timeout=SOON)
    assert caught.value.reason == reason
    with pytest.raises(GateAlreadySettled):
        cancel_gate(place.again(), "g1", "other")
    with pytest.raises(GateNotFound):
        cancel_gate(place.store, "g2")
    assert place.store.list_pending() == []


def test_a_deadline_passes(place: Place) -> None:
    deadline = datetime.now(UTC) + timedelta(seconds=1)
    gate = open_gate(place.store, id="g1", prompt="p", schema=bool, expires_at=deadline)
    with pytest.raises(GateExpired):
        gate.wait(poll_ms=50, timeout=SOON)
    assert datetime.now(UTC) >= deadline
    record = place.again().get("g1")
    assert record is not None
    assert (record.status, record.resolved_at, record.resolved_by) == ("expired", deadline, None)
    with pytest.raises(GateExpired):
        place.store.cancel("g1")


@pytest.mark.parametrize("expires_at", BAD_EXPIRY)
def test_what_is_no_instant_is_no_expiry(place: Place, expires_at: Any) -> None:
    with pytest.raises(GateExpiryInvalid):
        place.store.create(id="g1", prompt="p", schema=bool, expires_at=expires_at)
    assert place.store.get("g1") is None


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (GateArgumentInvalid, {"id": ""}),
        (GateArgumentInvalid, {"prompt": "a\0b"}),
        (GateBriefInvalid, {"summary": " "}),
        (GateSchemaInvalid, {"schema": {"type": "strng"}}),
        (GateRuleInvalid, {"rule": {"table": "t"}}),
    ],
)
def test_what_is_bad_writes_nothing(place: Place, error: Any, given: dict[str, Any]) -> None:
    with pytest.raises(error):
        place.store.create(**{"id": "g1", "prompt": "p", "schema": bool, **given})
    assert place.store.list_pending() == []


def test_gates_are_listed_by_age(place: Place) -> None:
    for id in ("b", "a", "c"):
        place.store.create(id=id, prompt="p", schema=bool)
    assert [gate.id for gate in place.again().list_pending()] == ["b", "a", "c"]


def test_giving_up_touches_nothing(place: Place) -> None:
    gate = open_gate(place.store, id="g1", prompt="p", schema=bool)
    for timeout in (0, 0.1):
        with pytest.raises(GateAborted):
            gate.wait(timeout=timeout)
    abort = threading.Event()
    abort.set()
    with pytest.raises(GateAborted):
        gate.wait(abort=abort, poll_ms=20)

    async def give_up() -> None:
        with pytest.raises(GateAborted):
            await gate.wait_async(timeout=0.1)
        task = asyncio.create_task(gate.wait_async(poll_ms=20))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(give_up())
    assert [pending.id for pending in place.store.list_pending()] == ["g1"]
    place.answer("g1", True)
    assert gate.wait(timeout=0) is True


def test_a_wait_of_a_gate_that_is_not_there(place: Place) -> None:
    with pytest.raises(GateNotFound):
        wait_for_gate(place.store, "nobody", bool)
    assert place.store.get("nobody") is None
    assert place.store.get("\ud800") is None


def test_all_waits_share_one_query_per_poll(place: Place) -> None:
    ids = [f"g{number}" for number in range(40)]
    for id in ids:
        place.store.create(id=id, prompt="p", schema=bool)
    looks: list[int] = []
    look = place.store.no_longer_pending

    def counted(asked: Any) -> list[str]:
        looks.append(len([*asked]))
        return look(asked)

    place.store.no_longer_pending = counted  # type: ignore[method-assign]

    async def run() -> None:
        start = time.monotonic()
        tasks = [asyncio.create_task(wait_for_gate_async(place.store, id, bool, poll_ms=100)) for id in ids]
        while len(ids) not in looks:
            await asyncio.sleep(0.01)
        for id in ids[:3]:
            await asyncio.to_thread(place.answer, id, True) if place.store.may_block else place.answer(
                id, True
            )
        assert await asyncio.gather(*tasks[:3]) == [True] * 3
        for task in tasks[3:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert len(looks) <= (time.monotonic() - start) / 0.1 + 2

    asyncio.run(run())
