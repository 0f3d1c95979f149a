from inbox.gates import GateError, Resolver, resolve_gate
from inbox.gates.sqlite import SqliteGateStore

store = SqliteGateStore("gates.db")
for gate in store.list_pending():
    approved = input(f"{gate.prompt} [y/n] ") == "y"
    try:
        resolve_gate(store, gate.id, {"approved": approved}, Resolver("owner-terminal", "ada", "cli"))
    except GateError as error:  # somebody else was faster, it expired, or the answer does not fit
        print(error.code)
