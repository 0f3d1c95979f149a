"""Everything that is signed here, presented at every door (D1): each opens its own and no other.

A stolen receipt, an audit root out of a backup, an agent's token in a proof list: all of them carry a good
signature by a key that the venue trusts, and only their `typ` and their shape say what they are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.harness.actors import Actor, Reply
from tests.harness.books import connect
from tests.harness.town import REVOKE, VERIFY, Town, fresh_key, refused
from tests.harness.uvicorns import LoopThread
from ucan.did import agent_did
from ucan.jwt import read, sign


@dataclass(frozen=True)
class Loot:
    """A venue with two people, and one of everything that was ever signed in it."""

    town: Town
    ada: Actor
    bob: Actor
    signed: dict[str, str]


@pytest.fixture(scope="module")
def loot(thread: LoopThread, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loot]:
    """All of it is live and good at its own door."""
    with Town(thread, tmp_path_factory.mktemp("loot")) as town:
        ada, bob = town.person(), town.person()
        ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
        request = ada.ask()
        ada.respond(request, answers={"ok": True}).ok()
        receipt = ada.request("GET", f"/api/v1/jobs/{request}/receipt").ok()["receipt"]
        agent, maya = town.agent(bob, "scout"), town.managed("maya")
        town.stop()
        with connect(town.site.database) as db:
            root = str(db.execute("SELECT root FROM audit_root").fetchone()[0])
        db.close()
        town.start()
        yield Loot(
            town,
            ada,
            bob,
            {
                "bearer": ada.bearer(),
                "identity": town.relayed(ada).token,
                "capability": ada.grant(bob.did, "w/r", "crud/read"),
                "minted": town.issued(ada, bob.did, "w/r", "crud/read"),
                "agent token": agent.token,
                "sign-in": maya.token,
                "operator": town.operator().token,
                "receipt": receipt,
                "audit root": root,
            },
        )


TYPES = {
    "bearer": "JWT",
    "identity": "JWT",
    "capability": "JWT",
    "minted": "JWT",
    "agent token": "venue-agent+jwt",
    "sign-in": "venue-session+jwt",
    "operator": "venue-operator+jwt",
    "receipt": "venue-receipt+jwt",
    "audit root": "venue-audit+jwt",
}
VENUE_TYPES = sorted(set(TYPES.values()) - {"JWT"})

BEARERS = {"bearer", "identity", "agent token", "sign-in", "operator"}
PROOFS = {"capability", "minted"}
TOKENS = PROOFS | {"identity"}

ANSWERS = {
    "bearer": "invalid_input",
    "identity": "invalid_input",
    "capability": "token_refused",
    "minted": "token_refused",
}


def test_everything_has_its_own_type(loot: Loot) -> None:
    """Checked exactly, so each has one of its own."""
    assert {name: read(token).typ for name, token in loot.signed.items()} == TYPES


@pytest.mark.parametrize("what", TYPES)
def test_as_a_bearer(loot: Loot, what: str) -> None:
    """Only what says who calls."""
    reply = loot.town.by(loot.signed[what]).request("GET", "/api/v1/operations")
    if what in BEARERS:
        assert reply.status == 200
    else:
        refused(reply, "unauthorised")


@pytest.mark.parametrize("what", TYPES)
@pytest.mark.parametrize("door", ["header", "body"])
def test_as_a_proof(loot: Loot, what: str, door: str) -> None:
    """Only what confers something on whoever presents it."""
    path = f"{loot.ada.did}/w/r"
    token = loot.signed[what]
    reply = (
        loot.bob.read(path, [token])
        if door == "header"
        else loot.bob.run("v/ops/covia/read", {"path": path}, [token])
    )
    if what in PROOFS:
        assert reply.ok()["value"] == 1
    else:
        refused(reply, "denied")


@pytest.mark.parametrize("what", TYPES)
def test_as_the_answer_to_a_token_ask(loot: Loot, what: str) -> None:
    """Only a capability of one's own for the one who asks; these are none, and the request stays open."""
    agent = loot.town.agent(loot.ada)
    spec = {"caps": [{"with": "w/r", "can": "crud/read"}]}
    request = agent.ask(asks=[{"id": "t", "type": "token", "prompt": "Sign?", "token": spec}])
    reply = loot.ada.respond(request, answers={"t": loot.signed[what]})
    refused(reply, ANSWERS.get(what, "invalid_input"))
    assert loot.ada.record(request)["status"] == "open"
    good = loot.ada.grant(agent_did(loot.ada.did, "helper"), "w/r", "crud/read")
    loot.ada.respond(request, answers={"t": good}).ok()


@pytest.mark.parametrize("what", TYPES)
def test_as_the_proof_of_a_key(loot: Loot, what: str) -> None:
    """None of them names an agent or a managed user by a key of its own."""
    loot.town.agent(loot.ada)
    data = {"proof": loot.signed[what]}
    refused(loot.ada.run("v/ops/agent/bind", {"agentId": "helper", **data}), "invalid_input")
    refused(loot.town.by(loot.signed["sign-in"]).run("v/ops/user/bind", data), "invalid_input")


@pytest.mark.parametrize("what", TYPES)
def test_as_a_token_to_verify_or_revoke(loot: Loot, what: str) -> None:
    """What is no capability token is not valid as one; an identity is one that gives nothing."""
    token = loot.signed[what]
    said = loot.bob.run(VERIFY, {"token": token, "with": f"{loot.ada.did}/w/r", "can": "crud/read"}).ok()
    assert said["valid"] is (what in TOKENS)
    assert said.get("authorises", False) is (what in PROOFS)
    if what not in TOKENS:
        refused(loot.ada.run(REVOKE, {"token": token}), "invalid_input")


@pytest.mark.parametrize("what", ["agent token", "sign-in", "operator", "receipt", "audit root"])
@pytest.mark.parametrize(
    "typ", [*VENUE_TYPES, "JWT", "jwt", "VENUE-AGENT+JWT", "application/venue-agent+jwt", ""]
)
def test_what_the_venue_signed_under_another_type(loot: Loot, what: str, typ: str) -> None:
    """Should the venue ever sign such claims as something else, they are still good for nothing more."""
    if typ == TYPES[what]:
        return
    forged = sign(loot.town.signer, read(loot.signed[what]).claims, typ=typ)
    # Its own bearer by its own key is a good one; but a venue is no user (D5).
    code = "not_admitted" if (what, typ) == ("operator", "JWT") else "unauthorised"
    refused(loot.town.by(forged).request("GET", "/api/v1/operations"), code)


CALLS: dict[str, Callable[[Actor], Reply]] = {
    "ask": lambda who: who.invoke("v/ops/hitl/request", {"title": "T", "asks": []}),
    "jobs": lambda who: who.request("GET", "/api/v1/jobs"),
    "stream": lambda who: who.request("GET", f"/api/v1/jobs/{'0' * 32}/sse"),
    "feed": lambda who: who.request("GET", "/api/v1/inbox/sse"),
    "values": lambda who: who.read("v/info"),
    "cancel": lambda who: who.cancel("0" * 32),
    "operations": lambda who: who.request("GET", "/api/v1/operations"),
    "assets": lambda who: who.request("GET", "/api/v1/assets"),
}


@pytest.mark.parametrize("door", CALLS)
def test_a_receipt_opens_no_door_at_all(loot: Loot, door: str) -> None:
    """Not even one that stands open to strangers: bad is not absent (D2)."""
    for what in ("receipt", "audit root", "capability", "minted"):
        refused(CALLS[door](loot.town.by(loot.signed[what])), "unauthorised")


def test_a_good_credential_of_somebody_else_beside_ones_own(loot: Loot) -> None:
    """Whose bearer it is says who calls; sign-ins and agent tokens among the proofs say nothing."""
    proofs = [loot.signed[name] for name in ("bearer", "identity", "agent token", "sign-in", "operator")]
    request = loot.bob.ask(proofs)
    assert loot.bob.record(request)["from"] == loot.bob.did
    refused(loot.bob.run("v/ops/user/list", {}, proofs), "denied")


# Keys that are somebody else's.


def test_a_strangers_key_for_an_agent(loot: Loot) -> None:
    """It says it is the agent; nobody bound it."""
    loot.town.agent(loot.ada)
    agent = loot.town.bound(fresh_key(agent_did(loot.ada.did, "helper")))
    refused(agent.run("v/ops/hitl/list"), "unauthorised")


def test_a_users_key_for_an_agent(loot: Loot) -> None:
    """A person's key is that person: their own agent's or another's it cannot become (D3)."""
    town = loot.town
    town.agent(loot.ada)
    agent = agent_did(loot.ada.did, "helper")
    for person in (loot.ada, loot.bob):
        assert person.signer is not None
        refused(town.by(person.bearer(sub=agent)).run("v/ops/hitl/list"), "unauthorised")
        data = {"agentId": "helper", "proof": person.bearer(sub=agent)}
        refused(loot.ada.run("v/ops/agent/bind", data), "wrong_state")


def test_an_agents_key_for_its_owner_or_a_sibling(loot: Loot) -> None:
    """It speaks for the agent that it was bound to, and for nobody above or beside."""
    town = loot.town
    town.agent(loot.ada, "one")
    town.agent(loot.ada, "two")
    agent = town.keyed_agent(loot.ada, agent_did(loot.ada.did, "one"), "one")
    assert agent.signer is not None
    for other in (
        loot.ada.did,
        agent_did(loot.ada.did, "two"),
        town.managed_did("maya"),
        town.did,
        loot.bob.did,
    ):
        refused(town.by(agent.bearer(sub=other)).run("v/ops/hitl/list"), "unauthorised")
    claimed = {"iss": agent.signer.did, "sub": agent.signer.did}
    reply = town.by(agent.bearer(**claimed)).run("v/ops/hitl/list")
    assert reply.status in (401, 403)
    assert agent.run("v/ops/hitl/list").status == 200


def test_fields_that_claim_to_be_somebody(loot: Loot) -> None:
    """The venue alone says who asked: what the input claims is not believed (D12)."""
    agent = loot.town.agent(loot.ada)
    claims: dict[str, Any] = {"from": loot.ada.did, "agent": "g/boss", "origin": "web", "status": "answered"}
    request = agent.ask(**claims, response={"outcome": "answer"}, id="0" * 32)
    record = loot.ada.record(request)
    assert (record["from"], record["agent"], record["status"]) == (
        agent_did(loot.ada.did, "helper"),
        "g/helper",
        "open",
    )
    assert "origin" not in record
    assert "response" not in record
    more = {
        "id": request,
        "outcome": "answer",
        "answers": {"ok": True},
        "resolver": loot.ada.did,
        "by": "owner",
    }
    refused(loot.ada.run("v/ops/hitl/respond", more), "invalid_input")
