"""Ways round a block (D12): by an agent, by other hands, by the venue's own signature. All look like a
missing delegation, so nobody learns that they are blocked.
"""

import json

import pytest

from tests.harness.actors import Actor
from tests.harness.town import ASK, ISSUE, REQUEST, Town, fresh_key, refused
from ucan.did import agent_did

BLOCK = "v/ops/hitl/block"


@pytest.fixture
def ada(town: Town) -> Actor:
    """Who blocks: a managed user with a key, so that the venue can sign for her as well."""
    return town.keyed(f"ada{fresh_key().did[-10:]}")


def ask(who: Actor, owner: Actor, *proofs: str) -> tuple[int, str]:
    """Try to ask an owner; how it went."""
    reply = who.invoke(ASK, {**REQUEST, "user": owner.did}, proofs)
    return reply.status, json.dumps(reply.body).replace(owner.did, "?")


def test_a_block_covers_the_whole_family(town: Town, ada: Actor) -> None:
    """The person, their agents by token and by key, those they enrol later; whichever of them was named."""
    bob = town.person()
    agent = town.agent(bob)
    did = agent_did(bob.did, "helper")
    key = town.keyed_agent(bob, did)
    for named in (bob.did, did, agent_did(bob.did, "unheard-of")):
        granted = {who: ada.grant(who, "h/", "hitl/request") for who in (bob.did, did)}
        assert ask(bob, ada, granted[bob.did])[0] == ask(agent, ada, granted[did])[0] == 201
        assert ada.run(BLOCK, {"requester": named}).ok()["requester"] == bob.did
        later = town.agent(bob, "later")
        for who, proof in (
            (bob, granted[bob.did]),
            (agent, granted[did]),
            (key, granted[did]),
            (later, ada.grant(agent_did(bob.did, "later"), "h/", "hitl/request")),
            (town.relayed(bob), granted[bob.did]),
        ):
            assert ask(who, ada, proof) == ask(town.person(), ada)
        ada.run("v/ops/hitl/unblock", {"requester": bob.did}).ok()
    assert ask(bob, ada, ada.grant(bob.did, "h/", "hitl/request"))[0] == 201


def test_a_block_follows_what_was_passed_on(town: Town, ada: Actor) -> None:
    """Through one pair of hands or two, and by an agent of the blocked."""
    bob, carl, dora = town.person(), town.person(), town.person()
    first = ada.grant(bob.did, "h/", "hitl/request")
    inbox = f"{ada.did}/h"
    to_carl = town.passed_on(bob, carl.did, inbox, "hitl/request", [first])
    to_dora = town.passed_on(carl, dora.did, inbox, "hitl/request", [to_carl])
    assert ask(carl, ada, to_carl)[0] == ask(dora, ada, to_dora)[0] == 201
    ada.run(BLOCK, {"requester": bob.did}).ok()
    assert ask(carl, ada, to_carl) == ask(dora, ada, to_dora) == ask(bob, ada, first) == ask(carl, ada)
    own = ada.grant(carl.did, "h/", "hitl/request")
    assert ask(carl, ada, own)[0] == ask(carl, ada, own, to_carl)[0] == 201
    ada.run("v/ops/hitl/unblock", {"requester": bob.did}).ok()
    ada.run(BLOCK, {"requester": carl.did}).ok()
    assert ask(bob, ada, first)[0] == 201
    assert ask(dora, ada, to_dora) == ask(dora, ada)


def test_a_block_follows_what_the_venue_signed_at_the_word_of_the_blocked(town: Town, ada: Actor) -> None:
    """A right to grant, used through the venue, hides who used it from the chain, not from the ledger."""
    bob, carl = town.person(), town.person()
    right = ada.grant(bob.did, "h/", "grant/hitl/request")
    att = [{"with": f"{ada.did}/h/", "can": "hitl/request"}]
    minted = bob.run(ISSUE, {"aud": carl.did, "att": att, "exp": town.now + 60}, [right]).ok()["token"]
    assert ask(carl, ada, minted)[0] == 201
    ada.run(BLOCK, {"requester": bob.did}).ok()
    assert ask(carl, ada, minted) == ask(carl, ada)
    hers = town.issued(ada, carl.did, "h/", "hitl/request")
    assert ask(carl, ada, hers)[0] == 201


def test_a_block_holds_for_what_was_minted_for_the_blocked(town: Town, ada: Actor) -> None:
    """The venue's own signature over her inbox, given before, is no way round."""
    bob = town.person()
    minted = town.issued(ada, bob.did, "h/", "hitl/request")
    assert ask(bob, ada, minted)[0] == 201
    ada.run(BLOCK, {"requester": bob.did}).ok()
    assert ask(bob, ada, minted) == ask(bob, ada)
    other = town.person()
    assert other.run("v/ops/hitl/list").status == 200
    assert ask(bob, other, other.grant(bob.did, "h/", "hitl/request"))[0] == 201


def test_a_block_of_anothers_is_nobody_elses(town: Town, ada: Actor) -> None:
    """Who is blocked, and by whom, only the owner sees; nobody blocks in another's name or by a proof."""
    bob = town.person()
    ada.run(BLOCK, {"requester": bob.did}).ok()
    everything = ada.grant(bob.did, ada.did, "*")
    assert bob.run("v/ops/hitl/blocked", {}, [everything]).ok() == {"items": [], "count": 0}
    refused(bob.run("v/ops/hitl/unblock", {"requester": bob.did}, [everything]), "invalid_input")
    assert ask(bob, ada, everything) == ask(bob, ada)
    assert [item["requester"] for item in ada.run("v/ops/hitl/blocked").ok()["items"]] == [bob.did]
