"""Where secrets must not be: a scan of everything that a venue leaves on its disk (D3, D15, D31).

The venue is `venue serve` with its real log. The files are read raw: the database with its log of changes,
so what was written once and deleted since is found as well.
"""

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.actors import Actor
from tests.harness.commands import venue as command
from tests.harness.served import Served
from tests.harness.store import Store
from tests.harness.town import VERIFY, fresh_key
from ucan.did import agent_did
from ucan.jwt import sign
from venue.keyfile import venue_seed

DELIVERED = "<signed token delivered to requester>"
SPEC = {"caps": [{"with": "w/r", "can": "crud/read"}]}
TOKEN_ASK = [{"id": "t", "type": "token", "prompt": "Sign?", "token": SPEC, "required": True}]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A venue whose disk holds the story of one test."""
    with Served(tmp_path / "data") as running:
        yield running


def files_with(data: Path, secret: str) -> list[str]:
    """The names of the files that hold a secret, in whichever case and encoding a careless writer uses."""
    raw = secret.encode()
    forms = {raw, raw.hex().encode(), base64.b64encode(raw), base64.urlsafe_b64encode(raw).rstrip(b"=")}
    return sorted(
        file.name
        for file in data.iterdir()
        if file.is_file() and any(form in file.read_bytes() for form in forms)
    )


def hidden(data: Path, token: str) -> bool:
    """Whether neither a token nor its signature, which makes it usable, is on the disk."""
    return not files_with(data, token) and not files_with(data, token.rpartition(".")[2])


def test_a_token_that_was_signed_for_a_requester(served: Served) -> None:
    """It stands in the output of that job and nowhere else, however it was offered and read (D15)."""
    ada, bob = served.owner(), served.owner()
    agent = served.agent(ada)
    did = agent_did(ada.did, "helper")
    token = ada.grant(did, "w/r", "crud/read")
    request = agent.ask(asks=TOKEN_ASK)
    given = {"id": request, "outcome": "answer", "answers": {"t": token}}

    # Refused in many ways first: none of them leaves it anywhere.
    respond = "v/ops/hitl/respond"
    replies = [
        ada.run(respond, {**given, "digest": "sha256:" + "0" * 64}),
        ada.run(respond, {**given, "answers": {"t": token, "x": 1}}),
        ada.run(respond, {**given, "answers": {"x": token}}),
        ada.run(respond, {**given, "answers": [token]}),
        ada.run(respond, {**given, "answers": {"t": [token]}}),
        ada.run(respond, {**given, "answers": {"t": token[:-2]}}),
        ada.run(respond, {**given, "grants": [{"with": token, "can": token}]}),
        ada.run(respond, {**given, token: 1}),
        ada.run(respond, {**given, "outcome": token}),
        bob.run(respond, given),
        agent.run(respond, given),
        ada.run(VERIFY, {"token": [token]}),
    ]
    for reply in replies:
        assert 400 <= reply.status < 500
        assert token not in json.dumps(reply.body)
    assert hidden(served.data, token)

    with served.http.stream("GET", "/api/v1/inbox/sse", headers=ada.headers()) as feed:
        lines = feed.iter_lines()
        assert next(lines)
        job = ada.invoke(respond, given).ok()
        told = ""
        while "request.answered" not in told:
            told += next(lines)
    assert token not in told
    assert job["input"]["answers"] == {"t": DELIVERED}
    for carrier in (
        job,
        ada.job(job["id"]).ok(),
        ada.record(request),
        ada.request("GET", f"/api/v1/jobs/{request}/history").ok(),
        ada.request("GET", f"/api/v1/jobs/{request}/receipt").ok(),
        ada.run("v/ops/audit/read").ok(),
        served.log,
        command("audit", "tail", ada.did, "--json", data=served.data).out,
    ):
        assert token not in json.dumps(carrier)
    output = agent.job(request).ok()["output"]
    assert (output["answers"], output["tokens"]) == ({"t": DELIVERED}, {"t": token})
    assert ada.job(request).ok()["output"]["tokens"] == {"t": token}

    places = Store(served.data / "venue.db").places_of(token)
    assert places == [f"{ada.did}/j/{request}/output/tokens/t"]
    assert set(files_with(served.data, token)) <= {"venue.db", "venue.db-wal"}
    _by_proof(ada, bob, request, token)


def _by_proof(ada: Actor, bob: Actor, request: str, token: str) -> None:
    """Whoever reads the job by proof sees that there was one; the whole of `j/` and every part of it."""
    proof = ada.grant(bob.did, "j/", "crud/read")
    whole = bob.job(request, [proof]).ok()
    assert whole["output"]["tokens"] == {"t": DELIVERED}
    for path in (
        "",
        f"/{request}",
        f"/{request}/output",
        f"/{request}/output/tokens",
        f"/{request}/output/tokens/t",
    ):
        value = bob.read(f"{ada.did}/j{path}", [proof]).ok()["value"]
        assert token not in json.dumps(value)
        assert DELIVERED in json.dumps(value)
    for name in ("slice", "inspect", "list"):
        data = {"path": f"{ada.did}/j/{request}/output/tokens"}
        assert token not in json.dumps(bob.run(f"v/ops/covia/{name}", data, [proof]).body)
    copied = {"from": f"{ada.did}/j/{request}", "to": "w/copy"}
    assert bob.run("v/ops/covia/copy", copied, [proof]).status == 200
    assert token not in json.dumps(bob.read("w/copy").ok())
    for suffix in ("history", "receipt"):
        reply = bob.request("GET", f"/api/v1/jobs/{request}/{suffix}", headers={"X-Covia-Ucans": proof})
        assert token not in json.dumps(reply.ok())


def test_a_token_that_was_looked_at_as_a_job(served: Served) -> None:
    """Verifying it, revoking it or reading its job by `invoke` leaves a job; that job does not hold it."""
    ada = served.owner()
    agent = served.agent(ada)
    token = ada.grant(agent_did(ada.did, "helper"), "w/r", "crud/read")
    request = agent.ask(asks=TOKEN_ASK)
    ada.respond(request, answers={"t": token}).ok()
    bob = served.owner()
    proof = ada.grant(bob.did, "j/", "crud/read")
    looks: list[tuple[Actor, str, dict[str, Any]]] = [
        (agent, VERIFY, {"token": token}),
        (ada, VERIFY, {"token": token}),
        (ada, "v/ops/ucan/revoke", {"token": token}),
        (agent, "v/ops/covia/read", {"path": f"j/{request}"}),
        (ada, "v/ops/covia/read", {"path": f"j/{request}/output/tokens/t"}),
        (ada, "v/ops/covia/read", {"path": "j"}),
        (ada, "v/ops/covia/slice", {"path": f"j/{request}/output/tokens"}),
        (ada, "v/ops/covia/inspect", {"path": f"j/{request}/output", "budget": 5_000}),
    ]
    for who, operation, data in looks:
        job = who.invoke(operation, data).ok()
        assert job["status"] == "COMPLETE"
        seen = bob.job(job["id"], [proof]).ok()
        assert token not in json.dumps(seen), operation
    assert Store(served.data / "venue.db").places_of(token) == [f"{ada.did}/j/{request}/output/tokens/t"]


def test_a_rejected_or_expired_token_ask_leaves_nothing(served: Served) -> None:
    """The token was shown to the venue and refused, or came too late: it is not on the disk."""
    ada = served.owner()
    agent = served.agent(ada)
    token = ada.grant(agent_did(ada.did, "helper"), "w/r", "crud/read")
    request = agent.ask(asks=TOKEN_ASK)
    ada.respond(request, "reject").ok()
    late = ada.respond(request, answers={"t": token})
    assert (late.status, late.code) == (409, "not_open")
    nobodys = ada.respond("0" * 32, answers={"t": token})
    assert nobodys.code == "not_found"
    assert hidden(served.data, token)


def test_credentials_and_keys_are_nowhere(served: Served) -> None:
    """Agent tokens, sign-ins, bearers, identities, proofs, seeds: not in the database, the log or a job."""
    ada, bob = served.owner(), served.owner()
    bearer = ada.bearer()
    agent = served.agent(ada)
    did = command("user", "add", "maya", data=served.data).ok()
    session = command("user", "signin", "maya", data=served.data).ok()
    maya = Actor(served.http, served.did, token=session)
    signer, now = fresh_key(did), int(time.time())
    claims = {"iss": signer.key_did, "sub": did, "aud": served.did, "iat": now, "exp": now + 300}
    proof = sign(signer, claims)
    assert maya.invoke("v/ops/user/bind", {"proof": proof}).ok()["status"] == "COMPLETE"
    enrolled = ada.invoke("v/ops/agent/enrol", {"agentId": "second"}).ok()["output"]["token"]
    delegation = ada.grant(bob.did, ada.did, "*")
    bob.invoke("v/ops/hitl/request", {"title": "T", "asks": TOKEN_ASK, "user": ada.did}, [delegation]).ok()
    bob.read(f"{ada.did}/w/x", [delegation])
    for token in (bearer, agent.token, session, proof, enrolled):
        served.http.get("/api/v1/jobs", headers={"Authorization": f"Bearer {token}"})
        served.http.get("/api/v1/jobs", headers={"Authorization": f"Bearer {token}x"})
        served.http.get(f"/api/v1/jobs/{token}", headers={"Authorization": f"Bearer {token}"})
        served.http.get(f"/api/v1/values/read?path=w/x&access_token={token}")
    assert served.stop() in (0, -15)
    for token in (bearer, agent.token, session, proof, enrolled, delegation):
        assert hidden(served.data, token)
    seed = venue_seed(served.data)
    texts = [seed.hex(), base64.b64encode(seed).decode(), base64.urlsafe_b64encode(seed).decode().rstrip("=")]
    for file in served.data.iterdir():
        if file.name != "venue.key" and file.is_file():
            content = file.read_bytes()
            assert seed not in content, file.name
            assert not any(text.encode() in content for text in texts), file.name
            assert b"PRIVATE KEY" not in content, file.name


def test_answers_are_not_in_the_log_the_audit_or_the_receipt(served: Served) -> None:
    """What was decided stands in the record; what proves it holds digests (D26)."""
    ada = served.owner()
    secret = "the wine cellar's code is 7391-4472"
    asks = [{"id": "why", "type": "text", "prompt": "Why?"}]
    request = ada.ask(asks=asks)
    ada.respond(request, answers={"why": secret}).ok()
    receipt = ada.request("GET", f"/api/v1/jobs/{request}/receipt").ok()["receipt"]
    payload = receipt.split(".")[1]
    assert secret not in base64.urlsafe_b64decode(payload + "==").decode()
    assert secret not in served.log
    assert secret not in json.dumps(ada.run("v/ops/audit/read").ok())
    assert files_with(served.data, secret)
    assert "serve.log" not in files_with(served.data, secret)
