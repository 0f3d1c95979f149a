"""What a type checker must accept, and know, of the client: `assert_type` says the very type. Never run."""

from pathlib import Path
from typing import Any, assert_type

from pydantic import BaseModel

from inbox.gates import Gate, open_gate
from venue.client import (
    Answered,
    Asked,
    AskedNow,
    AsyncVenue,
    Change,
    Offer,
    Page,
    Record,
    Refused,
    Settled,
    Summary,
    Venue,
    VenueGateStore,
)


class Ship(BaseModel):
    ship: bool


ASKS = [{"id": "ok", "type": "approval", "prompt": "OK?"}]
offer: Offer = {"with": "w/", "can": "crud/read", "lifetime": 60}


def sync(venue: Venue) -> None:
    assert_type(venue.ask("T", Ship), Ship)
    assert_type(venue.ask("T", Ship, to="did:x", timeout=60, grants={"ship": [offer]}, wait=True), Ship)
    assert_type(venue.ask("T", Ship, wait=False), AskedNow[Ship])
    assert_type(venue.ask("T", Ship, wait=False).wait(timeout=1.5), Ship)
    assert_type(venue.ask("T", ASKS), Answered)
    assert_type(venue.ask("T", ASKS, wait=False), AskedNow[Answered])
    assert_type(venue.attach("1", Ship).wait(), Ship)
    assert_type(venue.attach("1"), AskedNow[Answered])
    assert_type(venue.attach("1").answered.token, str | None)


async def tasks(venue: AsyncVenue) -> None:
    assert_type(await venue.ask("T", Ship), Ship)
    assert_type(await venue.ask("T", Ship, wait=False), Asked[Ship])
    assert_type(await (await venue.ask("T", Ship, key="k", wait=False)).wait(), Ship)
    assert_type(await venue.ask("T", ASKS), Answered)
    assert_type(await venue.ask("T", ASKS, wait=False), Asked[Answered])
    assert_type(await venue.attach("1", Ship).wait(), Ship)
    assert_type(await venue.inbox(), list[Summary])
    async for change in venue.feed():
        assert_type(change, Change)


def owner(venue: Venue) -> None:
    assert_type(venue.inbox(), list[Summary])
    assert_type(venue.page(cursor="c"), Page)
    assert_type(venue.record("1"), Record)
    assert_type(venue.record("1").from_, str)
    venue.answer("1", {"ship": True}, grants=[offer, {"with": "w/", "can": "x"}], digest="sha256:")
    assert_type(venue.issue("did:x", [offer], 7), str)
    assert_type(venue.revoke(hash="h"), list[str])
    assert_type(venue.read("w/a"), Any)
    assert_type(venue.receipt("1"), str)
    assert_type(venue.did(), str)
    assert_type(venue.caller, str | None)
    assert_type(venue.job("1"), dict[str, Any])


def errors(refused: Refused, settled: Settled) -> None:
    assert_type(refused.code, str)
    assert_type(settled.when, int | None)


def gates() -> None:
    with Venue("http://x", token=Path("t")) as venue, VenueGateStore(venue, require_brief=True) as store:
        assert_type(open_gate(store, prompt="p", schema=Ship), Gate[Ship])
