"""What stands in somebody's inbox, and waiting until it does."""

import threading
from collections.abc import Callable
from typing import Any

from .actors import Actor

SOON = 20.0
"""Seconds within which anything that is waited for in a test must have happened."""


def inbox(person: Actor, status: str = "open") -> list[dict[str, Any]]:
    """What stands so in somebody's inbox, whole."""
    items = person.run("v/ops/hitl/list", {"status": status}).ok()["items"]
    return [person.record(item["id"]) for item in items]


def asked(person: Actor, count: int = 1) -> list[dict[str, Any]]:
    """The records in somebody's inbox, once there are as many."""
    return until(lambda: (found := inbox(person)) and len(found) >= count and found)


def until(look: Callable[[], Any]) -> Any:
    """What `look` finds, once it finds something."""
    late = threading.Event()
    timer = threading.Timer(SOON, late.set)
    timer.start()
    try:
        while not late.is_set():
            if found := look():
                return found
            late.wait(0.02)
    finally:
        timer.cancel()
    raise AssertionError("nothing came in time")
