"""Real HTTP servers that start in milliseconds: uvicorn on one loop in a thread, a port for each venue."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Awaitable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import uvicorn
from fastapi import FastAPI

T = TypeVar("T")
_PATIENCE = 30.0


class LoopThread:
    """An event loop that runs in a thread of its own until the `with` block ends."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="venues", daemon=True)

    def __enter__(self) -> "LoopThread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_PATIENCE)
        self.loop.close()

    def start(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        """Run a coroutine on the loop; its future belongs to whoever asks."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def run(self, work: Awaitable[T]) -> T:
        """Run an awaitable on the loop and wait for its result."""

        async def awaited() -> T:
            return await work

        return self.start(awaited()).result(_PATIENCE)


class _Uvicorn(uvicorn.Server):
    """Uvicorn that is told to stop, where the shipped one looks ten times a second whether it should."""

    def __init__(self, config: uvicorn.Config, started: "Future[None]") -> None:
        super().__init__(config)
        self._started = started
        self.leave = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        self._started.set_result(None)
        await self.leave.wait()


class Served:
    """An application being served on loopback. Its lifespan has run once this exists."""

    def __init__(self, thread: LoopThread, app: FastAPI) -> None:
        self.app = app
        self._thread = thread
        listener = socket.socket(
            socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP
        )  # else Nagle stays on
        listener.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        started: Future[None] = Future()
        self._ended = thread.start(self._serve(listener, started))
        started.result(_PATIENCE)

    async def _serve(self, listener: socket.socket, started: "Future[None]") -> None:
        config = uvicorn.Config(
            self.app, log_config=None, access_log=False, ws="none", lifespan="on", proxy_headers=False
        )
        self._server = _Uvicorn(config, started)
        with contextlib.closing(listener):
            await self._server.serve(sockets=[listener])
        if not started.done():
            started.set_exception(self.app.state.life.failure or RuntimeError("the venue did not start"))

    def leave(self) -> "Future[None]":
        """Let it stop as it would on a signal, streams first; the future ends when it has."""
        self._thread.loop.call_soon_threadsafe(self.app.state.waiters.stop)
        self._thread.loop.call_soon_threadsafe(self._server.leave.set)
        return self._ended
