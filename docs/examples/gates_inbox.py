"""The agent's steps once more, and a person decides them in their inbox: only the store is another."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import BaseModel

from inbox.gates import GateCancelled, GateExpired, GateStore, open_gate, wait_for_gate_async
from venue.client import VenueGateStore


class Decision(BaseModel):
    decision: Literal["merge", "hold"]


async def ask(store: GateStore, id: str, summary: str, evidence: str) -> str:
    """One step: opened once, waited on as often as this program is restarted."""
    if store.get(id) is None:
        open_gate(
            store,
            id=id,
            prompt=summary,
            schema=Decision,
            expires_at=datetime.now(UTC) + timedelta(hours=8),
            summary=summary,
            evidence_ref=evidence,
        )
    try:
        return (await wait_for_gate_async(store, id, Decision)).decision
    except (GateExpired, GateCancelled):  # a person may also reject the question itself
        return "hold"


async def main() -> None:
    with VenueGateStore(require_brief=True) as store:  # VENUE_URL and VENUE_TOKEN say where and who
        async with asyncio.TaskGroup() as steps:
            docs = steps.create_task(ask(store, "run-7/docs", "Merge the docs?", "https://ci.example/1"))
            code = steps.create_task(ask(store, "run-7/code", "Merge the code?", "https://ci.example/2"))
        print(docs.result(), code.result())


asyncio.run(main())
