"""Who would like to decide and may not (D9, D14), and what they would like to be granted."""

import pytest

from tests.harness.actors import Actor
from tests.harness.town import ISSUE, RESPOND, VERIFY, Town, offering, refused
from ucan.did import agent_did
from ucan.jwt import read

ANSWER = {"outcome": "answer", "answers": {"ok": True}}
ECHO = [{"with": "w/r", "can": "crud/read"}]


@pytest.fixture
def ada(town: Town) -> Actor:
    """The person whose decision it is."""
    person = town.person()
    person.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    return person


def test_nobody_but_the_owner_answers(town: Town, ada: Actor) -> None:
    """The requester, its delegate, a person with everything delegated, the operator, a relay: each by run and
    by invoke, each leaves it open and mints nothing; the owner then answers.
    """
    bob = town.person()
    proof = ada.grant(bob.did, "h/", "hitl/request")
    request = bob.ask([proof], user=ada.did, **offering())
    everything = ada.grant(bob.did, ada.did, "*")
    agent = town.agent(ada, caps=[{"with": "", "can": "*"}])
    keyed = town.keyed_agent(ada, agent_did(ada.did, "helper"))
    did = agent_did(ada.did, "helper")
    theirs = ada.grant(did, ada.did, "*")
    tries: list[tuple[Actor, list[str], str]] = [
        (bob, [], "not_found"),
        (bob, [everything], "not_found"),
        (town.person(), [everything], "not_found"),
        (agent, [], "agent_refused"),
        (agent, [theirs], "agent_refused"),
        (keyed, [theirs], "agent_refused"),
        (town.agent(bob), [], "agent_refused"),
        (town.relayed(ada), [], "weak_credential"),
        (town.relayed(ada), [ada.grant(ada.did, ada.did, "*")], "weak_credential"),
        (town.operator(), [ada.grant(town.did, ada.did, "*")], "operator_refused"),
        (town.by(""), [everything], "auth_required"),
    ]
    for who, proofs, code in tries:
        for outcome in (ANSWER, {**ANSWER, "grants": ECHO}, {"outcome": "reject"}):
            for call in (who.run, who.invoke):
                refused(call(RESPOND, {"id": request, **outcome}, proofs), code)
        path = f"{ada.did}/h/{request}"
        assert who.run("v/ops/covia/delete", {"path": path}, proofs).status in (401, 403)
        assert who.run(
            "v/ops/covia/write", {"path": f"{path}/status", "value": "answered"}, proofs
        ).status in (401, 403)
    assert ada.record(request)["status"] == "open"
    assert town.store.count("mint", request=request) == 0
    ada.respond(request, answers={"ok": True}, grants=ECHO).ok()
    assert bob.job(request).ok()["output"]["token"]


def test_a_requester_does_not_answer_through_its_job(town: Town, ada: Actor) -> None:
    """Messages, resumes and a job of the same id change nothing about the question."""
    agent = town.agent(ada)
    request = agent.ask(**offering())
    for method, path, body in (
        ("POST", f"/api/v1/jobs/{request}", {"outcome": "answer", "answers": {"ok": True}}),
        ("PUT", f"/api/v1/jobs/{request}/resume", None),
        ("PUT", f"/api/v1/jobs/{request}/pause", None),
    ):
        reply = agent.request(method, path, **({"json": body} if body else {}))
        refused(reply, "wrong_state")
    assert ada.record(request)["status"] == "open"


def test_an_offer_beside_another_with_other_caveats(town: Town, ada: Actor) -> None:
    """Two offers that the card would show alike are refused, across asks and options too (D12)."""
    agent = town.agent(ada)
    plain, bounded = (
        {"with": "w/r", "can": "crud/read"},
        {"with": "w/r", "can": "crud/read", "nb": {"url": "https://a"}},
    )
    other = {**bounded, "nb": {"url": "https://b"}}
    empty = {**plain, "nb": {}}
    for one, two in ((plain, bounded), (bounded, plain), (bounded, other), (plain, empty)):
        together = [{"id": "ok", "type": "approval", "prompt": "OK?", "grants": [one, two]}]
        apart = [
            {"id": "ok", "type": "approval", "prompt": "OK?", "grants": [one]},
            {"id": "which", "type": "choice", "prompt": "?", "options": [{"id": "x", "grants": [two]}]},
        ]
        for asks in (together, apart):
            refused(agent.invoke("v/ops/hitl/request", {"title": "T", "asks": asks}), "invalid_input")
    asks = [{"id": "ok", "type": "approval", "prompt": "OK?", "grants": [bounded, dict(bounded)]}]
    request = agent.ask(asks=asks)
    refused(
        ada.respond(request, answers={"ok": True}, grants=[{**plain, "nb": {"url": "https://b"}}]),
        "invalid_input",
    )
    ada.respond(request, answers={"ok": True}, grants=[plain, bounded]).ok()
    token = agent.job(request).ok()["output"]["token"]
    assert [entry["nb"] for entry in read(token).claims["att"]] == [{"url": "https://a"}]
    refused(agent.read(f"{ada.did}/w/r", [token]), "capability_denied")


def test_a_grant_over_what_is_not_the_grantors(town: Town, ada: Actor) -> None:
    """An offer over somebody else's things cannot be approved into a token, by an echo or by `ucan:issue`."""
    bob = town.person()
    bob.run("v/ops/covia/write", {"path": "w/r", "value": "bob's"}).ok()
    maya = town.keyed(f"maya{town.person().did[-8:]}")
    agent = town.agent(ada)
    for owner in (bob.did, maya.did, town.did):
        offer = {"with": f"{owner}/w/r", "can": "crud/read"}
        request = agent.ask(asks=[{"id": "ok", "type": "approval", "prompt": "OK?", "grants": [offer]}])
        refused(ada.respond(request, answers={"ok": True}, grants=[offer]), "denied")
        assert ada.record(request)["status"] == "open"
        data = {"aud": ada.did, "att": [offer], "exp": town.now + 60}
        refused(ada.run(ISSUE, data), "denied")
        narrowed = {**offer, "narrow": {"with": f"{owner}/w/r/x"}}
        refused(ada.respond(request, answers={"ok": True}, grants=[narrowed]), "denied")


def test_the_right_to_use_is_no_right_to_grant(town: Town) -> None:
    """`crud` does not make `grant/crud`, nor the reverse; and over a did:key owner no right makes any."""
    maya = town.keyed(f"maya{town.person().did[-8:]}")
    bob, carl = town.person(), town.person()
    maya.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    data = {"aud": carl.did, "att": [{"with": f"{maya.did}/w/r", "can": "crud/read"}], "exp": town.now + 60}
    for can, code in (
        ("crud", "denied"),
        ("grant/hitl", "denied"),
        ("grant/crud/write", "denied"),
        ("grant/crud", None),
    ):
        reply = bob.run(ISSUE, data, [maya.grant(bob.did, "w/", can)])
        if code:
            refused(reply, code)
        else:
            assert carl.read(f"{maya.did}/w/r", [reply.ok()["token"]]).ok()["value"] == 1
    refused(bob.read(f"{maya.did}/w/r", [maya.grant(bob.did, "w/", "grant/crud")]), "denied")
    ada = town.person()
    over_ada = {**data, "att": [{"with": f"{ada.did}/w/r", "can": "crud/read"}]}
    refused(bob.run(ISSUE, over_ada, [ada.grant(bob.did, "w/", "grant/crud")]), "denied")


def test_an_identity_that_was_relayed_grants_nothing_through_the_answer(town: Town, ada: Actor) -> None:
    """A relay that keeps an identity UCAN for its hour can ask in her name, and no more comes of it."""
    relay = town.relayed(ada)
    request = relay.ask(**offering())
    refused(relay.respond(request, answers={"ok": True}, grants=ECHO), "weak_credential")
    refused(relay.run(ISSUE, {"aud": ada.did, "att": ECHO, "exp": town.now + 60}), "weak_credential")
    assert relay.run(VERIFY, {"token": relay.token}).ok()["att"] == []
    assert town.store.count("mint", request=request) == 0


def test_an_answer_for_an_agent_that_is_gone(town: Town, ada: Actor) -> None:
    """What it still asks is withdrawn and mints nothing; what was minted for it before opens nothing, by its
    token, by its key, or passed on.
    """
    agent, bob = town.agent(ada), town.person()
    keyed = town.keyed_agent(ada, agent_did(ada.did, "helper"))
    answered, waiting = agent.ask(**offering()), agent.ask(**offering())
    ada.respond(answered, answers={"ok": True}, grants=ECHO).ok()
    token = ada.job(answered).ok()["output"]["token"]
    passed_on = town.passed_on(keyed, bob.did, f"{ada.did}/w/r", "crud/read", [token])
    assert bob.read(f"{ada.did}/w/r", [passed_on]).status == 200
    ada.run("v/ops/agent/revoke", {"agentId": "helper"}).ok()
    refused(ada.respond(waiting, answers={"ok": True}, grants=ECHO), "not_open")
    assert ada.job(waiting).ok()["status"] == "CANCELLED"
    assert town.store.count("mint", request=waiting) == 0
    for gone in (agent, keyed):
        refused(gone.job(waiting), "unauthorised")
        refused(gone.read(f"{ada.did}/w/r", [token]), "unauthorised")
    refused(bob.read(f"{ada.did}/w/r", [passed_on]), "denied")
