"""Waiting in an event loop. Imported by the first wait that needs it: asyncio is no small import."""

import asyncio
import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from .errors import GateAborted
from .model import PENDING, GateRecord
from .wait import DEFAULT_POLL_MS, Ticket, Watch, check_patience

V = TypeVar("V")


class GateTaskCancelled(GateAborted, asyncio.CancelledError):
    """The waiting task was cancelled. Both at once, so that asyncio too sees its cancellation arrive."""


async def wait(
    watch: Watch, gate_id: str, *, poll_ms: float = DEFAULT_POLL_MS, timeout: float | None = None
) -> GateRecord:
    """Like `Watch.wait`, for a task: all tasks of one loop that wait on one store share one query per poll.

    Raises as `Watch.wait` does; `GateTaskCancelled`, a `GateAborted`, when the task is cancelled.
    """
    check_patience(gate_id, poll_ms, timeout)
    try:
        gate = await _spared(watch, partial(watch.as_it_stands, gate_id))
        if gate.status != PENDING:
            return gate
        async with asyncio.timeout(timeout):
            return await _settled(watch, gate, poll_ms / 1000)
    except TimeoutError as error:
        raise GateAborted(gate_id, f"nothing within {timeout} s") from error
    except asyncio.CancelledError as error:
        raise GateTaskCancelled(gate_id, "the task was cancelled") from error


async def _settled(watch: Watch, gate: GateRecord, poll: float) -> GateRecord:
    loop = asyncio.get_running_loop()
    awake = asyncio.Event()

    def wake() -> None:
        with suppress(RuntimeError):  # the loop was closed while others still waited in theirs
            loop.call_soon_threadsafe(awake.set)

    ticket = Ticket(gate, poll=poll, wake=wake, crowd=loop)
    with watch.joined(ticket):
        while True:
            due_in = await _spared(watch, partial(watch.look, ticket))
            if settled := ticket.result():
                return settled
            with suppress(TimeoutError):
                await asyncio.wait_for(awake.wait(), None if due_in == math.inf else due_in)
            awake.clear()


async def _spared(watch: Watch, read: Callable[[], V]) -> V:
    """Read, and spare the event loop a read that may block and may run elsewhere."""
    return await asyncio.to_thread(read) if watch.store.may_block else read()
