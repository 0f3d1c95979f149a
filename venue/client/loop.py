"""An event loop in a thread of its own, for callers who have none."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future, wait
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from .errors import VenueError

T = TypeVar("T")

_LOOK_UP = 0.05
"""While one thread waits for the other, Ctrl-C is looked for this often, in seconds."""


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
        with _noted() as look:
            return self._waited(work, look)

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

    def _waited(self, work: Coroutine[Any, Any, T], look: Callable[[], None]) -> T:
        future = self._submit(work)
        try:
            while not future.done():
                wait([future], timeout=_LOOK_UP)
                look()
            return future.result()
        except CancelledError:
            raise VenueError("This client was closed") from None
        except BaseException:
            future.cancel()
            raise

    def _submit(self, work: Coroutine[Any, Any, T]) -> "Future[T]":
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop)
        except RuntimeError:
            work.close()
            raise


@contextmanager
def _noted() -> Iterator[Callable[[], None]]:
    """Note Ctrl-C, and raise it where the block looks for it, or at its end; a second one is raised at once.

    Raised wherever it comes, it could be swallowed, leave a lock held that the other thread needs, or a
    coroutine between the two. As with `asyncio.run`, this is so in the main thread, unless somebody else
    handles Ctrl-C.
    """
    pressed: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if pressed:
            signal.default_int_handler(number, frame)
        pressed.append(number)

    def look() -> None:
        if pressed:
            pressed.clear()
            raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield look
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield look
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        look()


async def _cancel_the_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
