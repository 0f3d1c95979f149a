"""Fixtures: one loop for all venues of a package's tests, one town with the default settings, and one more
when asked.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .clock import FrozenClock
from .town import Town
from .uvicorns import LoopThread

Build = Callable[..., Town]


@pytest.fixture(scope="session")
def thread() -> Iterator[LoopThread]:
    """The loop that serves."""
    with LoopThread() as running:
        yield running


@pytest.fixture(scope="module")
def town(thread: LoopThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """A venue on loopback with the default settings, shared by a module; every test brings its own people."""
    with Town(thread, tmp_path_factory.mktemp("town")) as served:
        yield served


@pytest.fixture
def build(thread: LoopThread, tmp_path: Path) -> Iterator[Build]:
    """Venues of a test's own: `build("name", setting=…)`. They end with the test."""
    with ExitStack() as stack:

        def one(name: str = "other", clock: FrozenClock | None = None, **settings: Any) -> Town:
            return stack.enter_context(Town(thread, tmp_path / name, settings, name=name, clock=clock))

        yield one
