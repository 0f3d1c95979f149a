"""What the story is told with: a server process that can be killed, actors who sign for themselves, a
narrator.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.json import JSON
from rich.panel import Panel
from rich.text import Text

from inbox.clock import Clock, millis
from ucan.jwt import read, sign
from ucan.keys import Ed25519Signer

_START = 30.0
_LIFE = 60


class DemoFailed(Exception):
    """Something did not come out as it should; the message says what."""


class ServerProcess:
    """`venue serve` as a child; killed, not asked, so that only what was durable is left."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._child: subprocess.Popen[str] | None = None
        self.url = ""
        self.did = ""
        self._port = 0

    def start(self) -> None:
        """Start the child and wait until it says that it is ready. Raises DemoFailed."""
        command = [sys.executable, "-m", "venue", "serve", "--json", "--data", str(self._data)]
        with (self._data / "serve.log").open("a") as log:
            self._child = subprocess.Popen(  # noqa: S603 - our own interpreter and our own words
                [*command, "--port", str(self._port)], stdout=subprocess.PIPE, stderr=log, text=True
            )
        late = threading.Timer(_START, self._child.kill)
        late.start()
        line = self._child.stdout.readline() if self._child.stdout else ""
        late.cancel()
        if not line:
            self.kill()
            raise DemoFailed(f"the server did not start; its log is {self._data / 'serve.log'}")
        said = json.loads(line)
        self.url, self.did, self._port = said["url"], said["did"], said["port"]

    def kill(self) -> None:
        """End the child at once, as a crash would."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            if self._child.stdout:
                self._child.stdout.close()
            self._child = None


class Actor:
    """Somebody who calls the venue: an owner who signs each call with a key, or an agent with a token."""

    def __init__(
        self,
        name: str,
        server: ServerProcess,
        clock: Clock,
        *,
        signer: Ed25519Signer | None = None,
        token: str = "",
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.name = name
        self._server = server
        self._clock = clock
        self._signer = signer
        self._token = token
        self._http = httpx.Client(transport=transport, timeout=30)

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def run(self, operation: str, data: Mapping[str, Any]) -> Any:
        """Run an operation and return its output. Raises DemoFailed when it is refused."""
        return self._good(self.post("run", operation, data))

    def ask(self, data: Mapping[str, Any]) -> str:
        """Post a request and return the id of the job that waits for it."""
        job = self._good(self.post("invoke", "v/ops/hitl/request", data))
        return str(job["id"])

    def post(
        self, verb: str, operation: str, data: Mapping[str, Any], proofs: Sequence[str] = ()
    ) -> httpx.Response:
        """Call `invoke` or `run`."""
        body = {"operation": operation, "input": data} | ({"ucans": list(proofs)} if proofs else {})
        return self._http.post(f"{self._api}/{verb}", json=body, headers=self._headers())

    def read(self, path: str, proof: str = "") -> httpx.Response:
        """Read a value by path, with a token or without."""
        headers = self._headers() | ({"X-Covia-Ucans": proof} if proof else {})
        return self._http.get(f"{self._api}/values/read", params={"path": path}, headers=headers)

    def job(self, job_id: str) -> dict[str, Any]:
        """A job's record."""
        found: dict[str, Any] = self._good(
            self._http.get(f"{self._api}/jobs/{job_id}", headers=self._headers())
        )
        return found

    def watch(self, job_id: str) -> list[dict[str, Any]]:
        """Follow a job's stream to its end and return the records that came."""
        with self._http.stream("GET", f"{self._api}/jobs/{job_id}/sse", headers=self._headers()) as stream:
            data = (line.removeprefix("data: ") for line in stream.iter_lines() if line.startswith("data: "))
            return [json.loads(record) for record in data]

    @property
    def _api(self) -> str:
        return f"{self._server.url}/api/v1"

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token or self._self_issued()}"}

    def _self_issued(self) -> str:
        if self._signer is None:
            return ""
        now = millis(self._clock()) // 1000
        claims = {"iss": self._signer.did, "sub": self._signer.did, "aud": self._server.did}
        return sign(self._signer, {**claims, "iat": now, "exp": now + _LIFE})

    def _good(self, response: httpx.Response) -> Any:
        if response.is_error:
            raise DemoFailed(f"{self.name} was refused: {response.status_code} {response.text}")
        return response.json()


class Narrator:
    """Prints who does what, what goes over the wire, and what a token says."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._step = 0

    def tell(self, who: str, what: str) -> None:
        """Begin a step."""
        self._step += 1
        self._console.print()
        self._console.print(Text.assemble((f"{self._step:>2}. ", "bold"), (who, "bold cyan"), " ", what))

    def say(self, line: str) -> None:
        """Say what came of it."""
        self._console.print(Text(f"    {line}", style="green"))

    def show(self, title: str, value: Any) -> None:
        """Show JSON as it went over the wire."""
        text = json.dumps(_without_tokens(value), ensure_ascii=False)
        shown = JSON(text).text
        shown.no_wrap, shown.overflow = False, "fold"  # what was consented to is never cut
        self._console.print(Panel(shown, title=title, title_align="left", border_style="dim", padding=(0, 1)))

    def decode(self, token: str) -> dict[str, Any]:
        """Show what a token says, and return its claims."""
        claims = read(token).claims
        self.show("the token, decoded", claims)
        return claims


def _without_tokens(value: Any) -> Any:
    """The same JSON with tokens cut short: a bearer is nothing to leave in a scrollback."""
    if isinstance(value, dict):
        return {key: _short(item) if key == "token" else _without_tokens(item) for key, item in value.items()}
    return [_without_tokens(item) for item in value] if isinstance(value, list) else value


def _short(token: Any) -> Any:
    return f"{token[:16]}… ({len(token)} characters)" if isinstance(token, str) and len(token) > 40 else token
