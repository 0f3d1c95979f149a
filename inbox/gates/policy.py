"""Who may settle a gate: the claim is copied, checked, and recorded (D28).

The checks of a resolve, in this order; each can only refuse, and nothing is written before all have passed:

  P1  a resolver is named, whole, with a class from the vocabulary
  P2  its class may resolve: an owner's class, a delegate of the rule, an allowance, or admitted on evidence
  P3  the gate's rule, if it has one, admits the class
  P4  `authorize`, if the store has it, allows it (asked last, after the payload was checked)
"""

import re
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from ..jsonvalue import Issue, join, json_copy, json_equal, json_issues, to_json
from .errors import (
    GateArgumentInvalid,
    GateAuthorizeInvalid,
    GateEvidenceInvalid,
    GateResolverRefused,
    GateRuleInvalid,
)
from .model import (
    ACTOR_CLASSES,
    DELEGATE_CLASSES,
    REFUSED_CLASSES,
    RESOLVER_CLASSES,
    Allowance,
    Authorize,
    EvidencePolicy,
    GateRecord,
    Resolver,
    Rule,
)

MAX_EVIDENCE_BYTES = 16 * 1024
_REPEAT_SUFFIX = re.compile(r":[0-9]+$")


# -- what was handed in, copied --------------------------------------------------------------------


def read_once(raw: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """The named fields that a mapping has, each read exactly once: what is checked is what is kept."""
    fields = {}
    for name in names:
        try:
            fields[name] = raw[name]
        except KeyError:
            continue
    return fields


def unknown_keys(raw: Mapping[str, Any], *names: str) -> Iterator[Issue]:
    """An issue for each key that nobody declared: dropping it in silence would hide a misspelling."""
    for key in raw:
        if key not in names:
            yield Issue(str(key), "unknown")


def snapshot_resolver(gate_id: str, raw: Resolver | Mapping[str, Any] | None) -> Resolver:
    """P1: a frozen copy of the resolver's declared fields; others are left behind.

    Raises `GateResolverRefused`.
    """
    if raw is None:
        raise GateResolverRefused(gate_id, None, "a resolver is required")
    claim = raw.as_json() if isinstance(raw, Resolver) else raw
    if not isinstance(claim, Mapping):
        raise GateResolverRefused(gate_id, None, "a resolver is a mapping of class, id and channel")
    fields = read_once(claim, "class", "id", "channel", "confirm_event")
    actor_class = fields.get("class")
    if actor_class not in ACTOR_CLASSES:
        named = actor_class if isinstance(actor_class, str) else None
        raise GateResolverRefused(gate_id, named, f"the class must be one of {', '.join(ACTOR_CLASSES)}")
    for name in ("id", "channel", "confirm_event"):
        value = fields.get(name)
        if value is None and name == "confirm_event":
            continue
        if not isinstance(value, str) or any(json_issues(value)):
            raise GateResolverRefused(gate_id, actor_class, f"its {name} must be a string")
    return Resolver(actor_class, fields["id"], fields["channel"], fields.get("confirm_event"))


def snapshot_rule(gate_id: str, raw: Rule | Mapping[str, Any] | None) -> Rule | None:
    """A frozen copy of a rule, so that nobody widens it later.

    Raises `GateRuleInvalid` naming every problem.
    """
    if raw is None:
        return None
    given = raw.as_json() if isinstance(raw, Rule) else raw
    if not isinstance(given, Mapping):
        raise GateRuleInvalid(gate_id, [Issue("rule", "must be a mapping")])
    names = ("table", "version", "rule_id", "resolvers", "delegates")
    fields = read_once(given, *names)
    issues = [*unknown_keys(given, *names)]
    issues += [
        Issue(name, "must be a string that is not blank")
        for name in ("table", "version", "rule_id")
        if not is_text(fields.get(name))
    ]
    resolvers = _classes(fields.get("resolvers"))
    delegates = _classes(fields.get("delegates") or [])
    if not resolvers:
        issues.append(Issue("resolvers", "must be a list of at least one class"))
    if delegates is None:
        issues.append(Issue("delegates", "must be a list of classes"))
    issues += _outside("resolvers", resolvers, RESOLVER_CLASSES)
    issues += _outside("delegates", delegates, DELEGATE_CLASSES)
    if issues:
        raise GateRuleInvalid(gate_id, issues)
    return Rule(fields["table"], fields["version"], fields["rule_id"], resolvers or (), delegates or ())


def snapshot_evidence(gate_id: str, raw: Any) -> dict[str, Any] | None:
    """A copy of the evidence that a resolve carries: a JSON object of at most 16 KB of compact UTF-8.

    Raises `GateEvidenceInvalid`.
    """
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise GateEvidenceInvalid(gate_id, [Issue("evidence", "must be a JSON object")])
    if issues := [*json_issues(raw)]:
        raise GateEvidenceInvalid(gate_id, issues)
    text = to_json(raw)
    if len(text.encode()) > MAX_EVIDENCE_BYTES:
        raise GateEvidenceInvalid(gate_id, [Issue("evidence", f"exceeds {MAX_EVIDENCE_BYTES} bytes")])
    copied: dict[str, Any] = json_copy(raw)
    return copied


def snapshot_allowances(raw: Iterable[Allowance | Mapping[str, Any]]) -> tuple[Allowance, ...]:
    """A copy of the store's allowances.

    Raises `GateArgumentInvalid` naming every problem; its `gate_id` is empty.
    """
    allowances, issues = [], []
    for index, each in enumerate(raw):
        fields, found = _allowance(vars(each) if isinstance(each, Allowance) else each)
        issues += [Issue(join(f"allowances.{index}", issue.path), issue.problem) for issue in found]
        if not found:
            allowances.append(Allowance(**{**fields, "payload": json_copy(fields["payload"])}))
    if issues:
        raise GateArgumentInvalid("", issues)
    return tuple(allowances)


def _allowance(raw: object) -> tuple[dict[str, Any], list[Issue]]:
    if not isinstance(raw, Mapping):
        return {}, [Issue("$", "must be a mapping")]
    names = ("resolver_class", "step_id", "payload")
    fields = read_once(raw, *names)
    issues = [*unknown_keys(raw, *names)]
    issues += [Issue(name, "required") for name in names if name not in fields]
    issues += json_issues(fields.get("payload"), "payload")
    if fields.get("resolver_class") not in REFUSED_CLASSES:
        issues.append(Issue("resolver_class", f"must be one of {', '.join(REFUSED_CLASSES)}"))
    if not is_text(fields.get("step_id")):
        issues.append(Issue("step_id", "must be a string that is not blank"))
    return fields, issues


def is_text(value: object) -> bool:
    """Whether a value is a string that can be stored and is not blank."""
    return isinstance(value, str) and bool(value.strip()) and not any(json_issues(value))


def _classes(raw: object) -> tuple[Any, ...] | None:
    return tuple(raw) if isinstance(raw, list | tuple) else None


def _outside(name: str, classes: tuple[Any, ...] | None, known: tuple[str, ...]) -> Iterator[Issue]:
    for each in classes or ():
        if each not in known:
            yield Issue(name, f"{each!r} is none of {', '.join(known)}")


# -- the checks ------------------------------------------------------------------------------------


def step_of(gate_id: str) -> str:
    """The step that a gate id names: the text after the last `/`, without a repeat suffix `:<n>`."""
    return _REPEAT_SUFFIX.sub("", gate_id.rpartition("/")[2])


class Policy:
    """The rules of one store about who may resolve. What it was given is copied; it never changes."""

    def __init__(
        self,
        *,
        authorize: Authorize | None = None,
        allowances: Iterable[Allowance | Mapping[str, Any]] = (),
        evidence_policy: EvidencePolicy | None = None,
    ) -> None:
        self._authorize = authorize
        self._allowances = snapshot_allowances(allowances)
        self._evidence_policy = evidence_policy

    def admit(
        self, gate: GateRecord, resolver: Resolver, payload: Any, evidence: dict[str, Any] | None
    ) -> None:
        """P2 and P3.

        Raises `GateResolverRefused`.
        """
        delegated = self._is_delegate(gate, resolver)
        if resolver.actor_class not in RESOLVER_CLASSES and not (
            delegated
            or self._is_allowed(gate, resolver, payload)
            or self._is_proven(gate, resolver, payload, evidence)
        ):
            raise GateResolverRefused(gate.id, resolver.actor_class, "this class may not resolve")
        if gate.rule and resolver.actor_class not in gate.rule.resolvers and not delegated:
            raise GateResolverRefused(gate.id, resolver.actor_class, "the rule of the gate does not")

    def authorize(self, gate: GateRecord, resolver: Resolver) -> None:
        """P4.

        Raises `GateResolverRefused` on a no, with the reason given; `GateAuthorizeInvalid` on anything that
        is neither a yes nor a no, an exception included.
        """
        if self._authorize is None:
            return
        try:
            answer = _call(self._authorize, gate, resolver)
        except Exception as error:
            raise GateAuthorizeInvalid(gate.id, f"raised {type(error).__name__}") from error
        allowed = answer.get("allowed") if isinstance(answer, Mapping) else None
        if not isinstance(allowed, bool):
            raise GateAuthorizeInvalid(gate.id, f"returned {type(answer).__name__}")
        if not allowed:
            reason = answer.get("reason")
            raise GateResolverRefused(
                gate.id, resolver.actor_class, f"not authorized: {reason or 'no reason'}"
            )

    def _is_delegate(self, gate: GateRecord, resolver: Resolver) -> bool:
        return (
            gate.rule is not None
            and resolver.actor_class in gate.rule.delegates
            and self._authorize is not None
            and is_text(resolver.id)
        )

    def _is_allowed(self, gate: GateRecord, resolver: Resolver, payload: Any) -> bool:
        return is_text(resolver.id) and any(
            allowance.resolver_class == resolver.actor_class
            and allowance.step_id == step_of(gate.id)
            and json_equal(allowance.payload, payload)
            for allowance in self._allowances
        )

    def _is_proven(
        self, gate: GateRecord, resolver: Resolver, payload: Any, evidence: dict[str, Any] | None
    ) -> bool:
        if self._evidence_policy is None or evidence is None or not is_text(resolver.id):
            return False
        try:
            return _call(self._evidence_policy, gate, resolver, payload, evidence) is True
        except Exception:  # noqa: BLE001 - a policy that breaks has not admitted anybody
            return False


def _call(function: Any, *args: Any) -> Any:
    """Ask one of the product's callables, on copies. A coroutine is closed, for nobody will await it."""
    answer = function(*deepcopy(args))
    if isinstance(answer, Coroutine):
        answer.close()
    return answer
