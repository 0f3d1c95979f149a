"""A payment and the gate that holds it, in one transaction of the product's own database."""

import sqlite3

from inbox.gates import GateCancelled, GateExpired, Resolver, open_gate, resolve_gate, wait_for_gate
from inbox.gates.sqlite import SqliteGateStore, gate_migration, gate_resolver_migration, gate_rule_migration

database = sqlite3.connect("shop.db")
database.execute("CREATE TABLE IF NOT EXISTS payment (id TEXT PRIMARY KEY, cents INTEGER, state TEXT)")

# The product keeps its own list of migrations and puts the library's steps into it, under numbers of its own.
for migration in (gate_migration(2), gate_resolver_migration(3), gate_rule_migration(4)):
    migration.apply(database)
store = SqliteGateStore(database, migrate=False)

# Only the owner at a terminal may release a payment, and no writer to this database can get around that.
at_the_terminal = {
    "table": "finance",
    "version": "2",
    "rule_id": "over-1000",
    "resolvers": ["owner-terminal"],
}

with database:  # both rows or neither
    database.execute("INSERT INTO payment VALUES ('p-17', 250000, 'held')")
    open_gate(store, id="payment/p-17", prompt="Pay 2,500.00 to ACME?", schema=bool, rule=at_the_terminal)

# Elsewhere, perhaps in another process with a connection of its own:
resolve_gate(store, "payment/p-17", True, Resolver("owner-terminal", id="ada", channel="cli"))

try:
    state = "released" if wait_for_gate(store, "payment/p-17", bool) else "refused"
except (GateCancelled, GateExpired):
    state = "dropped"
with database:
    database.execute("UPDATE payment SET state = ? WHERE id = 'p-17'", (state,))
print(database.execute("SELECT id, state FROM payment").fetchone())
