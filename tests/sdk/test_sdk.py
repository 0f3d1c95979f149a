"""The official Covia SDK, unchanged, drives a `venue serve` process: its synchronous and its async client."""

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from covia import Ed25519Auth, Grid, GridError, JobFailedError, JobNotFoundError, JobStatus, Venue, grant
from covia.async_api import AsyncGrid
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.harness.served import Served

OFFER = {"with": "w/reports/", "can": "crud/read"}
ASK = {"id": "ok", "type": "approval", "prompt": "OK?", "required": True, "grants": [OFFER]}
REQUEST = {"title": "May I?", "asks": [ASK]}
REPORT = {"revenue": 1200, "note": "a\u2028b\u0085c\x0bd", "parts": [1, 2.5, None, True]}


class Person:
    """Somebody with a key of their own and the SDK's client."""

    def __init__(self, url: str) -> None:
        self.key = Ed25519PrivateKey.generate()
        self.auth = Ed25519Auth(self.key)
        self.venue: Venue = Grid.connect(url, auth=self.auth)

    @property
    def did(self) -> str:
        """Their did:key."""
        return self.auth.did


@pytest.fixture
def ada(served: Served) -> Iterator[Person]:
    """Who answers."""
    person = Person(served.url)
    with person.venue:
        person.venue.workspace.write("w/reports/q3", REPORT)
        yield person


@pytest.fixture
def bob(served: Served) -> Iterator[Person]:
    """Who asks."""
    person = Person(served.url)
    with person.venue:
        yield person


def test_discovery_needs_nobody(served: Served) -> None:
    """Status, DID document and catalogue, without credentials; the DID is one and the same."""
    with Grid.connect(served.url) as venue:
        status = venue.wait_until_ready(timeout=5)
        assert (status.status, status.did, status.url) == ("OK", served.did, served.url)
        assert status.version is not None
        assert status.version.split(".")[0].isdigit()
        document = venue.did_document()
        assert (document.id, venue.did) == (served.did, served.did)
        names = {operation.name for operation in venue.list_operations()}
        assert {"v/ops/hitl/request", "v/ops/hitl/respond", "v/ops/ucan/issue", "v/ops/covia/read"} <= names
        for name in names:
            operation = venue.get_operation(name)
            assert operation.name == name
            assert isinstance(operation.input, dict)
        with pytest.raises(GridError) as missing:
            venue.get_operation("v/ops/hitl/nothing")
        assert missing.value.status_code == 404


def test_ask_answer_and_use(served: Served, ada: Person, bob: Person) -> None:
    """The main job: asked under a delegation, answered by another identity, the token used across users."""
    proof = grant(ada.key, bob.did, f"{ada.did}/h/", "hitl/request", 3600)
    job = bob.venue.invoke("v/ops/hitl/request", {**REQUEST, "user": ada.did}, ucans=[proof])
    assert job.id is not None
    assert (job.status, job.needs_input, job.is_finished) == (JobStatus.INPUT_REQUIRED, True, False)
    listed = ada.venue.run("v/ops/hitl/list", {"status": "open"})
    assert [item["id"] for item in listed["items"]] == [job.id.removeprefix("0x")]
    record = ada.venue.workspace.read(f"h/{job.id}")
    assert record.exists
    assert record.value["from"] == bob.did
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(job.wait, timeout=30)
        said = {"id": job.id, "outcome": "answer", "answers": {"ok": True}, "grants": [OFFER]}
        assert ada.venue.run("v/ops/hitl/respond", said)["status"] == "answered"
        waiting.result(timeout=30)
    assert job.is_complete
    assert job.output["answers"] == {"ok": True}
    token = job.output["token"]
    opened = bob.venue.workspace.read(f"{ada.did}/w/reports/q3", ucans=[token])
    assert (opened.exists, opened.value) == (True, REPORT)
    assert bob.venue.workspace.list(f"{ada.did}/w/reports", ucans=[token]).keys == ["q3"]
    with pytest.raises(GridError) as shut:
        bob.venue.workspace.read(f"{ada.did}/w/private", ucans=[token])
    assert shut.value.status_code == 403
    verdict = bob.venue.ucan.verify(token, with_=f"{ada.did}/w/reports/q3", can="crud/read")
    assert (verdict.valid, verdict.authorises, verdict.aud, verdict.iss) == (True, True, bob.did, served.did)


def test_stream_tells_the_whole_job(ada: Person) -> None:
    """The SDK's stream sends no bearer of its own; with one in its headers each frame is a whole record."""
    job = ada.venue.invoke("v/ops/hitl/request", {**REQUEST, "description": REPORT["note"]})
    headers: dict[str, str] = {}
    ada.auth.apply(headers, ada.venue.did)
    with Grid.connect(ada.venue.url, headers=headers) as listener:
        events = listener.stream_job_events(str(job.id))
        first = next(events)
        ada.venue.run("v/ops/hitl/respond", {"id": job.id, "outcome": "answer", "answers": {"ok": False}})
        seen = [first, *events]
    assert [event.event for event in seen] == ["job-update", "job-update"]
    assert [event.json["status"] for event in seen] == ["INPUT_REQUIRED", "COMPLETE"]
    assert seen[-1].json["input"]["description"] == REPORT["note"]
    assert seen[-1].json == json.loads(seen[-1].data)


def test_rejection_and_cancel_are_the_sdks_own_errors(ada: Person, bob: Person) -> None:
    """A rejection fails the job, a cancel cancels it, and both say why."""
    rejected = ada.venue.invoke("v/ops/hitl/request", REQUEST)
    ada.venue.run("v/ops/hitl/respond", {"id": rejected.id, "outcome": "reject", "comment": "no"})
    with pytest.raises(JobFailedError):
        rejected.result(timeout=10)
    assert (rejected.status, rejected.error) == (JobStatus.FAILED, "HITL request rejected: no")
    for reason in (None, "changed my mind"):
        job = ada.venue.invoke("v/ops/hitl/request", REQUEST)
        job.cancel(reason=reason)
        assert job.status == JobStatus.CANCELLED
        assert job.error == (reason or "HITL request cancelled")
        job.cancel()
        assert job.status == JobStatus.CANCELLED
        with pytest.raises(JobNotFoundError):
            bob.venue.cancel_job(str(job.id))
    with pytest.raises(JobNotFoundError):
        ada.venue.get_job("0" * 32)


def test_workspace_reads_writes_lists_and_deletes(ada: Person) -> None:
    """Plain reads over GET and writes over run; absence is an answer."""
    workspace = ada.venue.workspace
    assert workspace.read("w/reports/q3").value == REPORT
    assert workspace.read("w/reports/none").exists is False
    assert workspace.read("w/reports/q3", max_size=3).truncated is True
    assert workspace.write("w/a/b/c", None).existed is False
    assert workspace.write("w/a/b/c", "{}").existed is True
    assert workspace.read("w/a/b/c").value == "{}"
    assert workspace.list("w").keys == ["a", "reports"]
    root = workspace.list()
    assert (root.exists, root.type) == (True, "Map")
    assert workspace.delete("w/a/b/c").deleted is True
    assert workspace.delete("w/a/b/c").deleted is False


def test_issue_and_verify(served: Served, ada: Person, bob: Person) -> None:
    """The venue signs what is the caller's; a token of another shape is an answer, not an error."""
    exp = int(time.time()) + 3600
    issued = ada.venue.ucan.issue(bob.did, [{"with": "w/reports", "can": "crud/read"}], exp)
    verdict = bob.venue.ucan.verify(issued.token)
    assert (verdict.valid, verdict.exp, verdict.root_issuer) == (True, exp, served.did)
    assert bob.venue.workspace.read(f"{ada.did}/w/reports/q3", ucans=[issued.token]).value == REPORT
    assert bob.venue.ucan.verify("nonsense").valid is False
    own = grant(ada.key, bob.did, f"{ada.did}/w/reports", "crud/read", 60)
    assert bob.venue.ucan.verify(own).root_issuer == ada.did
    with pytest.raises(GridError) as refused:
        ada.venue.ucan.issue(bob.did, [{"with": f"{bob.did}/w", "can": "crud"}], exp)
    assert refused.value.status_code == 403


def test_run_waits_for_the_person(ada: Person) -> None:
    """`run` of a request returns the bare output once somebody answered."""
    with ThreadPoolExecutor(1) as pool, Grid.connect(ada.venue.url, auth=ada.auth) as second:
        waiting = pool.submit(second.run, "v/ops/hitl/request", REQUEST)
        items: list[dict[str, str]] = []
        while not items and not waiting.done():
            items = ada.venue.run("v/ops/hitl/list", {"status": "open"})["items"]
        ada.venue.run(
            "v/ops/hitl/respond", {"id": items[0]["id"], "outcome": "answer", "answers": {"ok": True}}
        )
        assert waiting.result(timeout=30)["answers"] == {"ok": True}


def test_pinned_audience_of_another_venue_is_refused(served: Served) -> None:
    """The SDK may be told whom it speaks to; told wrong, it is not let in."""
    auth = Ed25519Auth.generate(audience="did:web:elsewhere.example")
    with Grid.connect(served.url, auth=auth) as venue:
        assert venue.status().did == served.did
        with pytest.raises(GridError) as refused:
            venue.list_operations()
    assert refused.value.status_code == 401


def test_async_client_on_the_main_path(served: Served) -> None:
    """The same with the async client: ask, look, answer while another task waits, use, cancel."""

    async def story() -> None:
        ada_key, bob_key = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        ada_auth, bob_auth = Ed25519Auth(ada_key), Ed25519Auth(bob_key)
        async with (
            AsyncGrid.connect(served.url, auth=ada_auth) as ada,
            AsyncGrid.connect(served.url, auth=bob_auth) as bob,
        ):
            assert (await ada.status()).did == await ada.get_did() == served.did
            await ada.workspace.write("w/reports/q3", REPORT)
            proof = grant(ada_key, bob_auth.did, f"{ada_auth.did}/h/", "hitl/request", 60)
            job = await bob.invoke("v/ops/hitl/request", {**REQUEST, "user": ada_auth.did}, ucans=[proof])
            waiting = asyncio.create_task(job.wait(timeout=30))
            record = (await ada.workspace.read(f"h/{job.id}")).value
            said = {"id": job.id, "outcome": "answer", "answers": {"ok": True}, "grants": [OFFER]}
            await ada.run("v/ops/hitl/respond", {**said, "digest": record["digest"]})
            await waiting
            token = job.output["token"]
            assert (await bob.workspace.read(f"{ada_auth.did}/w/reports/q3", ucans=[token])).value == REPORT
            assert (await bob.ucan.verify(token)).valid
            assert (await ada.get_operation("v/ops/hitl/request")).name == "v/ops/hitl/request"
            second = await ada.invoke("v/ops/hitl/request", REQUEST)
            await second.cancel(reason="enough")
            assert (second.status, second.error) == (JobStatus.CANCELLED, "enough")

    asyncio.run(story())
