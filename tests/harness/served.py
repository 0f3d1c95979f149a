"""A venue as its users run it: `venue serve`, a process of its own on loopback and a free port."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

import httpx

from ucan.keys import Ed25519Signer

from .actors import Actor, new_signer

ROOT = Path(__file__).resolve().parents[2]

UNHURRIED = {"VENUE_LIMITS__REQUESTS_PER_SECOND": "none"}
"""A load is not refused for its speed, except where a test is about that."""

_PATIENCE = 60.0


class Served:
    """A server process on a data directory; it ends with the `with` block. Start it again after a kill."""

    def __init__(self, data: Path, *options: str, environ: dict[str, str] | None = None) -> None:
        self.data = data
        self._options = options
        self._environ = environ or {}
        self._child: subprocess.Popen[str] | None = None
        self.url = ""
        self.did = ""
        self.port = 0
        self.http = httpx.Client()

    def __enter__(self) -> "Served":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self.http.close()

    @property
    def log(self) -> str:
        """Everything the server has logged."""
        return (self.data / "serve.log").read_text(encoding="utf-8")

    def start(self) -> None:
        """Start the process and wait until it is ready; the port stays the same over restarts."""
        command = [sys.executable, "-m", "venue", "serve", "--json", "--data", str(self.data)]
        self.data.mkdir(parents=True, exist_ok=True)
        with (self.data / "serve.log").open("a", encoding="utf-8") as log:
            self._child = subprocess.Popen(
                [*command, "--port", str(self.port), *self._options],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT), **UNHURRIED, **self._environ},
            )
        assert self._child.stdout is not None
        late = threading.Timer(_PATIENCE, self._child.kill)
        late.start()
        line = self._child.stdout.readline()
        late.cancel()
        if not line:
            self.kill()
            raise AssertionError(f"the server did not start:\n{self.log}")
        said = json.loads(line)
        self.url, self.did, self.port = said["url"], said["did"], said["port"]
        self.http.close()
        self.http = httpx.Client(base_url=self.url, timeout=30)

    def kill(self) -> None:
        """kill -9, as a crash would."""
        self._end(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)

    def stop(self) -> int:
        """Ask it to stop, and return its exit status."""
        return self._end(signal.SIGTERM)

    def owner(self, signer: Ed25519Signer | None = None) -> Actor:
        """A person with a key of their own."""
        return Actor(self.http, self.did, signer=signer or new_signer())

    def agent(self, owner: Actor, agent_id: str = "helper", **options: object) -> Actor:
        """An agent that this owner enrols."""
        enrolled = owner.run("v/ops/agent/enrol", {"agentId": agent_id, **options}).ok()
        return Actor(self.http, self.did, token=enrolled["token"])

    def stranger(self) -> Actor:
        """Somebody without credentials."""
        return Actor(self.http, self.did)

    def _end(self, how: int) -> int:
        child, self._child = self._child, None
        if child is None:
            return 0
        child.send_signal(how)
        status = child.wait(_PATIENCE)
        assert child.stdout is not None
        child.stdout.close()
        return status
