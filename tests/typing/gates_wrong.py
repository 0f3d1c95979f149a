"""What a type checker must refuse: one mistake on each line that ends in `# wrong`. Never run."""

from pydantic import BaseModel

from inbox.gates import MemoryGateStore, Resolver, open_gate, resolve_gate, wait_for_gate
from inbox.gates.sqlite import SqliteGateStore


class Approval(BaseModel):
    approved: bool


store = MemoryGateStore()
gate = open_gate(store, prompt="Ship?", schema=Approval)

print(gate.wait().aproved)  # wrong
answer: str = gate.wait()  # wrong
other: int = wait_for_gate(store, "g1", Approval)  # wrong
open_gate(store, schema=Approval)  # wrong
open_gate(store, prompt="Ship?", expires_at=5)  # wrong
gate.wait(timeout="5")  # wrong
resolve_gate(store, 7, True)  # wrong
Resolver("owner-terminal", "ada")  # wrong
MemoryGateStore(requires_brief=True)  # wrong
SqliteGateStore(7)  # wrong
print(store.get("g1").status)  # wrong
