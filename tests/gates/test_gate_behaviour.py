"""One suite, every store: what a gate does, beyond what the catalogue asks."""

import math
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from gate_stores import OWNER, REMOTE, RULE, STORES, T0, Approval, StillClock
from pydantic import BaseModel, ConfigDict

from inbox.gates import (
    Allowance,
    GateAlreadyExists,
    GateAlreadySettled,
    GateArgumentInvalid,
    GateAuthorizeInvalid,
    GateBriefInvalid,
    GateError,
    GateEvidenceInvalid,
    GateExpired,
    GateExpiryInvalid,
    GateInvalid,
    GateNotFound,
    GatePayloadInvalid,
    GateRecord,
    GateResolverRefused,
    GateRuleInvalid,
    GateSchemaInvalid,
    GateStore,
    MemoryGateStore,
    Question,
    Resolver,
    Rule,
    open_gate,
    resolve_gate,
    snapshot_brief,
    wait_for_gate,
)

# -- what is handed in -----------------------------------------------------------------------------

BAD_EXPIRY = [
    "2030-01-01T00:00:00",
    "2030-01-01",
    "2030-02-30T00:00:00Z",
    "tomorrow",
    "",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    datetime(2030, 1, 1),  # noqa: DTZ001 - a naive one is the point
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
    1718000000,
    1.5,
    True,
]


@pytest.mark.parametrize("expires_at", BAD_EXPIRY)
def test_what_is_no_instant_is_no_expiry(store: GateStore, expires_at: Any) -> None:
    with pytest.raises(GateExpiryInvalid) as caught:
        store.create(id="g1", prompt="p", expires_at=expires_at)
    assert (caught.value.gate_id, caught.value.paths) == ("g1", ("expires_at",))
    assert store.get("g1") is None


@pytest.mark.parametrize("zone", ["Africa/Lagos", "Asia/Kolkata", "America/New_York"])
def test_an_instant_is_one_in_every_time_zone(
    store: GateStore, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        store.create(id="g1", prompt="p", expires_at="2026-01-01T05:30:01+05:30")
        gate = store.get("g1")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert gate is not None
    assert gate.status == "pending"
    assert gate.expires_at == T0 + timedelta(seconds=1)
    assert os.environ.get("TZ") != zone


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({"id": "", "prompt": "p"}, ("id",)),
        ({"id": 7, "prompt": "p"}, ("id",)),
        ({"id": "a\0b", "prompt": "p"}, ("id",)),
        ({"id": "\ud800", "prompt": "p"}, ("id",)),
        ({"id": "g", "prompt": None}, ("prompt",)),
        ({"id": 7, "prompt": "a\0b"}, ("id", "prompt")),
    ],
)
def test_an_id_and_a_prompt_are_texts(
    store: GateStore, given: dict[str, Any], paths: tuple[str, ...]
) -> None:
    with pytest.raises(GateArgumentInvalid) as caught:
        store.create(**given)
    assert caught.value.paths == paths
    assert store.list_pending() == []


def test_an_id_that_nobody_can_store_is_nobodys(store: GateStore) -> None:
    assert store.get("\ud800") is None
    for use in (lambda: store.resolve("\ud800", True, OWNER), lambda: wait_for_gate(store, "\ud800")):
        with pytest.raises(GateNotFound):
            use()


@pytest.mark.parametrize("reason", [7, "\ud800", "a\0b"])
def test_a_reason_is_a_text(store: GateStore, reason: Any) -> None:
    store.create(id="g1", prompt="p")
    with pytest.raises(GateArgumentInvalid):
        store.cancel("g1", reason)
    assert [gate.id for gate in store.list_pending()] == ["g1"]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def endless() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


NOT_JSON = [
    math.nan,
    math.inf,
    {1: "a"},
    {"a": {2, 3}},
    b"bytes",
    "\ud800",
    {"\udfff": 1},
    object(),
    T0,
    2**64,
    10**5000,
    nested(400),
    nested(100_000),
    endless(),
]


@pytest.mark.parametrize("payload", NOT_JSON, ids=lambda value: type(value).__name__)
def test_a_payload_that_is_no_json_leaves_the_gate_pending(store: GateStore, payload: Any) -> None:
    store.create(id="g1", prompt="p")
    with pytest.raises(GatePayloadInvalid):
        store.resolve("g1", payload, OWNER)
    assert [gate.id for gate in store.list_pending()] == ["g1"]


@pytest.mark.parametrize(
    "payload",
    [None, False, 0, -1.5, "", "NUL \0 inside", "\u2028 \u202e \U0001f600", [], {}, {"": [None, {"a": 1}]}],
)
def test_every_json_value_comes_back_as_it_was(store: GateStore, payload: Any) -> None:
    gate = open_gate(store, prompt="p")
    resolve_gate(store, gate.id, payload, OWNER)
    answer = gate.wait()
    assert answer == payload
    assert type(answer) is type(payload)


def test_every_field_comes_back_as_it_was(store: GateStore, clock: StillClock) -> None:
    options = ({"id": "yes", "label": "Yes", "recommended": True}, {"id": "no", "label": "No"})
    given = store.create(
        id="run/step:2",
        prompt="Ship?\nIt is ready.",
        schema=Approval,
        expires_at=T0 + timedelta(days=1),
        rule={**RULE, "delegates": ["coordinator"]},
        summary="Ship 1.4.0",
        evidence_ref="$ make check",
        questions=[{"id": "q", "question": "Ship?", "options": options}],
    )
    assert store.get("run/step:2") == given
    clock.advance(seconds=1.5)
    settled = store.resolve("run/step:2", {"approved": True}, OWNER, evidence={"ci": "green"})
    assert store.get("run/step:2") == settled
    assert settled.resolved_at == clock.now
    unchanged = (
        "prompt",
        "schema",
        "created_at",
        "expires_at",
        "rule",
        "summary",
        "evidence_ref",
        "questions",
    )
    for field in unchanged:
        assert getattr(settled, field) == getattr(given, field)


def test_values_may_be_given_as_values(store: GateStore) -> None:
    first = store.create(id="g1", prompt="p", rule=RULE, questions=None)
    assert isinstance(first.rule, Rule)
    question = {"id": "q", "question": "?", "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]}
    second = store.create(id="g2", prompt="p", rule=first.rule, questions=[question])
    third = store.create(id="g3", prompt="p", questions=second.questions)
    assert isinstance(third.questions[0], Question)
    assert (second.rule, third.questions) == (first.rule, second.questions)
    with pytest.raises(GateAlreadyExists):
        store.create(id="g3", prompt="p")


@pytest.mark.parametrize(
    ("error", "given", "paths"),
    [
        (
            GateRuleInvalid,
            {"rule": {"table": " ", "resolvers": ["x"]}},
            {"table", "version", "rule_id", "resolvers"},
        ),
        (GateRuleInvalid, {"rule": {**RULE, "delegate": ["coordinator"]}}, {"delegate"}),
        (GateRuleInvalid, {"rule": "owners"}, {"rule"}),
        (GateBriefInvalid, {"summary": " ", "evidence_ref": 7}, {"summary", "evidence_ref"}),
        (GateBriefInvalid, {"questions": [{}, 7]}, {"questions.0.id", "questions.0.options", "questions.1"}),
        (GateBriefInvalid, {"questions": []}, {"questions"}),
        (GateBriefInvalid, {"summary": "a\u2028b"}, {"summary"}),
        (GateSchemaInvalid, {"schema": {"type": "strng", "required": "a"}}, {"type", "required"}),
        (GateSchemaInvalid, {"schema": {"$ref": "http://127.0.0.1:1/schema.json"}}, {"$"}),
        (GateSchemaInvalid, {"schema": object()}, {"$"}),
    ],
)
def test_what_is_bad_is_named_whole_and_writes_nothing(
    store: GateStore, error: type[GateInvalid], given: dict[str, Any], paths: set[str]
) -> None:
    with pytest.raises(error) as caught:
        store.create(id="g1", prompt="p", **given)
    assert paths <= set(caught.value.paths)
    assert all(issue.problem in str(caught.value) for issue in caught.value.issues)
    assert caught.value.gate_id == "g1"
    assert store.get("g1") is None


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")
    approved: bool


@pytest.mark.parametrize("approved", ["false", "true", 0, 1, 1.0, None, [], {}])
def test_only_a_boolean_is_a_boolean(store: GateStore, approved: Any) -> None:
    open_gate(store, id="g1", prompt="p", schema=Strict)
    for payload in ({"approved": approved}, {"approved": True, "extra": 1}, approved, {}):
        with pytest.raises(GatePayloadInvalid):
            store.resolve("g1", payload, OWNER)
    assert [gate.id for gate in store.list_pending()] == ["g1"]
    assert store.cancel("g1").status == "cancelled"  # withdrawing needs no payload, however strict the schema


def test_fifty_gates_with_one_prompt_are_fifty_gates(store: GateStore) -> None:
    opened = [open_gate(store, prompt="Ship?", schema=int) for _ in range(50)]
    assert len({gate.id for gate in opened}) == 50
    for number, gate in enumerate(opened):
        store.resolve(gate.id, number, OWNER)
    assert [gate.wait() for gate in opened] == list(range(50))


@pytest.mark.parametrize("raw", [None, 7, "text", [("summary", "s")]])
def test_a_brief_is_a_mapping(raw: Any) -> None:
    with pytest.raises(GateBriefInvalid):
        snapshot_brief("g1", raw)


def test_a_brief_is_its_own_snapshot() -> None:
    brief = snapshot_brief("g1", {"summary": "s", "evidence_ref": "/e"})
    assert snapshot_brief("g1", brief, required=True) == brief


@pytest.mark.parametrize(
    ("anchor", "problem"),
    [
        ("head/a.py#L1-L3", None),
        ("head/a.py#L3", None),
        ("head/a.py#L4", "outside"),
        ("head/a.py#L0-L1", "outside"),
        ("head/a.py#L3-L2", "outside"),
        ("head/b.py#L1", "no file"),
        ("base/b.py#L99", None),
        ("see a.py#L99 in head", None),
    ],
)
def test_an_anchor_lies_inside_its_file(anchor: str, problem: str | None) -> None:
    files = {("abc123", "a.py"): "one\ntwo\nthree"}

    def check() -> None:
        snapshot_brief(
            "g1", {"evidence_ref": anchor}, pins={"head": "abc123"}, source=lambda *at: files.get(at)
        )

    if problem is None:
        check()
    else:
        with pytest.raises(GateBriefInvalid, match=problem):
            check()


# -- who resolves ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "resolver",
    [
        {"class": "owner-terminal", "id": "ada"},
        {"class": "owner-terminal", "id": None, "channel": "cli"},
        {"class": "owner-terminal", "id": "ada", "channel": 7},
        {"class": "owner-terminal", "id": "ada", "channel": "cli", "confirm_event": 7},
        {"class": "owner-terminal", "id": "\ud800", "channel": "cli"},
        {"class": "root", "id": "ada", "channel": "cli"},
        {"class": ["owner-terminal"], "id": "ada", "channel": "cli"},
        {"id": "ada", "channel": "cli"},
        "owner-terminal",
    ],
)
def test_half_a_resolver_is_refused(store: GateStore, resolver: Any) -> None:
    store.create(id="g1", prompt="p")
    with pytest.raises(GateResolverRefused) as caught:
        store.resolve("g1", True, resolver)
    assert "ada" not in str(caught.value)
    assert [gate.id for gate in store.list_pending()] == ["g1"]


def test_the_payload_is_checked_before_the_product_is_asked(clock: StillClock) -> None:
    asked: list[str] = []

    def authorize(gate: Any, resolver: Resolver) -> dict[str, Any]:
        asked.append(gate.id)
        return {"allowed": True}

    store = MemoryGateStore(now=clock, authorize=authorize)
    store.create(id="g1", prompt="p", schema=Approval)
    with pytest.raises(GatePayloadInvalid):
        store.resolve("g1", {"approved": "false"}, OWNER)
    assert asked == []
    store.resolve("g1", {"approved": False}, OWNER)
    assert asked == ["g1"]


def test_a_coroutine_is_no_answer(clock: StillClock) -> None:
    async def later(*given: Any) -> dict[str, bool]:
        return {"allowed": True}

    store = MemoryGateStore(now=clock, authorize=later)  # type: ignore[arg-type]
    store.create(id="g1", prompt="p")
    with pytest.raises(GateAuthorizeInvalid):
        store.resolve("g1", True, OWNER)


def test_what_the_product_is_asked_with_is_a_copy(clock: StillClock) -> None:
    def meddle(gate: Any, resolver: Resolver) -> dict[str, Any]:
        object.__setattr__(resolver, "actor_class", "agent")
        gate.schema.clear()
        return {"allowed": True}

    store = MemoryGateStore(now=clock, authorize=meddle)
    store.create(id="g1", prompt="p", schema=Approval)
    settled = store.resolve("g1", {"approved": True}, OWNER)
    assert settled.resolved_by == OWNER
    assert settled.schema


@pytest.mark.parametrize(
    "allowances",
    [
        [{"resolver_class": "owner-terminal", "step_id": "s", "payload": 1}],
        [{"resolver_class": "coordinator", "step_id": " ", "payload": 1}],
        [{"resolver_class": "coordinator", "step_id": "s"}],
        [{"resolver_class": "coordinator", "step_id": "s", "payload": math.nan}],
        [{"resolver_class": "coordinator", "step_id": "s", "payload": 1, "expires": 1}],
        [7],
    ],
)
def test_half_an_allowance_is_none(allowances: Any) -> None:
    with pytest.raises(GateArgumentInvalid):
        MemoryGateStore(allowances=allowances)


@pytest.mark.parametrize("payload", [1, 1.0])
def test_an_allowance_is_exact_in_json(clock: StillClock, payload: Any) -> None:
    coordinator = Resolver("coordinator", "c1", "bus")
    store = MemoryGateStore(now=clock, allowances=[Allowance("coordinator", "step", 1)])
    store.create(id="run/step:1", prompt="p")
    store.create(id="run/step:1:x", prompt="p")
    with pytest.raises(GateResolverRefused):
        store.resolve("run/step:1", True, coordinator)
    with pytest.raises(GateResolverRefused):
        store.resolve("run/step:1:x", payload, coordinator)
    assert store.resolve("run/step:1", payload, coordinator).status == "resolved"


def test_a_rule_beats_an_allowance_and_a_policy(clock: StillClock) -> None:
    store = MemoryGateStore(
        now=clock,
        allowances=[Allowance("coordinator", "step", True)],
        evidence_policy=lambda gate, resolver, payload, evidence: True,
    )
    store.create(id="step", prompt="p", rule=RULE)
    with pytest.raises(GateResolverRefused):
        store.resolve("step", True, Resolver("coordinator", "c1", "bus"), evidence={"ci": "green"})


def test_evidence_of_exactly_16_kb_is_kept(store: GateStore) -> None:
    store.create(id="g1", prompt="p")
    evidence = {"a": "x" * (16 * 1024 - len('{"a":""}'))}
    with pytest.raises(GateEvidenceInvalid):
        store.resolve("g1", True, OWNER, evidence={"a": evidence["a"] + "x"})
    with pytest.raises(GateEvidenceInvalid):
        store.resolve("g1", True, OWNER, evidence={"a": math.nan})
    assert store.resolve("g1", True, OWNER, evidence=evidence).resolved_evidence == evidence


# -- settling --------------------------------------------------------------------------------------


def test_expired_is_no_answer_and_names_no_resolver(store: GateStore, clock: StillClock) -> None:
    deadline = T0 + timedelta(seconds=60)
    store.create(id="g1", prompt="p", expires_at=deadline)
    clock.advance(hours=1)
    with pytest.raises(GateExpired):
        store.resolve("g1", True, OWNER)
    gate = store.get("g1")
    assert gate is not None
    assert (gate.status, gate.resolved_at, gate.resolved_by) == ("expired", deadline, None)


def test_a_list_notices_every_deadline_at_once(store: GateStore, clock: StillClock) -> None:
    for number in range(10):
        store.create(id=f"g{number}", prompt="p", expires_at=T0 + timedelta(seconds=number))
    clock.advance(seconds=6)
    assert [gate.id for gate in store.list_pending()] == ["g7", "g8", "g9"]
    clock.now = T0 - timedelta(days=1)
    assert [gate.id for gate in store.list_pending()] == ["g7", "g8", "g9"]


def test_a_deadline_that_passes_between_read_and_write_is_kept(clock: StillClock) -> None:
    """The clock moves while the product is asked; nobody else looks at the gate."""

    def authorize(gate: Any, resolver: Resolver) -> dict[str, Any]:
        clock.advance(seconds=60)
        return {"allowed": True}

    store = MemoryGateStore(now=clock, authorize=authorize)
    store.create(id="g1", prompt="p", expires_at=T0 + timedelta(seconds=60))
    with pytest.raises(GateExpired):
        store.resolve("g1", True, OWNER)


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize(
    ("first", "told"),
    [
        (lambda store: store.cancel("g1", "superseded"), GateAlreadySettled),
        (lambda store: store.resolve("g1", {"approved": False}, OWNER), GateAlreadySettled),
        (lambda store: store.resolve("g1", {"approved": 1}, OWNER), GateAlreadySettled),
        (lambda store: store.resolve("g1", {"approved": True}, OWNER), None),
    ],
)
def test_whoever_loses_the_write_is_told_unless_it_said_the_same(
    kind: str, first: Callable[[GateStore], GateRecord], told: type[GateError] | None, tmp_path: Path
) -> None:
    """Another call settles the gate while the product is asked about this one."""
    winners: list[GateRecord] = []

    def authorize(gate: GateRecord, resolver: Resolver) -> dict[str, Any]:
        if resolver == REMOTE:
            winners.append(first(store))
        return {"allowed": True}

    with STORES[kind](tmp_path, authorize=authorize) as store:
        store.create(id="g1", prompt="p")
        if told is None:
            assert store.resolve("g1", {"approved": True}, REMOTE) == winners[0]
        else:
            with pytest.raises(told):
                store.resolve("g1", {"approved": True}, REMOTE)
        assert store.get("g1") == winners[0]


def test_a_naive_clock_is_no_clock() -> None:
    store = MemoryGateStore(now=lambda: datetime(2026, 1, 1))  # noqa: DTZ001
    for use in (lambda: store.create(prompt="p"), store.list_pending):
        with pytest.raises(ValueError, match="zone"):
            use()


def test_gates_are_listed_by_age_then_id(store: GateStore, clock: StillClock) -> None:
    for id in ("b", "a"):
        store.create(id=id, prompt="p")
    clock.advance(seconds=-1)
    store.create(id="c", prompt="p")
    assert [gate.id for gate in store.list_pending()] == ["c", "a", "b"]


def test_a_refused_answer_leaves_no_trace(store: GateStore) -> None:
    store.create(id="g1", prompt="p", rule=RULE)
    before = store.get("g1")
    for refused in (REMOTE, Resolver("agent", "a", "mcp")):
        with pytest.raises(GateResolverRefused):
            store.resolve("g1", True, refused)
    assert store.get("g1") == before
    store.resolve("g1", True, OWNER)
    with pytest.raises(GateAlreadySettled):
        store.resolve("g1", True, OWNER)


def test_strict_schema_takes_annotations_and_refuses_what_it_cannot_check(clock: StillClock) -> None:
    store = MemoryGateStore(now=clock, strict_schema=True)
    store.create(prompt="p", schema=Approval)
    with pytest.raises(GateSchemaInvalid) as caught:
        store.create(prompt="p", schema={"properties": {"n": {"minimum": 1}, "s": {"pattern": "^a"}}})
    assert caught.value.paths == ("properties.n.minimum", "properties.s.pattern")


def test_the_times_of_a_record_are_aware_and_utc(store: GateStore) -> None:
    gate = store.create(prompt="p", expires_at="2026-01-01T12:00:00+09:00")
    assert gate.created_at.tzinfo is UTC
    assert gate.expires_at is not None
    assert gate.expires_at.tzinfo is UTC
