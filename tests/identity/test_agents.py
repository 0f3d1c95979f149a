"""Agents (D3, D23): by token or by a bound key, under their owner, and cut off at once and for good."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.harness.actors import Actor
from tests.harness.town import ASK, REQUEST, VERIFY, Town, fresh_key, offering, refused
from ucan.did import agent_did
from ucan.jwt import read, token_hash

BIND, KEYS, UNBIND = "v/ops/agent/bind", "v/ops/agent/keys", "v/ops/agent/unbind"
ENROL, REVOKE_AGENT = "v/ops/agent/enrol", "v/ops/agent/revoke"
EVERYTHING = [{"with": "", "can": "*"}]


@pytest.fixture
def owner(town: Town) -> Actor:
    """A person with a key of their own."""
    return town.person()


def test_an_agent_asks_by_token_and_by_key_alike(town: Town, owner: Actor) -> None:
    """The record names the agent, the job its owner; whichever way it signed in."""
    by_token = town.agent(owner)
    did = agent_did(owner.did, "helper")
    by_key = town.keyed_agent(owner, did)
    for agent in (by_token, by_key):
        request = agent.ask()
        record = owner.record(request)
        assert (record["from"], record["agent"]) == (did, "g/helper")
        job = agent.job(request).ok()
        assert (job["caller"], job["actor"]) == (owner.did, did)
    assert by_token.read("j").ok()["value"].keys() == by_key.read("j").ok()["value"].keys()


def test_an_agent_token_lives_as_long_as_it_says(build: Any) -> None:
    """Ninety days by default, a minute at least; at its end it is over."""
    town = build()
    owner = town.person()
    usual, short = town.agent(owner), town.agent(owner, lifetime=60)
    assert read(usual.token).claims["exp"] - town.now == 90 * 86_400
    refused(owner.run(ENROL, {"agentId": "helper", "lifetime": 59}), "invalid_input")
    town.clock.advance(59_999)
    assert short.run("v/ops/hitl/list").status == 200
    town.clock.advance(1)
    refused(short.run("v/ops/hitl/list"), "unauthorised")
    assert usual.run("v/ops/hitl/list").status == 200


def test_an_id_is_enrolled_once_with_the_same_caps(town: Town, owner: Actor) -> None:
    """The same caps give a second token; others would change what the first may do, and are refused."""
    caps = [{"with": "w/r", "can": "crud/read"}]
    one, two = town.agent(owner, caps=caps), town.agent(owner, caps=caps)
    owner.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    for agent in (one, two):
        assert agent.read("w/r").ok()["value"] == 1
    for other in (None, [], EVERYTHING, [{"with": "w/r", "can": "crud"}]):
        refused(owner.run(ENROL, {"agentId": "helper", "caps": other}), "wrong_state")
    refused(one.run("v/ops/covia/write", {"path": "w/r", "value": 2}), "capability_denied")


def test_revoking_an_agent_cuts_off_all_of_it(town: Town, owner: Actor) -> None:
    """Its tokens, its keys, what was minted for it, what rests on that, and its id (D3)."""
    agent, did = town.agent(owner), agent_did(owner.did, "helper")
    key = town.keyed_agent(owner, did)
    owner.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    answered = town.approved(owner, agent)
    issued = town.issued(owner, did, "w/r", "crud/read")
    bob = town.person()
    passed_on = key.grant(bob.did, f"{owner.did}/w/r", "crud/read", lifetime=60, proofs=[issued])
    path = f"{owner.did}/w/r"
    assert agent.read(path, [answered]).status == key.read(path, [issued]).status == 200
    assert bob.read(path, [passed_on]).ok()["value"] == 1
    spare = fresh_key(did)
    late = {"agentId": "helper", "proof": town.proof(spare)}

    assert owner.run(REVOKE_AGENT, {"agentId": "helper"}).ok() == {"revoked": True}
    for gone in (agent, key):
        refused(gone.read(path), "unauthorised")
        refused(gone.invoke(ASK, REQUEST), "unauthorised")
    refused(bob.read(path, [passed_on]), "denied")
    for token in (answered, issued, passed_on):
        assert owner.run(VERIFY, {"token": token}).ok()["valid"] is False
    assert owner.run("v/ops/ucan/list").ok()["items"] == []
    refused(owner.run(ENROL, {"agentId": "helper"}), "wrong_state")
    refused(owner.run(BIND, late), "invalid_input")
    listed = owner.run("v/ops/agent/list").ok()["items"]
    assert [("revoked" in item, item["agentId"]) for item in listed] == [(True, "helper")]
    assert ["revoked" in item for item in owner.run(KEYS, {"agentId": "helper"}).ok()["items"]] == [True]


def test_revoking_an_agent_withdraws_what_it_asked(town: Town, owner: Actor) -> None:
    """Nobody is there to hear an answer, here or in another's inbox; what was answered stays answered."""
    agent, sibling = town.agent(owner), town.agent(owner, "sibling")
    bob = town.person()
    assert bob.run("v/ops/hitl/list").status == 200  # a first call, which gives him an inbox
    proof = bob.grant(agent_did(owner.did, "helper"), "h/", "hitl/request")
    answered, here, there, other = agent.ask(), agent.ask(), agent.ask([proof], user=bob.did), sibling.ask()
    owner.respond(answered, answers={"ok": True}).ok()
    owner.run(REVOKE_AGENT, {"agentId": "helper"}).ok()
    assert [owner.record(request)["status"] for request in (answered, here, other)] == [
        "answered",
        "cancelled",
        "open",
    ]
    assert bob.record(there)["status"] == "cancelled"
    refused(bob.respond(there, answers={"ok": True}), "not_open")
    assert owner.job(there).ok()["status"] == "CANCELLED"


def test_an_agent_that_is_revoked_while_it_waits_gets_nothing(town: Town, owner: Actor) -> None:
    """Also what it had asked as a plain call, whose bearer was good when it began."""
    agent = town.agent(owner)
    request = agent.ask()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(agent.run, ASK, REQUEST)
        while len(owner.run("v/ops/hitl/list", {"status": "open"}).ok()["items"]) < 2:
            pass
        owner.run(REVOKE_AGENT, {"agentId": "helper"}).ok()
        refused(waiting.result(30), "auth_required")
    assert owner.job(request).ok()["status"] == "CANCELLED"


def test_revoking_one_agent_leaves_its_sibling_and_its_owner(town: Town, owner: Actor) -> None:
    """And the agent of the same id of somebody else."""
    one, two = town.agent(owner, "one"), town.agent(owner, "two")
    other = town.person()
    namesake = town.agent(other, "one")
    for_two = town.issued(owner, agent_did(owner.did, "two"), "w/r", "crud/read")
    owner.run(REVOKE_AGENT, {"agentId": "one"}).ok()
    refused(one.run("v/ops/hitl/list"), "unauthorised")
    assert two.run("v/ops/hitl/list").status == namesake.run("v/ops/hitl/list").status == 200
    assert owner.run(VERIFY, {"token": for_two}).ok()["valid"] is True


def test_a_key_of_an_agent_is_revoked_alone(town: Town, owner: Actor) -> None:
    """The agent goes on by its token, and by another key."""
    agent, did = town.agent(owner), agent_did(owner.did, "helper")
    one, two = town.keyed_agent(owner, did), town.keyed_agent(owner, did)
    assert one.signer is not None
    assert owner.run(UNBIND, {"agentId": "helper", "key": one.signer.key_did}).ok() == {"revoked": True}
    refused(one.run("v/ops/hitl/list"), "unauthorised")
    assert two.run("v/ops/hitl/list").status == agent.run("v/ops/hitl/list").status == 200
    refused(owner.run(BIND, {"agentId": "helper", "proof": town.proof(one.signer)}), "wrong_state")


@pytest.mark.parametrize("whose", ["another agent", "another owner's agent", "the owner", "a managed user"])
def test_a_key_is_bound_to_the_agent_that_its_proof_names(town: Town, owner: Actor, whose: str) -> None:
    """400; with the right name it is bound."""
    town.agent(owner)
    town.agent(owner, "second")
    did = agent_did(owner.did, "helper")
    subject = {
        "another agent": agent_did(owner.did, "second"),
        "another owner's agent": agent_did(town.person().did, "helper"),
        "the owner": owner.did,
        "a managed user": town.managed_did("ada"),
    }[whose]
    signer = fresh_key(did)
    refused(owner.run(BIND, {"agentId": "helper", "proof": town.proof(signer, sub=subject)}), "invalid_input")
    refused(town.bound(signer).run("v/ops/hitl/list"), "unauthorised")
    owner.run(BIND, {"agentId": "helper", "proof": town.proof(signer)}).ok()
    assert town.bound(signer).run("v/ops/hitl/list").status == 200


def test_a_key_is_bound_only_to_an_agent_that_there_is(town: Town, owner: Actor) -> None:
    """Not before it is enrolled."""
    signer = fresh_key(agent_did(owner.did, "nobody"))
    refused(owner.run(BIND, {"agentId": "nobody", "proof": town.proof(signer)}), "invalid_input")


def test_siblings_do_not_see_each_other(town: Town, owner: Actor) -> None:
    """Not jobs, records, streams or keys of idempotency; whatever their caps, and by no list (D20, D23)."""
    one = town.agent(owner, "one", caps=EVERYTHING)
    two = town.agent(owner, "two", caps=EVERYTHING)
    request = one.ask()
    owner.respond(request, answers={"ok": True}).ok()
    parked = one.ask()
    for job_id in (request, parked):
        for reply in (
            two.job(job_id),
            two.request("GET", f"/api/v1/jobs/{job_id}/history"),
            two.request("GET", f"/api/v1/jobs/{job_id}/receipt"),
            two.request("GET", f"/api/v1/jobs/{job_id}/sse"),
            two.cancel(job_id),
            two.request("PUT", f"/api/v1/jobs/{job_id}/delete"),
        ):
            refused(reply, "not_found")
        for path in (f"h/{job_id}", f"j/{job_id}", f"j/{job_id}/output"):
            assert two.read(path).ok()["exists"] is False
    assert two.run("v/ops/hitl/list").ok() == {"items": [], "count": 0}
    assert two.request("GET", "/api/v1/jobs").ok()["total"] == 0
    for path in ("h", "j"):
        assert two.read(path).ok()["value"] == {}
        assert two.run("v/ops/covia/list", {"path": path}).ok()["count"] == 0
        assert two.run("v/ops/covia/aggregate", {"path": path}).ok()["count"] == 0
    refused(two.request("GET", "/api/v1/inbox/sse"), "agent_refused")
    assert one.job(parked).ok()["status"] == "INPUT_REQUIRED"
    assert one.cancel(parked).ok()["status"] == "CANCELLED"


def test_siblings_have_keys_of_idempotency_of_their_own(town: Town, owner: Actor) -> None:
    """The same key and input make two requests; the owner's key is a third."""
    actors = (town.agent(owner, "one"), town.agent(owner, "two"), owner)
    body = {"operation": ASK, "input": REQUEST}
    ids = set()
    for actor in actors:
        for _ in range(2):
            reply = actor.request("POST", "/api/v1/invoke", json=body, headers={"Idempotency-Key": "k"})
            ids.add(reply.ok()["id"])
    assert len(ids) == 3
    other = {"operation": ASK, "input": offering()}
    for actor in actors:
        reply = actor.request("POST", "/api/v1/invoke", json=other, headers={"Idempotency-Key": "k"})
        refused(reply, "idempotency_conflict")


def test_a_token_of_an_agent_is_shown_once(town: Town, owner: Actor) -> None:
    """Not in the job of its enrolment, not in its repeat under a key."""
    body = {"operation": ENROL, "input": {"agentId": "helper"}}
    first = owner.request("POST", "/api/v1/invoke", json=body, headers={"Idempotency-Key": "k"}).ok()
    token = first["output"]["token"]
    assert town.by(token).run("v/ops/hitl/list").status == 200
    again = owner.request("POST", "/api/v1/invoke", json=body, headers={"Idempotency-Key": "k"}).ok()
    assert again["id"] == first["id"]
    assert token not in str(again)
    assert token not in str(owner.job(first["id"]).ok())
    assert token_hash(token) not in str(town.store.dump())


MINE: list[tuple[str, dict[str, Any]]] = [
    ("v/ops/hitl/respond", {"id": "0" * 32, "outcome": "reject"}),
    ("v/ops/hitl/block", {"requester": "did:key:zSomebody"}),
    ("v/ops/hitl/unblock", {"requester": "did:key:zSomebody"}),
    ("v/ops/hitl/blocked", {}),
    ("v/ops/ucan/issue", {}),
    ("v/ops/ucan/revoke", {"hash": "0" * 64}),
    ("v/ops/ucan/list", {}),
    (ENROL, {"agentId": "child"}),
    (REVOKE_AGENT, {"agentId": "helper"}),
    ("v/ops/agent/list", {}),
    (BIND, {"agentId": "helper", "proof": "x"}),
    (KEYS, {"agentId": "helper"}),
    (UNBIND, {"agentId": "helper", "key": "x"}),
    ("v/ops/user/create", {"username": "x"}),
    ("v/ops/user/list", {}),
    ("v/ops/user/signout", {}),
    ("v/ops/user/bind", {"proof": "x"}),
    ("v/ops/user/keys", {}),
    ("v/ops/user/unbind", {"key": "x"}),
    ("v/ops/audit/read", {}),
    ("v/ops/covia/delete", {"path": "h/" + "0" * 32}),
]


@pytest.mark.parametrize("by", ["token", "key"])
def test_what_no_agent_may_whatever_its_caps(town: Town, owner: Actor, by: str) -> None:
    """Refused by identity (D9), through invoke and through run, also with a proof for everything."""
    town.agent(owner, caps=EVERYTHING)
    did = agent_did(owner.did, "helper")
    agent = town.keyed_agent(owner, did) if by == "key" else town.agent(owner, caps=EVERYTHING)
    proof = owner.grant(did, owner.did, "*")
    for operation, data in MINE:
        for call in (agent.run, agent.invoke):
            refused(call(operation, data), "agent_refused")
            refused(call(operation, data, [proof]), "agent_refused")
    refused(agent.request("GET", "/api/v1/inbox/sse"), "agent_refused")
