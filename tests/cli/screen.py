"""A program on a pseudo-terminal, and a small screen that shows what it drew."""

import codecs
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from types import TracebackType

from .kit import Person

_PATIENCE = 60.0
_SEQUENCE = re.compile(r"\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07]*\x07|[()][0-9A-B]|[=>78])")
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|\][^\x07]*|[()])?\Z")
_RUN = """
import os, runpy
os.open(os.ttyname(0), os.O_RDWR)  # the first terminal that a session opens is its own
runpy.run_module("venue", run_name="__main__")
"""
ENTER, ESC, UP, DOWN = "\r", "\x1b", "\x1b[A", "\x1b[B"


class Screen:
    """`venue …` on a terminal of its own; the `with` block ends it if it has not ended."""

    def __init__(
        self, person: Person, *words: str, width: int = 80, height: int = 24, environ: object = None
    ) -> None:
        self._person = person
        self._words = words
        self._environ = environ
        self._size = (height, width)
        self.raw = ""
        self._text = ""
        self.rows: list[str] = []
        self._at = (0, 0)
        self._decode = codecs.getincrementaldecoder("utf-8")().decode

    def __enter__(self) -> "Screen":
        self.master, self._slave = pty.openpty()
        self._set_size()
        self.before = termios.tcgetattr(self._slave)
        environ = self._person.environment(self._environ)  # type: ignore[arg-type]
        self.process = subprocess.Popen(
            [sys.executable, "-c", _RUN, *self._words],
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env={**environ, "TERM": "xterm-256color"},
            cwd=self._person.home,
            start_new_session=True,
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(_PATIENCE)
        os.close(self._slave)
        os.close(self.master)

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.master, text.encode())

    def resize(self, width: int, height: int) -> None:
        """Make the terminal another size."""
        self._size = (height, width)
        self._set_size()

    def sees(self, *texts: str, without: str = "\0") -> str:
        """Wait until all of these stand on the screen, and the other does not; what stands there then."""
        end = time.monotonic() + _PATIENCE
        while True:
            shown = "\n".join(self.rows)
            flat = re.sub(r"\s*\n\s*", " ", shown)
            if all(text in shown or text in flat for text in texts) and without not in shown:
                return shown
            left = end - time.monotonic()
            assert left > 0, f"waited for {texts} in vain:\n{shown}\n--- raw ---\n{self.raw[-2000:]!r}"
            if not self._read(left):
                raise AssertionError(f"it ended with {self.process.wait()} before {texts}:\n{shown}")

    def ends(self) -> int:
        """Wait for its end and return its status; the terminal must then be as it was."""
        end = time.monotonic() + _PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, "it does not end:\n" + "\n".join(self.rows)
            self._read(0.05)
        while self._read(0):
            pass
        return self.process.returncode

    def is_restored(self) -> bool:
        """Whether lines are edited and echoed again, the cursor is shown, and the first screen is back."""
        after = termios.tcgetattr(self._slave)
        left = self.raw.rfind("\x1b[?1049h") < self.raw.rfind("\x1b[?1049l")
        cursor = self.raw.rfind("\x1b[?25l") < self.raw.rfind("\x1b[?25h")
        paste = self.raw.rfind("\x1b[?2004h") < self.raw.rfind("\x1b[?2004l")
        return after[:4] == self.before[:4] and left and cursor and paste

    def _set_size(self) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", *self._size, 0, 0))
        if hasattr(self, "process"):
            self.process.send_signal(signal.SIGWINCH)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return seconds > 0 and self.process.poll() is None
        data = b""
        with contextlib.suppress(OSError):
            data = os.read(self.master, 65_536)
        text = self._decode(data)
        self.raw += text
        self._draw(text)
        return bool(data)

    def _draw(self, text: str) -> None:
        """Text, cursor home, line ends and clearing: what our program uses."""
        self._text += text
        while self._text:
            sequence = _SEQUENCE.match(self._text)
            if sequence is not None:
                self._text = self._text[sequence.end() :]
                self._act(sequence[1] or "", sequence[2] or "")
            elif self._text[0] == "\x1b":
                if _UNFINISHED.match(self._text):
                    return
                raise AssertionError(f"unknown sequence {self._text[:10]!r}")
            else:
                self._put(self._text[0])
                self._text = self._text[1:]

    def _act(self, numbers: str, letter: str) -> None:
        if letter == "H":
            height, width = self._size  # a terminal that became smaller has lost what was outside
            self.rows, self._at = [row[:width] for row in self.rows[:height]], (0, 0)
        elif letter == "J" or (letter == "h" and numbers == "?1049"):
            self.rows = []

    def _put(self, character: str) -> None:
        row, column = self._at
        if character == "\r":
            self._at = (row, 0)
        elif character == "\n":
            self._at = (row + 1, column)
        elif character >= " ":
            while len(self.rows) <= row:
                self.rows.append("")
            line = self.rows[row].ljust(column)
            self.rows[row] = line[:column] + character + line[column + 1 :]
            self._at = (row, column + 1)
