"""The stage of one scenario: its venues, its cast, its clock, and what was saved so far."""

import io
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx

from ops.model import Caller, Kind
from tests.harness.clock import FrozenClock
from tests.harness.principals import AGENTS, EVERYTHING, REGISTERED, Cast
from tests.harness.site import Site
from tests.harness.uvicorns import LoopThread
from tests.harness.venue import Venue
from ucan.did import agent_id_of, owner_of
from ucan.keys import Ed25519Signer
from venue.log import JsonLines

from . import settings
from .errors import BadScenario
from .placeholders import resolve
from .replies import Reply
from .steps import Act
from .steps.protocol import invoke

HOME = "venue"
_HOSTS = {HOME: "venue.example", "venueB": "venueb.example", "venueC": "venuec.example", "venueK": None}
"""The venues there are, by public host; without one the venue's identity is its did:key."""

_LETHAL = ("crash", "failpoint")


class Workshop:
    """What scenarios share in one process: the loop that serves, and the client's connections."""

    def __init__(self) -> None:
        self.thread = LoopThread()
        self.http = httpx.Client(verify=False, trust_env=False, timeout=30)
        self._leaving: list[Future[None]] = []

    def __enter__(self) -> "Workshop":
        self.thread.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for future in self._leaving:
            future.result(30)
        self.http.close()
        self.thread.__exit__()

    def dismiss(self, venue: Venue) -> None:
        """Let a venue stop while the next scenario begins."""
        if venue.up:
            self._leaving.append(venue.part())


class Stage:
    """Everything that the steps of one scenario act on; set by the `with` block, and struck by its end."""

    def __init__(
        self,
        workshop: Workshop,
        directory: Path,
        scenario: Mapping[str, Any],
        catalogue: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.clock = FrozenClock()
        self.mark: Any = None
        self._workshop = workshop
        self._directory = directory
        self._text = json.dumps(scenario)
        self._catalogue = catalogue
        self._venues: dict[str, Venue] = {}
        self._casts: dict[str, Cast] = {}
        self._saved: dict[str, dict[str, Any]] = {}
        self._log = logging.StreamHandler(io.StringIO())
        self._log.setFormatter(JsonLines())
        self._config = scenario["given"]["config"]

    def __enter__(self) -> "Stage":
        root = logging.getLogger()
        root.addHandler(self._log)
        root.setLevel(logging.INFO)
        setup = settings.read(self._config)
        home = self._open(HOME, setup)
        self.cast.caps.update(setup.caps)
        self.cast.enrol(
            [name for name in AGENTS if f'"{name}"' in self._text or f"${{{name}}}" in self._text]
        )
        for blocked in self.resolved(setup.blocked_by_carol):
            blocking = invoke(Act(self, "carol"), "v/ops/hitl/block", {"requester": blocked})
            assert blocking.ok, blocking.error
        if '"inspect.diff"' in self._text:
            self.mark = home.store.dump()
        return self

    def __exit__(self, *_: object) -> None:
        for venue in self._venues.values():
            self._workshop.dismiss(venue)
        logging.getLogger().removeHandler(self._log)

    # --- venues and people

    def venue(self, who: str) -> Venue:
        """The venue that a principal acts for or through: its own name, `bob@venueB`, or else our own."""
        name = who.rpartition("@")[2]
        name = name if name in _HOSTS else HOME
        return self._venues[name] if name in self._venues else self._open(name, settings.Setup())

    @staticmethod
    def is_venue(name: str) -> bool:
        """Whether this is the name of a venue."""
        return name in _HOSTS

    @property
    def cast(self) -> Cast:
        """The people of our own venue."""
        return self._casts[HOME]

    def at(self, venue: str, name: str) -> str:
        """Somebody, acting through a venue."""
        self.venue(venue)
        return f"{name}@{venue}"

    def somebody_at(self, venue: str) -> Act:
        """A user of a venue, to ask it something that anybody may ask."""
        return Act(self, self.at(venue, "carol"))

    def signer(self, name: str) -> Ed25519Signer:
        """The key of somebody who signs for themselves, or of a venue."""
        return self.venue(name).signer if name in _HOSTS else self.cast.signer(name)

    def stored_caller(self, did: str) -> Caller:
        """The caller that a DID amounts to when nothing else is known, with all the caps it could have."""
        agent = agent_id_of(did)
        if agent is None:
            return Caller(did, did)
        return Caller(did, owner_of(did), Kind.AGENT, agent, EVERYTHING)

    def sow(self, venue: str, owner: str, path: str) -> None:
        """Let a document lie at a path of a user of another venue, if they can be one."""
        if owner in REGISTERED:
            data = {"path": path, "value": "sown"}
            assert invoke(Act(self, self.at(venue, owner)), "v/ops/covia/write", data).ok

    def _open(self, name: str, setup: settings.Setup) -> Venue:
        host = _HOSTS[name]
        public = {"users": {"auto_create": False}} if host is None else {"public_url": f"https://{host}"}
        site = Site(name, self._directory / name, {**public, **setup.settings})
        lethal = name == HOME and any(f'"{word}"' in self._text for word in _LETHAL)
        venue = Venue(self._workshop.thread, site, self.clock, killable=lethal)
        venue.timers, venue.rearms = setup.timers, setup.rearm
        self._venues[name] = venue
        self._casts[name] = Cast(venue, self.clock, self._workshop.http)
        self._casts[name].arrive()
        venue.start()
        return venue

    # --- time, marks, logs

    def advance(self, milliseconds: int) -> int:
        """Move the clock; returns how many requests expired by it."""
        before = {name: venue.expired() for name, venue in self._venues.items()}
        self.clock.advance(milliseconds)
        return sum(venue.tick(before[name]) for name, venue in self._venues.items())

    def set_mark(self) -> None:
        """Remember the state of our own venue's store."""
        self.mark = self.venue(HOME).store.dump()

    def log_text(self) -> str:
        """Everything that was logged."""
        stream = self._log.stream
        assert isinstance(stream, io.StringIO)
        files = [venue.site.log for venue in self._venues.values()]
        return stream.getvalue() + "".join(file.read_text() for file in files if file.exists())

    def catalogue_steps(self, area: str, op: str) -> Iterator[Mapping[str, Any]]:
        """The inputs of an operation throughout an area of the catalogue, placeholders resolved."""
        for scenario in self._catalogue:
            if scenario["area"] == area:
                found = [step["input"] for step in scenario["steps"] if step["op"] == op]
                yield from (self.resolved(data) for data in found)

    # --- HTTP

    def send(self, act: Act, method: str, path: str, **options: Any) -> httpx.Response:
        """A request as somebody, with their bearer."""
        headers = {**self._authorization(act), **options.pop("headers", {})}
        return self._request(self.venue(act.who), method, path, headers=headers, **options)

    def send_raw(self, method: str, path: str, **options: Any) -> httpx.Response:
        """A request to our own venue as it stands."""
        return self._request(self.venue(HOME), method, path, **options)

    def streaming(self, act: Act, path: str) -> AbstractContextManager[httpx.Response]:
        """A request whose answer is read as it comes."""
        accept = act.transport.get("accept", "text/event-stream")
        headers = {**self._authorization(act), "Accept": accept, **act.transport.get("header", {})}
        return self._workshop.http.stream("GET", f"{self.venue(act.who).url}{path}", headers=headers)

    def _request(self, venue: Venue, method: str, path: str, **options: Any) -> httpx.Response:
        return self._workshop.http.request(method, f"{venue.url}{path}", **options)

    def _authorization(self, act: Act) -> dict[str, str]:
        name, _, at = act.who.partition("@")
        self.venue(act.who)
        bearer = self._casts[at or HOME].bearer(name)
        return {} if bearer is None else {"Authorization": f"Bearer {bearer}"}

    # --- names

    def resolved(self, value: Any) -> Any:
        """A value of the scenario with its placeholders resolved."""
        return resolve(value, self._lookup, self.clock.seconds)

    def save(self, name: str, data: Any, reply: Reply) -> None:
        """Keep a reply under a name."""
        self._saved[name] = {"result": reply.result, "id": reply.job_id, "job": reply.job, "input": data}

    def save_id(self, name: str, job_id: str) -> None:
        """Keep an id that was found otherwise than in a reply."""
        self._saved[name] = {"result": None, "id": job_id, "job": {"id": job_id}, "input": None}

    def _lookup(self, name: str) -> Any:
        if name in _HOSTS:
            return self.venue(name).did
        if self.cast.knows(name):
            return self.cast.did(name)
        if name in _PRESETS:
            return _PRESETS[name](self)
        first, *path = name.split(".")
        if first not in self._saved:
            raise BadScenario(f"nobody knows ${{{name}}}")
        found: Any = self._saved[first] if path else self._saved[first]["result"]
        for part in path:
            if not isinstance(found, dict) or found.get(part) is None:
                raise BadScenario(f"${{{name}}}: there is no {part}")
            found = found[part]
        return found


def _may_ask(stage: Stage, owner: str, asker: str) -> str:
    """A token by `ucan:issue` that lets somebody ask the owner."""
    att = [{"with": "h/", "can": "hitl/request"}]
    data = {"aud": stage.cast.did(asker), "att": att, "exp": stage.clock.seconds + 24 * 60 * 60}
    reply = invoke(Act(stage, owner), "v/ops/ucan/issue", data)
    assert reply.ok, reply.error
    return str(reply.result["token"])


_PRESETS = {
    "tok_bob_to_alice_inbox": lambda stage: _may_ask(stage, "alice", "bob"),
    "tok_agent_to_dave_inbox": lambda stage: _may_ask(stage, "dave", "alice.agent"),
    "idt_of_dave": lambda stage: stage.cast.sign_in_of("dave"),
}
