"""A client that sends bytes as they are, right or wrong, and reads what comes back."""

import json
import socket
from typing import Any
from urllib.parse import urlsplit

PATIENCE = 10.0


class Answer:
    """One HTTP answer: status, headers (lower-case names), body."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class Raw:
    """One connection."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self.host = address.netloc
        self._socket = socket.create_connection((address.hostname, address.port), PATIENCE)
        self._buffer = b""

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes; a server that has closed already is no error of the client's."""
        self._socket.sendall(data)

    def request(self, method: str, target: str, *headers: str, body: bytes = b"", host: str = "") -> None:
        """Send a whole request; a body gets its length."""
        length = [f"Content-Length: {len(body)}"] if body else []
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or self.host}", *headers, *length, "", ""]
        self.send("\r\n".join(lines).encode() + body)

    def half_close(self) -> None:
        """Say that nothing more comes, and go on listening."""
        self._socket.shutdown(socket.SHUT_WR)

    def answer(self, *, head: bool = False) -> Answer:
        """The next answer, whole."""
        top = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        status = int(top[0].split(" ")[1])
        pairs = (line.partition(":") for line in top[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        if head or status in (204, 304):
            return Answer(status, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            return Answer(status, headers, self._chunks())
        return Answer(status, headers, self._exactly(int(headers.get("content-length", "0"))))

    def begun(self) -> str:
        """The top of an answer whose body has no end yet."""
        return self._until(b"\r\n\r\n").decode("latin-1")

    def rest(self) -> bytes:
        """Everything until the server closes."""
        while data := self._more():
            self._buffer += data
        return self._buffer

    def _chunks(self) -> bytes:
        whole = b""
        while size := int(self._until(b"\r\n"), 16):
            whole += self._exactly(size)
            self._exactly(2)
        self._exactly(2)
        return whole

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            data = self._more()
            assert data, f"closed after {self._buffer!r}"
            self._buffer += data
        found, _, self._buffer = self._buffer.partition(mark)
        return found

    def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            data = self._more()
            assert data, "closed in the middle of a body"
            self._buffer += data
        found, self._buffer = self._buffer[:size], self._buffer[size:]
        return found

    def _more(self) -> bytes:
        try:
            return self._socket.recv(65_536)
        except ConnectionError:
            return b""
