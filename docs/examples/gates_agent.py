"""An agent's steps in asyncio: some of them wait for a person, and the loop goes on meanwhile."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import BaseModel

from inbox.gates import GateExpired, GateStore, Resolver, open_gate, wait_for_gate_async
from inbox.gates.sqlite import SqliteGateStore


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
    except GateExpired:
        return "hold"


async def person(store: GateStore) -> None:
    """Stands for somebody at another screen."""
    while len(pending := store.list_pending()) < 2:
        await asyncio.sleep(0.01)
    for gate, decision in zip(pending, ("merge", "hold"), strict=True):
        store.resolve(gate.id, {"decision": decision}, Resolver("owner-remote", "ada", "phone"))


async def main() -> None:
    with SqliteGateStore("agent.db", require_brief=True) as store:
        async with asyncio.TaskGroup() as steps:
            docs = steps.create_task(ask(store, "run-7/docs", "Merge the docs?", "https://ci.example/1"))
            code = steps.create_task(ask(store, "run-7/code", "Merge the code?", "https://ci.example/2"))
            steps.create_task(person(store))
        print(docs.result(), code.result())


asyncio.run(main())
