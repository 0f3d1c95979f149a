"""One `venue serve` process for all tests of the SDK; every test brings people of its own."""

from collections.abc import Iterator

import pytest

from tests.harness.served import Served


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A venue with its default settings."""
    with Served(tmp_path_factory.mktemp("sdk")) as venue:
        yield venue
