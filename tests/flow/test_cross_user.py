"""Between two people of one venue: delivery under a delegation, reads under a proof, and agents' caps."""

import json
import time
from typing import Any

import pytest

from tests.harness.actors import Actor, new_signer
from tests.harness.served import Served
from ucan.jwt import read

from .test_refusals import refused

OFFER = {"with": "w/reports/", "can": "crud/read"}
ASK = {"id": "ok", "type": "approval", "prompt": "OK?", "grants": [OFFER]}
REQUEST = {"title": "T", "asks": [ASK]}


@pytest.fixture
def ada(venue: Served) -> Actor:
    """The owner of the inbox and of the documents."""
    person = venue.owner()
    for path, value in (
        ("w/reports/q3", 3),
        ("w/reportsx", "near"),
        ("w/report", "near"),
        ("w/private", "no"),
    ):
        person.run("v/ops/covia/write", {"path": path, "value": value}).ok()
    return person


@pytest.fixture
def bob(venue: Served) -> Actor:
    """Somebody else, who is registered too."""
    person = venue.owner()
    person.run("v/ops/hitl/list").ok()
    return person


def minted(owner: Actor, asker: Actor, *proofs: str) -> str:
    """The token that an answer of the owner gave the asker."""
    job_id = asker.ask(proofs, asks=[ASK], user=owner.did)
    owner.respond(job_id, answers={"ok": True}, grants=[OFFER]).ok()
    return str(asker.job(job_id).ok()["output"]["token"])


# Delivery.


@pytest.mark.parametrize("resource", ["h/", "h", ""])
@pytest.mark.parametrize("can", ["hitl/request", "hitl", "*"])
def test_delegation_delivers(ada: Actor, bob: Actor, resource: str, can: str) -> None:
    """A `hitl/request` on the inbox, or anything above it; the job stays the requester's (D12)."""
    proof = ada.grant(bob.did, f"{ada.did}/{resource}".rstrip("/"), can)
    job_id = bob.ask([proof], asks=[ASK], user=ada.did)
    record = ada.record(job_id)
    assert (record["from"], "agent" in record) == (bob.did, False)
    assert bob.job(job_id).ok()["caller"] == bob.did
    assert bob.run("v/ops/hitl/list").ok()["count"] == 0
    refused(bob.respond(job_id, answers={"ok": True}), "not_found")
    refused(ada.job(job_id), "not_found")
    assert ada.respond(job_id, "reject").ok()["status"] == "rejected"
    assert bob.job(job_id).ok()["error"] == "HITL request rejected"


def test_delegation_may_pass_through_hands(venue: Served, ada: Actor, bob: Actor) -> None:
    """Ada to Bob, Bob to his agent: the whole chain is presented by its last link."""
    helper = venue.agent(bob)
    did = f"{bob.did}:g:helper"
    first = ada.grant(bob.did, "h/", "hitl/request")
    second = bob.grant(did, f"{ada.did}/h/", "hitl/request", 600, [first])
    record = ada.record(helper.ask([second], user=ada.did))
    assert (record["from"], record["agent"]) == (did, "g/helper")
    refused(helper.invoke("v/ops/hitl/request", {**REQUEST, "user": ada.did}, [first]), "denied")


FAULTS = [
    "none",
    "another audience",
    "another ability",
    "another place",
    "another owner",
    "expired",
    "tampered",
    "narrower",
]


@pytest.mark.parametrize("fault", FAULTS)
def test_delegation_with_one_thing_wrong(venue: Served, ada: Actor, bob: Actor, fault: str) -> None:
    """403, nothing stored, and the same words whether the target has an inbox here or not."""
    said = set()
    for target in (ada, Actor(venue.http, venue.did, signer=new_signer())):
        reply = bob.invoke("v/ops/hitl/request", {**REQUEST, "user": target.did}, _proofs(fault, target, bob))
        refused(reply, "denied")
        said.add(json.dumps(reply.body).replace(target.did, "?"))
    assert len(said) == 1
    assert bob.read("j").ok()["value"] == {}
    assert ada.run("v/ops/hitl/list").ok()["count"] == 0


def _proofs(fault: str, target: Actor, bob: Actor) -> list[str]:
    """A good delegation with one thing wrong."""
    good = (bob.did, "h/", "hitl/request")
    match fault:
        case "another audience":
            return [target.grant(new_signer().did, *good[1:])]
        case "another ability":
            return [target.grant(bob.did, "h/", "crud/read")]
        case "another place":
            return [target.grant(bob.did, "w/", "hitl/request")]
        case "another owner":
            return [bob.grant(bob.did, f"{target.did}/h/", "hitl/request")]
        case "expired":
            return [_expired(target, bob)]
        case "tampered":
            return [_tampered(target.grant(*good))]
        case "narrower":
            return [target.grant(bob.did, "h/inner", "hitl/request")]
    return []


def _expired(target: Actor, bob: Actor) -> str:
    then = Actor(target._http, target.venue_did, signer=target.signer, now=lambda: time.time() - 7200)
    return then.grant(bob.did, "h/", "hitl/request", lifetime=60)


def _tampered(token: str) -> str:
    head, body, signature = token.split(".")
    return f"{head}.{body}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


def test_delegation_to_nobody(venue: Served, bob: Actor) -> None:
    """A sound delegation into an inbox that does not exist delivers nothing."""
    nobody = Actor(venue.http, venue.did, signer=new_signer())
    proof = nobody.grant(bob.did, "h/", "hitl/request")
    refused(bob.invoke("v/ops/hitl/request", {**REQUEST, "user": nobody.did}, [proof]), "not_found")
    assert nobody.run("v/ops/hitl/list").ok() == {"items": [], "count": 0}


def test_invalid_is_400_before_denied_is_403(ada: Actor, bob: Actor) -> None:
    """The form is judged without a look at the target, so it tells nothing about it."""
    for user in (ada.did, new_signer().did):
        refused(bob.invoke("v/ops/hitl/request", {**REQUEST, "asks": [], "user": user}), "invalid_input")


# What a token opens.


def test_minted_token_opens_exactly_what_was_granted(venue: Served, ada: Actor, bob: Actor) -> None:
    """The granted subtree, to read, for its audience alone, in its owner's namespace alone."""
    token = minted(ada, bob, ada.grant(bob.did, "h/", "hitl/request"))
    assert read(token).claims["aud"] == bob.did
    for path in ("w/reports/q3", "w/reports", "w/reports/", "w/reports/none"):
        assert bob.read(f"{ada.did}/{path}", [token]).status == 200
    for path in ("w/reportsx", "w/report", "w/private", "w", "h", "j", ""):
        refused(bob.read(f"{ada.did}/{path}".rstrip("/"), [token]), "denied")
    write = {"path": f"{ada.did}/w/reports/q3", "value": 4}
    refused(bob.run("v/ops/covia/write", write, [token]), "denied")
    refused(bob.run("v/ops/covia/delete", {"path": write["path"]}, [token]), "denied")
    for other in (venue.owner(), venue.agent(bob), venue.agent(ada)):
        refused(
            other.read(f"{ada.did}/w/reports/q3", [token]),
            "capability_denied" if other.token and other is not None and _is_of(other, ada) else "denied",
        )
    assert ada.read("w/reports/q3").ok()["value"] == 3


def _is_of(agent: Actor, owner: Actor) -> bool:
    return str(read(agent.token).claims["sub"]).startswith(owner.did)


def test_minted_token_goes_through_every_door_alike(ada: Actor, bob: Actor) -> None:
    """As a header on a GET, in the body of a run, for `read` and for `list`; elsewhere it is nothing."""
    token = minted(ada, bob, ada.grant(bob.did, "h/", "hitl/request"))
    path = f"{ada.did}/w/reports"
    assert bob.run("v/ops/covia/read", {"path": path}, [token]).ok()["value"] == {"q3": 3}
    assert bob.run("v/ops/covia/list", {"path": path}, [token]).ok()["keys"] == ["q3"]
    header = {"X-Covia-Ucans": f"nonsense, {token}"}
    listed = bob.request("GET", "/api/v1/values/list", params={"path": path}, headers=header)
    assert listed.ok()["keys"] == ["q3"]
    refused(bob.run("v/ops/covia/read", {"path": path}), "denied")
    refused(bob.run("v/ops/covia/read", {"path": path}, [token + "x"]), "denied")


def test_minted_token_is_worth_what_verify_says(ada: Actor, bob: Actor) -> None:
    """`ucan:verify` runs the very gate that a read runs."""
    token = minted(ada, bob, ada.grant(bob.did, "h/", "hitl/request"))

    def verdict(actor: Actor, **said: Any) -> Any:
        return actor.run("v/ops/ucan/verify", {"token": token, **said}).ok()

    inside, beside = f"{ada.did}/w/reports/q3", f"{ada.did}/w/private"
    plain = verdict(ada)
    assert (plain["valid"], plain["rootIssuer"], plain["chainDepth"]) == (True, ada.venue_did, 0)
    assert plain["att"] == [{"with": f"{ada.did}/w/reports/", "can": "crud/read", "rootAuthority": "venue"}]
    assert "authorises" not in plain
    assert verdict(bob, **{"with": inside, "can": "crud/read"})["authorises"] is True
    assert verdict(bob, **{"with": beside, "can": "crud/read"})["authorises"] is False
    assert verdict(bob, **{"with": inside, "can": "crud/write"})["authorises"] is False
    assert verdict(ada, **{"with": inside, "can": "crud/read"})["authorises"] is False
    assert verdict(ada, **{"with": inside, "can": "crud/read", "aud": bob.did})["authorises"] is True


def test_own_signed_token_opens_without_the_venue(ada: Actor, bob: Actor) -> None:
    """An owner's signature needs no minting; the record of the inbox opens by path as well."""
    job_id = ada.ask(asks=[ASK])
    proof = ada.grant(bob.did, "h/", "crud/read")
    assert bob.read(f"{ada.did}/h/{job_id}", [proof]).ok()["value"]["id"] == job_id
    refused(bob.read(f"{ada.did}/w/reports/q3", [proof]), "denied")
    refused(bob.run("v/ops/covia/delete", {"path": f"{ada.did}/h/{job_id}"}, [proof]), "denied")


def test_proof_shows_a_job_without_its_token(venue: Served, ada: Actor, bob: Actor) -> None:
    """Who reads a job by proof may not take the token from it, nor change the job (D15, D23)."""
    job_id = ada.ask(asks=[ASK])
    ada.respond(job_id, answers={"ok": True}, grants=[OFFER]).ok()
    proof = ada.grant(bob.did, f"j/{job_id}", "crud/read")
    seen = bob.job(job_id, [proof]).ok()
    assert seen["output"]["token"] == "<signed token delivered to requester>"
    assert ada.job(job_id).ok()["output"]["token"].count(".") == 2
    header = {"X-Covia-Ucans": proof}
    refused(bob.request("PUT", f"/api/v1/jobs/{job_id}/cancel", headers=header), "not_found")
    stream = venue.http.get(f"/api/v1/jobs/{job_id}/sse", headers={**bob.headers(), **header})
    assert ada.job(job_id).ok()["output"]["token"] not in stream.text


def test_grant_of_what_is_not_ones_own(ada: Actor, bob: Actor) -> None:
    """An approval confers nothing that belongs to a third person, and changes nothing (D7, D9)."""
    offer = {"with": f"{ada.did}/w/reports/", "can": "crud/read"}
    job_id = bob.ask(asks=[{**ASK, "grants": [offer]}])
    refused(bob.respond(job_id, answers={"ok": True}, grants=[offer]), "denied")
    proof = ada.grant(bob.did, "w/reports/", "grant/crud/read")
    answer = {"id": job_id, "outcome": "answer", "answers": {"ok": True}, "grants": [offer]}
    refused(bob.run("v/ops/hitl/respond", answer, [proof]), "denied")
    assert bob.record(job_id)["status"] == "open"
    assert bob.job(job_id).ok()["status"] == "INPUT_REQUIRED"
    bob.respond(job_id, answers={"ok": True}).ok()


# What agents may do in their owner's namespace (D23).


def test_caps_absent_let_an_agent_ask_and_no_more(venue: Served, ada: Actor) -> None:
    """It asks, sees what it asked, and opens nothing else."""
    agent = venue.agent(ada)
    mine, hers = agent.ask(), ada.ask()
    assert agent.run("v/ops/hitl/list").ok()["count"] == 1
    assert list(agent.read("h").ok()["value"]) == [mine]
    assert list(agent.read("j").ok()["value"]) == [mine]
    assert agent.read(f"h/{hers}").ok()["exists"] is False
    refused(agent.job(hers), "not_found")
    for path in ("w", "w/reports/q3", ""):
        refused(agent.run("v/ops/covia/read", {"path": path}), "capability_denied")
    refused(agent.run("v/ops/covia/write", {"path": "w/x", "value": 1}), "capability_denied")
    refused(agent.run("v/ops/covia/delete", {"path": "w/reports/q3"}), "capability_denied")


def test_caps_empty_let_an_agent_do_nothing(venue: Served, ada: Actor) -> None:
    """Not even ask; it may still see the catalogue."""
    agent = venue.agent(ada, caps=[])
    refused(agent.invoke("v/ops/hitl/request", REQUEST), "capability_denied")
    refused(agent.run("v/ops/hitl/list"), "capability_denied")
    refused(agent.read("w/reports/q3"), "capability_denied")
    assert agent.run("v/ops/covia/list", {"path": "v/ops"}).ok()["exists"] is True
    assert ada.run("v/ops/hitl/list").ok()["count"] == 0


def test_caps_listed_open_what_they_say(venue: Served, ada: Actor) -> None:
    """Each entry by whole segments and abilities; asking needs no entry of its own."""
    caps = [{"with": "w/reports", "can": "crud/read"}, {"with": "/w/out/", "can": "crud/write"}]
    agent = venue.agent(ada, caps=caps)
    agent.ask()
    assert agent.read("w/reports/q3").ok()["value"] == 3
    assert agent.run("v/ops/covia/write", {"path": "w/out/x", "value": 1}).ok() == {"existed": False}
    for path in ("w/out/x", "w/reportsx", "w/report", "w"):
        refused(agent.read(path), "capability_denied")
    refused(agent.run("v/ops/covia/write", {"path": "w/reports/q3", "value": 1}), "capability_denied")
    refused(agent.run("v/ops/covia/delete", {"path": "w/out/x"}), "capability_denied")


@pytest.mark.parametrize(
    "path",
    [["w", "", "reports"], ["", "w", "reports"], ["w", "..", "reports"], ["w/reports"], ["w", "reports/x"]],
)
def test_caps_are_judged_on_the_place_that_is_read(venue: Served, ada: Actor, path: list[str]) -> None:
    """A list of keys is taken as it is, so a key that is no segment is never under a cap."""
    ada.run("v/ops/covia/write", {"path": ["w", "", "reports"], "value": "hidden"}).ok()
    agent = venue.agent(ada, caps=[{"with": "w/reports", "can": "crud"}])
    assert agent.run("v/ops/covia/read", {"path": ["w", "reports", "q3"]}).ok()["value"] == 3
    reply = agent.run("v/ops/covia/read", {"path": path})
    refused(reply, reply.code)
    assert reply.code in {"capability_denied", "invalid_input"}


def test_caps_with_an_empty_resource_are_everything_but_decisions(venue: Served, ada: Actor) -> None:
    """`{"with": "", "can": "*"}` is the whole namespace (D6), and of `h/` and `j/` still only its own."""
    agent = venue.agent(ada, caps=[{"with": "", "can": "*"}])
    hers = ada.ask()
    assert agent.read("w/private").ok()["value"] == "no"
    assert agent.read(f"h/{hers}").ok()["exists"] is False
    refused(agent.respond(hers, "reject"), "agent_refused")


def test_lifetime_in_milliseconds_where_no_ceiling_stands(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With the ceiling lifted a grant may have no end, and still no lifetime in milliseconds (D10)."""
    with Served(
        tmp_path_factory.mktemp("open"), environ={"VENUE_GRANTS__MAX_LIFETIME": "none"}
    ) as open_venue:
        person = open_venue.owner()
        for lifetime in (10**11 + 1, 2**53 - 1):
            asks = [{**ASK, "grants": [{**OFFER, "lifetime": lifetime}]}]
            refused(person.invoke("v/ops/hitl/request", {"title": "T", "asks": asks}), "invalid_input")
        for end, ends in (({"lifetime": 10**11}, True), ({"exp": None}, False), ({}, True)):
            job_id = person.ask(asks=[{**ASK, "grants": [{**OFFER, **end}]}])
            person.respond(job_id, answers={"ok": True}, grants=[OFFER]).ok()
            claims = read(person.job(job_id).ok()["output"]["token"]).claims
            assert (claims["exp"] is not None) == ends
