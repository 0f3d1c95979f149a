"""The operations of the catalogue that look at the library as a whole, not at one gate."""

import json
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from inbox import gates
from inbox.gates import errors
from inbox.gates.model import ACTOR_CLASSES, DELEGATE_CLASSES, RESOLVER_CLASSES
from inbox.gates.sqlite import SqliteGateStore
from inbox.jsonvalue import Issue

from .gates_match import CaseNotUnderstood

OWNER = {"class": "owner-terminal", "id": "owner", "channel": "cli"}
MODULES = {"root": "inbox.gates", "sqlite": "inbox.gates.sqlite"}


def mutate_after(store: Any, calls: list[str], id: str) -> dict[str, Any]:
    """Change everything that was handed in or out, and see whether the stored gate changed."""
    if set(calls) != {"open_gate", "resolve_gate", "store.get"}:
        raise CaseNotUnderstood(f"mutate after {calls}")
    schema = {"type": "object", "properties": {"approved": {"type": "boolean"}}}
    rule = {"table": "F5", "version": "1", "rule_id": "R", "resolvers": ["owner-terminal"]}
    options = [{"id": "yes", "label": "Yes"}, {"id": "no", "label": "No"}]
    questions = [{"id": "q", "question": "Ship?", "options": options}]
    gates.open_gate(
        store,
        id=id,
        prompt="p",
        schema=schema,
        rule=rule,
        summary="s",
        evidence_ref="/e",
        questions=questions,
    )
    opened = store.get(id).as_json()
    schema["properties"]["approved"]["type"] = "string"
    rule["resolvers"].append("owner-remote")
    options[0]["label"] = "changed"
    questions.clear()
    changed = store.get(id).as_json() != opened

    payload, resolver, evidence = {"approved": True, "list": [1]}, dict(OWNER), {"ci": ["green"]}
    returned = gates.resolve_gate(store, id, payload, resolver, evidence=evidence)
    resolved = store.get(id).as_json()
    payload["list"].append(2)
    resolver["id"] = "changed"
    evidence["ci"].append("red")
    for record in (returned, store.get(id)):
        record.payload["list"].append(3)
        record.schema.clear()
        record.resolved_evidence.clear()
    return {"stored_changed": changed or store.get(id).as_json() != resolved}


def error_table(classes: list[str]) -> dict[str, Any]:
    """What all the named classes have in common."""
    named = [getattr(gates, name) for name in classes]
    made = [_examples()[each.__name__] for each in named]
    return {
        "all_extend": "GateError" if all(issubclass(each, gates.GateError) for each in named) else None,
        "all_have": ["gate_id"] if all(error.gate_id == "g1" for error in made) else [],
    }


def pickle_errors() -> dict[str, Any]:
    """Every error of the library, sent through a pickle, equals itself in class, text, code and fields."""
    equal = True
    for error in _examples().values():
        again = pickle.loads(pickle.dumps(error))
        equal &= (type(again), str(again), again.code, vars(again)) == (
            type(error),
            str(error),
            error.code,
            vars(error),
        )
    return {"equal_fields": equal}


def _examples() -> dict[str, gates.GateError]:
    """One error of each class."""
    arguments: dict[str, tuple[Any, ...]] = {
        "GateAlreadySettled": ("g1", "resolved"),
        "GateCancelled": ("g1", "superseded"),
        "GateAborted": ("g1", "timeout"),
        "GateResolverRefused": ("g1", "agent", "may not"),
        "GateAuthorizeInvalid": ("g1", "returned None"),
        "GateStoreSchemaOutdated": ("g1", "hitl_gate", "gate_rule_migration"),
    }
    examples = {}
    for each in vars(errors).values():
        if isinstance(each, type) and issubclass(each, gates.GateError) and each is not gates.GateError:
            default = ("g1", [Issue("a", "b")]) if issubclass(each, gates.GateInvalid) else ("g1",)
            examples[each.__name__] = each(*arguments.get(each.__name__, default))
    return examples


def catch_all(store: Any, kinds: list[str]) -> int:
    """Provoke a real error of each kind, and count those that one `except GateError` catches."""
    provoke = _provocations(store)
    caught = 0
    for kind in kinds:
        try:
            provoke[kind]()
        except gates.GateError:
            caught += 1
    return caught


def _provocations(store: Any) -> dict[str, Callable[[], object]]:
    path = store._connection.execute("PRAGMA database_list").fetchone()[2]
    abort = threading.Event()
    abort.set()
    for name in ("open", "settled", "cancelled", "refusing"):
        gates.open_gate(store, id=name, prompt="p", schema=bool)
    gates.resolve_gate(store, "settled", True, OWNER)
    gates.cancel_gate(store, "cancelled", "r")
    gates.open_gate(store, id="expired", prompt="p", expires_at=store.instant())

    def authorize() -> object:
        with SqliteGateStore(path, authorize=lambda gate, resolver: None) as other:  # type: ignore[arg-type,return-value]
            return other.resolve("refusing", True, OWNER)

    return {
        "not_found": lambda: gates.wait_for_gate(store, "nope"),
        "exists": lambda: store.create(id="open", prompt="p"),
        "settled": lambda: store.cancel("settled"),
        "expired": lambda: gates.wait_for_gate(store, "expired"),
        "cancelled": lambda: gates.wait_for_gate(store, "cancelled"),
        "aborted": lambda: gates.wait_for_gate(store, "open", abort=abort),
        "payload": lambda: store.resolve("open", "yes", OWNER),
        "resolver": lambda: store.resolve("open", True),
        "authorize": authorize,
        "rule": lambda: store.create(prompt="p", rule={}),
        "brief": lambda: store.create(prompt="p", summary=""),
        "schema": lambda: SqliteGateStore(path, table="other", migrate=False),
    }


def vocabulary() -> dict[str, Any]:
    """Who may resolve, and whom a store that was really asked refuses."""
    return {
        "resolver_classes": list(RESOLVER_CLASSES),
        "delegate_resolver_classes": list(DELEGATE_CLASSES),
        "refused": _refused(),
    }


def _refused() -> list[str]:
    refused = []
    for each in ACTOR_CLASSES:
        store = gates.MemoryGateStore()
        store.create(id="g1", prompt="p")
        try:
            store.resolve("g1", None, {**OWNER, "class": each})
        except gates.GateResolverRefused:
            refused.append(each)
    return refused


PROBE = """
import importlib, json, sys
module = importlib.import_module(sys.argv[1])
print(json.dumps([sorted(name for name in dir(module)), sorted(sys.modules)]))
"""


def import_probe(
    root: str,
    *,
    module: str,
    must_have: list[str] = [],  # noqa: B006 - never written to
    must_lack: list[str] = [],  # noqa: B006
    must_not_import: list[str] = [],  # noqa: B006
) -> None:
    """Import a module in a fresh process and look at its names and at what it loaded."""
    if module not in MODULES:
        raise CaseNotUnderstood(f"import of {module}")
    command = [sys.executable, "-c", PROBE, MODULES[module]]
    out = subprocess.run(command, capture_output=True, check=True, text=True, cwd=root, timeout=60).stdout
    names, modules = json.loads(out)
    assert set(must_have) <= set(names), set(must_have) - set(names)
    assert not set(must_lack) & set(names), set(must_lack) & set(names)
    assert not set(must_not_import) & set(modules), set(must_not_import) & set(modules)
