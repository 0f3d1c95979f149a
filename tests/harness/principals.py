"""The people, agents and strangers of a scenario: their DIDs, their keys, and the bearers they call with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from ucan.did import agent_did, managed_did
from ucan.jwt import read, sign
from ucan.keys import Ed25519Signer

from . import operator
from .clock import FrozenClock
from .site import seed_of
from .venue import Venue

MANAGED = ("alice", "dave")
"""Users whom the venue manages: they have no key, and sign in."""

REGISTERED = ("bob", "carol", "frank")
"""Users who brought a did:key."""

STRANGERS = ("eve", "random")
"""Keys without an account."""

EVERYTHING = [{"with": "", "can": "*"}]


@dataclass(frozen=True)
class AgentOf:
    """Whose agent, under which id, with which caps."""

    owner: str
    agent_id: str
    caps: Sequence[Mapping[str, Any]]


AGENTS: Mapping[str, AgentOf] = {
    "alice.agent": AgentOf("alice", "helper", EVERYTHING),
    "alice.agent2": AgentOf("alice", "helper2", EVERYTHING),
    "alice.agent_nocaps": AgentOf("alice", "nocaps", []),
    "bob.agent": AgentOf("bob", "helper", EVERYTHING),
}

EXTERNAL = "did:web:elsewhere.example:u:external"
ANONYMOUS = "anonymous"
EXPIRED, TAMPERED = "!expired", "!tampered"


def key_of(name: str, did: str | None = None) -> Ed25519Signer:
    """The key of somebody in a scenario; `did` when it signs as another DID than its own did:key."""
    return Ed25519Signer.from_seed(seed_of(name), did)


def flip_signature(token: str) -> str:
    """A token whose signature is another, and still well formed."""
    body, _, signature = token.rpartition(".")
    return f"{body}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


class Cast:
    """Everybody who appears, at one venue. Agents are enrolled when they are first needed."""

    def __init__(self, venue: Venue, clock: FrozenClock, http: httpx.Client) -> None:
        self._venue = venue
        self._clock = clock
        self._http = http
        self._sign_ins: dict[str, str] = {}
        self._agents: dict[str, str] = {}
        self.caps: dict[str, Any] = {name: agent.caps for name, agent in AGENTS.items()}

    def arrive(self) -> None:
        """Give the users their accounts, and sign the managed ones in."""
        brought = [{"did": key_of(name).did} for name in REGISTERED]
        managed = [{"username": name} for name in MANAGED]
        self._sign_in([*managed, *brought])

    def knows(self, name: str) -> bool:
        """Whether this is the name of somebody in the cast."""
        return name in (*MANAGED, *REGISTERED, *STRANGERS, *AGENTS, "external")

    def did(self, name: str) -> str:
        """The DID of somebody in the cast."""
        if name in MANAGED:
            return managed_did(self._venue.did, name)
        if name in AGENTS:
            return agent_did(self.did(AGENTS[name].owner), AGENTS[name].agent_id)
        return EXTERNAL if name == "external" else key_of(name).did

    def signer(self, name: str) -> Ed25519Signer:
        """The key of somebody who signs for themselves."""
        assert name not in (*MANAGED, *AGENTS), f"{name} has no key"
        return key_of(name, EXTERNAL if name == "external" else None)

    def bearer(self, who: str) -> str | None:
        """What somebody says who they are with; `!expired` and `!tampered` spoil it. None for anonymous."""
        name, mark, _ = who.partition("!")
        if name == ANONYMOUS:
            return None
        if who.endswith(EXPIRED):
            return self._expired(name)
        token = self._token(name)
        if who.endswith(TAMPERED):
            return flip_signature(token)
        assert not mark, f"unknown suffix: {who}"
        return token

    def sign_in_of(self, name: str) -> str:
        """The live sign-in of a managed user."""
        if int(read(self._sign_ins[name]).claims["exp"]) <= self._clock.seconds:
            self._sign_in()
        return self._sign_ins[name]

    def _token(self, name: str) -> str:
        if name in MANAGED:
            return self.sign_in_of(name)
        if name in AGENTS:
            return self._enrolled(name)
        assert self.knows(name), f"unknown principal: {name}"
        return self._self_issued(name, self._clock.seconds)

    def _self_issued(self, name: str, at: int) -> str:
        did = self.did(name)
        claims = {"iss": did, "sub": did, "aud": self._venue.did, "iat": at, "exp": at + 300}
        return sign(self.signer(name), claims)

    def _expired(self, name: str) -> str:
        if name not in MANAGED:
            return self._self_issued(name, self._clock.seconds - 3_600)
        live = read(self.sign_in_of(name))
        return sign(self._venue.signer, {**live.claims, "exp": self._clock.seconds - 1}, typ=str(live.typ))

    def _sign_in(self, new: Sequence[Mapping[str, str]] = ()) -> None:
        bearers = self._venue.on_loop(operator.admitted(self._venue.site, self._clock, new, MANAGED))
        self._sign_ins = dict(zip(MANAGED, bearers, strict=True))

    def enrol(self, names: Sequence[str]) -> None:
        """Let the owners of these agents enrol them."""
        for name in names:
            self._enrolled(name)

    def _enrolled(self, name: str) -> str:
        if name not in self._agents:
            agent = AGENTS[name]
            data = {"agentId": agent.agent_id, "caps": self.caps[name]}
            answer = self._http.post(
                f"{self._venue.url}/api/v1/run",
                json={"operation": "v/ops/agent/enrol", "input": data},
                headers={"Authorization": f"Bearer {self.bearer(agent.owner)}"},
            )
            assert answer.status_code == 200, answer.text
            self._agents[name] = answer.json()["token"]
        return self._agents[name]
