"""The seven steps of the flow, each by its number (docs/flow.md), against a `venue serve` process."""

import ast
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.actors import Actor
from tests.harness.served import Served
from ucan.jwt import read

ROOT = Path(__file__).resolve().parents[2]
OFFER = {"with": "w/reports/", "can": "crud/read"}
ASK = {"id": "ok", "type": "approval", "prompt": "OK?", "required": True, "grants": [OFFER]}
_ROW = re.compile(r"^\| ([1-7]) \| (\w+) \| ([^|]+) \|", re.MULTILINE)
_MENTION = re.compile(r"\bsteps?\s+([1-7])(?:\s+to\s+([1-7]))?\s+of\s+the\s+flow", re.IGNORECASE)


@pytest.fixture
def owner(venue: Served) -> Actor:
    """A person whom nobody else in this suite knows."""
    return venue.owner()


@pytest.fixture
def agent(venue: Served, owner: Actor) -> Actor:
    """An agent of that person, which may ask and nothing more."""
    return venue.agent(owner)


def frames(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The job records of a stream, one by one."""
    return (json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: "))


def agents_did(owner: Actor) -> str:
    """The DID of the agent that the fixture enrols."""
    return f"{owner.did}:g:helper"


def test_the_whole_flow(venue: Served, owner: Actor, agent: Actor) -> None:
    """Steps 1 to 7 in one go: an agent asks and listens, a person answers, the agent uses what it got."""
    owner.run("v/ops/covia/write", {"path": "w/reports/q3", "value": {"revenue": 1200}}).ok()
    job_id = agent.ask(asks=[ASK])
    record = owner.record(job_id)
    with venue.http.stream("GET", f"/api/v1/jobs/{job_id}/sse", headers=agent.headers()) as stream:
        heard = frames(stream.iter_lines())
        assert next(heard)["status"] == "INPUT_REQUIRED"
        owner.respond(job_id, answers={"ok": True}, grants=[OFFER], digest=record["digest"]).ok()
        last = next(heard)
        assert list(heard) == []
    assert last == agent.job(job_id).ok()
    token = last["output"]["token"]
    assert agent.read(f"{owner.did}/w/reports/q3", [token]).ok()["value"] == {"revenue": 1200}


def test_step_1_request_is_decoded_and_proofs_are_not_stored(owner: Actor, agent: Actor) -> None:
    """Step 1: what the operation gets is the input, value for value; `ucans` is no part of it."""
    data = {"title": "T\u202e", "asks": [ASK], "timeout": 60, "extra": [1.5, None, True]}
    proof = owner.grant(agents_did(owner), "w/x", "crud/read")
    job = agent.invoke("v/ops/hitl/request", data, [proof], wait=0).ok()
    assert job["input"] == data
    assert proof not in json.dumps(agent.job(job["id"]).ok())


@pytest.mark.parametrize("wait", [False, 0, 1, "1", "false"])
def test_step_1_request_may_say_how_long_to_wait(agent: Actor, wait: Any) -> None:
    """Step 1: `wait` takes every form of the wire; a job that still waits is 201 with its Location."""
    reply = agent.invoke("v/ops/hitl/request", {"title": "T", "asks": [ASK]}, wait=wait)
    assert (reply.status, reply.body["status"]) == (201, "INPUT_REQUIRED")
    assert reply.headers["location"] == "/api/v1/jobs/" + reply.body["id"].removeprefix("0x")


def test_step_2_auth_knows_absent_good_and_bad(venue: Served, owner: Actor, agent: Actor) -> None:
    """Step 2: three answers; the caller is whom the credential proves."""
    assert venue.stranger().run("v/ops/hitl/list").code == "auth_required"
    assert owner.run("v/ops/hitl/list").ok() == {"items": [], "count": 0}
    bad = {"Authorization": "Bearer nonsense"}
    assert owner.request("GET", "/api/v1/operations", headers=bad).code == "unauthorised"
    job = agent.job(agent.ask()).ok()
    assert (job["caller"], job["actor"]) == (owner.did, agents_did(owner))


@pytest.mark.parametrize(
    "reference", ["v/ops/hitl/list", "hitl:list", "/v/ops/hitl/list", "{did}/v/ops/hitl/list"]
)
def test_step_3_operation_is_found_by_each_reference(venue: Served, owner: Actor, reference: str) -> None:
    """Step 3: a catalogue path, the adapter form, and either behind the venue's own DID."""
    assert owner.run(reference.replace("{did}", venue.did)).ok()["count"] == 0


def test_step_3_operation_parks_a_job_with_its_record(owner: Actor, agent: Actor) -> None:
    """Step 3: `hitl:request` leaves one open record and one parked job, under one id."""
    job_id = agent.ask(asks=[ASK], description="why")
    record = owner.record(job_id)
    assert record["id"] == job_id
    assert (record["from"], record["agent"], record["status"]) == (agents_did(owner), "g/helper", "open")
    assert agent.job(job_id).ok()["status"] == "INPUT_REQUIRED"
    assert [item["id"] for item in owner.run("v/ops/hitl/list", {"status": "open"}).ok()["items"]] == [job_id]


def test_step_4_decision_is_what_the_person_said(owner: Actor, agent: Actor) -> None:
    """Step 4: an answer is kept with its remarks, a rejection with its reason and no answers."""
    answered, rejected = agent.ask(asks=[ASK]), agent.ask(asks=[ASK])
    owner.respond(answered, answers={"ok": False}, comments={"ok": "no"}, comment="later").ok()
    owner.respond(rejected, "reject", comment="never").ok()
    said = {"outcome": "answer", "answers": {"ok": False}, "comments": {"ok": "no"}, "comment": "later"}
    assert owner.record(answered)["response"] == said
    assert owner.record(rejected)["response"] == {"outcome": "reject", "comment": "never"}
    assert (owner.record(answered)["status"], owner.record(rejected)["status"]) == ("answered", "rejected")


@pytest.mark.parametrize("first", ["answer", "reject", "cancel", "delete", "expire"])
def test_step_5_claim_is_made_once(owner: Actor, agent: Actor, first: str) -> None:
    """Step 5: whoever comes second is told how and when it was settled, and changes nothing."""
    job_id = agent.ask(asks=[ASK], **({"timeout": 1} if first == "expire" else {}))
    if first in ("answer", "reject"):
        owner.respond(job_id, first, **({"answers": {"ok": True}} if first == "answer" else {})).ok()
    elif first == "cancel":
        agent.cancel(job_id).ok()
    elif first == "delete":
        assert owner.run("v/ops/covia/delete", {"path": f"h/{job_id}"}).ok() == {"deleted": True}
    else:
        agent._http.get(f"/api/v1/jobs/{job_id}/sse", headers=agent.headers()).raise_for_status()
    before = agent.job(job_id).ok()
    late = owner.respond(job_id, answers={"ok": True}, grants=[OFFER])
    expected = {"delete": "not_found", "expire": "expired"}.get(first, "not_open")
    assert late.code == expected
    if expected == "not_open":
        how = {"answer": "answered", "reject": "rejected", "cancel": "cancelled"}[first]
        assert (late.body["how"], late.body["when"]) == (how, before["updated"])
    assert agent.job(job_id).ok() == before
    assert "token" not in before.get("output", {})


def test_step_5_claim_mints_for_the_winner(venue: Served, owner: Actor, agent: Actor) -> None:
    """Step 5: the token says exactly what D9 says, and when its grants end."""
    offers = [{**OFFER, "lifetime": 60}, {"with": "/w/x", "can": "crud", "exp": 4_000_000_000}]
    offers[1]["exp"] = int(agent._now()) + 3600
    job_id = agent.ask(asks=[{**ASK, "grants": offers}])
    owner.respond(
        job_id, answers={"ok": True}, grants=[{"with": o["with"], "can": o["can"]} for o in offers]
    ).ok()
    output = agent.job(job_id).ok()["output"]
    assert output["grants"] == offers
    claims = read(output["token"]).claims
    assert claims.pop("exp") - int(agent._now()) in range(50, 61)
    assert claims.pop("nnc")
    assert claims == {
        "iss": venue.did,
        "aud": agents_did(owner),
        "ucv": "0.10.0",
        "att": [
            {"with": f"{owner.did}/w/reports/", "can": "crud/read"},
            {"with": f"{owner.did}/w/x", "can": "crud"},
        ],
        "prf": [],
        "fct": [{"grantor": owner.did, "request": job_id}],
    }


def test_step_6_job_carries_exactly_the_output(owner: Actor, agent: Actor) -> None:
    """Step 6: D19 word for word, for each way of ending."""
    plain, full, rejected, silent, cancelled = (agent.ask(asks=[ASK]) for _ in range(5))
    owner.respond(plain, answers={"ok": True}).ok()
    owner.respond(full, answers={"ok": True}, comments={"ok": "c"}, comment="d", grants=[OFFER]).ok()
    owner.respond(rejected, "reject", comment="no").ok()
    owner.respond(silent, "reject").ok()
    agent.cancel(cancelled, reason="changed my mind").ok()
    output = agent.job(plain).ok()["output"]
    assert output == {"id": plain, "outcome": "answer", "answers": {"ok": True}}
    keys = {"id", "outcome", "answers", "comments", "comment", "grants", "token"}
    assert agent.job(full).ok()["output"].keys() == keys
    ends = {job: agent.job(job).ok() for job in (rejected, silent, cancelled)}
    assert [(job["status"], job["error"]) for job in ends.values()] == [
        ("FAILED", "HITL request rejected: no"),
        ("FAILED", "HITL request rejected"),
        ("CANCELLED", "changed my mind"),
    ]
    assert not any("output" in job for job in ends.values())


def test_step_6_job_that_expires_is_not_a_rejection(agent: Actor, owner: Actor) -> None:
    """Step 6: the clock's end has a sentence of its own, and no response in the record."""
    job_id = agent.ask(asks=[ASK], timeout=1)
    agent._http.get(f"/api/v1/jobs/{job_id}/sse", headers=agent.headers()).raise_for_status()
    job = agent.job(job_id).ok()
    assert (job["status"], job["error"]) == ("FAILED", "HITL request expired")
    assert job["updated"] >= owner.record(job_id)["expires"]
    assert owner.record(job_id)["status"] == "expired"
    assert "response" not in owner.record(job_id)


@pytest.mark.parametrize("verb", ["invoke", "run"])
def test_step_7_events_wake_whoever_waits(venue: Served, owner: Actor, agent: Actor, verb: str) -> None:
    """Step 7: a waiting call answers with the finished job or its output; the waiter's own call asked."""
    body = {"operation": "v/ops/hitl/request", "input": {"title": "T", "asks": [ASK]}, "wait": True}
    request = agent._http.build_request("POST", f"/api/v1/{verb}", json=body, headers=agent.headers())
    with httpx.Client(base_url=venue.url, timeout=30) as other:
        second = Actor(other, venue.did, signer=owner.signer)
        answered = _answer_when_it_comes(second, agent, request)
    finished = answered.json()
    output = finished["output"] if verb == "invoke" else finished
    assert answered.status_code == 200
    assert output["answers"] == {"ok": True}


def _answer_when_it_comes(person: Actor, agent: Actor, request: httpx.Request) -> httpx.Response:
    """Send a request that waits, from a thread, and answer it as soon as it stands in the inbox."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(agent._http.send, request)
        items: list[Any] = []
        while not items and not waiting.done():
            items = person.run("v/ops/hitl/list", {"status": "open"}).ok()["items"]
        person.respond(items[0]["id"], answers={"ok": True}).ok()
        return waiting.result(timeout=30)


def test_step_7_events_stream_one_frame_for_a_finished_job(venue: Served, owner: Actor, agent: Actor) -> None:
    """Step 7: who comes late reads the end and the stream closes."""
    job_id = agent.ask(asks=[ASK])
    owner.respond(job_id, "reject").ok()
    answer = venue.http.get(f"/api/v1/jobs/{job_id}/sse", headers=agent.headers())
    assert [job["status"] for job in frames(iter(answer.text.split("\n")))] == ["FAILED"]


def _documented() -> dict[str, set[int]]:
    """Which modules the document says take which steps."""
    modules: dict[str, set[int]] = {}
    for number, _, taken_in in _ROW.findall((ROOT / "docs/flow.md").read_text(encoding="utf-8")):
        for module in re.findall(r"`([^`]+)`", taken_in):
            modules.setdefault(module, set()).add(int(number))
    return modules


def _declared() -> dict[str, set[int]]:
    """Which steps the docstrings of the shipped modules name."""
    modules: dict[str, set[int]] = {}
    for package in ("ucan", "inbox", "ops", "venue"):
        for file in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            nodes = (n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
            texts = [ast.get_docstring(node) or "" for node in nodes]
            for first, last in _MENTION.findall("\n".join(texts)):
                steps = range(int(first), int(last or first) + 1)
                modules.setdefault(file.relative_to(ROOT).as_posix(), set()).update(steps)
    return modules


def test_document_and_docstrings_name_the_same_steps() -> None:
    """Each module takes the steps that the table says, and says so itself."""
    assert _declared() == _documented()


def test_document_and_tests_name_the_same_steps() -> None:
    """Seven rows, seven paragraphs, and for each a test by number and name."""
    document = (ROOT / "docs/flow.md").read_text(encoding="utf-8")
    rows = [(int(number), name) for number, name, _ in _ROW.findall(document)]
    told = [(int(number), name) for number, name in re.findall(r"\*\*Step (\d), (\w+)\.\*\*", document)]
    tested = {
        (int(n), name) for n, name in re.findall(r"def test_step_(\d)_([a-z]+)_", Path(__file__).read_text())
    }
    assert [number for number, _ in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert rows == told
    assert set(rows) == tested
