"""Waiting: everybody who waits on one store in one process shares one query per poll.

A waiter puts down a ticket and sleeps on an event. Waiters that share a fate form a crowd: all threads, or
all tasks of one event loop. The first of a crowd looks for it: one query for every gate that anybody waits
on, then sleep until the next poll. The others are woken only by their answer. When the first leaves, the
next takes over. Crowds spare each other's queries too: a look by one counts for all.

Polls and timeouts run on monotonic time, never on the store's clock (house rule 10).
"""

import math
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from typing import Protocol, TypeGuard

from ..clock import millis
from ..jsonvalue import Issue
from ..settle import is_due
from .errors import GateAborted, GateArgumentInvalid, GateError, GateNotFound
from .model import PENDING, GateRecord

DEFAULT_POLL_MS = 250

THREADS = "threads"
"""The crowd of all waiting threads."""


class Watched(Protocol):
    """What a store offers to those who wait on it."""

    def get(self, id: str) -> GateRecord | None:
        """Read one gate, noticing its deadline."""
        ...

    def instant(self) -> datetime:
        """The store's now."""
        ...

    def no_longer_pending(self, ids: Iterable[str]) -> list[str]:
        """Which of these gates settled, or are gone. One query, however many are asked for."""
        ...

    def check_can_wait(self, id: str) -> None:
        """Raise when a wait could never end."""

    @property
    def may_block(self) -> bool:
        """Whether a read may block for long and may run in any thread."""
        ...


class Ticket:
    """One waiter: its gate, how often it wants to look (seconds), and how it is woken from any thread."""

    __slots__ = ("crowd", "deadline", "gate_id", "outcome", "poll", "wake")

    def __init__(
        self, gate: GateRecord, *, poll: float, wake: Callable[[], object], crowd: Hashable = THREADS
    ) -> None:
        self.gate_id = gate.id
        self.deadline = gate.deadline
        self.poll = poll
        self.wake = wake
        self.crowd = crowd
        self.outcome: GateRecord | GateError | None = None

    def result(self) -> GateRecord | None:
        """The settled gate, or None as long as nothing is known.

        Raises `GateNotFound` when the gate is gone, `GateRowInvalid` when its row cannot be read.
        """
        if isinstance(self.outcome, GateError):
            raise copy(self.outcome)  # one exception object in two threads would mix their tracebacks
        return self.outcome


def check_patience(gate_id: str, poll_ms: object, timeout: object) -> None:
    """Refuse what is no poll interval or no timeout, alike for every way to wait.

    Raises `GateArgumentInvalid`.
    """
    issues = []
    if not _is_number(poll_ms) or not 0 < poll_ms < math.inf:
        issues.append(Issue("poll_ms", "must be a positive number of milliseconds"))
    if timeout is not None and (not _is_number(timeout) or not 0 <= timeout < math.inf):
        issues.append(Issue("timeout", "must be a number of seconds, 0 or more, or None for no end"))
    if issues:
        raise GateArgumentInvalid(gate_id, issues)


class Watch:
    """All who wait on one store in this process.

    `monotonic` returns seconds; `pause(event, seconds)` sleeps until the event is set or the time is over,
    and None for `seconds` means until it is set. A test hands in its own.
    """

    def __init__(
        self,
        store: Watched,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        pause: Callable[[threading.Event, float | None], object] = threading.Event.wait,
    ) -> None:
        self.store = store
        self.monotonic = monotonic
        self._pause = pause
        self._lock = threading.Lock()
        self._crowds: dict[Hashable, dict[Ticket, None]] = {}
        self._looked = -math.inf

    def as_it_stands(self, gate_id: str) -> GateRecord:
        """The gate as it stands, for whoever is about to wait on it: pending or settled.

        Raises `GateNotFound`, and `GateWaitInTransaction` when it is pending and a wait could never end.
        """
        gate = self.store.get(gate_id)
        if gate is None:
            raise GateNotFound(gate_id)
        if gate.status == PENDING:
            self.store.check_can_wait(gate_id)
        return gate

    def wait(
        self,
        gate_id: str,
        *,
        poll_ms: float = DEFAULT_POLL_MS,
        timeout: float | None = None,
        abort: threading.Event | None = None,
    ) -> GateRecord:
        """Block until the gate has settled, and return it, whatever its status.

        Raises `GateAborted` after `timeout` seconds, or within one poll once `abort` is set; `GateNotFound`,
        `GateWaitInTransaction`, `GateArgumentInvalid`.
        """
        check_patience(gate_id, poll_ms, timeout)
        gate = self.as_it_stands(gate_id)
        if gate.status != PENDING:
            return gate
        awake = threading.Event()
        ticket = Ticket(gate, poll=poll_ms / 1000, wake=awake.set)
        end = math.inf if timeout is None else self.monotonic() + timeout
        # Setting the abort event wakes nobody, so a waiter that has one looks up by itself.
        longest_nap = math.inf if abort is None else ticket.poll
        with self.joined(ticket):
            while True:
                due_in = self.look(ticket)
                if settled := ticket.result():
                    return settled
                if abort is not None and abort.is_set():
                    raise GateAborted(gate_id, "the abort event was set")
                left = end - self.monotonic()
                if left <= 0:
                    raise GateAborted(gate_id, f"nothing within {timeout} s")
                nap = min(due_in, left, longest_nap)
                self._pause(awake, None if nap == math.inf else nap)
                awake.clear()

    @contextmanager
    def joined(self, ticket: Ticket) -> Iterator[None]:
        """The ticket lies on the table while the block runs."""
        with self._lock:
            crowd = self._crowds.setdefault(ticket.crowd, {})
            first = next(iter(crowd), None)
            crowd[ticket] = None
        if first is not None and ticket.poll < first.poll:
            first.wake()  # it may be asleep for longer than the newcomer wants
        try:
            yield
        finally:
            with self._lock:
                firsts = self._remove([ticket])
            for first in firsts:
                first.wake()

    def look(self, ticket: Ticket) -> float:
        """Make the one query for everybody, if this ticket is the first of its crowd and a look is due.

        Returns the seconds until this ticket should look again: infinity for whoever is not the first.
        """
        with self._lock:
            crowd = self._crowds.get(ticket.crowd, {})
            if next(iter(crowd), None) is not ticket:
                return math.inf
            poll = min(each.poll for each in crowd)
            due_in = self._looked + poll - self.monotonic()
            if due_in > 0:
                return due_in
            self._looked = self.monotonic()
            tickets = [each for crowd in self._crowds.values() for each in crowd]
        self._deliver(self._outcomes(tickets))
        return poll

    def _outcomes(self, tickets: list[Ticket]) -> dict[str, GateRecord | GateError]:
        now = millis(self.store.instant())
        changed = {*self.store.no_longer_pending({each.gate_id for each in tickets})}
        changed |= {each.gate_id for each in tickets if is_due(now, each.deadline)}
        outcomes: dict[str, GateRecord | GateError] = {}
        for gate_id in changed:
            try:
                gate = self.store.get(gate_id)
            except GateError as error:  # one unreadable row must not end everybody's wait
                outcomes[gate_id] = error
                continue
            if gate is None:
                outcomes[gate_id] = GateNotFound(gate_id)
            elif gate.status != PENDING:
                outcomes[gate_id] = gate
        return outcomes

    def _deliver(self, outcomes: dict[str, GateRecord | GateError]) -> None:
        if not outcomes:
            return
        with self._lock:
            served = [each for crowd in self._crowds.values() for each in crowd if each.gate_id in outcomes]
            for each in served:
                each.outcome = outcomes[each.gate_id]
            firsts = self._remove(served)
        for each in (*served, *firsts):
            each.wake()

    def _remove(self, tickets: Iterable[Ticket]) -> list[Ticket]:
        """Take tickets off the table; returns the first of each crowd that lost one, as it may be new."""
        touched = set()
        for ticket in tickets:
            if ticket in self._crowds.get(ticket.crowd, {}):
                del self._crowds[ticket.crowd][ticket]
                touched.add(ticket.crowd)
        firsts = []
        for key in touched:
            if crowd := self._crowds[key]:
                firsts.append(next(iter(crowd)))
            else:
                del self._crowds[key]
        return firsts


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
