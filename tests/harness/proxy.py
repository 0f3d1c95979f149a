"""A proxy before a venue that misbehaves as it is told: it drops, cuts, refuses and delays."""

import http.client
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from urllib.parse import urlsplit

Fault = Callable[["Relay"], bool]
"""Does something to one request; True when there is nothing more to do for it."""

_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive", "date", "server"}


class Relay(BaseHTTPRequestHandler):
    """One request on its way."""

    proxy: "Proxy"

    def handle_one_request(self) -> None:
        """Serve one request, then close: no fault of one touches another."""
        self.close_connection = True
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            return
        self.body = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.proxy.seen.append((self.command, self.path))
        fault = self.proxy.fault_for(self.command, self.path)
        try:
            if fault is None or not fault(self):
                self.relay()
        except OSError:
            pass  # one of both sides has gone

    def relay(self, *, most: int | None = None, drop: bool = False) -> None:
        """Pass the request on; then the answer, its first `most` bytes, or nothing."""
        upstream = urlsplit(self.proxy.upstream)
        link = http.client.HTTPConnection(str(upstream.hostname), upstream.port, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        try:
            link.request(self.command, self.path, self.body or None, headers)
            answer = link.getresponse()
            if drop:
                answer.read()
                return
            self.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in _HOP or name.lower() == "date":
                    self.send_header(name, value)
            self.send_header("Connection", "close")
            self.end_headers()
            while most != 0 and (part := answer.read1(65536)):
                self.wfile.write(part if most is None else part[:most])
                most = None if most is None else max(0, most - len(part))
        finally:
            link.close()

    def say(self, status: int, headers: dict[str, str] | None = None, text: str = "") -> None:
        """An answer of the proxy's own."""
        self.send_response_only(status)
        for name, value in {
            **(headers or {}),
            "Content-Length": str(len(text)),
            "Connection": "close",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())


def drop_answer(relay: Relay) -> bool:
    """The venue does what it was asked, and the connection breaks before the answer."""
    relay.relay(drop=True)
    return True


def hang_up(relay: Relay) -> bool:
    """Break the connection; the venue hears nothing of it."""
    return True


def refuse(status: int, headers: dict[str, str] | None = None, text: str = "") -> Fault:
    """Answer so, and pass nothing on."""

    def fault(relay: Relay) -> bool:
        relay.say(status, headers, text)
        return True

    return fault


def cut_after(most: int) -> Fault:
    """Pass on so many bytes of the answer, then hang up."""

    def fault(relay: Relay) -> bool:
        relay.relay(most=most)
        return True

    return fault


def stall(seconds: float) -> Fault:
    """Sit on the request for so long, then pass it on."""

    def fault(relay: Relay) -> bool:
        time.sleep(seconds)
        return False

    return fault


class Proxy:
    """Listens on a port of its own until the `with` block ends, and remembers what it saw."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.seen: list[tuple[str, str]] = []
        self._faults: list[tuple[str, Fault, float]] = []
        self._lock = threading.Lock()
        relay = type("BoundRelay", (Relay,), {"proxy": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), relay)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "Proxy":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def inject(self, where: str, fault: Fault, times: float = 1) -> None:
        """Let the next `times` requests whose `METHOD path` contains `where` meet a fault."""
        self._faults.append((where, fault, times))

    def fault_for(self, method: str, path: str) -> Fault | None:
        """The fault that the next such request meets."""
        with self._lock:
            for index, (where, fault, times) in enumerate(self._faults):
                if where in f"{method} {path}" and times > 0:
                    self._faults[index] = (where, fault, times - 1)
                    return fault
        return None

    def count(self, where: str) -> int:
        """How many such requests came by."""
        return sum(where in f"{method} {path}" for method, path in self.seen)
