"""Revocation (D10, D11): who may, what falls with it, and that it falls everywhere at once and for good."""

import base64
import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from tests.harness.actors import Actor
from tests.harness.town import ASK, ISSUE, REQUEST, REVOKE, VERIFY, Town, fresh_key, refused
from tests.harness.towns import Build
from ucan.did import agent_did
from ucan.jwt import read, sign, token_hash

LIST = "v/ops/ucan/list"


@pytest.fixture
def ada(town: Town) -> Actor:
    """A person with something to give."""
    person = town.person()
    person.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    return person


def opens(actor: Actor, owner: str, token: str) -> bool:
    """Whether a token opens `w/r` of an owner for an actor; refused is 403 and nothing else."""
    reply = actor.read(f"{owner}/w/r", [token])
    if reply.status != 200:
        refused(reply, "capability_denied" if actor.token else "denied")
    return reply.status == 200


# Who may.


def test_who_may_revoke_a_signed_token(town: Town, ada: Actor) -> None:
    """Its issuer and the issuer of any parent; not its audience, not a passer-by, not the operator."""
    bob, carl, dora = town.person(), town.person(), town.person()

    def chain() -> tuple[str, str]:
        first = ada.grant(bob.did, "w/", "crud")
        return first, bob.grant(carl.did, f"{ada.did}/w/r", "crud/read", 60, proofs=[first])

    for who in (ada, bob):
        first, second = chain()
        assert opens(carl, ada.did, second)
        assert who.run(REVOKE, {"token": second}).ok() == {"revoked": [token_hash(second)]}
        assert not opens(carl, ada.did, second)
        assert opens(bob, ada.did, first)
    first, second = chain()
    for who in (carl, dora, town.managed("eve")):
        refused(who.run(REVOKE, {"token": second}), "denied")
    refused(bob.run(REVOKE, {"token": first}), "denied")
    refused(town.operator().run(REVOKE, {"token": second}), "operator_refused")
    refused(town.relayed(ada).run(REVOKE, {"token": second}), "weak_credential")
    refused(town.agent(ada).run(REVOKE, {"token": second}), "agent_refused")
    assert opens(carl, ada.did, second)


def test_the_owner_of_every_resource_may_revoke(town: Town, ada: Actor) -> None:
    """Whoever signed it; of some of them only, not."""
    bob, carl = town.person(), town.person()
    assert bob.signer is not None

    def signed(*owners: Actor) -> str:
        att = [{"with": f"{owner.did}/w/r", "can": "crud/read"} for owner in owners]
        claims = {"iss": bob.did, "aud": carl.did, "ucv": "0.10.0", "att": att, "prf": []}
        return sign(bob.signer, {**claims, "exp": town.now + 60, "nnc": str(len(owners))})  # type: ignore[arg-type]

    refused(ada.run(REVOKE, {"token": signed(ada, bob)}), "denied")
    refused(ada.run(REVOKE, {"token": signed()}), "denied")
    assert len(ada.run(REVOKE, {"token": signed(ada)}).ok()["revoked"]) == 1


def test_who_may_revoke_what_the_venue_signed(town: Town, ada: Actor) -> None:
    """The grantor, by the text or by the hash alone; not its audience."""
    bob, carl = town.person(), town.person()
    for by in ("token", "hash"):
        token = town.issued(ada, bob.did, "w/r", "crud/read")
        named = {"token": token} if by == "token" else {"hash": token_hash(token)}
        for other in (bob, carl):
            refused(other.run(REVOKE, named), "denied")
        assert opens(bob, ada.did, token)
        assert ada.run(REVOKE, named).ok() == {"revoked": [token_hash(token)]}
        assert not opens(bob, ada.did, token)
        assert ada.run(REVOKE, named).ok() == {"revoked": []}


def test_the_answer_to_a_request_is_revoked_by_who_gave_it(town: Town, ada: Actor) -> None:
    """Found in the list by its request; the agent that holds it may not, and it falls for the agent."""
    agent = town.agent(ada)
    token = town.approved(ada, agent)
    assert opens(agent, ada.did, token)
    [item] = ada.run(LIST).ok()["items"]
    assert (item["hash"], item["audience"]) == (token_hash(token), agent_did(ada.did, "helper"))
    refused(agent.run(REVOKE, {"hash": item["hash"]}), "agent_refused")
    assert ada.run(REVOKE, {"hash": item["hash"]}).ok()["revoked"] == [item["hash"]]
    assert not opens(agent, ada.did, token)
    assert ada.run(LIST).ok()["items"] == []


def test_a_hash_does_not_tell_whether_there_is_such_a_token(town: Town, ada: Actor) -> None:
    """Somebody else's and nobody's are refused in the same words."""
    token = town.issued(ada, town.person().did, "w/r", "crud/read")
    eve = town.person()
    theirs = eve.run(REVOKE, {"hash": token_hash(token)})
    nobodys = eve.run(REVOKE, {"hash": "0" * 64})
    assert (theirs.status, theirs.body) == (nobodys.status, nobodys.body)
    refused(theirs, "denied")


# What is named.


def test_a_token_has_many_spellings_and_one_name(town: Town) -> None:
    """An ES256K token signed twice, a proof order changed: what counts is what was signed (D11).

    Ed25519 gives one signature; a second valid one for the same content makes another text and the same hash.
    """
    ada, bob = town.person(), town.person()
    ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    token = ada.grant(bob.did, "w/r", "crud/read")
    head, body, signature = token.split(".")
    other = f"{head}.{body}.{_another_signature(ada, f'{head}.{body}'.encode())}"
    assert other.rpartition(".")[2] != signature
    assert token_hash(other) == token_hash(token)
    assert opens(bob, ada.did, other)
    ada.run(REVOKE, {"token": other}).ok()
    assert not opens(bob, ada.did, token)
    assert not opens(bob, ada.did, other)
    assert bob.run(VERIFY, {"token": token}).ok()["valid"] is False


_P = 2**255 - 19
_Q = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_BX = 15112221349535400772501151409588531511454012693041857206046113283949847762202
_BASE = (_BX, 4 * pow(5, _P - 2, _P) % _P)


def _add(p: tuple[int, int], q: tuple[int, int]) -> tuple[int, int]:
    (x1, y1), (x2, y2) = p, q
    k = _D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + k, _P - 2, _P) % _P
    return x, (y1 * y2 + x1 * x2) * pow(1 - k, _P - 2, _P) % _P


def _times(n: int, point: tuple[int, int]) -> tuple[int, int]:
    found = (0, 1)
    while n:
        found = _add(found, point) if n & 1 else found
        point, n = _add(point, point), n >> 1
    return found


def _packed(point: tuple[int, int]) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def _another_signature(actor: Actor, message: bytes) -> str:
    """A second valid signature by the actor's key, as its holder can make with a nonce of its own choice."""
    assert actor.signer is not None
    key = actor.signer._sign.__self__  # type: ignore[attr-defined]
    digest = hashlib.sha512(key.private_bytes_raw()).digest()
    scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | (1 << 254)
    nonce = 12345678901234567890
    r = _packed(_times(nonce, _BASE))
    h = int.from_bytes(hashlib.sha512(r + actor.signer.public_bytes + message).digest(), "little") % _Q
    s = (nonce + h * scalar) % _Q
    return base64.urlsafe_b64encode(r + s.to_bytes(32, "little")).rstrip(b"=").decode()


def test_an_expired_token_may_be_revoked_and_a_forged_one_not(build: Build) -> None:
    """Signatures are checked, times are not."""
    town = build()
    ada, bob = town.person(), town.person()
    token = ada.grant(bob.did, "w/r", "crud/read", lifetime=60)
    town.clock.advance(61_000)
    head, body, _ = token.split(".")
    forged = f"{head}.{body}.{ada.grant(bob.did, 'w/r', 'crud/read').rpartition('.')[2]}"
    for wrong in (forged, "x", "", token[:-4]):
        refused(ada.run(REVOKE, {"token": wrong}), "invalid_input")
    assert len(ada.run(REVOKE, {"token": token}).ok()["revoked"]) == 1


def test_revoke_with_one_thing_wrong(town: Town, ada: Actor) -> None:
    """Either a token or a hash."""
    token = ada.grant(fresh_key().did, "w/r", "crud/read")
    for data in (
        {},
        {"token": token, "hash": token_hash(token)},
        {"hash": "0" * 63},
        {"hash": "A" * 64},
        {"hash": token_hash(token), "more": 1},
        {"token": 7},
    ):
        refused(ada.run(REVOKE, data), "invalid_input")


# What falls.


def test_everything_below_in_a_chain_falls(town: Town, ada: Actor) -> None:
    """In whatever it is used for: reading, writing, delivery, seeing a job, verifying."""
    bob, carl = town.person(), town.person()
    job_id = ada.ask()
    first = ada.grant(bob.did, ada.did, "*")
    second = bob.grant(carl.did, ada.did, "*", 60, proofs=[first])
    uses: list[Callable[[], Any]] = [
        lambda: carl.read(f"{ada.did}/w/r", [second]),
        lambda: carl.run("v/ops/covia/write", {"path": f"{ada.did}/w/x", "value": 1}, [second]),
        lambda: carl.invoke(ASK, {**REQUEST, "user": ada.did}, [second]),
    ]
    for use in uses:
        assert use().status < 300
    assert carl.job(job_id, [second]).status == 200
    ada.run(REVOKE, {"token": first}).ok()
    for use in uses:
        refused(use(), "denied")
    refused(carl.job(job_id, [second]), "not_found")
    refused(
        carl.request("GET", f"/api/v1/jobs/{job_id}/history", headers={"X-Covia-Ucans": second}), "not_found"
    )
    said = carl.run(VERIFY, {"token": second, "with": f"{ada.did}/w/r", "can": "crud/read"}).ok()
    assert said["valid"] is False
    assert opens(carl, ada.did, ada.grant(carl.did, "w/r", "crud/read"))


def test_what_was_minted_in_reliance_falls(town: Town) -> None:
    """Over several mints, each on the word of the one before; what lies beside it stands (D9, D11)."""
    ada = town.keyed(f"ada{fresh_key().did[-8:]}")
    bob, carl, dora, last = (town.person() for _ in range(4))
    owner = ada.did
    ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    right = ada.grant(bob.did, "w/", "grant/grant/crud")
    mint = {"can": "grant/crud", "with": f"{owner}/w/"}
    first = _issue(town, bob, carl.did, mint, [right])
    second = _issue(town, carl, dora.did, {"with": f"{owner}/w/r", "can": "crud/read"}, [first])
    beside = town.issued(ada, dora.did, "w/r", "crud/read")
    passed_on = town.passed_on(dora, last.did, f"{owner}/w/r", "crud/read", [second])
    assert opens(dora, owner, second)
    assert opens(last, owner, passed_on)
    fell = ada.run(REVOKE, {"token": right}).ok()["revoked"]
    assert set(fell) == {token_hash(right), token_hash(first), token_hash(second)}
    assert not opens(dora, owner, second)
    assert not opens(last, owner, passed_on)
    assert opens(dora, owner, beside)
    data = {"aud": last.did, "att": [{"with": f"{owner}/w/r", "can": "crud/read"}], "exp": town.now + 60}
    for who, proof in ((bob, right), (carl, first)):
        refused(who.run(ISSUE, data, [proof]), "denied")
    assert carl.run(LIST).ok()["items"] == []
    for token in (first, second, passed_on):
        assert dora.run(VERIFY, {"token": token}).ok()["valid"] is False


def test_a_right_of_several_proofs_falls_with_each_of_them(town: Town) -> None:
    """A token with one bad proof is refused whole (D8), so what was minted on it falls, too (D11), also when
    the proof that was revoked is not the one that covered the grant; nor does the mint outlive it (D9).
    """
    ada = town.keyed(f"ada{fresh_key().did[-8:]}")
    bob, carl, dora = (town.person() for _ in range(3))
    owner = ada.did
    ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    used = ada.grant(bob.did, "w/", "grant/crud", lifetime=600)
    unused = ada.grant(bob.did, "h/", "grant/hitl", lifetime=120)
    right = town.passed_on(bob, carl.did, f"{owner}/w/", "grant/crud", [used, unused], 60)
    capability = {"with": f"{owner}/w/r", "can": "crud/read"}
    minted = _issue(town, carl, dora.did, capability, [right])
    assert opens(dora, owner, minted)
    assert token_hash(minted) in ada.run(REVOKE, {"token": unused}).ok()["revoked"]
    assert not opens(dora, owner, minted)


def _issue(town: Town, grantor: Actor, audience: str, capability: Any, proofs: list[str]) -> str:
    data = {"aud": audience, "att": [capability], "exp": town.now + 50}
    return str(grantor.run(ISSUE, data, proofs).ok()["token"])


def test_a_mint_ends_with_every_proof_that_its_right_carries(town: Town) -> None:
    """One that the grant does not need ends it too, for the right ends with it."""
    ada = town.keyed(f"ada{fresh_key().did[-8:]}")
    bob, carl = town.person(), town.person()
    long = ada.grant(bob.did, "w/", "grant/crud", lifetime=600)
    short = ada.grant(bob.did, "h/", "grant/hitl", lifetime=60)
    right = town.passed_on(bob, carl.did, f"{ada.did}/w/", "grant/crud", [long, short], 500)
    data = {"aud": fresh_key().did, "att": [{"with": f"{ada.did}/w/r", "can": "crud/read"}]}
    refused(carl.run(ISSUE, {**data, "exp": town.now + 61}, [right]), "denied")
    carl.run(ISSUE, {**data, "exp": town.now + 60}, [right]).ok()


def test_a_revoked_token_is_no_answer_to_a_token_ask(town: Town, ada: Actor) -> None:
    """Nor one that rests on a revoked one; the request stays open for a good one."""
    agent = town.agent(ada)
    spec = {"caps": [{"with": "w/r", "can": "crud/read"}]}
    request = agent.ask(asks=[{"id": "t", "type": "token", "prompt": "Sign?", "token": spec}])
    did = agent_did(ada.did, "helper")
    token = ada.grant(did, "w/r", "crud/read")
    ada.run(REVOKE, {"token": token}).ok()
    refused(ada.respond(request, answers={"t": token}), "token_refused")
    ada.respond(request, answers={"t": ada.grant(did, "w/r", "crud/read")}).ok()
    assert agent.job(request).ok()["status"] == "COMPLETE"


def test_revocations_outlive_a_restart(build: Build) -> None:
    """What fell stays down, what stood stands."""
    town = build()
    ada, bob = town.person(), town.person()
    ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    gone, kept = ada.grant(bob.did, "w/r", "crud/read"), ada.grant(bob.did, "w/r", "crud/read")
    minted = town.issued(ada, bob.did, "w/r", "crud/read")
    ada.run(REVOKE, {"token": gone}).ok()
    ada.run(REVOKE, {"hash": token_hash(minted)}).ok()
    town.stop()
    town.start()
    for token, good in ((gone, False), (minted, False), (kept, True)):
        assert opens(bob, ada.did, token) is good
        assert bob.run(VERIFY, {"token": token}).ok()["valid"] is good
    [line] = [line for line in town.store.audit("token.revoked") if line["token"] == token_hash(gone)]
    assert gone not in str(line)


# The list.


def test_the_list_shows_ones_own_live_mints_page_by_page(build: Build) -> None:
    """Oldest first, each once; not another's, not an expired or revoked one; the hash, never the token."""
    town = build()
    ada, bob = town.person(), town.person()
    tokens = []
    for number in range(5):
        tokens.append(town.issued(ada, bob.did, f"w/{number}", "crud/read", lifetime=100 + number))
        town.clock.advance(number % 2)  # some of them in the same millisecond
    town.issued(bob, ada.did, "w/x", "crud/read")
    everything = _listed(ada, 100)
    assert _listed(ada, 1) == _listed(ada, 2) == everything
    assert sorted(everything) == sorted(token_hash(token) for token in tokens)
    items = ada.run(LIST).ok()["items"]
    assert sorted(item["exp"] for item in items) == [read(token).claims["exp"] for token in tokens]
    assert [item["created"] for item in items] == sorted(item["created"] for item in items)
    assert not any(token in str(items) for token in tokens)
    ada.run(REVOKE, {"token": tokens[4]}).ok()
    assert sorted(_listed(ada, 2)) == sorted(token_hash(token) for token in tokens[:4])
    town.clock.advance(101_000 - 2)  # the first two have ended
    assert sorted(_listed(ada, 2)) == sorted(token_hash(token) for token in tokens[2:4])
    for cursor in ("", "x", "1-", f"-{'0' * 64}"):
        refused(ada.run(LIST, {"cursor": cursor}), "invalid_input")


def _listed(actor: Actor, limit: int) -> list[str]:
    found: list[str] = []
    more: dict[str, Any] = {"limit": limit}
    while True:
        page = actor.run(LIST, more).ok()
        found += [item["hash"] for item in page["items"]]
        if "cursor" not in page:
            return found
        more["cursor"] = page["cursor"]
