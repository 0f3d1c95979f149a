"""Where a case's p1, p2, p3 live: threads around one world, or processes with a world each."""

import multiprocessing
import signal
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any, Protocol

from .gates_reply import Reply
from .gates_world import PATIENCE, World

# Processes are forked from a server that has only the library loaded, so each starts in milliseconds and none
# has seen a model.
_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["pydantic", "inbox.gates.sqlite"])


class Actor(Protocol):
    """Carries out one operation after the other, and replies."""

    def do(self, op: str, given: dict[str, Any], store: str = "s") -> Reply: ...

    def end(self, *, kill: bool) -> None: ...


class ThreadActor:
    """One thread of the case's only process."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._thread = ThreadPoolExecutor(max_workers=1)

    def do(self, op: str, given: dict[str, Any], store: str = "s") -> Reply:
        return self._thread.submit(self._world.do, op, given, store).result(PATIENCE)

    def end(self, *, kill: bool) -> None:
        self._thread.shutdown()


class ProcessActor:
    """A process of its own."""

    def __init__(self, kind: str, path: str) -> None:
        self._pipe, theirs = _context.Pipe()
        self._process = _context.Process(target=_serve, args=(theirs, kind, path), daemon=True)
        self._process.start()
        theirs.close()

    def do(self, op: str, given: dict[str, Any], store: str = "s") -> Reply:
        self._pipe.send((op, given, store))
        if not self._pipe.poll(PATIENCE):
            raise TimeoutError(f"{op} did not end")
        reply = self._pipe.recv()
        if isinstance(reply, BaseException):
            raise reply
        answered: Reply = reply
        return answered

    def end(self, *, kill: bool) -> None:
        if kill:
            self._process.kill()
        elif self._process.is_alive():
            self._pipe.send(None)
        self._process.join(PATIENCE)
        if kill:
            assert self._process.exitcode == -signal.SIGKILL
        self._pipe.close()


def _serve(pipe: Connection, kind: str, path: str) -> None:
    world = World(kind, path)
    while (request := pipe.recv()) is not None:
        try:
            pipe.send(world.do(*request))
        except Exception as error:  # the runner raises it where the case is run
            pipe.send(error)
