"""Units of work on a venue's own tables, one database for each test."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inbox.store.base import Transaction
from tests.harness.kernel import Kernel, kernel

Scenario = Callable[[Kernel], Any]
Run = Callable[[Callable[[], Awaitable[Any]]], Any]
PATIENCE = 20


@pytest.fixture
def within(tmp_path: Path) -> Callable[[Scenario], Any]:
    """Runs a coroutine function of a kernel to its end."""

    def run(scenario: Scenario) -> Any:
        async def bounded() -> Any:
            async with asyncio.timeout(PATIENCE), kernel(tmp_path / "venue.db") as venue:
                return await scenario(venue)

        return asyncio.run(bounded())

    return run


@pytest.fixture
def write(within: Callable[[Scenario], Any]) -> Callable[[Callable[[Transaction], Any]], Any]:
    """Runs one unit of work."""
    return lambda work: within(lambda venue: venue.db.write(work))


@pytest.fixture
def run() -> Iterator[Run]:
    """Runs one call after the other on one loop, for tests that run many examples."""
    with asyncio.Runner() as runner:

        async def bounded(call: Callable[[], Awaitable[Any]]) -> Any:
            async with asyncio.timeout(PATIENCE):
                return await call()

        yield lambda call: runner.run(bounded(call))


@pytest.fixture
def shared(tmp_path: Path, run: Run) -> Iterator[Kernel]:
    """A kernel for all examples of a test."""
    opened = kernel(tmp_path / "venue.db")
    yield run(opened.__aenter__)
    run(lambda: opened.__aexit__(None, None, None))
