"""Venues on a thread of this process, on a frozen clock, with settings of a test's own; and their people."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.harness.actors import Actor, new_signer
from tests.harness.clock import FrozenClock
from tests.harness.site import Site
from tests.harness.uvicorns import LoopThread
from tests.harness.venue import Venue


class House:
    """A venue that is up, and how to get people into it."""

    def __init__(self, venue: Venue, clock: FrozenClock, http: httpx.Client, thread: LoopThread) -> None:
        self.venue = venue
        self.clock = clock
        self.http = http
        self.thread = thread
        self.url = venue.url
        self.did = venue.did

    def owner(self) -> Actor:
        """A person with a key of their own, whose bearers follow the venue's clock."""
        return Actor(self.http, self.did, signer=new_signer(), now=lambda: self.clock.seconds)

    def agent(self, owner: Actor, agent_id: str = "helper", **options: Any) -> Actor:
        """An agent that this owner enrols."""
        token = owner.run("v/ops/agent/enrol", {"agentId": agent_id, **options}).ok()["token"]
        return Actor(self.http, self.did, token=token)

    def stranger(self) -> Actor:
        """Somebody without credentials."""
        return Actor(self.http, self.did)


@pytest.fixture(scope="session")
def thread() -> Iterator[LoopThread]:
    """The loop that every venue of these tests runs on."""
    with LoopThread() as running:
        yield running


@pytest.fixture(scope="module")
def open_house(
    thread: LoopThread, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., House]]:
    """Opens venues with these settings, which count no calls unless told to, until the module's tests end."""
    with ExitStack() as stack:

        def opened(**settings: Any) -> House:
            directory = tmp_path_factory.mktemp("http")
            clock = FrozenClock()
            settings["limits"] = {"requests_per_second": "none", **settings.get("limits", {})}
            venue = Venue(thread, Site(directory.name, directory, settings), clock)
            venue.start()
            stack.callback(venue.stop)
            http = stack.enter_context(httpx.Client(base_url=venue.url, timeout=30))
            return House(venue, clock, http, thread)

        yield opened


@pytest.fixture(scope="module")
def house(open_house: Callable[..., House]) -> House:
    """A venue with its default settings."""
    return open_house()
