"""Fixtures of the gate tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from gate_stores import STORES, StillClock

from inbox.gates import GateStore


@pytest.fixture
def clock() -> StillClock:
    return StillClock()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: StillClock) -> Iterator[GateStore]:
    with STORES[request.param](tmp_path, now=clock) as opened:
        yield opened
