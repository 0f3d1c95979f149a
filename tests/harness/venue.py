"""A venue under test: real, over HTTP, with a frozen clock, stops, starts, crashes and failpoints.

It runs on a thread of this process, which is quick, or as a process of its own, which can be killed. Nothing
of this is reachable in the shipped package (D30): it all goes in through `create_app`.
"""

import asyncio
import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from typing import IO, Any, Protocol

from inbox import events
from inbox.clock import Clock, millis

from .clock import FrozenClock
from .faults import Failpoint
from .site import Site
from .store import Store
from .uvicorns import LoopThread, Served

_PATIENCE = 30.0


class Engine(Protocol):
    """What serves: a thread's loop, or a child process."""

    url: str

    def ring(self) -> None:
        """Pass the clock on, and wake the venue's own timer."""

    def arm(self, failpoint: Failpoint) -> None:
        """Die at a statement."""

    def leave(self) -> "Future[None]":
        """Stop as on a signal; the future ends when it has stopped."""

    def kill(self) -> None:
        """kill -9."""


class ThreadEngine:
    """A venue on the loop of a thread. It cannot be killed: it would take the test with it."""

    def __init__(self, thread: LoopThread, site: Site, clock: Clock, *, timers: bool) -> None:
        self._thread = thread
        self._served = Served(thread, site.build(clock))
        self.url = self._served.url
        self.app = self._served.app
        if not timers:
            thread.run(_cancelled(self.app.state.life.sweeper))

    def ring(self) -> None:
        """Wake the venue's own timer, as a request with a new deadline would."""
        self._thread.loop.call_soon_threadsafe(self.app.state.bells.ring, [events.DEADLINES])

    def arm(self, failpoint: Failpoint) -> None:
        """Refused: see the class."""
        raise AssertionError("only a venue in a process of its own can die")

    def leave(self) -> "Future[None]":
        """Stop as on a signal."""
        return self._served.leave()

    def kill(self) -> None:
        """Refused: see the class."""
        raise AssertionError("only a venue in a process of its own can be killed")


class ChildEngine:
    """A venue in a process of its own."""

    def __init__(self, site: Site, clock: FrozenClock) -> None:
        self._clock = clock
        site.data.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "tests.harness.child", site.to_json(), str(millis(clock()))]
        with site.log.open("a", encoding="utf-8") as log:
            self._child = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.url = str(self._heard()["url"])

    def ring(self) -> None:
        """Move the child's clock to where ours is, and wake its timer."""
        self._tell({"clock": millis(self._clock())})

    def arm(self, failpoint: Failpoint) -> None:
        """Die at a statement."""
        self._tell({"failpoint": dataclasses.asdict(failpoint)})

    def leave(self) -> "Future[None]":
        """Stop by the end of standard input."""
        ended: Future[None] = Future()
        _pipe(self._child.stdin).close()
        self._child.wait(_PATIENCE)
        _pipe(self._child.stdout).close()
        ended.set_result(None)
        return ended

    def kill(self) -> None:
        """kill -9, as a crash would; a process that is dead already is only buried."""
        self._child.kill()
        self.leave()

    def _tell(self, command: dict[str, Any]) -> None:
        pipe = _pipe(self._child.stdin)
        pipe.write(json.dumps(command) + "\n")
        pipe.flush()
        self._heard()

    def _heard(self) -> dict[str, Any]:
        line = _pipe(self._child.stdout).readline()
        assert line, "the venue's process ended; see its serve.log"
        said: dict[str, Any] = json.loads(line)
        return said


class Venue:
    """A venue by its site: it may be up or down, and comes up again on the same data."""

    def __init__(self, thread: LoopThread, site: Site, clock: FrozenClock, *, killable: bool = False) -> None:
        self.site = site
        self.clock = clock
        self.timers = True
        self.rearms = True
        self._stopped_at = clock()
        self.signer = site.signer()
        self.store = Store(site.database)
        self._thread = thread
        self._killable = killable
        self._engine: Engine | None = None

    @property
    def did(self) -> str:
        """The venue's DID."""
        return self.signer.did

    @property
    def up(self) -> bool:
        """Whether it serves, as far as we were told."""
        return self._engine is not None

    @property
    def url(self) -> str:
        """Where it serves."""
        return self._running.url

    @property
    def app(self) -> Any:
        """The application, of a venue on a thread."""
        assert isinstance(self._running, ThreadEngine)
        return self._running.app

    @property
    def _running(self) -> Engine:
        assert self._engine is not None, "the venue is down"
        return self._engine

    def start(self) -> None:
        """Come up on the data that is there. Raises what the venue's own start raises."""
        assert self._engine is None, "the venue is up already"
        if self._killable:
            assert self.timers, "a venue in a process of its own keeps its timers"
            self._engine = ChildEngine(self.site, self.clock)
        else:
            launch = _LaunchClock(self.clock, None if self.rearms else self._stopped_at)
            self._engine = ThreadEngine(self._thread, self.site, launch, timers=self.timers)
            launch.held = None

    def stop(self) -> None:
        """Stop as on a signal, and wait for it."""
        self.part().result(_PATIENCE)

    def part(self) -> "Future[None]":
        """Stop as on a signal, without waiting for it."""
        engine, self._engine = self._running, None
        self._stopped_at = self.clock()
        return engine.leave()

    def crash(self) -> None:
        """kill -9."""
        engine, self._engine = self._running, None
        engine.kill()

    def arm(self, failpoint: Failpoint) -> None:
        """Let the process die at a statement; what comes then is `crash` (to bury it) and `start`."""
        self._running.arm(failpoint)

    def configure(self, settings: Any) -> None:
        """Use other settings from the next start on. Raises ValidationError for what would be refused."""
        site = dataclasses.replace(self.site, settings=settings)
        site.read_settings()
        self.site = site

    def tick(self, before: int) -> int:
        """Tell a venue that is up that the clock moved; wait until its timer has expired what is due.

        Returns how many requests expired since there were `before`, by the timer or by whoever came first.
        """
        if self._engine is None or not self.timers:
            return 0
        self._engine.ring()
        until(lambda: not self.store.overdue(millis(self.clock())))
        return self.expired() - before

    def expired(self) -> int:
        """How many requests have expired so far."""
        return self.store.count("request", status="expired")

    def on_loop(self, work: Any) -> Any:
        """Run an awaitable on the loop of a venue that is on a thread."""
        return self._thread.run(work)


class _LaunchClock:
    """A venue's clock, held at the hour of its stop while it launches: it then finds nothing to re-arm."""

    def __init__(self, clock: FrozenClock, held: datetime | None) -> None:
        self._clock = clock
        self.held = held

    def __call__(self) -> datetime:
        return self.held or self._clock()


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for something that another thread or process does; fails when it does not."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.002)


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
