from pydantic import BaseModel

from inbox.gates import open_gate, wait_for_gate
from inbox.gates.sqlite import SqliteGateStore


class Approval(BaseModel):
    approved: bool


store = SqliteGateStore("gates.db")
if store.get("ship-1.4.0") is None:
    open_gate(store, id="ship-1.4.0", prompt="Ship 1.4.0?", schema=Approval)
# Here this process may crash, redeploy, or wait for days.
answer = wait_for_gate(store, "ship-1.4.0", Approval)
print("shipping" if answer.approved else "held back")
