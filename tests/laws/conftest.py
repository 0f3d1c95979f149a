"""A venue without HTTP that all examples of a test share."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.kernel import Kernel, kernel

Run = Callable[[Callable[[], Awaitable[Any]]], Any]


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs one call after the other on one loop."""
    with asyncio.Runner() as runner:

        async def bounded(call: Callable[[], Awaitable[Any]]) -> Any:
            async with asyncio.timeout(120):
                return await call()

        yield lambda call: runner.run(bounded(call))


@pytest.fixture
def venue(tmp_path: Path, run: Run) -> Iterator[Kernel]:
    """The venue, with three persons."""
    opened = kernel(tmp_path / "venue.db")
    yield run(opened.__aenter__)
    run(lambda: opened.__aexit__(None, None, None))
