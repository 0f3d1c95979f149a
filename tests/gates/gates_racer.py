"""A process of test_gate_races: `settle PATH NUMBER GATES`, `open PATH` or `resolve PATH`."""

import json
import random
import sys
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel

from inbox.gates import GateError, GateRecord, Resolver, open_gate, resolve_gate
from inbox.gates.sqlite import SqliteGateStore

OWNER = Resolver("owner-terminal", "ada", "cli")
START = datetime(2026, 1, 1, tzinfo=UTC)


class Approval(BaseModel):
    approved: bool
    note: str | None = None


def settle(path: str, number: str, gates: str) -> None:
    """Try to settle every gate, in an order that keeps the racers together, each in its own way."""
    clock = [START]
    me, dice = int(number), random.Random(int(number))
    store = SqliteGateStore(path, now=lambda: clock[0])
    attempts = (
        lambda id: store.resolve(id, True, OWNER),
        lambda id: store.resolve(id, False, OWNER),
        lambda id: store.cancel(id, "superseded"),
        lambda id: store.resolve(id, True, OWNER),
    )
    print("ready", flush=True)
    sys.stdin.readline()
    told = {}
    for step in range(int(gates)):
        # Some of them see the deadline pass halfway, as processes with clocks of their own do.
        clock[0] = START + timedelta(seconds=60 * (step > int(gates) // 2))
        try:
            told[f"g{step}"] = said(attempts[(me + dice.randrange(2)) % len(attempts)](f"g{step}"))
        except GateError as error:
            told[f"g{step}"] = type(error).__name__
    print(json.dumps(told))


def said(gate: GateRecord) -> str:
    return f"{gate.status} {gate.reason if gate.status == 'cancelled' else json.dumps(gate.payload)}"


def open_and_wait(path: str) -> None:
    gate = open_gate(SqliteGateStore(path), id="deploy", prompt="Ship?", schema=Approval)
    print("waiting", flush=True)
    print(gate.wait(), flush=True)


def resolve(path: str) -> None:
    resolve_gate(SqliteGateStore(path), "deploy", {"approved": True, "note": "after the crash"}, OWNER)


if __name__ == "__main__":
    {"settle": settle, "open": open_and_wait, "resolve": resolve}[sys.argv[1]](*sys.argv[2:])
