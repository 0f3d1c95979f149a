"""One served venue for all tests of the flow; every test brings owners of its own."""

from collections.abc import Iterator

import pytest

from tests.harness.served import Served


@pytest.fixture(scope="session")
def venue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`venue serve` with its default settings."""
    with Served(tmp_path_factory.mktemp("venue")) as served:
        yield served
