"""The calls of the library and the handle of a gate: open, resolve, cancel, wait, and wait in a task."""

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar, overload

from pydantic import TypeAdapter

from ..schema import SchemaUnusable, Shape, ValueUnfit, check_against_json_schema
from .errors import GateCancelled, GateExpired, GatePayloadInvalid, GateSchemaInvalid
from .model import CANCELLED, EXPIRED, GateRecord, Question, Resolver, Rule
from .store import GateStore
from .wait import DEFAULT_POLL_MS

T = TypeVar("T")


class Gate(Generic[T]):
    """The handle of a gate that this process opened. It holds no state: the gate is the row.

    After a restart there is no handle, and none is needed: `wait_for_gate` takes the id.
    """

    def __init__(self, store: GateStore, id: str, shape: Shape[T]) -> None:
        self.store = store
        self.id = id
        self._shape = shape

    def __repr__(self) -> str:
        return f"<Gate {self.id!r}>"

    def wait(
        self,
        *,
        poll_ms: float = DEFAULT_POLL_MS,
        timeout: float | None = None,
        abort: threading.Event | None = None,
    ) -> T:
        """Block until the gate is answered, and return the answer as the type that the gate was opened with.

        `poll_ms` is how often the store is asked. `timeout` (seconds) and `abort` give up the wait.

        Raises `GateCancelled` with the reason; `GateExpired`; `GatePayloadInvalid` when the answer is not of
        the type, though it fits its JSON Schema; `GateAborted` when given up, which leaves the gate as it is;
        `GateNotFound`; `GateWaitInTransaction` inside an open transaction of the store's connection;
        `GateArgumentInvalid` for an impossible `poll_ms` or `timeout`.
        """
        settled = self.store.watch.wait(self.id, poll_ms=poll_ms, timeout=timeout, abort=abort)
        return _answer(settled, self._shape)

    async def wait_async(self, *, poll_ms: float = DEFAULT_POLL_MS, timeout: float | None = None) -> T:
        """Like `wait`, without blocking the event loop.

        Raises as `wait` does. When the task is cancelled, the `GateAborted` that comes out of here is an
        `asyncio.CancelledError` too.
        """
        from .aio import wait  # noqa: PLC0415 - whoever waits in threads does not pay for asyncio

        settled = await wait(self.store.watch, self.id, poll_ms=poll_ms, timeout=timeout)
        return _answer(settled, self._shape)


@overload
def open_gate(
    store: GateStore,
    *,
    prompt: str,
    schema: type[T] | TypeAdapter[T],
    id: str | None = None,
    expires_at: datetime | str | None = None,
    rule: Rule | Mapping[str, Any] | None = None,
    summary: str | None = None,
    evidence_ref: str | None = None,
    questions: Sequence[Question | Mapping[str, Any]] | None = None,
    poll_ms: float | None = None,
) -> Gate[T]: ...


@overload
def open_gate(
    store: GateStore,
    *,
    prompt: str,
    schema: object = None,
    id: str | None = None,
    expires_at: datetime | str | None = None,
    rule: Rule | Mapping[str, Any] | None = None,
    summary: str | None = None,
    evidence_ref: str | None = None,
    questions: Sequence[Question | Mapping[str, Any]] | None = None,
    poll_ms: float | None = None,
) -> Gate[Any]: ...


def open_gate(
    store: GateStore,
    *,
    prompt: str,
    schema: Any = None,
    id: str | None = None,
    expires_at: datetime | str | None = None,
    rule: Rule | Mapping[str, Any] | None = None,
    summary: str | None = None,
    evidence_ref: str | None = None,
    questions: Sequence[Question | Mapping[str, Any]] | None = None,
    poll_ms: float | None = None,  # noqa: ARG001 - it belongs to waiting; here it is accepted and ignored
) -> Gate[Any]:
    """Open a gate: a pending row that any process can settle, once. Returns its handle.

    `schema` says what an answer must look like: a pydantic model, any type that pydantic's TypeAdapter takes,
    a TypeAdapter, or a JSON Schema as a mapping; without one any JSON value will do. `expires_at` is an aware
    datetime or an ISO 8601 text with a zone; at that instant the gate has expired. `rule` narrows who may
    resolve; `summary`, `evidence_ref` and `questions` are what the owner reads (see `snapshot_brief`).

    Raises, and writes nothing: what `GateStore.create` raises.
    """
    shape = _shape(id or "", schema)
    record = store.create(
        id=id,
        prompt=prompt,
        schema=shape,
        expires_at=expires_at,
        rule=rule,
        summary=summary,
        evidence_ref=evidence_ref,
        questions=questions,
    )
    return Gate(store, record.id, shape)


def resolve_gate(
    store: GateStore,
    id: str,
    payload: Any,
    resolver: Resolver | Mapping[str, Any] | None = None,
    *,
    evidence: dict[str, Any] | None = None,
) -> GateRecord:
    """Answer a gate, from anywhere: see `GateStore.resolve`."""
    return store.resolve(id, payload, resolver, evidence=evidence)


def cancel_gate(store: GateStore, id: str, reason: str | None = None) -> GateRecord:
    """Withdraw a gate, from anywhere: see `GateStore.cancel`."""
    return store.cancel(id, reason)


@overload
def wait_for_gate(
    store: GateStore,
    id: str,
    schema: type[T] | TypeAdapter[T],
    *,
    poll_ms: float = DEFAULT_POLL_MS,
    timeout: float | None = None,
    abort: threading.Event | None = None,
) -> T: ...


@overload
def wait_for_gate(
    store: GateStore,
    id: str,
    schema: object = None,
    *,
    poll_ms: float = DEFAULT_POLL_MS,
    timeout: float | None = None,
    abort: threading.Event | None = None,
) -> Any: ...


def wait_for_gate(
    store: GateStore,
    id: str,
    schema: Any = None,
    *,
    poll_ms: float = DEFAULT_POLL_MS,
    timeout: float | None = None,
    abort: threading.Event | None = None,
) -> Any:
    """Wait on a gate that somebody opened, perhaps before a restart: see `Gate.wait`.

    Returns the answer as `schema`, or without one as the JSON value that was stored.
    """
    gate = Gate(store, id, _shape(id, schema))
    return gate.wait(poll_ms=poll_ms, timeout=timeout, abort=abort)


@overload
async def wait_for_gate_async(
    store: GateStore,
    id: str,
    schema: type[T] | TypeAdapter[T],
    *,
    poll_ms: float = DEFAULT_POLL_MS,
    timeout: float | None = None,
) -> T: ...


@overload
async def wait_for_gate_async(
    store: GateStore,
    id: str,
    schema: object = None,
    *,
    poll_ms: float = DEFAULT_POLL_MS,
    timeout: float | None = None,
) -> Any: ...


async def wait_for_gate_async(
    store: GateStore,
    id: str,
    schema: Any = None,
    *,
    poll_ms: float = DEFAULT_POLL_MS,
    timeout: float | None = None,
) -> Any:
    """Like `wait_for_gate`, without blocking the event loop: see `Gate.wait_async`."""
    gate = Gate(store, id, _shape(id, schema))
    return await gate.wait_async(poll_ms=poll_ms, timeout=timeout)


def _shape(gate_id: str, schema: Any) -> Shape[Any]:
    try:
        return Shape(schema)
    except SchemaUnusable as error:
        raise GateSchemaInvalid(gate_id, error.issues) from error


def _answer(settled: GateRecord, shape: Shape[T]) -> T:
    """What a wait brings back from a gate that has settled."""
    if settled.status == CANCELLED:
        raise GateCancelled(settled.id, settled.reason)
    if settled.status == EXPIRED:
        raise GateExpired(settled.id)
    # The row may have been edited by hand since the boundary check, so that is made again.
    if issues := check_against_json_schema(settled.schema or {}, settled.payload):
        raise GatePayloadInvalid(settled.id, issues)
    try:
        return shape.read(settled.payload)
    except ValueUnfit as error:
        raise GatePayloadInvalid(settled.id, error.issues) from error
