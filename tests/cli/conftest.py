"""One served venue for all tests of the command line; every test brings people of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.served import Served

from .kit import Person


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`venue serve` with its default settings."""
    with Served(tmp_path_factory.mktemp("venue")) as venue:
        yield venue


@pytest.fixture
def ada(served: Served, tmp_path: Path) -> Person:
    """Somebody with a key, who decides."""
    return Person(served, tmp_path)


@pytest.fixture
def helper(served: Served, ada: Person, tmp_path: Path) -> Person:
    """An agent of hers, with a token."""
    return Person(served, tmp_path, token=served.agent(ada.actor).token)
