"""A venue in this process, with everything that tests of identity move by hand: its clock, the web that it
fetches from, its people and their agents, the operator, and what lies on its disk.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ucan.did import managed_did
from ucan.issue import identity
from ucan.jwt import sign
from ucan.keys import Ed25519Signer
from venue.operator import OPERATOR_TYPE
from venue.problems import STATUS

from .actors import Actor, Reply
from .clock import FrozenClock
from .operator import admitted
from .site import Site
from .store import Store
from .uvicorns import LoopThread, Served

ASK = "v/ops/hitl/request"
RESPOND = "v/ops/hitl/respond"
ISSUE = "v/ops/ucan/issue"
VERIFY = "v/ops/ucan/verify"
REVOKE = "v/ops/ucan/revoke"
REQUEST: dict[str, Any] = {"title": "May I?", "asks": [{"id": "ok", "type": "approval", "prompt": "OK?"}]}


def refused(reply: Reply, code: str) -> None:
    """A refusal as clients are promised it: this code and the status that goes with it."""
    assert isinstance(reply.body, dict), reply.body
    assert (reply.body.get("code"), reply.status) == (code, STATUS[code]), reply.body


def offering(resource: str = "w/r", can: str = "crud/read", **more: Any) -> dict[str, Any]:
    """A request whose approval offers one capability."""
    ask = {
        "id": "ok",
        "type": "approval",
        "prompt": "OK?",
        "grants": [{"with": resource, "can": can, **more}],
    }
    return {"title": "May I?", "asks": [ask]}


def fresh_key(did: str | None = None) -> Ed25519Signer:
    """A new key; `did` when it signs as another DID than its own did:key."""
    return Ed25519Signer(Ed25519PrivateKey.generate(), did)


class Bound(Actor):
    """An agent or a managed user that signs for itself with a key bound to it; `did` is the principal."""

    def bearer(self, **claims: Any) -> str:
        """A bearer by the key, for the principal."""
        assert self.signer is not None
        return super().bearer(**{"iss": self.signer.key_did, "sub": self.signer.did, **claims})


class Web:
    """The web of a test: what stands at each URL, and what was asked for."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Exception] = {}
        self.asked: list[str] = []

    async def __call__(self, url: str) -> bytes:
        """Fetch a page of this web."""
        self.asked.append(url)
        page = self.pages.get(url, OSError("there is no such page"))
        if isinstance(page, Exception):
            raise page
        return page

    def publish(self, url: str, signer: Ed25519Signer, **changes: Any) -> dict[str, Any]:
        """Put the DID document of a signer at a URL; `changes` spoil it."""
        method = {
            "id": f"{signer.did}#key",
            "type": "Multikey",
            "controller": signer.did,
            "publicKeyMultibase": signer.kid,
        }
        document = {"id": signer.did, "verificationMethod": [method], **changes}
        self.pages[url] = json.dumps(document).encode()
        return document


class Town:
    """A venue on a thread's loop, at an hour that only the test moves."""

    def __init__(
        self,
        thread: LoopThread,
        data: Path,
        settings: Mapping[str, Any] | None = None,
        *,
        name: str = "town",
        clock: FrozenClock | None = None,
    ) -> None:
        self.clock = clock or FrozenClock()
        self.web = Web()
        self.site = Site(name, data, {"limits": {"requests_per_second": None}, **(settings or {})})
        self.signer = self.site.signer()
        self.did = self.signer.did
        self.store = Store(self.site.database)
        self.http = httpx.Client()
        self.url = ""
        self._thread = thread
        self._served: Served | None = None

    def __enter__(self) -> "Town":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.http.close()

    def start(self) -> None:
        """Come up on the data that is there."""
        self._served = Served(self._thread, self.site.build(self.clock, fetch=self.web))
        self.url = self._served.url
        self.http.base_url = httpx.URL(self.url)
        self.http.timeout = httpx.Timeout(20)

    def stop(self) -> None:
        """Stop as on a signal."""
        if self._served is not None:
            self._served.leave().result(30)
            self._served = None

    @property
    def now(self) -> int:
        """The venue's hour in unix seconds."""
        return self.clock.seconds

    def person(self, signer: Ed25519Signer | None = None) -> Actor:
        """Somebody with a key of their own."""
        return Actor(self.http, self.did, signer=signer or fresh_key(), now=lambda: self.now)

    def bound(self, signer: Ed25519Signer) -> Bound:
        """An agent or managed user, by a key that signs as it."""
        return Bound(self.http, self.did, signer=signer, now=lambda: self.now)

    def by(self, token: str) -> Actor:
        """Whoever holds a bearer."""
        return Actor(self.http, self.did, token=token, now=lambda: self.now)

    def agent(self, owner: Actor, agent_id: str = "helper", **options: Any) -> Actor:
        """An agent that this owner enrols."""
        return self.by(owner.run("v/ops/agent/enrol", {"agentId": agent_id, **options}).ok()["token"])

    def keyed_agent(self, owner: Actor, principal: str, agent_id: str = "helper") -> Bound:
        """An enrolled agent's new key, bound by its owner; `principal` is the agent's DID."""
        signer = fresh_key(principal)
        data = {"agentId": agent_id, "proof": self.proof(signer)}
        owner.run("v/ops/agent/bind", data).ok()
        return self.bound(signer)

    def managed(self, name: str) -> Actor:
        """A managed user, created if need be and signed in by the operator."""
        users = [{"username": name}]
        token = self._thread.run(admitted(self.site, self.clock, users, [name]))[0]
        return self.by(token)

    def managed_did(self, name: str) -> str:
        """The DID of a managed user."""
        return managed_did(self.did, name)

    def keyed(self, name: str) -> Bound:
        """A managed user who has bound a new key and signs for themselves with it."""
        signer = fresh_key(self.managed_did(name))
        self.managed(name).run("v/ops/user/bind", {"proof": self.proof(signer)}).ok()
        return self.bound(signer)

    def proof(self, signer: Ed25519Signer, **claims: Any) -> str:
        """What a key says to be bound to the principal that it signs as; `claims` spoil it."""
        said = {
            "iss": signer.key_did,
            "sub": signer.did,
            "aud": self.did,
            "iat": self.now,
            "exp": self.now + 300,
            **claims,
        }
        return sign(signer, {key: value for key, value in said.items() if value is not None})

    def venue_signed(self, typ: str, **claims: Any) -> str:
        """What only the venue's key can sign: a credential of some type, about the venue unless claims say
        otherwise.
        """
        said = {
            "iss": self.did,
            "sub": self.did,
            "aud": self.did,
            "iat": self.now,
            "exp": self.now + 60,
            "jti": "00",
            **claims,
        }
        return sign(self.signer, {key: value for key, value in said.items() if value is not None}, typ=typ)

    def operator(self, **claims: Any) -> Actor:
        """Whoever holds the venue's key, with a bearer of a minute (D5)."""
        return self.by(self.venue_signed(OPERATOR_TYPE, **claims))

    def relayed(self, person: Actor, **changes: Any) -> Actor:
        """A person by an identity UCAN."""
        assert person.signer is not None
        said = {"audience": self.did, "expires": self.now + 3_600, **changes}
        return self.by(identity(person.signer, now=self.now, nonce="n", **said))

    def issued(
        self, owner: Actor, audience: str, resource: str, can: str, lifetime: int = 3_600, **more: Any
    ) -> str:
        """A token that the venue signs at the owner's word (`ucan:issue`)."""
        data = {"aud": audience, "att": [{"with": resource, "can": can}], "exp": self.now + lifetime}
        return str(owner.run(ISSUE, data, **more).ok()["token"])

    def passed_on(
        self, holder: Actor, audience: str, resource: str, can: str, proofs: Sequence[str], lifetime: int = 50
    ) -> str:
        """A token that rests on proofs, signed without asking whether they are any good."""
        assert holder.signer is not None
        claims = {
            "iss": holder.did,
            "aud": audience,
            "ucv": "0.10.0",
            "att": [{"with": resource, "can": can}],
            "prf": list(proofs),
            "exp": self.now + lifetime,
            "nnc": "n",
        }
        return sign(holder.signer, claims)

    def approved(
        self,
        owner: Actor,
        asker: Actor,
        resource: str = "w/r",
        can: str = "crud/read",
        *,
        to: str | None = None,
        ucans: Sequence[str] = (),
    ) -> str:
        """The token that came of a request whose one offer the owner echoed; `to` names the owner's inbox."""
        target = {} if to is None else {"user": to}
        job_id = asker.ask(ucans, **offering(resource, can), **target)
        owner.respond(job_id, answers={"ok": True}, grants=[{"with": resource, "can": can}]).ok()
        return str(asker.job(job_id).ok()["output"]["token"])

    @contextmanager
    def stream(self, actor: Actor, path: str, ucans: str = "") -> Iterator[Iterator[str]]:
        """A stream's lines; read one frame before you rely on its being open."""
        headers = {**actor.headers(), **({"X-Covia-Ucans": ucans} if ucans else {})}
        with (
            httpx.Client(base_url=self.url, timeout=20) as http,
            http.stream("GET", path, headers=headers) as stream,
        ):
            assert stream.status_code == 200, stream.read()
            yield frames(stream)


def frames(stream: httpx.Response) -> Iterator[str]:
    """The data of each frame of a stream, heartbeats left out."""
    return (line.removeprefix("data: ") for line in stream.iter_lines() if line.startswith("data: "))
