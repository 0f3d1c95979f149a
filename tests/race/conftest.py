"""A venue in a process of its own, and client processes that know it."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.harness.actors import Actor
from tests.harness.served import Served
from ucan.keys import Ed25519Signer

from .clients import Introduction, hello

CLIENTS = 8
ROOMY = {
    "VENUE_LIMITS__OPEN_PER_REQUESTER": "1000",
    "VENUE_LIMITS__REQUESTS_PER_SECOND": "none",
}
"""Eight processes that speak for one owner are faster than a caller may be."""
_SEED = bytes(range(32))


@dataclass(frozen=True)
class Arena:
    """One served venue, the owner and agent that every client process can speak for, and those processes."""

    venue: Served
    owner: Actor
    agent: Actor
    clients: ProcessPoolExecutor

    @property
    def file(self) -> Path:
        """The venue's database."""
        return self.venue.data / "venue.db"

    def everywhere(self, task: Any, parts: list[Any]) -> list[Any]:
        """Run a task in every client process at once, each with its own part."""
        assert len(parts) == CLIENTS
        return list(self.clients.map(task, parts))


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    """A venue with roomy limits, and eight client processes."""
    context = multiprocessing.get_context("spawn")
    with Served(tmp_path_factory.mktemp("arena") / "data", environ=ROOMY) as venue:
        owner = venue.owner(Ed25519Signer.from_seed(_SEED))
        agent = venue.agent(owner)
        known = Introduction(venue.url, venue.did, _SEED, agent.token)
        start = context.Barrier(CLIENTS)
        with ProcessPoolExecutor(CLIENTS, context, hello, (known, start)) as clients:
            yield Arena(venue, owner, agent, clients)
