"""Ctrl-C ends a command within a second or two, whatever it is about, and says what stands."""

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .kit import Done, Person

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process there")

SOON = 4.0
ENDS = (130, -signal.SIGINT)
"""The same to a shell: the second is that of a process which the signal ended while it was loading."""

RUN = "from venue.__main__ import main; print(flush=True); main()"
DEAF = """
import socket, sys, time
def unanswered(*_, **__):
    print(flush=True)
    time.sleep(30)
socket.getaddrinfo = unanswered
from venue.__main__ import main
main()
"""


def interrupted(person: Person, code: str, after: float, *words: str) -> Done:
    """What came of a command that was interrupted so many seconds after its first line."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=person.environment(),
        cwd=person.home,
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(after)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - start < SOON
    return Done(process.returncode, out, err)


def test_at_any_moment(ada: Person, helper: Person) -> None:
    """While it loads, asks or waits; a question that stands is named, or the key under which to ask again."""
    chance = random.Random(7)
    told: list[str] = []
    for number in range(10):
        done = interrupted(helper, RUN, chance.uniform(0.1, 1.5), "ask", f"Question {number}")
        assert done.status in ENDS, done.err
        assert "Traceback" not in done.err
        assert "ignored" not in done.err
        told += re.findall(r"job wait (\w+)|--once (\w+)", done.err)
    standing = {item["id"] for item in ada.actor.run("v/ops/hitl/list", {}).ok()["items"]}
    assert {request for request, _ in told if request} <= standing
    assert len(standing) <= len(told)


def test_while_a_name_server_does_not_answer(helper: Person, tmp_path: Path) -> None:
    """The thread that looks the name up cannot be stopped, and is not waited for."""
    done = interrupted(helper, DEAF, 0.2, "ask", "T", "--url", "http://venue.example")
    assert (done.status, done.out) == (130, "")
