"""One process that serves: binds, says when it is ready, and lets its waiters go when it is told to stop
(D31).
"""

import asyncio
import contextlib
import signal
import socket
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import uvicorn
from fastapi import FastAPI

from .config import ConfigError, Settings
from .waiting import Waiters

_GRACE = 3
_STOP = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """Uvicorn, with a word when the port is open and when the stop begins."""

    def __init__(self, config: uvicorn.Config, waiters: Waiters, ready: Callable[[int], None]) -> None:
        super().__init__(config)
        self._waiters = waiters
        self._ready = ready
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the port; by now the lifespan has settled what fell due."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started and sockets:
            self._ready(sockets[0].getsockname()[1])

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear the signals that say stop; Uvicorn would raise them again, but a stop that went well is no
        failure.
        """
        before = {name: signal.signal(name, self.handle_exit) for name in _STOP}
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop: streams and waits end now, so that the connections can be closed in time."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._waiters.stop)


def serve(settings: Settings, app: FastAPI, ready: Callable[[int], None]) -> bool:
    """Serve until a signal says stop; `ready` hears the port. Returns whether the venue ever started."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
    )
    server = Server(config, app.state.waiters, ready)
    # A start that fails ends uvicorn with a status of its own; what it was, the caller says.
    with _bound(settings.host, settings.port) as listener, contextlib.suppress(SystemExit):
        server.run(sockets=[listener])
    return server.started


def hold(directory: Path) -> sqlite3.Connection:
    """Take the data directory for this process alone; the hold ends with the connection, or with the process.

    Raises ConfigError when another process serves from it (D29).
    """
    connection = sqlite3.connect(directory / "serving.lock", timeout=0, isolation_level=None)
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        connection.close()
        raise ConfigError(f"data: another process serves from {directory}") from None
    return connection


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio turns Nagle off; else each answer on a kept connection waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ConfigError(f"port: cannot listen on {host}:{port}: {error.strerror}") from None
    return listener
