"""One workshop for all scenarios of a process, and each scenario of the chosen file as a test by its id."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import catalogue

if TYPE_CHECKING:
    from .stage import Workshop

_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def workshop() -> Iterator["Workshop"]:
    """What scenarios share in one process; the gates, which play here too, need no venue."""
    from .stage import Workshop  # noqa: PLC0415

    with Workshop() as shared:
        yield shared


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """Where a scenario's venues keep their data: in memory where there is such a place.

    What is on it outlives a kill -9 as a file on disk does; only a power cut would tell, and none is played.
    """
    if not _MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="venue-", dir=_MEMORY, ignore_cleanup_errors=True) as found:
        yield Path(found)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize `scenario` by the file that --scenarios names, or by our own."""
    if "scenario" in metafunc.fixturenames:
        chosen: Path | None = metafunc.config.getoption("--scenarios")
        found = catalogue.played(chosen or catalogue.SCENARIOS)
        metafunc.parametrize("scenario", found, ids=[one["id"] for one in found])
