"""An event loop in a thread of its own, for callers who have none."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future, wait
from typing import Any, TypeVar

from .errors import VenueError

T = TypeVar("T")

_LOOK_UP = 0.5
"""Where a wait for another thread cannot be interrupted, Ctrl-C is noticed this often, in seconds."""


class Background:
    """Runs coroutines for other threads, until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="venue-client", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns. What interrupts this wait, as Ctrl-C does, cancels the coroutine.

        Raises what the coroutine raises; VenueError when it is closed meanwhile.
        """
        future = self._submit(work)
        try:
            while not future.done():
                wait([future], timeout=_LOOK_UP)
            return future.result()
        except CancelledError:
            raise VenueError("This client was closed") from None
        except BaseException:
            future.cancel()
            raise

    def start(self, work: Coroutine[Any, Any, object]) -> Callable[[], object]:
        """Let a coroutine run beside everything else; returns how to stop it."""
        return self._submit(work).cancel

    def close(self, last: Coroutine[Any, Any, object]) -> None:
        """Cancel what still runs, run one last coroutine, and end the thread."""
        self.run(_cancel_the_others())
        self.run(last)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except BaseException:
            work.close()
            raise


async def _cancel_the_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
