"""What a type checker must accept, and know: `assert_type` says the very type. Never run."""

from typing import Any, Literal, assert_type

from pydantic import BaseModel, TypeAdapter

from inbox.gates import (
    Gate,
    GateRecord,
    MemoryGateStore,
    Resolver,
    open_gate,
    resolve_gate,
    wait_for_gate,
    wait_for_gate_async,
)
from inbox.gates.sqlite import SqliteGateStore


class Approval(BaseModel):
    approved: bool


def model(store: MemoryGateStore) -> None:
    gate = open_gate(store, prompt="Ship?", schema=Approval)
    assert_type(gate, Gate[Approval])
    assert_type(gate.wait(), Approval)
    assert_type(wait_for_gate(store, gate.id, Approval), Approval)


async def task(store: SqliteGateStore) -> None:
    gate = open_gate(store, prompt="Ship?", schema=Approval, expires_at="2030-01-01T00:00:00Z")
    assert_type(await gate.wait_async(timeout=5), Approval)
    assert_type(await wait_for_gate_async(store, gate.id, schema=Approval), Approval)


def other_types(store: MemoryGateStore) -> None:
    assert_type(open_gate(store, prompt="p", schema=list[int]).wait(), list[int])
    assert_type(open_gate(store, prompt="p", schema=bool).wait(), bool)
    choice: TypeAdapter[Literal["ship", "hold"]] = TypeAdapter(Literal["ship", "hold"])
    assert_type(open_gate(store, prompt="p", schema=choice).wait(), Literal["ship", "hold"])


def any_json(store: MemoryGateStore) -> None:
    assert_type(open_gate(store, prompt="p").wait(), Any)
    assert_type(open_gate(store, prompt="p", schema={"type": "string"}).wait(), Any)
    assert_type(open_gate(store, prompt="p", schema=Literal["ship", "hold"]), Gate[Any])


def resolving(store: SqliteGateStore) -> None:
    owner = Resolver("owner-terminal", id="ada", channel="cli")
    assert_type(resolve_gate(store, "g1", {"approved": True}, owner), GateRecord)
    resolve_gate(store, "g1", True, {"class": "owner-terminal", "id": "ada", "channel": "cli"})


def options() -> None:
    MemoryGateStore(require_brief=True, authorize=lambda gate, resolver: {"allowed": gate.id == resolver.id})
    SqliteGateStore("gates.db", table="gates", strict_schema=True, evidence_policy=lambda *given: True)
