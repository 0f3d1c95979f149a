"""A served venue, a person and an agent of theirs for each test, and a proxy that misbehaves."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from tests.harness.actors import Actor
from tests.harness.proxy import Proxy
from tests.harness.served import Served
from venue.client import Venue


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a developer has set must not decide a test."""
    for name in ("URL", "TOKEN", "TOKEN_FILE", "KEY", "PASSPHRASE", "DID"):
        monkeypatch.delenv(f"VENUE_{name}", raising=False)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A venue in a process of its own, for the tests of one module."""
    with Served(tmp_path_factory.mktemp("client") / "data") as venue:
        yield venue


@pytest.fixture
def ada(served: Served) -> Actor:
    """A person whose inbox is empty."""
    return served.owner()


@pytest.fixture
def token(served: Served, ada: Actor) -> str:
    """The token of an agent of hers."""
    return served.agent(ada).token


@pytest.fixture
def venue(served: Served, token: str) -> Iterator[Venue]:
    """The client, as that agent."""
    with Venue(served.url, token=token) as client:
        yield client


@pytest.fixture
def proxy(served: Served) -> Iterator[Proxy]:
    """A proxy before the venue."""
    with Proxy(served.url) as before:
        yield before


@pytest.fixture
def later() -> Iterator[Callable[..., "Future[Any]"]]:
    """Run something in a thread."""
    with ThreadPoolExecutor(4) as pool:
        yield pool.submit
