"""An ask that comes through another venue (`wire.md` 7): the identity UCAN as bearer, proofs in `ucans`.

For the venue that is asked a relay is one more client; what it carries says who asks, and what it may not do.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.actors import Actor, Reply, new_signer
from ucan.issue import identity
from ucan.keys import Ed25519Signer

from .conftest import House

ASK = {"id": "ok", "type": "approval", "prompt": "OK?", "grants": [{"with": "w/reports", "can": "crud/read"}]}
REQUEST = {"title": "From elsewhere", "asks": [ASK]}


def identity_of(signer: Ed25519Signer, house: House, *, aud: str = "", lifetime: int = 600) -> str:
    """What somebody hands to a relay: who they are, for one venue, and nothing that they may do."""
    now = house.clock.seconds
    return identity(signer, audience=aud or house.did, expires=now + lifetime, now=now, nonce="relay")


def relayed(house: House, token: str) -> Actor:
    """The relay, which has nothing but what it was handed."""
    return Actor(house.http, house.did, token=token)


@pytest.fixture
def ada(house: House) -> Actor:
    """Whose inbox it is."""
    person = house.owner()
    person.run("v/ops/covia/write", {"path": "w/reports", "value": "q3"}).ok()
    return person


@pytest.fixture
def carol() -> Ed25519Signer:
    """Who asks, through her own venue."""
    return new_signer()


def test_ask_through_a_relay(house: House, ada: Actor, carol: Ed25519Signer) -> None:
    """It lands as Carol's own; the relay waits on it, and Carol uses what was conferred on her."""
    relay = relayed(house, identity_of(carol, house))
    proof = ada.grant(carol.did, "h/", "hitl/request")
    posted = relay.invoke("v/ops/hitl/request", {**REQUEST, "user": ada.did}, [proof])
    assert posted.status == 201
    job_id = str(posted.body["id"]).removeprefix("0x")
    assert (posted.body["caller"], posted.body["status"]) == (carol.did, "INPUT_REQUIRED")
    record = ada.record(job_id)
    assert record["from"] == carol.did
    assert "origin" not in record
    assert proof not in str(ada.read("h").body) + str(relay.job(job_id).body)
    ada.respond(job_id, answers={"ok": True}, grants=ASK["grants"]).ok()
    found = relay.request("GET", f"/api/v1/jobs/{job_id}/sse")
    assert '"COMPLETE"' in found.body
    token = relay.job(job_id).ok()["output"]["token"]
    herself = Actor(house.http, house.did, signer=carol, now=lambda: house.clock.seconds)
    assert herself.read(f"{ada.did}/w/reports", [token]).ok()["value"] == "q3"
    assert relay.read(f"{ada.did}/w/reports", [token]).ok()["value"] == "q3"
    assert relay.run("v/ops/ucan/verify", {"token": token}).ok()["aud"] == carol.did


def test_relay_may_cancel_what_it_asked(house: House, ada: Actor, carol: Ed25519Signer) -> None:
    """Enough to ask, read, list, verify, wait and cancel (D2)."""
    relay = relayed(house, identity_of(carol, house))
    job_id = relay.ask([ada.grant(carol.did, "h/", "hitl/request")], user=ada.did)
    assert relay.request("GET", "/api/v1/jobs").ok()["items"] == [job_id]
    assert relay.cancel(job_id, reason="late").ok()["error"] == "late"
    assert ada.record(job_id)["status"] == "cancelled"


Wrong = Callable[[House, Actor, Ed25519Signer], Reply]


def _ask(house: House, ada: Actor, token: str, proofs: list[str]) -> Reply:
    return relayed(house, token).invoke("v/ops/hitl/request", {**REQUEST, "user": ada.did}, proofs)


def _proof(ada: Actor, carol: Ed25519Signer) -> str:
    return ada.grant(carol.did, "h/", "hitl/request")


WRONG: dict[str, tuple[str, Wrong]] = {
    "no proof": ("denied", lambda h, a, c: _ask(h, a, identity_of(c, h), [])),
    "a proof for somebody else": (
        "denied",
        lambda h, a, c: _ask(h, a, identity_of(c, h), [a.grant(new_signer().did, "h/", "hitl/request")]),
    ),
    "the relay's own identity": (
        "denied",
        lambda h, a, c: _ask(h, a, identity_of(new_signer(), h), [_proof(a, c)]),
    ),
    "no identity: proofs never say who calls": (
        "auth_required",
        lambda h, a, c: h.stranger().invoke("v/ops/hitl/request", REQUEST, [_proof(a, c), identity_of(c, h)]),
    ),
    "an identity for another venue": (
        "unauthorised",
        lambda h, a, c: _ask(h, a, identity_of(c, h, aud="did:web:a.example"), [_proof(a, c)]),
    ),
    "an identity that lives too long": (
        "unauthorised",
        lambda h, a, c: _ask(h, a, identity_of(c, h, lifetime=3_601), [_proof(a, c)]),
    ),
    "a capability as identity": ("unauthorised", lambda h, a, c: _ask(h, a, _proof(a, c), [_proof(a, c)])),
    "a user whom another venue manages": (
        "unauthorised",
        lambda h, a, c: _ask(
            h,
            a,
            identity_of(Ed25519Signer.from_seed(bytes(range(32)), "did:web:a.example:u:carol"), h),
            [a.grant("did:web:a.example:u:carol", "h/", "hitl/request")],
        ),
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_ask_with_one_thing_wrong(house: House, ada: Actor, carol: Ed25519Signer, wrong: str) -> None:
    """Nothing lands in the inbox, and no job is made."""
    before = house.venue.store.count("job")
    code, ask = WRONG[wrong]
    assert ask(house, ada, carol).code == code
    assert ada.run("v/ops/hitl/list").ok()["count"] == 0
    assert house.venue.store.count("job") == before


def test_expired_identity_is_dropped(house: House, ada: Actor, carol: Ed25519Signer) -> None:
    """What a relay kept too long is no good any more."""
    token = identity_of(carol, house, lifetime=60)
    proofs = [_proof(ada, carol)]
    assert _ask(house, ada, token, proofs).status == 201
    house.clock.advance(60_000)
    assert _ask(house, ada, token, proofs).code == "unauthorised"


def test_stranger_is_not_admitted_through_a_relay(open_house: Callable[..., House], carol: Any) -> None:
    """Where nobody is admitted unasked, a relay brings nobody in (D4)."""
    house = open_house(users={"auto_create": False})
    reply = relayed(house, identity_of(carol, house)).invoke("v/ops/hitl/request", REQUEST)
    assert (reply.code, house.venue.store.count("job")) == ("not_admitted", 0)
