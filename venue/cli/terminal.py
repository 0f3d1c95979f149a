"""A terminal in which every key arrives as it is pressed, and which is afterwards as it was before."""

import contextlib
import os
import signal
import sys
from types import FrameType, TracebackType

from .keys import Decoder, Key, of_console

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_ESCAPE_WAIT = 0.05
_POLL = 0.05


def is_one() -> bool:
    """Whether somebody sits at both ends: keys can be read and a screen be drawn."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


class Stopped(SystemExit):
    """A signal said stop; the status is the one that a shell expects of it."""


if sys.platform == "win32":
    import msvcrt
    import threading
    import time

    import typer

    class Terminal:
        """Keys from the console."""

        def __init__(self) -> None:
            self._woken = threading.Event()

        def __enter__(self) -> "Terminal":
            return self

        def __exit__(self, *_: object) -> None:
            return None

        def wake(self) -> None:
            """Let `wait` return, from any thread."""
            self._woken.set()

        def wait(self, seconds: float) -> list[Key]:
            """The keys that were pressed, or none when the time is up or somebody woke us."""
            end = time.monotonic() + seconds
            try:
                while not msvcrt.kbhit():
                    if self._woken.wait(_POLL) or time.monotonic() > end:
                        self._woken.clear()
                        return []
                presses = [typer.getchar()]
                while msvcrt.kbhit():
                    presses.append(typer.getchar())
            except (KeyboardInterrupt, EOFError):
                return [Key("quit")]
            return of_console(presses)

else:
    import select
    import termios

    class Terminal:
        """Keys from a POSIX terminal. Signals that end the process end it through here."""

        def __init__(self) -> None:
            self._fd = sys.stdin.fileno()
            self._decoder = Decoder()
            self._hear, self._say = os.pipe()
            self._handlers: dict[int, object] = {}
            self._before: list[object] = []
            self._told_to_stop = 0

        def __enter__(self) -> "Terminal":
            os.set_blocking(self._say, False)
            self._before = termios.tcgetattr(self._fd)
            mode = termios.tcgetattr(self._fd)
            mode[0] &= ~(termios.ICRNL | termios.IXON)
            mode[3] &= ~(termios.ICANON | termios.ECHO | termios.ISIG | termios.IEXTEN)
            mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
            for name in (signal.SIGTERM, signal.SIGHUP):
                self._handlers[name] = signal.signal(name, self._stop)
            self._handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda *_: self.wake())
            termios.tcsetattr(self._fd, termios.TCSAFLUSH, mode)
            _write(_PASTE_ON)
            return self

        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
        ) -> None:
            _write(_PASTE_OFF)
            # What was typed and not read is thrown away: it was meant for the list, not for the shell.
            with contextlib.suppress(termios.error):
                termios.tcsetattr(self._fd, termios.TCSAFLUSH, self._before)  # type: ignore[arg-type]
            for name, handler in self._handlers.items():
                signal.signal(name, handler)  # type: ignore[arg-type]
            os.close(self._hear)
            os.close(self._say)

        def _stop(self, number: int, _: FrameType | None) -> None:
            """The first signal stops at the next wait, where nothing is half done; a second one at once."""
            if self._told_to_stop:
                raise Stopped(128 + number)
            self._told_to_stop = number
            self.wake()

        def wake(self) -> None:
            """Let `wait` return, from any thread and from a signal."""
            with contextlib.suppress(OSError):  # a full pipe wakes as well as a fuller one
                os.write(self._say, b"!")

        def wait(self, seconds: float) -> list[Key]:
            """The keys that were pressed, or none when the time is up or somebody woke us.

            Raises Stopped when the terminal has gone, or a signal says so.
            """
            ready, _, _ = select.select([self._fd, self._hear], [], [], seconds)
            if self._told_to_stop:
                raise Stopped(128 + self._told_to_stop)
            if self._hear in ready:
                os.read(self._hear, 4_096)
            if self._fd not in ready:
                return []
            keys = self._read()
            while self._decoder.waiting:
                more, _, _ = select.select([self._fd], [], [], _ESCAPE_WAIT)
                if not more:
                    return keys + self._decoder.flush()
                keys += self._read()
            return keys

        def _read(self) -> list[Key]:
            try:
                data = os.read(self._fd, 4_096)
            except OSError:
                data = b""
            if not data:
                raise Stopped(128 + signal.SIGHUP)
            return self._decoder.feed(data)


def _write(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stdout.write(text)
        sys.stdout.flush()
