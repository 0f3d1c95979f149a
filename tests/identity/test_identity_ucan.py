"""An identity UCAN as bearer (D2): it says who calls, and may have come through a relay; so it is weak."""

from typing import Any

import pytest

from tests.harness.actors import Actor
from tests.harness.principals import flip_signature
from tests.harness.town import ASK, REQUEST, REVOKE, VERIFY, Town, fresh_key, refused
from ucan.capability import Capability
from ucan.did import agent_did
from ucan.issue import identity, issue
from ucan.jwt import sign

WEAK: list[tuple[str, dict[str, Any]]] = [
    ("v/ops/hitl/respond", {"id": "0" * 32, "outcome": "reject"}),
    ("v/ops/hitl/block", {"requester": "did:key:zSomebody"}),
    ("v/ops/hitl/unblock", {"requester": "did:key:zSomebody"}),
    ("v/ops/hitl/blocked", {}),
    ("v/ops/ucan/issue", {}),
    (REVOKE, {"hash": "0" * 64}),
    ("v/ops/ucan/list", {}),
    ("v/ops/covia/write", {"path": "w/x", "value": 1}),
    ("v/ops/covia/append", {"path": "w/x", "value": 1}),
    ("v/ops/covia/copy", {"from": "w/x", "to": "w/y"}),
    ("v/ops/covia/delete", {"path": "w/x"}),
    ("v/ops/covia/delete", {"path": "h/" + "0" * 32}),
    ("v/ops/agent/enrol", {"agentId": "x"}),
    ("v/ops/agent/list", {}),
    ("v/ops/agent/revoke", {"agentId": "x"}),
    ("v/ops/agent/bind", {"agentId": "x", "proof": "x"}),
    ("v/ops/agent/keys", {"agentId": "x"}),
    ("v/ops/user/create", {"username": "x"}),
    ("v/ops/user/bind", {"proof": "x"}),
    ("v/ops/user/keys", {}),
    ("v/ops/user/signout", {}),
    ("v/ops/audit/read", {}),
]


@pytest.fixture(scope="module")
def ada(town: Town) -> Actor:
    """A person with something in the workspace."""
    person = town.person()
    person.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    return person


def test_it_is_enough_to_ask_read_list_verify_wait_and_cancel(town: Town, ada: Actor) -> None:
    """One's own, and another's under a proof; the record names the person."""
    relayed = town.relayed(ada)
    request = relayed.ask()
    assert ada.record(request)["from"] == ada.did
    assert relayed.read("w/r").ok()["value"] == 1
    assert relayed.read(f"h/{request}").ok()["exists"] is True
    assert request in [item["id"] for item in relayed.run("v/ops/hitl/list").ok()["items"]]
    assert relayed.run(VERIFY, {"token": ada.grant(ada.did, "w", "crud")}).ok()["valid"] is True
    assert relayed.request("GET", f"/api/v1/jobs/{request}").status == 200
    waited = relayed.request("POST", "/api/v1/invoke?wait=1", json={"operation": ASK, "input": REQUEST}).ok()
    assert waited["status"] == "INPUT_REQUIRED"
    with town.stream(relayed, f"/api/v1/jobs/{request}/sse") as frames:
        assert next(frames)
        assert relayed.cancel(request).ok()["status"] == "CANCELLED"
        assert len(list(frames)) == 1
    bob = town.person()
    proof = bob.grant(ada.did, "h/", "hitl/request")
    assert bob.run("v/ops/hitl/list").ok()["count"] == 0
    relayed.ask([proof], user=bob.did)
    assert bob.run("v/ops/hitl/list").ok()["count"] == 1


@pytest.mark.parametrize(("operation", "data"), WEAK, ids=[f"{name} {sorted(data)}" for name, data in WEAK])
def test_it_is_not_enough_for_anything_else(
    town: Town, ada: Actor, operation: str, data: dict[str, Any]
) -> None:
    """403, before anything is read, also with a proof for everything of one's own."""
    relayed = town.relayed(ada)
    proof = ada.grant(ada.did, ada.did, "*")
    for call in (relayed.run, relayed.invoke):
        refused(call(operation, data), "weak_credential")
        refused(call(operation, data, [proof]), "weak_credential")


def test_it_is_not_enough_for_the_inbox_stream(town: Town, ada: Actor) -> None:
    """What a relay could listen to for an hour."""
    refused(town.relayed(ada).request("GET", "/api/v1/inbox/sse"), "weak_credential")


def test_it_is_good_for_an_hour_and_under_each_name_of_the_venue(build: Any) -> None:
    """With a public host the did:key is an alias; either may be its audience."""
    town = build(public_url="https://venue.example", users={"auto_create": True})
    ada = town.person()
    for audience in (town.did, town.signer.key_did):
        assert town.relayed(ada, audience=audience).run("v/ops/hitl/list").status == 200
    relayed = town.relayed(ada)
    refused(town.relayed(ada, expires=town.now + 3_601).run("v/ops/hitl/list"), "unauthorised")
    town.clock.advance(3_599_999)
    assert relayed.run("v/ops/hitl/list").status == 200
    town.clock.advance(1)
    refused(relayed.run("v/ops/hitl/list"), "unauthorised")


WRONG = (
    "with a capability",
    "with an empty capability",
    "with att null",
    "without end",
    "too long",
    "ends now",
    "not yet",
    "another audience",
    "a URL as audience",
    "tampered",
    "another's name",
    "another typ",
    "no prf",
    "another version",
)


@pytest.mark.parametrize("wrong", WRONG)
def test_one_with_one_thing_wrong(town: Town, ada: Actor, wrong: str) -> None:
    """401, on what a stranger may read too; the good one is good."""
    assert ada.signer is not None
    good: dict[str, Any] = {
        "iss": ada.did,
        "aud": town.did,
        "ucv": "0.10.0",
        "att": [],
        "prf": [],
        "exp": town.now + 60,
        "nnc": "n",
    }
    changes: dict[str, dict[str, Any]] = {
        "with a capability": {"att": [{"with": f"{ada.did}/w", "can": "crud/read"}]},
        "with an empty capability": {"att": [{}]},
        "with att null": {"att": None},
        "without end": {"exp": None},
        "too long": {"exp": town.now + 3_601},
        "ends now": {"exp": town.now},
        "not yet": {"nbf": town.now + 1},
        "another audience": {"aud": fresh_key().did},
        "a URL as audience": {"aud": town.url},
        "another's name": {"iss": fresh_key().did},
        "no prf": {"prf": None},
        "another version": {"ucv": "0.9.0"},
    }
    token = sign(
        ada.signer, {**good, **changes.get(wrong, {})}, typ="jwt" if wrong == "another typ" else "JWT"
    )
    bearer = flip_signature(token) if wrong == "tampered" else token
    for path in ("/api/v1/operations", "/api/v1/jobs"):
        refused(town.by(bearer).request("GET", path), "unauthorised")
    assert town.by(sign(ada.signer, good)).run("v/ops/hitl/list").status == 200


def test_one_that_was_revoked(town: Town, ada: Actor) -> None:
    """By its issuer, at once (D11); another one of theirs goes on."""
    gone, kept = town.relayed(ada), town.relayed(ada, expires=town.now + 60)
    assert gone.run("v/ops/hitl/list").status == 200
    refused(town.person().run(REVOKE, {"token": gone.token}), "denied")
    assert len(ada.run(REVOKE, {"token": gone.token}).ok()["revoked"]) == 1
    refused(gone.run("v/ops/hitl/list"), "unauthorised")
    assert kept.run("v/ops/hitl/list").status == 200


def test_an_agent_has_none(town: Town, ada: Actor) -> None:
    """It has a token or a key: neither its key nor its owner's makes an identity UCAN for it."""
    town.agent(ada)
    did = agent_did(ada.did, "helper")
    agent = town.keyed_agent(ada, did)
    assert agent.signer is not None
    token = identity(agent.signer, audience=town.did, expires=town.now + 60, now=town.now, nonce="n")
    refused(town.by(token).run("v/ops/hitl/list"), "unauthorised")
    assert ada.signer is not None
    claims = {"iss": did, "aud": town.did, "ucv": "0.10.0", "att": [], "prf": [], "exp": town.now + 60}
    refused(town.by(sign(ada.signer, claims)).run("v/ops/hitl/list"), "unauthorised")
    assert agent.run("v/ops/hitl/list").status == 200


def test_a_managed_user_has_one_by_a_bound_key(town: Town) -> None:
    """Weak as anybody's, and gone with the key."""
    ada = town.keyed("ada_relayed")
    relayed = town.relayed(ada)
    request = relayed.ask()
    assert ada.record(request)["from"] == town.managed_did("ada_relayed")
    refused(relayed.respond(request, answers={"ok": True}), "weak_credential")
    assert ada.signer is not None
    ada.run("v/ops/user/unbind", {"key": ada.signer.key_did}).ok()
    refused(relayed.run("v/ops/hitl/list"), "unauthorised")


def test_a_chain_of_identities_is_none(town: Town, ada: Actor) -> None:
    """An identity handed on to somebody else says who that is, and not who handed it on."""
    bob = town.person()
    assert ada.signer is not None
    assert bob.signer is not None
    parent = identity(ada.signer, audience=bob.did, expires=town.now + 600, now=town.now, nonce="n")
    claims = {
        "iss": bob.did,
        "aud": town.did,
        "ucv": "0.10.0",
        "att": [],
        "prf": [parent],
        "exp": town.now + 60,
    }
    request = town.by(sign(bob.signer, claims)).ask()
    assert bob.record(request)["from"] == bob.did
    assert ada.read(f"h/{request}").ok()["exists"] is False


def test_a_capability_over_everything_is_no_credential(town: Town, ada: Actor) -> None:
    """Whoever holds it may do things; who they are, it does not say."""
    assert ada.signer is not None
    token = issue(
        ada.signer,
        audience=town.did,
        capabilities=[Capability(ada.did, "*")],
        expires=town.now + 60,
        now=town.now,
        nonce="n",
    )
    refused(town.by(token).run("v/ops/hitl/list"), "unauthorised")
