"""The feed of each user, and the bells that wake whoever waits (step 7 of the flow; D25).

A feed is a counter bumped in the transaction of the change itself, so that no reader can see an event whose
change is not there, nor miss one. A bell is only a hint that something changed: who hears it reads the rows.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from .store.base import Transaction


@dataclass(frozen=True, slots=True)
class Event:
    """One change in a feed: what happened (`kind`) to which id (`subject`), at epoch milliseconds `at`."""

    version: int
    at: int
    kind: str
    subject: str


def append(tx: Transaction, feed: str, kind: str, subject: str, at: int) -> int:
    """Write one event into a user's feed and return its version; the feed's topic is told after commit."""
    row = tx.one("feed.bump", feed=feed)
    assert row is not None  # noqa: S101 - RETURNING on an upsert always has a row
    new: int = row["version"]
    tx.run("event.insert", feed=feed, version=new, at=at, kind=kind, subject=subject)
    tx.tell(feed_topic(feed))
    return new


def read_after(tx: Transaction, feed: str, after: int, limit: int = 500) -> Sequence[Event]:
    """The events of a feed that came after a version, oldest first."""
    return [Event(**row) for row in tx.all("event.after", feed=feed, after=after, limit=limit)]


def version(tx: Transaction, feed: str) -> int:
    """The version of a feed: that of its last event, 0 before the first."""
    row = tx.one("feed.version", feed=feed)
    return 0 if row is None else int(row["version"])


def feed_topic(feed: str) -> str:
    """The topic told when a user's feed grew."""
    return f"feed {feed}"


def job_topic(job_id: str) -> str:
    """The topic told when a job changed."""
    return f"job {job_id}"


DEADLINES = "deadlines"
"""The topic told when a request with a deadline was posted."""


class Bells:
    """Wakes the tasks of one event loop that wait on topics; a bell that nobody hears is not kept."""

    def __init__(self) -> None:
        self._listeners: dict[str, set[asyncio.Event]] = defaultdict(set)

    @contextmanager
    def listening(self, topic: str) -> Iterator[asyncio.Event]:
        """A bell for one topic. Listen first, then read: what is committed in between rings it."""
        bell = asyncio.Event()
        self._listeners[topic].add(bell)
        try:
            yield bell
        finally:
            self._listeners[topic].discard(bell)
            if not self._listeners[topic]:
                del self._listeners[topic]

    def ring(self, topics: Iterable[str]) -> None:
        """Wake everybody who listens to one of these topics. Call it on the loop."""
        for topic in topics:
            for bell in self._listeners.get(topic, ()):
                bell.set()

    def ring_all(self) -> None:
        """Wake everybody, on shutdown."""
        self.ring(tuple(self._listeners))
