"""A pause that survives a crash: a gate is a row that one process opens and another settles, exactly once.

    gate = open_gate(store, prompt="Ship 1.4.0?", schema=Approval)
    answer = gate.wait()            # an Approval; this process may die meanwhile, the gate stays

    resolve_gate(store, gate.id, {"approved": True}, Resolver("owner-terminal", "ada", "cli"))

The store for everything but tests is `inbox.gates.sqlite.SqliteGateStore`; importing this package loads no
database driver. See docs/gates.md.
"""

from ..jsonvalue import Issue
from ..schema import check_against_json_schema
from .brief import snapshot_brief
from .errors import (
    GateAborted,
    GateAlreadyExists,
    GateAlreadySettled,
    GateArgumentInvalid,
    GateAuthorizeInvalid,
    GateBriefInvalid,
    GateCancelled,
    GateError,
    GateEvidenceInvalid,
    GateExpired,
    GateExpiryInvalid,
    GateInvalid,
    GateNotFound,
    GatePayloadInvalid,
    GateResolverRefused,
    GateRowInvalid,
    GateRuleInvalid,
    GateSchemaInvalid,
    GateStoreSchemaOutdated,
    GateWaitInTransaction,
)
from .gate import Gate, cancel_gate, open_gate, resolve_gate, wait_for_gate, wait_for_gate_async
from .memory import MemoryGateStore
from .model import (
    ACTOR_CLASSES,
    DELEGATE_CLASSES,
    RESOLVER_CLASSES,
    Allowance,
    Brief,
    GateRecord,
    Option,
    Question,
    Resolver,
    Rule,
)
from .store import GateStore, StoreOptions

__all__ = [
    "ACTOR_CLASSES",
    "DELEGATE_CLASSES",
    "RESOLVER_CLASSES",
    "Allowance",
    "Brief",
    "Gate",
    "GateAborted",
    "GateAlreadyExists",
    "GateAlreadySettled",
    "GateArgumentInvalid",
    "GateAuthorizeInvalid",
    "GateBriefInvalid",
    "GateCancelled",
    "GateError",
    "GateEvidenceInvalid",
    "GateExpired",
    "GateExpiryInvalid",
    "GateInvalid",
    "GateNotFound",
    "GatePayloadInvalid",
    "GateRecord",
    "GateResolverRefused",
    "GateRowInvalid",
    "GateRuleInvalid",
    "GateSchemaInvalid",
    "GateStore",
    "GateStoreSchemaOutdated",
    "GateWaitInTransaction",
    "Issue",
    "MemoryGateStore",
    "Option",
    "Question",
    "Resolver",
    "Rule",
    "StoreOptions",
    "cancel_gate",
    "check_against_json_schema",
    "open_gate",
    "resolve_gate",
    "snapshot_brief",
    "wait_for_gate",
    "wait_for_gate_async",
]
