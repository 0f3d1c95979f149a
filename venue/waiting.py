"""Waiting for a job, for the length of a request or of a stream (step 7 of the flow; D25).

A waiter listens first and reads then, so that nothing is missed in between; it costs a memory wake-up and no
query until something happens. Every wait ends when the venue stops.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi import Request

from inbox.events import Bells, Event, feed_topic, job_topic
from ops.desk import Desk
from ops.errors import OpsError
from ops.model import Caller, JobStatus

from .problems import HttpProblem

_HEARTBEAT = 5.0
_FURTHEST_BACK = 10_000
_OF_JOBS = "job."  # jobs have streams of their own
Recheck = Callable[[], Awaitable[Any]]


class Waiters:
    """Everybody who waits in this process; `stop` lets them all go."""

    def __init__(self, bells: Bells, desk: Desk, *, streams: int) -> None:
        self._bells = bells
        self._desk = desk
        self._most = streams
        self._streams: dict[str, int] = {}
        self._stopping = False

    def stop(self) -> None:
        """Let every waiter go; the venue is about to stop. Call it on the loop."""
        self._stopping = True
        self._bells.ring_all()

    async def finished(
        self, job_id: str, caller: Caller, seconds: float | None, request: Request
    ) -> dict[str, Any]:
        """The job's record once it is finished, or as it is when the time is up or the client has gone."""
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            with self._bells.listening(job_topic(job_id)) as bell:
                while True:
                    bell.clear()
                    record = await self._desk.job(job_id, caller)
                    left = None if end is None else end - loop.time()
                    late = left is not None and left <= 0
                    if _is_finished(record) or late or gone.done() or self._stopping:
                        return record
                    ring = asyncio.ensure_future(bell.wait())
                    await asyncio.wait({ring, gone}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                    ring.cancel()
        finally:
            gone.cancel()

    async def job_frames(self, job_id: str, caller: Caller, recheck: Recheck) -> AsyncIterator[str]:
        """The frames of a job's stream: its record now, then at every change; the last one finishes it."""
        last = None
        async for _ in self._rings(job_topic(job_id), recheck):
            try:
                record = await self._desk.job(job_id, caller)
            except OpsError:  # what let the caller see it was revoked or has ended, or the job is gone
                return
            if record["updated"] != last or _is_finished(record):
                yield _frame("job-update", record)
                last = record["updated"]
            else:
                yield ": still here\n\n"
            if _is_finished(record):
                return

    async def feed_frames(self, caller: Caller, after: int | None, recheck: Recheck) -> AsyncIterator[str]:
        """The frames of a user's feed: every change after a version, each with that version as its id.

        Without a version, or with one that is too old or was never given out, it begins with `resync`: load
        everything, and go on from the version that it names.
        """
        async for _ in self._rings(feed_topic(caller.user), recheck):
            version, events = await self._desk.feed(caller, after or 0)
            if after is None or after > version or version - after > _FURTHEST_BACK:
                after = version
                yield _frame("resync", {"version": version}, version)
                continue
            if not events:
                yield ": still here\n\n"
            while events:
                for event in events:
                    if not event.kind.startswith(_OF_JOBS):
                        yield _feed_frame(event)
                after = events[-1].version
                _, events = await self._desk.feed(caller, after)

    async def _rings(self, topic: str, recheck: Recheck) -> AsyncIterator[None]:
        """Once at the start, at every ring of a topic, and at every heartbeat, while the stream may live.

        `recheck` raises once the bearer is no longer good; then the stream ends and says no more.
        """
        with self._bells.listening(topic) as bell:
            while not self._stopping:
                bell.clear()
                try:
                    await recheck()
                except Exception:  # noqa: BLE001 - whatever is wrong now, it gets nothing more
                    return
                yield
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(_HEARTBEAT):
                        await bell.wait()

    @contextlib.contextmanager
    def a_stream(self, caller: Caller) -> Any:
        """A place among the caller's streams; taken before the first byte goes out.

        Raises HttpProblem (`too_many_streams`).
        """
        self.check_stream(caller)
        self._streams[caller.did] = self._streams.get(caller.did, 0) + 1
        try:
            yield
        finally:
            self._streams[caller.did] -= 1
            if not self._streams[caller.did]:
                del self._streams[caller.did]

    def check_stream(self, caller: Caller) -> None:
        """Raises HttpProblem (`too_many_streams`) when the caller has as many streams as it may have."""
        if self._streams.get(caller.did, 0) >= self._most:
            raise HttpProblem("too_many_streams", f"At most {self._most} streams at once (streams)")


def _frame(event: str, data: Any, version: int | None = None) -> str:
    # In ASCII: some readers end a line at U+2028 too, and would cut the record there.
    name = "" if version is None else f"id: {version}\n"
    return f"{name}event: {event}\ndata: {json.dumps(data)}\n\n"


def _feed_frame(event: Event) -> str:
    data = {"id": event.subject, "kind": event.kind, "version": event.version, "at": event.at}
    return _frame("change", data, event.version)


def _is_finished(record: dict[str, Any]) -> bool:
    return JobStatus(record["status"]).finished


async def _disconnected(request: Request) -> None:
    """Return once the client has gone; its body has been read, so nothing else can come."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
