"""Receipts and the state chain (D23, D26): checked with what `ucan` has and nothing else of the venue."""

import hashlib
import json
from typing import Any

import pytest
import rfc8785

from tests.harness.actors import Actor
from tests.harness.town import Town, offering, refused
from tests.harness.towns import Build
from ucan.did import agent_did, public_key
from ucan.errors import UcanError
from ucan.jwt import check_signature, read

ECHO = [{"with": "w/r", "can": "crud/read"}]
ASKS = [
    {"id": "ok", "type": "approval", "prompt": "OK?", "grants": ECHO},
    {"id": "why", "type": "text", "prompt": "Why?"},
]


def receipt_of(actor: Actor, request: str) -> str:
    """The receipt of a request, as it was signed."""
    return str(actor.request("GET", f"/api/v1/jobs/{request}/receipt").ok()["receipt"])


def checked(town: Town, receipt: str) -> dict[str, Any]:
    """What a receipt says, once its type and its signature by the venue's key are checked."""
    jws = read(receipt)
    assert jws.typ == "venue-receipt+jwt"
    check_signature(jws, public_key(town.signer.key_did))
    return jws.claims


def digest(salt: str, answers: Any) -> str:
    """The salted digest that docs promise: SHA-256 over the RFC 8785 form of salt and answers."""
    return "sha256:" + hashlib.sha256(rfc8785.dumps({"salt": salt, "answers": answers})).hexdigest()


def test_a_receipt_of_an_answer(town: Town) -> None:
    """Who, which bytes, what came of it, how, when, and where it stands in the audit."""
    ada = town.person()
    agent = town.agent(ada)
    request = agent.ask(asks=ASKS)
    answers = {"ok": True, "why": "because \u2028 \U0001f600"}
    ada.respond(request, answers=answers, grants=ECHO).ok()
    receipt = receipt_of(agent, request)
    assert receipt == receipt_of(ada, request)
    claims = checked(town, receipt)
    record = ada.record(request)
    assert {
        name: claims[name] for name in ("iss", "request", "digest", "outcome", "responder", "channel")
    } == {
        "iss": town.did,
        "request": request,
        "digest": record["digest"],
        "outcome": "answered",
        "responder": ada.did,
        "channel": "api",
    }
    assert claims["grants"] == record["response"]["grants"] == ECHO
    assert claims["at"] == town.now * 1000
    assert claims["answers"] == digest(claims["salt"], answers)
    assert claims["answers"] != digest(claims["salt"], {**answers, "ok": False})
    body = {name: value for name, value in record.items() if name not in ("status", "digest", "response")}
    assert record["digest"] == "sha256:" + hashlib.sha256(rfc8785.dumps(body)).hexdigest()
    lines = ada.run("v/ops/audit/read", {"limit": 1_000}).ok()["items"]
    line = next(line for line in lines if line["seq"] == claims["audit"]["seq"])
    assert line["hash"] == claims["audit"]["hash"] == hashlib.sha256(line["line"].encode()).hexdigest()
    assert (line["says"]["kind"], line["says"]["request"]) == ("request.answered", request)
    assert (line["says"]["resolver"], line["says"]["requester"]) == (ada.did, agent_did(ada.did, "helper"))


def test_two_receipts_of_the_same_answer_do_not_look_alike(town: Town) -> None:
    """The salt is each one's own, so nobody guesses an answer from another's."""
    ada = town.person()
    claims = []
    for _ in range(2):
        request = ada.ask()
        ada.respond(request, answers={"ok": True}).ok()
        claims.append(checked(town, receipt_of(ada, request)))
    assert claims[0]["salt"] != claims[1]["salt"]
    assert claims[0]["answers"] != claims[1]["answers"]
    assert all(len(bytes.fromhex(one["salt"])) >= 16 for one in claims)


@pytest.mark.parametrize("how", ["rejected", "cancelled", "expired", "deleted"])
def test_a_receipt_of_another_end(build: Build, how: str) -> None:
    """No answers, no grants; who it was, unless it was nobody."""
    town = build()
    ada = town.person()
    request = ada.ask(**offering(), timeout=60)
    match how:
        case "rejected":
            ada.respond(request, "reject", comment="no").ok()
        case "cancelled":
            ada.cancel(request).ok()
        case "deleted":
            ada.run("v/ops/covia/delete", {"path": f"h/{request}"}).ok()
        case _:
            town.clock.advance(60_000)
    claims = checked(town, receipt_of(ada, request))
    outcome = {"deleted": "rejected"}.get(how, how)
    assert claims["outcome"] == outcome
    assert claims.get("responder") == (None if how == "expired" else ada.did)
    assert ("channel" in claims) is (how != "expired")
    assert not {"answers", "salt", "grants"} & claims.keys()


def test_a_receipt_is_for_whoever_may_see_the_job(town: Town) -> None:
    """Under a proof, too; not before it is settled, not for others, not for another operation's job."""
    ada, bob = town.person(), town.person()
    request = ada.ask()
    path = f"/api/v1/jobs/{request}/receipt"
    refused(ada.request("GET", path), "not_found")
    ada.respond(request, answers={"ok": True}).ok()
    refused(bob.request("GET", path), "not_found")
    refused(town.by("").request("GET", path), "auth_required")
    proof = ada.grant(bob.did, f"j/{request}", "crud/read")
    shown = bob.request("GET", path, headers={"X-Covia-Ucans": proof}).ok()["receipt"]
    assert shown == receipt_of(ada, request)
    other = ada.invoke("v/ops/covia/write", {"path": "w/x", "value": 1}).ok()["id"]
    refused(ada.request("GET", f"/api/v1/jobs/{other}/receipt"), "not_found")


def test_a_receipt_that_was_changed(town: Town) -> None:
    """Any claim, or the signature: it is not by the venue any more."""
    ada = town.person()
    request = ada.ask()
    ada.respond(request, answers={"ok": True}).ok()
    receipt = receipt_of(ada, request)
    head, body, signature = receipt.split(".")
    other = ada.bearer().split(".")
    for forged in (
        f"{head}.{other[1]}.{signature}",
        f"{other[0]}.{body}.{signature}",
        f"{head}.{body}.{other[2]}",
    ):
        with pytest.raises(UcanError):
            check_signature(read(forged), public_key(town.signer.key_did))


@pytest.mark.parametrize("how", ["answered", "rejected"])
def test_the_state_chain_can_be_computed_again(town: Town, how: str) -> None:
    """Each record names the one before; the last says how it ended, with its token by hash."""
    ada = town.person()
    agent = town.agent(ada)
    request = agent.ask(**offering())
    if how == "answered":
        ada.respond(request, answers={"ok": True}, grants=ECHO).ok()
    else:
        ada.respond(request, "reject", comment="no").ok()
    items = agent.request("GET", f"/api/v1/jobs/{request}/history").ok()["items"]
    assert items == ada.request("GET", f"/api/v1/jobs/{request}/history").ok()["items"]
    before = "0" * 64
    for place, item in enumerate(items, start=1):
        said = json.loads(item["record"])
        assert (item["seq"], said["seq"], said["before"], said["job"]) == (place, place, before, request)
        assert rfc8785.dumps(said).decode() == item["record"]
        before = hashlib.sha256(item["record"].encode()).hexdigest()
        assert item["hash"] == before
    states = [json.loads(item["record"])["status"] for item in items]
    last = json.loads(items[-1]["record"])
    job = agent.job(request).ok()
    assert states == ["INPUT_REQUIRED", job["status"]]
    if how == "answered":
        token = job["output"]["token"]
        assert last["output"] == {
            **job["output"],
            "token": "sha256:" + hashlib.sha256(token.encode()).hexdigest(),
        }
    else:
        assert last["error"] == job["error"]
