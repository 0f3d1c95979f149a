"""Principals who speak plain HTTP to a venue: owners who sign for themselves, agents, strangers."""

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from ucan.capability import Capability
from ucan.issue import issue
from ucan.jwt import sign
from ucan.keys import Ed25519Signer

_SEEDS = itertools.count(1)


def new_signer() -> Ed25519Signer:
    """A key of its own for each caller of this process; never one that another test has."""
    return Ed25519Signer.from_seed(next(_SEEDS).to_bytes(8, "big") + time.time_ns().to_bytes(24, "big"))


@dataclass(frozen=True)
class Reply:
    """An HTTP answer: its status, its JSON, and its headers."""

    status: int
    body: Any
    headers: Mapping[str, str]

    @property
    def code(self) -> str:
        """The stable code of a refusal."""
        return str(self.body["code"])

    def ok(self) -> Any:
        """The body of an answer that must not be a refusal."""
        assert self.status < 400, (self.status, self.body)
        return self.body


class Actor:
    """Somebody who calls a venue. `now` is the clock that its bearers are dated by, in unix seconds."""

    def __init__(
        self,
        http: httpx.Client,
        venue_did: str,
        *,
        signer: Ed25519Signer | None = None,
        token: str = "",
        now: Any = time.time,
    ) -> None:
        self._http = http
        self.venue_did = venue_did
        self.signer = signer
        self.token = token
        self._now = now

    @property
    def did(self) -> str:
        """The DID of a caller who signs for itself."""
        assert self.signer is not None
        return self.signer.did

    def bearer(self, **claims: Any) -> str:
        """A bearer of this actor; claims given here override the right ones, None leaves one out."""
        if self.signer is None:
            return self.token
        now = int(self._now())
        said = {
            "iss": self.did,
            "sub": self.did,
            "aud": self.venue_did,
            "iat": now,
            "exp": now + 300,
            **claims,
        }
        return sign(self.signer, {key: value for key, value in said.items() if value is not None})

    def headers(self) -> dict[str, str]:
        """The Authorization header, or none for a stranger."""
        bearer = self.bearer()
        return {"Authorization": f"Bearer {bearer}"} if bearer else {}

    def request(self, method: str, path: str, **options: Any) -> Reply:
        """Any request, with this actor's bearer unless `headers` bring another."""
        headers = {**self.headers(), **options.pop("headers", {})}
        answer = self._http.request(method, path, headers=headers, **options)
        try:
            body = answer.json()
        except ValueError:
            body = answer.text
        return Reply(answer.status_code, body, answer.headers)

    def invoke(self, operation: str, data: Any = None, ucans: Sequence[str] = (), **more: Any) -> Reply:
        """`POST invoke`."""
        return self._post("invoke", operation, data, ucans, more)

    def run(self, operation: str, data: Any = None, ucans: Sequence[str] = (), **more: Any) -> Reply:
        """`POST run`."""
        return self._post("run", operation, data, ucans, more)

    def ask(self, ucans: Sequence[str] = (), **fields: Any) -> str:
        """Post a request that must be accepted, and return its bare id."""
        data = {"title": "T", "asks": [{"id": "ok", "type": "approval", "prompt": "OK?"}], **fields}
        return str(self.invoke("v/ops/hitl/request", data, ucans).ok()["id"]).removeprefix("0x")

    def respond(self, request_id: str, outcome: str = "answer", **fields: Any) -> Reply:
        """`hitl:respond`."""
        return self.run("v/ops/hitl/respond", {"id": request_id, "outcome": outcome, **fields})

    def job(self, job_id: str, ucans: Sequence[str] = ()) -> Reply:
        """`GET jobs/{id}`."""
        return self.request("GET", f"/api/v1/jobs/{job_id}", headers=_proofs(ucans))

    def cancel(self, job_id: str, **body: Any) -> Reply:
        """`PUT jobs/{id}/cancel`."""
        return self.request("PUT", f"/api/v1/jobs/{job_id}/cancel", **({"json": body} if body else {}))

    def read(self, path: str, ucans: Sequence[str] = ()) -> Reply:
        """`GET values/read`."""
        return self.request("GET", "/api/v1/values/read", params={"path": path}, headers=_proofs(ucans))

    def record(self, request_id: str) -> Any:
        """The record of a request in the caller's own inbox."""
        return self.read(f"h/{request_id}").ok()["value"]

    def grant(
        self, audience: str, resource: str, can: str, lifetime: int = 3600, proofs: Sequence[str] = ()
    ) -> str:
        """A UCAN signed by this actor over one capability; a bare resource is its own."""
        assert self.signer is not None
        now = int(self._now())
        path = resource if resource.startswith("did:") else f"{self.did}/{resource}"
        return issue(
            self.signer,
            audience=audience,
            capabilities=[Capability(path, can)],
            expires=now + lifetime,
            now=now,
            nonce=str(next(_SEEDS)),
            proofs=proofs,
        )

    def _post(
        self, verb: str, operation: str, data: Any, ucans: Sequence[str], more: Mapping[str, Any]
    ) -> Reply:
        body = {"operation": operation, "input": data, **({"ucans": list(ucans)} if ucans else {}), **more}
        return self.request("POST", f"/api/v1/{verb}", json=body)


def _proofs(ucans: Sequence[str]) -> dict[str, str]:
    return {"X-Covia-Ucans": ",".join(ucans)} if ucans else {}
