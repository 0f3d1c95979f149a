"""Users whom the venue manages (D3): sign-ins by the operator, and keys that they bind themselves."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.harness.actors import Actor
from tests.harness.commands import venue as command
from tests.harness.served import Served
from tests.harness.town import ISSUE, VERIFY, Town, fresh_key, offering, refused
from ucan.did import did_key
from ucan.jwt import read, sign
from ucan.keys import Ed25519Signer
from venue.keyfile import venue_seed

BIND = "v/ops/user/bind"
KEYS = "v/ops/user/keys"
UNBIND = "v/ops/user/unbind"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`venue serve`, with the command line working on its data directory meanwhile."""
    with Served(tmp_path_factory.mktemp("managed") / "data") as running:
        yield running


# The command line, while a server runs.


def test_the_operator_adds_lists_signs_in_and_signs_out(served: Served) -> None:
    """A sign-in works at once, for at most twelve hours, and is revoked at once; each leaves a line."""
    did = command("user", "add", "ada", data=served.data).ok()
    assert did == f"{served.did}:u:ada"
    again = command("user", "add", "ada", "--json", data=served.data)
    assert again.json == {"did": did, "created": False}
    brought = served.owner().did
    assert command("user", "add", brought, "--json", data=served.data).json["created"] is True
    listed = command("user", "ls", "--json", data=served.data).json
    assert [{"did", "created", "name"}, {"did", "created"}] == [
        set(item)
        for item in sorted(listed, key=lambda item: item["did"] != did)
        if item["did"] in (did, brought)
    ]
    assert did in command("user", "ls", data=served.data).ok()

    token = command("user", "signin", "ada", data=served.data).ok()
    claims = read(token).claims
    assert claims["sub"] == did
    assert claims["exp"] - int(time.time()) <= 12 * 60 * 60
    ada = Actor(served.http, served.did, token=token)
    request = ada.ask()
    assert ada.record(request)["from"] == did
    assert command("user", "signout", "ada", data=served.data).ok() == "1 revoked"
    refused(ada.run("v/ops/hitl/list"), "unauthorised")
    lines = command("audit", "tail", did, "--json", data=served.data).json
    kinds = [line["says"]["kind"] for line in lines]
    assert [kind for kind in kinds if kind.startswith("user.")] == [
        "user.created",
        "user.signed_in",
        "user.signed_out",
    ]
    assert token not in str(lines)
    assert {line["says"]["by"] for line in lines} == {served.did}


def test_the_command_line_signs_the_operators_bearer(served: Served, tmp_path: Path) -> None:
    """For a minute and no longer, good for users and not for anybody's inbox; where no venue is, it makes
    none.
    """
    token = command("token", "operator", data=served.data).ok()
    claims = read(token).claims
    assert claims["exp"] - claims["iat"] == 60
    operator = Actor(served.http, served.did, token=token)
    assert operator.run("v/ops/user/create", {"username": "grace"}).ok()["created"] is True
    refused(operator.run("v/ops/hitl/list"), "operator_refused")
    nowhere = command("token", "operator", data=tmp_path / "nowhere")
    assert (nowhere.status, nowhere.out) == (1, "")
    assert not (tmp_path / "nowhere").exists()


def test_the_bearer_of_another_venues_operator_opens_nothing(served: Served, tmp_path: Path) -> None:
    """Another data directory has another key."""
    command("user", "add", "heidi", data=tmp_path / "other").ok()
    foreign = command("token", "operator", data=tmp_path / "other").ok()
    refused(Actor(served.http, served.did, token=foreign).run("v/ops/user/list"), "unauthorised")


def test_one_sign_in_of_several_is_revoked_by_its_jti(served: Served) -> None:
    """The others go on."""
    command("user", "add", "bea", data=served.data).ok()
    kept, gone = (command("user", "signin", "bea", "--hours", "1", data=served.data).ok() for _ in range(2))
    jti = read(gone).claims["jti"]
    assert command("user", "signout", "bea", "--jti", jti, data=served.data).ok() == "1 revoked"
    assert command("user", "signout", "bea", "--jti", jti, data=served.data).ok() == "0 revoked"
    refused(Actor(served.http, served.did, token=gone).run("v/ops/hitl/list"), "unauthorised")
    assert Actor(served.http, served.did, token=kept).run("v/ops/hitl/list").status == 200


def test_keys_are_listed_and_revoked_by_the_operator(served: Served) -> None:
    """A key that speaks for her stops at once, though her sign-in goes on."""
    did = command("user", "add", "cleo", data=served.data).ok()
    signed_in = Actor(served.http, served.did, token=command("user", "signin", "cleo", data=served.data).ok())
    signer = fresh_key(did)
    now = int(time.time())
    claims = {"iss": signer.key_did, "sub": did, "aud": served.did, "iat": now, "exp": now + 300}
    bearer = sign(signer, claims)
    signed_in.run(BIND, {"proof": bearer}).ok()
    by_key = Actor(served.http, served.did, token=bearer)
    assert by_key.run("v/ops/hitl/list").status == 200
    assert command("user", "keys", "cleo", data=served.data).ok() == signer.key_did
    revoked = command("user", "keys", "cleo", "--revoke", signer.key_did, "--json", data=served.data).json
    assert [item["key"] for item in revoked["items"] if "revoked" in item] == [signer.key_did]
    assert command("user", "keys", "cleo", data=served.data).ok() == f"{signer.key_did}  revoked"
    refused(by_key.run("v/ops/hitl/list"), "unauthorised")
    assert signed_in.run("v/ops/hitl/list").status == 200


def test_a_command_with_one_thing_wrong(served: Served) -> None:
    """A sentence and a status, nothing printed, nothing changed."""
    before = command("user", "ls", "--json", data=served.data).out
    for words, status in (
        (["add", "../ada"], 1),
        (["add", "did:key:z6Mk"], 1),
        (["add", "did:key:zNobody:g:agent"], 1),
        (["signin", "nobody"], 1),
        (["signin", "ada", "--hours", "12.5"], 2),
        (["keys", "nobody"], 1),
    ):
        done = command("user", *words, data=served.data)
        assert (done.status, done.out, bool(done.err)) == (status, "", True), words
    assert command("user", "ls", "--json", data=served.data).out == before


def test_a_sign_in_is_for_managed_users_alone(served: Served) -> None:
    """Who brought a key signs for themselves: the operator cannot make a bearer for them (D5)."""
    brought = served.owner()
    command("user", "add", brought.did, data=served.data).ok()
    for words in (["signin", brought.did], ["signout", brought.did], ["keys", brought.did]):
        assert command("user", *words, data=served.data).status == 1


def test_the_venues_key_is_made_by_whoever_comes_first(tmp_path_factory: pytest.TempPathFactory) -> None:
    """`venue user add` before the first `venue serve`: one identity for both."""
    data = tmp_path_factory.mktemp("first") / "data"
    did = command("user", "add", "ada", data=data).ok()
    venue_did = did_key(Ed25519Signer.from_seed(venue_seed(data)).public_bytes)
    assert did == f"{venue_did}:u:ada"
    with Served(data) as running:
        assert running.did == venue_did


# Sign-ins, by the clock.


def test_a_sign_in_ends_when_it_says(build: Callable[..., Town]) -> None:
    """Good in its last second, bad at its end."""
    town = build()
    ada = town.managed("ada")
    town.clock.advance(12 * 3600 * 1000 - 1)
    assert ada.run("v/ops/hitl/list").status == 200
    town.clock.advance(1)
    refused(ada.run("v/ops/hitl/list"), "unauthorised")


def test_an_open_stream_ends_with_the_sign_in(town: Town) -> None:
    """Signed out, she hears nothing more, not even what happens in the same second (D25)."""
    ada, elsewhere = town.managed("ada_streams"), town.keyed("ada_streams")
    request = elsewhere.ask()
    with (
        town.stream(ada, "/api/v1/inbox/sse") as feed,
        town.stream(ada, f"/api/v1/jobs/{request}/sse") as job,
    ):
        assert next(feed)
        assert next(job)
        elsewhere.run("v/ops/user/signout", {"jti": read(ada.token).claims["jti"]}).ok()
        elsewhere.respond(request, answers={"ok": True}).ok()
        assert list(feed) == []
        assert list(job) == []


@pytest.mark.parametrize(
    "spoilt",
    [
        {"aud": "did:key:zOther"},
        {"iss": "did:key:zOther"},
        {"jti": "ff"},
        {"jti": None},
        {"exp": None},
        {"sub": "another"},
        {"exp": "past"},
    ],
)
def test_a_sign_in_with_one_thing_wrong(town: Town, spoilt: dict[str, str | None]) -> None:
    """Signed by the venue's own key, and still refused."""
    ada = town.managed("ada_spoilt")
    good = read(ada.token).claims
    claims = {**good, **spoilt}
    if spoilt.get("sub"):
        town.managed("somebody_else")
        claims["sub"] = town.managed_did("somebody_else")
    if spoilt.get("exp") == "past":
        claims["exp"] = town.now
    bearer = town.venue_signed("venue-session+jwt", **claims)
    refused(town.by(bearer).run("v/ops/hitl/list"), "unauthorised")
    bearer = town.venue_signed("venue-session+jwt", **good)
    assert town.by(bearer).run("v/ops/hitl/list").status == 200


# Keys.


def test_a_managed_user_signs_with_each_of_two_keys(town: Town) -> None:
    """Both speak for her, as bearers and as the issuer of UCANs; revoking one leaves the other (D3)."""
    one = town.keyed("dora")
    two = town.keyed("dora")
    did = town.managed_did("dora")
    bob = town.person()
    one.run("v/ops/covia/write", {"path": "w/r", "value": 7}).ok()
    for key in (one, two):
        assert key.bearer() != ""
        assert key.record(key.ask())["from"] == did
        token = key.grant(bob.did, "w/r", "crud/read")
        assert bob.read(f"{did}/w/r", [token]).ok()["value"] == 7
        verdict = bob.run(VERIFY, {"token": token, "with": f"{did}/w/r", "can": "crud/read"}).ok()
        assert (verdict["valid"], verdict["authorises"]) == (True, True)
        assert [entry["rootAuthority"] for entry in verdict["att"]] == ["owner"]
    listed = one.run(KEYS).ok()
    assert listed["principal"] == did
    assert {one.signer.key_did, two.signer.key_did} == {item["key"] for item in listed["items"]}  # type: ignore[union-attr]
    gone = one.grant(bob.did, "w/r", "crud/read")
    assert two.run(UNBIND, {"key": one.signer.key_did}).ok() == {"revoked": True}  # type: ignore[union-attr]
    assert two.run(UNBIND, {"key": one.signer.key_did}).ok() == {"revoked": False}  # type: ignore[union-attr]
    refused(one.run("v/ops/hitl/list"), "unauthorised")
    refused(bob.read(f"{did}/w/r", [gone]), "denied")
    assert bob.run(VERIFY, {"token": gone}).ok()["valid"] is False
    assert bob.read(f"{did}/w/r", [two.grant(bob.did, "w/r", "crud/read")]).ok()["value"] == 7
    assert [sorted(item) for item in two.run(KEYS).ok()["items"]].count(["created", "key", "revoked"]) == 1


def test_the_operator_binds_a_key_for_a_managed_user(town: Town) -> None:
    """With the same proof; the operator says whose."""
    town.managed("emma")
    signer = fresh_key(town.managed_did("emma"))
    operator = town.operator()
    refused(operator.run(BIND, {"proof": town.proof(signer)}), "invalid_input")
    operator.run(BIND, {"user": "emma", "proof": town.proof(signer)}).ok()
    assert town.bound(signer).run("v/ops/hitl/list").status == 200
    assert operator.run(KEYS, {"user": town.managed_did("emma")}).ok()["items"][0]["key"] == signer.key_did


PROOFS = (
    "another subject",
    "another venue",
    "expired",
    "lives too long",
    "its own",
    "tampered",
    "no audience",
)


@pytest.mark.parametrize("wrong", PROOFS)
def test_a_proof_with_one_thing_wrong(town: Town, wrong: str) -> None:
    """400, and the key does not speak for her."""
    fay = town.managed("fay")
    signer = fresh_key(town.managed_did("fay"))
    town.managed("gil")
    good = town.proof(signer)
    head, body, _ = good.split(".")
    other = town.proof(fresh_key(signer.did)).rpartition(".")[2]
    proof = {
        "another subject": town.proof(signer, sub=town.managed_did("gil")),
        "another venue": town.proof(signer, aud=fresh_key().did),
        "expired": town.proof(signer, exp=town.now),
        "lives too long": town.proof(signer, exp=town.now + 3_600),
        "its own": town.proof(signer, sub=signer.key_did),
        "tampered": f"{head}.{body}.{other}",
        "no audience": town.proof(signer, aud=None),
    }[wrong]
    refused(fay.run(BIND, {"proof": proof}), "invalid_input")
    refused(town.bound(signer).run("v/ops/hitl/list"), "unauthorised")
    fay.run(BIND, {"proof": good}).ok()
    assert town.bound(signer).run("v/ops/hitl/list").status == 200


def test_a_key_belongs_to_one_principal_for_ever(town: Town) -> None:
    """Bound, or bound once, to anybody, or a user of its own: it can be bound to nobody else (D3)."""
    hal, iris = town.managed("hal"), town.managed("iris")
    user = town.person()
    assert user.run("v/ops/hitl/list").status == 200
    secret = Ed25519PrivateKey.generate()
    key = Ed25519Signer(secret, town.managed_did("hal"))
    hal.run(BIND, {"proof": town.proof(key)}).ok()
    refused(hal.run(BIND, {"proof": town.proof(key)}), "wrong_state")
    refused(iris.run(BIND, {"proof": town.proof(key, sub=town.managed_did("iris"))}), "wrong_state")
    hal.run(UNBIND, {"key": key.key_did}).ok()
    refused(hal.run(BIND, {"proof": town.proof(key)}), "wrong_state")
    refused(iris.run(BIND, {"proof": town.proof(key, sub=town.managed_did("iris"))}), "wrong_state")
    assert user.signer is not None
    theirs = user.bearer(sub=town.managed_did("iris"))
    refused(iris.run(BIND, {"proof": theirs}), "wrong_state")
    refused(town.person(key).run("v/ops/hitl/list"), "unauthorised")
    refused(town.person(Ed25519Signer(secret)).run("v/ops/hitl/list"), "not_admitted")
    refused(town.operator().run("v/ops/user/create", {"did": key.key_did}), "invalid_input")


def test_a_self_sovereign_user_binds_nothing(town: Town) -> None:
    """Their DID is their key; a second key would be a second person."""
    person = town.person()
    key = fresh_key(person.did)
    refused(person.run(BIND, {"proof": town.proof(key)}), "invalid_input")
    refused(person.run(KEYS), "invalid_input")
    refused(person.run("v/ops/user/signout"), "invalid_input")


def test_nobody_acts_on_anothers_keys_or_sign_ins(town: Town) -> None:
    """Not another managed user, not by name, not an agent of hers."""
    jan, kim = town.managed("jan"), town.keyed("kim")
    key = kim.signer.key_did  # type: ignore[union-attr]
    for whose in (town.managed_did("kim"), "kim"):
        refused(jan.run(KEYS, {"user": whose}), "invalid_input")
        refused(jan.run(UNBIND, {"user": whose, "key": key}), "invalid_input")
        refused(jan.run("v/ops/user/signout", {"user": whose}), "invalid_input")
    assert jan.run(UNBIND, {"key": key}).ok() == {"revoked": False}
    agent = town.agent(kim, "bot", caps=[{"with": "", "can": "*"}])
    proof = town.proof(fresh_key(town.managed_did("kim")))
    for operation, data in (
        (KEYS, {}),
        (UNBIND, {"key": key}),
        (BIND, {"proof": proof}),
        ("v/ops/user/signout", {}),
    ):
        refused(agent.run(operation, data), "agent_refused")
    assert kim.run("v/ops/hitl/list").status == 200


def test_a_managed_user_grants_under_the_venues_word(town: Town) -> None:
    """Answering and `ucan:issue` work for her like for anybody, and the venue is the root."""
    lea = town.keyed("lea")
    did = town.managed_did("lea")
    lea.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    agent = town.agent(lea, "bot")
    request = agent.ask(**offering())
    lea.respond(request, answers={"ok": True}, grants=[{"with": "w/r", "can": "crud/read"}]).ok()
    token = agent.job(request).ok()["output"]["token"]
    assert agent.read(f"{did}/w/r", [token]).ok()["value"] == 1
    bob = town.person()
    att = [{"with": "w/r", "can": "crud/read"}]
    issued = lea.run(ISSUE, {"aud": bob.did, "att": att, "exp": town.now + 60}).ok()["token"]
    verdict = bob.run(VERIFY, {"token": issued}).ok()
    assert [entry["rootAuthority"] for entry in verdict["att"]] == ["venue"]


def test_the_document_of_a_managed_user_lists_live_keys_only(town: Town) -> None:
    """Whoever resolves her finds what speaks for her now; nobody else has a document."""
    mia = town.keyed("mia")
    path = "/u/mia/did.json"
    document = town.person().request("GET", path).ok()
    assert document["id"] == town.managed_did("mia")
    assert [method["publicKeyMultibase"] for method in document["verificationMethod"]] == [mia.signer.kid]  # type: ignore[union-attr]
    mia.run(UNBIND, {"key": mia.signer.key_did}).ok()  # type: ignore[union-attr]
    assert town.by("").request("GET", path).ok()["verificationMethod"] == []
    for absent in ("/u/nobody/did.json", "/u/..%2Fmia/did.json", "/u/-x/did.json"):
        assert town.by("").request("GET", absent).status == 404


def test_a_key_that_is_none_is_no_user(town: Town) -> None:
    """Neither a misspelt did:key nor one that anybody can sign for gets an inbox."""
    operator = town.operator()
    for did in (
        "did:key:z6Mk",
        fresh_key().did[:-1],
        did_key(bytes(32)),
        did_key((1).to_bytes(32, "little")),
    ):
        refused(operator.run("v/ops/user/create", {"did": did}), "invalid_input")
    assert operator.run("v/ops/user/create", {"did": fresh_key().did}).ok()["created"] is True
