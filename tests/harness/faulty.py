"""A venue that kills itself with SIGKILL at a chosen point of a chosen unit of work.

The points of a unit lie in the gaps between its statements: point 0 before the first, point n after the last
of n, which is just before the commit, and point n + 1 just after the commit, before anybody is told. The unit
is the first one whose opening statement has the given name.

`python -m tests.harness.faulty` loads the venue once and then forks a server for each line that it reads, so
that a hundred crashes cost a hundred forks and not a hundred interpreters. `Faulty` drives it. None of this
can be reached from the shipped package: the server is built by `create_app`, around a store of this file.
"""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import httpx

from inbox.store.base import Row, T, Transaction, Work
from inbox.store.sqlite import SqliteDatabase
from ucan.keys import Ed25519Signer
from venue import config, keyfile, server
from venue.app import create_app, open_database, signer_for

from .actors import Actor

_PATIENCE = 60.0
_TURNS = 200
"""In so many turns of its loop a server has sent whatever answer it has."""


class MortalDatabase(SqliteDatabase):
    """The shipped store, but for one unit of work that the process does not survive."""

    def aim(self, opening: str, point: int) -> None:
        """Choose the unit by the statement it opens with, and the point at which to die in it."""
        self._opening, self._point = opening, point
        self._aimed: _Counted | None = None

    def write(self, work: Work[T]) -> Awaitable[T]:
        """Run a unit of work, counting its statements."""
        return super().write(lambda tx: work(_Counted(tx, self)))

    def reach(self, unit: "_Counted", name: str) -> None:
        """A unit is about to run a statement."""
        if self._aimed is None and unit.ran == 0 and name == self._opening:
            self._aimed = unit
        if unit is self._aimed and unit.ran == self._point:
            _die()

    def _commit(self, connection: sqlite3.Connection) -> None:
        aimed, self._aimed = self._aimed, None
        if aimed is not None and aimed.ran == self._point:
            self._linger()
            _die()
        super()._commit(connection)
        if aimed is not None:
            if aimed.ran + 1 == self._point:
                _die()
            self._opening = ""  # it came through: the point lies beyond this unit

    async def open(self, tell: Callable[[frozenset[str]], None]) -> None:
        """Open the store, on this loop."""
        self._loop = asyncio.get_running_loop()
        await super().open(tell)

    def _linger(self) -> None:
        """Let the server say what it is about to say: nobody may hear of what is not committed."""
        for _ in range(_TURNS):
            passed = threading.Event()
            self._loop.call_soon_threadsafe(passed.set)
            passed.wait(_PATIENCE)


class _Counted:
    """A transaction that says before each statement that it is coming."""

    def __init__(self, tx: Transaction, db: MortalDatabase) -> None:
        self._tx = tx
        self._db = db
        self.ran = 0

    def _reach(self, name: str) -> None:
        self._db.reach(self, name)
        self.ran += 1

    def run(self, name: str, /, **values: Any) -> int:
        self._reach(name)
        return self._tx.run(name, **values)

    def one(self, name: str, /, **values: Any) -> Row | None:
        self._reach(name)
        return self._tx.one(name, **values)

    def all(self, name: str, /, **values: Any) -> Sequence[Row]:
        self._reach(name)
        return self._tx.all(name, **values)

    def tell(self, topic: str) -> None:
        self._tx.tell(topic)


class Faulty:
    """Servers that die where they are told to, one at a time; the last ends with the `with` block."""

    def __init__(self) -> None:
        self._template: subprocess.Popen[str]
        self._http = httpx.Client()
        self._did = ""
        self._pid = 0

    def __enter__(self) -> "Faulty":
        self._template = subprocess.Popen(
            [sys.executable, "-m", "tests.harness.faulty"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._template.stdin is not None
        assert self._template.stdout is not None
        self._http.close()
        self._template.stdin.close()  # a server that still runs sees it and ends
        self._template.wait(_PATIENCE)
        self._template.stdout.close()

    def serve(self, data: Path, opening: str = "", point: int = -1) -> bool:
        """Start a server on a data directory; False when it died before it was ready."""
        assert self._template.stdin is not None
        self._template.stdin.write(json.dumps([str(data), opening, point]) + "\n")
        self._template.stdin.flush()
        said = self._hear()
        if "ended" in said:
            assert said["ended"] == -signal.SIGKILL, said
            return False
        self._http.close()
        self._http = httpx.Client(base_url=said["url"], timeout=_PATIENCE)
        self._did, self._pid = said["did"], said["pid"]
        return True

    def wait_for_death(self) -> None:
        """The server has died, or is about to, where it was told to."""
        assert self._hear() == {"ended": -signal.SIGKILL}

    def kill(self) -> None:
        """Kill a server that came through."""
        os.kill(self._pid, signal.SIGKILL)
        self.wait_for_death()

    def owner(self, signer: Ed25519Signer) -> Actor:
        """A person, at the server that runs now."""
        return Actor(self._http, self._did, signer=signer)

    def agent(self, token: str) -> Actor:
        """An agent, at the server that runs now."""
        return Actor(self._http, self._did, token=token)

    def _hear(self) -> Any:
        assert self._template.stdout is not None
        late = threading.Timer(_PATIENCE, self._template.kill)
        late.start()
        line = self._template.stdout.readline()
        late.cancel()
        assert line, "the server did not say anything"
        return json.loads(line)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def _serve(data: Path, opening: str, point: int) -> None:
    settings = config.Settings(data=data, port=0)
    shipped = open_database(data / "venue.db")
    db = MortalDatabase(data / "venue.db", shipped._statements, shipped._schema)
    db.aim(opening, point)
    signer = signer_for(settings, keyfile.venue_seed(data))
    app = create_app(settings, db=db, signer=signer)
    threading.Thread(target=_end_with_the_test, daemon=True).start()

    def ready(port: int) -> None:
        said = {"url": f"http://127.0.0.1:{port}", "did": signer.did, "pid": os.getpid()}
        print(json.dumps(said), flush=True)

    server.serve(settings, app, ready)


def _end_with_the_test() -> None:
    os.read(0, 1)
    os._exit(1)


def main() -> None:
    """Fork a server for each line, and say how it ended."""
    while line := _line():
        child = os.fork()
        if child == 0:
            data, opening, point = json.loads(line)
            _serve(Path(data), opening, point)
            os._exit(1)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"ended": os.waitstatus_to_exitcode(status)}), flush=True)


def _line() -> bytes:
    """The next line of the standard input, and not a byte more: a server listens there too."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return b""
        line += byte
    return line


if __name__ == "__main__":
    main()
