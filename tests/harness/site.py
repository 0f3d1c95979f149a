"""Where a venue of a test lives and what it is made of: enough to build it here or in another process."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from inbox.clock import Clock
from inbox.store.base import Database
from ops.model import Operation
from ucan.keys import Ed25519Signer
from venue.app import OPERATIONS, create_app, open_database, signer_for
from venue.config import Settings
from venue.didweb import Fetch

from .operations import TEST_OPERATIONS


def seed_of(name: str) -> bytes:
    """The key seed that goes with a name, the same in every process."""
    return hashlib.sha256(f"a test's key: {name}".encode()).digest()


async def no_web(url: str) -> bytes:
    """The web of a test: there is none."""
    raise OSError(f"no test fetches {url}")


@dataclass(frozen=True)
class Site:
    """A venue's name (which its key follows), its data directory, the settings that are not the default."""

    name: str
    data: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def database(self) -> Path:
        """The file that the store is in."""
        return self.data / "venue.db"

    @property
    def log(self) -> Path:
        """The file that a venue in a process of its own logs to."""
        return self.data / "serve.log"

    def read_settings(self) -> Settings:
        """The settings as the venue reads them. Raises ValidationError for what it would refuse."""
        return Settings.model_validate({**self.settings, "data": self.data})

    def signer(self) -> Ed25519Signer:
        """The venue's own key, under its DID."""
        return signer_for(self.read_settings(), seed_of(self.name))

    def build(
        self,
        clock: Clock,
        wrap: Callable[[Database], Database] = lambda db: db,
        operations: Sequence[Operation] = (*OPERATIONS, *TEST_OPERATIONS),
        fetch: Fetch | None = None,
    ) -> FastAPI:
        """The venue itself, through the composition root that ships, with a clock, a web and operations of
        ours.
        """
        self.data.mkdir(parents=True, exist_ok=True)
        return create_app(
            self.read_settings(),
            db=wrap(open_database(self.database)),
            signer=self.signer(),
            clock=clock,
            fetch=fetch or no_web,
            operations=operations,
        )

    def to_json(self) -> str:
        """This site for the command line of a child process."""
        return json.dumps(asdict(self) | {"data": str(self.data)})

    @classmethod
    def from_json(cls, text: str) -> "Site":
        """The site that `to_json` wrote."""
        said = json.loads(text)
        return cls(said["name"], Path(said["data"]), said["settings"])
