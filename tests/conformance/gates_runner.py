"""Runs one case of gates.json on one store, step by step, and raises at the first expectation that fails."""

import re
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from inbox.gates.model import isotime

from . import gates_probes
from .gates_actors import Actor, ProcessActor, ThreadActor
from .gates_bind import bind
from .gates_match import CaseFailed, CaseNotUnderstood, match
from .gates_reply import Reply, done, failed
from .gates_world import T0, World, file_of

PROJECT = Path(__file__).resolve().parent.parent.parent
ACTORS = ("p1", "p2", "p3")
Step = dict[str, Any]
_PLACEHOLDER = re.compile(r"\$\{([^{}]+)\}")


def run_case(case: dict[str, Any], kind: str, directory: Path) -> None:
    """Run a case on the `kind` of store, in an empty directory.

    Raises `CaseFailed` when an expectation fails, `CaseNotUnderstood` when the case says something unknown.
    """
    run = CaseRun(case, kind, directory)
    try:
        for number, step in enumerate(case["steps"]):
            run.step(step, f"{case['id']}/{kind} step {number} {step['op']}")
    finally:
        run.end()


class CaseRun:
    """The driver of one case: who is alive, what was saved, what time it is."""

    def __init__(self, case: dict[str, Any], kind: str, directory: Path) -> None:
        given = case["given"]
        if unknown := given.keys() - {"stores", "options", "note", "precreate"}:
            raise CaseNotUnderstood(f"{case['id']}: given {unknown}")
        self.case, self.kind, self.directory = case, kind, directory
        self.now = T0
        self.saved: dict[str, Any] = {"tmp": str(directory)}
        self.actors: dict[str, Actor] = {}
        self.specs: dict[str, dict[str, Any]] = {}
        self._raw: sqlite3.Connection | None = None
        if "with a table x" in given["note"]:
            self.raw.execute("CREATE TABLE x (id)")
        if given["precreate"]:
            self.specs["s"] = {"kind": kind, "options": given["options"]}
        try:
            self._begin()
        except BaseException:
            self.end()
            raise

    def _begin(self) -> None:
        named = {step["as"] for step in self.case["steps"]} | {"p1", "p2"}
        world = World(self.kind, file_of(self.directory))
        for name in ACTORS:
            if name in named and name not in self.actors:
                self.actors[name] = self.actor(world)
        for name, spec in self.specs.items():
            for actor in self.actors.values():
                actor.do("specify", {"name": name, "spec": spec})
            self.do("p1", "new_store", {"name": name, "spec": spec})

    def actor(self, world: World) -> Actor:
        """A thread around this world, or a process with a world of its own."""
        return ThreadActor(world) if self.kind == "memory" else ProcessActor(self.kind, world.path)

    def end(self) -> None:
        for actor in self.actors.values():
            actor.do("close", {})
            actor.end(kill=False)
        if self._raw is not None:
            self._raw.close()

    @property
    def raw(self) -> sqlite3.Connection:
        """A raw connection that commits every statement."""
        if self._raw is None:
            self._raw = sqlite3.connect(file_of(self.directory), isolation_level=None)
        return self._raw

    # -- a step ------------------------------------------------------------------------------------

    def step(self, step: Step, where: str) -> None:
        if unknown := step.keys() - {"as", "op", "input", "expect", "store", "save", "background"}:
            raise CaseNotUnderstood(f"{where}: step has {unknown}")
        op, given = step["op"], self.filled(step["input"])
        if step.get("background"):
            reply = self.do(
                step["as"], "background", {"op": op, "given": given, "store": step.get("store", "s")}
            )
            reply["result"] = {"as": step["as"], "task": reply["result"]}
        elif op in HARNESS:
            reply = HARNESS[op](self, step, **given)
        else:
            who = step["as"] if step["as"] in self.actors else "p1"
            reply = self.do(who, op, given, step.get("store", "s"))
        self.expect(self.filled(step["expect"]), reply, where)
        if "save" in step:
            self.saved[step["save"]] = reply["result"] if step.get("background") else reply

    def expect(self, expected: dict[str, Any], reply: dict[str, Any], where: str) -> None:
        """Check a reply against an expectation, every key of which must be understood."""
        for key, wanted in expected.items():
            if key == "ok":
                if wanted != "any" and reply["ok"] is not wanted:
                    raise CaseFailed(f"{where}: {reply}")
            elif key == "error":
                self.expect_error(wanted, reply.get("error"), where)
            elif key in ("result", "args", "frozen", "created_under_home"):
                match(wanted, reply.get(key), f"{where} {key}")
            elif key == "type":
                match(wanted["$model"], reply.get("type"), f"{where} type")
            elif key in EXPECTATIONS and "members" in reply:
                EXPECTATIONS[key](self, wanted, reply, f"{where} {key}")
            else:
                raise CaseNotUnderstood(f"{where}: expectation {key}")

    def expect_error(self, wanted: dict[str, Any], error: dict[str, Any] | None, where: str) -> None:
        if error is None:
            raise CaseFailed(f"{where}: no error")
        fields = dict(wanted)
        for text in fields.pop("contains", []):
            if text not in error["message"]:
                raise CaseFailed(f"{where}: {text!r} is not in {error['message']!r}")
        for text in fields.pop("excludes", []):
            if text in str(error):
                raise CaseFailed(f"{where}: {text!r} is in {error}")
        match(fields, error, f"{where} error")

    def filled(self, value: Any) -> Any:
        """The value with its placeholders filled in."""
        if isinstance(value, dict):
            return {key: self.filled(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        if not isinstance(value, str):
            return value
        if whole := _PLACEHOLDER.fullmatch(value):
            return self._named(whole[1])
        return _PLACEHOLDER.sub(lambda found: str(self._named(found[1])), value)

    def _named(self, name: str) -> Any:
        if offset := re.fullmatch(r"T0([+-]\d+)?", name):
            return T0 + timedelta(seconds=int(offset[1] or 0))
        if offset := re.fullmatch(r"iso\(T0([+-]\d+)?\)", name):
            return isotime(T0 + timedelta(seconds=int(offset[1] or 0)))
        if name == "iso_now":
            return isotime(self.now)
        if repeat := re.fullmatch(r"repeat:(.+):(\d+)", name):
            return repeat[1] * int(repeat[2])
        value: Any = self.saved
        for part in name.split("."):
            if part not in value:
                raise CaseNotUnderstood(f"placeholder {name}")
            value = value[part]
        return value

    def do(self, who: str, op: str, given: dict[str, Any], store: str = "s") -> Reply:
        return self.actors[who].do(op, given, store)

    def everywhere(self, op: str, **given: Any) -> list[Reply]:
        """Do the same in every process: with memory there is one, shared by its threads."""
        actors = list(self.actors.values())
        return [actor.do(op, given) for actor in (actors[:1] if self.kind == "memory" else actors)]

    # -- operations of the harness -----------------------------------------------------------------

    def advance_clock(self, step: Step, seconds: float) -> Reply:
        self.now += timedelta(seconds=seconds)
        return self.everywhere("advance", seconds=seconds)[0]

    def new_store(self, step: Step, kind: str, cwd: str | None = None, **given: Any) -> Reply:
        """A store under the name that the step saves it under; other processes open theirs at first use."""
        if unknown := given.keys() - {"options", "path"}:
            raise CaseNotUnderstood(f"new_store with {unknown}")
        name, spec = step.get("save", "s"), {"kind": kind, "options": {}, **given}
        before = set(Path.home().iterdir())
        reply = self.do(step["as"], "new_store", {"name": name, "spec": spec, "cwd": cwd})
        if reply["ok"]:
            for other in self.actors.keys() - {step["as"]}:
                self.do(other, "specify", {"name": name, "spec": spec})
        return {**reply, "created_under_home": bool(set(Path.home().iterdir()) - before)}

    def fn_calls(self, step: Step, fn: str) -> Reply:
        calls = [call for reply in self.everywhere("calls", fn=fn) for call in reply["result"]]
        return done(len(calls), args=calls)

    def collect(self, step: Step, wait: dict[str, Any]) -> Reply:
        return self.do(wait["as"], "collect", {"task": wait["task"]})

    def abort(self, step: Step, wait: dict[str, Any]) -> Reply:
        return self.do(wait["as"], "abort", {"task": wait["task"]})

    def set_fn(self, step: Step, **given: Any) -> Reply:
        return self.everywhere("set_fn", **given)[0]

    def mutate_option(self, step: Step, **given: Any) -> Reply:
        return self.everywhere("mutate_option", **given)[0]

    def exit(self, step: Step) -> Reply:
        return self._leave(step["as"], kill=False)

    def kill(self, step: Step) -> Reply:
        return self._leave(step["as"], kill=True)

    def _leave(self, who: str, *, kill: bool) -> Reply:
        if self.kind == "memory":  # the process ends, and with it what its threads share
            for actor in self.actors.values():
                actor.end(kill=False)
            self.actors.clear()
            self._begin()
        else:
            self.actors.pop(who).end(kill=kill)
        return done()

    def import_probe(self, step: Step, **given: Any) -> Reply:
        if step["as"] in self.actors:
            return self.do(step["as"], "imported", given)
        try:
            gates_probes.import_probe(str(PROJECT), module=given.pop("import"), **given)
        except AssertionError as error:
            return failed(error)
        return done()

    def vocabulary(self, step: Step) -> Reply:
        return done(gates_probes.vocabulary())

    # -- the raw database --------------------------------------------------------------------------

    def sql(self, step: Step, sql: str, params: list[Any]) -> Reply:
        values = [bind(each) for each in params]
        try:
            self.raw.execute(sql, values)
        except sqlite3.Error as error:
            return failed(error)
        return done()

    def row(self, step: Step, id: str) -> Reply:
        self.raw.row_factory = sqlite3.Row
        found = self.raw.execute("SELECT * FROM hitl_gate WHERE id = ?", (id,)).fetchone()
        self.raw.row_factory = None
        return done(dict(found))

    def column(self, sql: str, *values: Any) -> list[Any]:
        return [row[0] for row in self.raw.execute(sql, values)]

    def contains(self, step: Step, needle: str) -> Reply:
        if self.kind == "memory":
            return done(needle in str(self.do("p1", "rows", {})["result"]))
        files = [path.read_bytes() for path in self.directory.iterdir() if path.is_file()]
        return done(any(needle.encode() in content for content in files))

    def versions(self, step: Step) -> Reply:
        return done(self.column("SELECT version FROM hitl_gate_migration ORDER BY version"))

    def columns(self, step: Step, table: str) -> Reply:
        return done(self.column("SELECT name FROM pragma_table_info(?)", table))

    def tables(self, step: Step) -> Reply:
        return done(self.column("SELECT name FROM sqlite_master WHERE type = 'table'"))

    def reset(self, step: Step) -> Reply:
        self.everywhere("close")
        if self._raw is not None:
            self._raw.close()
            self._raw = None
        Path(file_of(self.directory)).unlink(missing_ok=True)
        return done()


HARNESS: dict[str, Callable[..., Reply]] = {
    "advance_clock": CaseRun.advance_clock,
    "new_store": CaseRun.new_store,
    "fn.calls": CaseRun.fn_calls,
    "set_fn": CaseRun.set_fn,
    "mutate_option": CaseRun.mutate_option,
    "wait.collect": CaseRun.collect,
    "wait.abort": CaseRun.abort,
    "exit": CaseRun.exit,
    "kill": CaseRun.kill,
    "import_probe": CaseRun.import_probe,
    "vocabulary": CaseRun.vocabulary,
    "db.sql": CaseRun.sql,
    "db.row": CaseRun.row,
    "db.contains": CaseRun.contains,
    "db.versions": CaseRun.versions,
    "db.columns": CaseRun.columns,
    "db.tables": CaseRun.tables,
    "db.reset": CaseRun.reset,
}
"""The operations that the driver carries out itself; `gates_races` and the tests add to them."""

EXPECTATIONS: dict[str, Callable[..., None]] = {}
"""What is expected of an operation that has members; `gates_races` fills it."""
