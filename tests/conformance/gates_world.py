"""One process of a case: its clock, its stores, its waits, and the operations that it carries out.

With memory stores one world is shared by the threads p1, p2, p3; with SQLite each of them is a process with a
world of its own on one file. Everything that goes in and comes out is plain data.
"""

import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from inbox import gates
from inbox.gates.sqlite import (
    Migration,
    SqliteGateStore,
    apply_migrations,
    gate_brief_migration,
    gate_delegate_migration,
    gate_evidence_migration,
    gate_migration,
    gate_resolver_migration,
    gate_rule_migration,
    gate_table_ddl,
)
from inbox.gates.wait import Watch

from . import gates_probes
from .gates_bind import Named, bind
from .gates_match import CaseNotUnderstood
from .gates_reply import Reply, done, failed, plain

T0 = datetime(2026, 1, 1, tzinfo=UTC)
PATIENCE = 30.0
"""Seconds after which a case that hangs has failed."""

MIGRATIONS = {
    made.__name__: made
    for made in (
        gate_migration,
        gate_resolver_migration,
        gate_rule_migration,
        gate_brief_migration,
        gate_evidence_migration,
        gate_delegate_migration,
    )
}


class Held:
    """Mixed into a store: a settle stops between its read and its write for as long as the case wants."""

    before_settle: Callable[[], None] | None = None

    def _settle(self, *args: Any) -> Any:
        if self.before_settle:
            self.before_settle()
        return super()._settle(*args)  # type: ignore[misc]


class HeldSqliteStore(Held, SqliteGateStore):
    pass


class HeldMemoryStore(Held, gates.MemoryGateStore):
    pass


class Task(threading.Thread):
    """One operation in a thread of its own, with its reply."""

    def __init__(self, work: Callable[[], Reply]) -> None:
        super().__init__(daemon=True)
        self.abort = threading.Event()
        self.reached, self.release = threading.Event(), threading.Event()
        self._work = work
        self.reply: Reply | None = None

    def run(self) -> None:
        self.reply = self._work()
        self.reached.set()

    def hold(self) -> None:
        self.reached.set()
        if not self.release.wait(PATIENCE):
            raise TimeoutError("nobody released a held settle")

    def collect(self) -> Reply:
        self.join(PATIENCE)
        return self.reply or failed(TimeoutError("the operation did not end"))


class World:
    """The state of one process, and `do`, which carries out one operation."""

    def __init__(self, kind: str, path: str) -> None:
        self.kind, self.path = kind, path
        self.now = T0
        self.options: dict[str, dict[str, Any]] = {}
        self.specs: dict[str, dict[str, Any]] = {}
        self.stores: dict[str, Any] = {}
        self.tasks: dict[int, Task] = {}

    def do(self, op: str, given: dict[str, Any], store: str = "s") -> Reply:
        """Carry out one operation; what it raises is its reply, except for what the runner does not know."""
        if op not in OPERATIONS:
            raise CaseNotUnderstood(f"unknown operation {op}")
        try:
            if op in BY_STORE:
                return OPERATIONS[op](self, self.store(store), **bind(given))
            return OPERATIONS[op](self, **given)
        except CaseNotUnderstood:
            raise
        except Exception as error:
            return failed(error)

    def store(self, name: str) -> Any:
        """The store of that name; s1 and s2 are further stores with the options of s."""
        if name not in self.stores:
            self.stores[name] = self._open(self.specs[name if name in self.specs else "s"], name)
        return self.stores[name]

    def _open(self, spec: dict[str, Any], name: str) -> Any:
        options = bind(spec["options"])
        self.options[name] = options
        if spec["kind"] == "memory":
            # Threads of one process share the one store there is.
            return HeldMemoryStore(now=lambda: self.now, **options)
        store = HeldSqliteStore(spec.get("path", self.path), now=lambda: self.now, **options)
        store._connection.execute("PRAGMA synchronous = OFF")  # no case cuts the power
        return store

    # -- operations of the harness -----------------------------------------------------------------

    def specify(self, name: str, spec: dict[str, Any]) -> Reply:
        self.specs[name] = spec
        if name in self.stores:
            self.stores.pop(name)
        return done()

    def new_store(self, name: str, spec: dict[str, Any], cwd: str | None = None) -> Reply:
        if cwd is not None:
            os.chdir(cwd)
        self.specs[name] = spec
        self.stores.pop(name, None)
        self.store(name)
        return done()

    def close(self) -> Reply:
        for store in self.stores.values():
            if isinstance(store, SqliteGateStore):
                store.close()
        self.stores.clear()
        return done()

    def advance(self, seconds: float) -> Reply:
        self.now += timedelta(seconds=seconds)
        return done()

    def _all_options(self) -> list[dict[str, Any]]:
        """What this process handed to its stores. Those that it has not used yet are opened for it."""
        for name in self.specs:
            self.store(name)
        return list(self.options.values())

    def set_fn(self, **specs: dict[str, Any]) -> Reply:
        for options in self._all_options():
            for name, spec in specs.items():
                options[name].exchange(spec)
        return done()

    def calls(self, fn: str) -> Reply:
        named = [options[fn] for options in self._all_options() if isinstance(options.get(fn), Named)]
        return done([call for each in named for call in each.calls])

    def mutate_option(self, option: str, append: Any) -> Reply:
        for options in self._all_options():
            options[option].append(bind(append))
        return done()

    def rows(self) -> Reply:
        return done(list(self.store("s")._rows.values()))

    def background(self, op: str, given: dict[str, Any], store: str) -> Reply:
        """Start a wait in a thread of its own; replies when it is waiting, or over already."""
        waited_on, arguments = self.store(store), bind(given)

        def wait() -> Reply:
            try:
                return self.wait_for_gate(waited_on, **arguments, abort=task.abort)
            except Exception as error:
                return failed(error)

        if op != "wait_for_gate":
            raise CaseNotUnderstood(f"{op} in the background")
        task = Task(wait)
        task.start()
        while not waited_on.watch._crowds and task.is_alive():
            task.join(0.002)
        return self._kept(task)

    def hold(self, op: str, given: dict[str, Any], store: str) -> Reply:
        """Start a settle and stop it between its read and its write."""
        held = self.store(store)
        task = Task(lambda: self.do(op, given, store))
        held.before_settle = task.hold
        task.start()
        task.reached.wait(PATIENCE)
        return self._kept(task)

    def release(self, task: int) -> Reply:
        self.tasks[task].release.set()
        return done()

    def abort(self, task: int) -> Reply:
        self.tasks[task].abort.set()
        return done()

    def collect(self, task: int) -> Reply:
        return self.tasks[task].collect()

    def _kept(self, task: Task) -> Reply:
        self.tasks[len(self.tasks)] = task
        return done(len(self.tasks) - 1)

    def storm(self, given: list[dict[str, Any]]) -> Reply:
        """Many threads at once, each with a store of its own."""
        start = threading.Barrier(len(given))

        def resolve(worker: int) -> Reply:
            self.store(f"storm{worker}")
            start.wait(PATIENCE)
            return self.do("resolve_gate", given[worker], f"storm{worker}")

        tasks = [Task(partial(resolve, worker)) for worker in range(len(given))]
        for task in tasks:
            task.start()
        return done([task.collect() for task in tasks])

    def migrate(self, migrations: list[str]) -> Reply:
        """The product's own list, such as `product(1)`, `gate_rule_migration(2, my_gates)`."""
        connection = sqlite3.connect(self.path)
        try:
            apply_migrations(connection, [_migration(each) for each in migrations])
        finally:
            connection.close()
        return done()

    def ddl(self, table: str) -> Reply:
        return done(gate_table_ddl(table))

    def imported(self, must_not_import: str) -> Reply:
        assert f"{__package__}.gates_{must_not_import}" not in sys.modules
        return done()

    # -- operations of the library -----------------------------------------------------------------

    def open_gate(self, store: Any, **given: Any) -> Reply:
        return done({"id": gates.open_gate(store, **given).id})

    def resolve_gate(self, store: Any, **given: Any) -> Reply:
        return done(plain(gates.resolve_gate(store, **given)))

    def cancel_gate(self, store: Any, **given: Any) -> Reply:
        return done(plain(gates.cancel_gate(store, **given)))

    def wait_for_gate(self, store: Any, **given: Any) -> Reply:
        answer = gates.wait_for_gate(store, **given)
        return done(plain(answer), type=type(answer).__name__)

    def create(self, store: Any, **given: Any) -> Reply:
        return done(plain(store.create(**given)))

    def get(self, store: Any, id: str) -> Reply:
        return done(plain(store.get(id)))

    def list_pending(self, store: Any) -> Reply:
        return done({"ids": [gate.id for gate in store.list_pending()]})

    def create_then_mutate(self, store: Any, id: str, rule: Any, append_to: str, value: Any) -> Reply:
        store.create(id=id, prompt="p", rule=rule)
        if append_to != "rule.resolvers":
            raise CaseNotUnderstood(f"append to {append_to}")
        rule["resolvers"].append(value)
        return done()

    def probe_poll(self, store: Any, id: str, poll_ms: Any) -> Reply:
        """How long the waiter of this gate would sleep between two looks."""
        naps: list[float | None] = []
        abort = threading.Event()

        def nap(event: threading.Event, seconds: float | None) -> None:
            naps.append(seconds)
            abort.set()

        store.watch = Watch(store, monotonic=lambda: 0.0, pause=nap)
        given = {} if poll_ms == "default" else {"poll_ms": poll_ms}
        try:
            gates.wait_for_gate(store, id, abort=abort, **given)
        except gates.GateAborted:
            return done({"interval_is_default": naps == [0.25]})
        raise AssertionError("the wait ended by itself")

    def count_reads(self, store: Any, id: str, poll_ms: float, for_ms: float) -> Reply:
        """How often a wait looks into the store in that time, on a clock of its own."""
        reads, clock = 0, 0.0
        abort = threading.Event()
        look = store.no_longer_pending

        def counted(ids: Any) -> Any:
            nonlocal reads
            reads += 1
            return look(ids)

        def nap(event: threading.Event, seconds: float | None) -> None:
            nonlocal clock
            clock += seconds or 0
            if clock * 1000 > for_ms:
                abort.set()

        store.no_longer_pending = counted
        store.watch = Watch(store, monotonic=lambda: clock, pause=nap)
        try:
            gates.wait_for_gate(store, id, poll_ms=poll_ms, abort=abort)
        except gates.GateAborted:
            return done(reads)
        raise AssertionError("the wait ended by itself")

    def check(self, schema: Any, value: Any) -> Reply:
        issues = gates.check_against_json_schema(schema, value)
        return done({"valid": not issues, "paths": [issue.path for issue in issues]})

    def snapshot_brief(self, **given: Any) -> Reply:
        brief = gates.snapshot_brief(**bind(given))
        try:
            brief.summary = "changed"  # type: ignore[misc]
        except AttributeError:
            return done(plain(brief), frozen=True)
        return done(plain(brief), frozen=False)


def _migration(text: str) -> Migration:
    name, _, rest = text.removesuffix(")").partition("(")
    version, *table = (part.strip() for part in rest.split(","))
    if name == "product":
        sql = f"CREATE TABLE product_{version} (id INTEGER)"
        return Migration(int(version), name, lambda connection: connection.execute(sql) and None)
    return MIGRATIONS[name](int(version), *table)


BY_STORE = {
    "open_gate": World.open_gate,
    "resolve_gate": World.resolve_gate,
    "cancel_gate": World.cancel_gate,
    "wait_for_gate": World.wait_for_gate,
    "store.create": World.create,
    "store.get": World.get,
    "store.list_pending": World.list_pending,
    "create_then_mutate": World.create_then_mutate,
    "wait.probe": World.probe_poll,
    "count_reads": World.count_reads,
    "mutate_after": lambda world, store, **given: done(gates_probes.mutate_after(store, **given)),
    "catch_all": lambda world, store, kinds: done({"caught": gates_probes.catch_all(store, kinds)}),
}

OPERATIONS: dict[str, Callable[..., Reply]] = {
    **BY_STORE,
    "check_against_json_schema": World.check,
    "snapshot_brief": World.snapshot_brief,
    "gate_table_ddl": World.ddl,
    "db.migrate": World.migrate,
    "imported": World.imported,
    "specify": World.specify,
    "new_store": World.new_store,
    "close": World.close,
    "advance": World.advance,
    "set_fn": World.set_fn,
    "calls": World.calls,
    "mutate_option": World.mutate_option,
    "rows": World.rows,
    "background": World.background,
    "hold": World.hold,
    "release": World.release,
    "abort": World.abort,
    "collect": World.collect,
    "storm": World.storm,
    "error_table": lambda world, classes: done(gates_probes.error_table(classes)),
    "pickle_errors": lambda world: done(gates_probes.pickle_errors()),
}


def file_of(directory: Path) -> str:
    return str(directory / "gates.sqlite3")
