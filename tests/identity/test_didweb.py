"""did:web (D1, D2, D7): people whose key stands on the web, and a venue with a public host."""

import asyncio
import json
from typing import Any

import pytest

from inbox.errors import SchemaMismatch
from tests.harness.actors import Actor
from tests.harness.site import Site, seed_of
from tests.harness.town import VERIFY, Town, fresh_key, refused
from tests.harness.towns import Build
from tests.harness.uvicorns import LoopThread
from ucan.did import did_key
from ucan.jwt import sign
from ucan.keys import Ed25519Signer
from venue import didweb

BOB = "did:web:bob.example"
PAGE = "https://bob.example/.well-known/did.json"
PUBLIC = {"public_url": "https://venue.example", "users": {"auto_create": True}}


def web_person(town: Town, did: str = BOB, page: str = PAGE, **changes: Any) -> Actor:
    """A person whose document stands at a page, perhaps with something wrong."""
    signer = fresh_key(did)
    town.web.publish(page, signer, **changes)
    return town.person(signer)


# People.


def test_a_person_by_did_web(build: Build) -> None:
    """Asks, answers, grants and reads like one with a did:key; the document is fetched once."""
    town = build()
    bob, ada = web_person(town), town.person()
    assert bob.did == BOB
    bob.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    request = bob.ask()
    bob.respond(request, answers={"ok": True}).ok()
    token = bob.grant(ada.did, "w/r", "crud/read")
    assert ada.read(f"{BOB}/w/r", [token]).ok()["value"] == 1
    assert town.web.asked == [PAGE]


@pytest.mark.parametrize(
    ("did", "page"),
    [
        ("did:web:bob.example%3A8443", "https://bob.example:8443/.well-known/did.json"),
        ("did:web:bob.example:people:bob", "https://bob.example/people/bob/did.json"),
        ("did:web:other.example:u:bob", "https://other.example/u/bob/did.json"),
    ],
)
def test_a_document_stands_where_the_did_says(build: Build, did: str, page: str) -> None:
    """With a port, below a path, or a managed user of another venue."""
    town = build()
    assert web_person(town, did, page).run("v/ops/hitl/list").status == 200
    assert town.web.asked == [page]


DOCUMENTS: dict[str, Any] = {
    "another id": {"id": "did:web:eve.example"},
    "no id": {"id": None},
    "no methods": {"verificationMethod": []},
    "methods null": {"verificationMethod": None},
    "methods a text": {"verificationMethod": "x"},
    "a method that is a reference": {"verificationMethod": [f"{BOB}#key"]},
    "a method that is null": {"verificationMethod": [None]},
    "another's method": "controller",
    "another key": "key",
    "a key that is none": {
        "verificationMethod": [{"controller": BOB, "type": "Multikey", "publicKeyMultibase": "z6Mk"}]
    },
    "a key that is a number": {
        "verificationMethod": [{"controller": BOB, "type": "Multikey", "publicKeyMultibase": 7}]
    },
    "a key that anybody can sign for": {
        "verificationMethod": [
            {
                "controller": BOB,
                "type": "Multikey",
                "publicKeyMultibase": did_key((1).to_bytes(32, "little")).removeprefix("did:key:"),
            }
        ]
    },
    "a method without key": {"verificationMethod": [{"controller": BOB, "type": "Multikey"}]},
}


@pytest.mark.parametrize("wrong", DOCUMENTS)
def test_a_document_with_one_thing_wrong(build: Build, wrong: str) -> None:
    """There is no key, so the bearer is 401; half a minute later the mended document is good."""
    town = build()
    bob = web_person(town)
    assert bob.signer is not None
    good = town.web.pages[PAGE]
    assert isinstance(good, bytes)
    changes = DOCUMENTS[wrong]
    document = json.loads(good)
    if changes == "controller":
        document["verificationMethod"][0]["controller"] = "did:web:eve.example"
    elif changes == "key":
        document["verificationMethod"][0]["publicKeyMultibase"] = fresh_key().kid
    else:
        document.update(changes)
    town.web.pages[PAGE] = json.dumps(document).encode()
    refused(bob.run("v/ops/hitl/list"), "unauthorised")
    refused(bob.run("v/ops/hitl/list"), "unauthorised")
    if changes != "key":
        assert town.web.asked == [PAGE]
    town.web.pages[PAGE] = good
    town.clock.advance(5 * 60_000)
    assert bob.run("v/ops/hitl/list").status == 200


PAGES: dict[str, bytes | Exception] = {
    "not JSON": b"<html>",
    "empty": b"",
    "a list": b"[]",
    "a number": b"7",
    "null": b"null",
    "no UTF-8": b'{"id": "\xff\xfe"}',
    "deep": b"[" * 60_000,
    "a wide number": b'{"id": 1' + b"0" * 10_000 + b"}",
    "unreachable": OSError("no route"),
    "late": TimeoutError(),
    "too large": ValueError("the document is too large"),
}


@pytest.mark.parametrize("wrong", PAGES)
def test_a_page_that_is_no_document(build: Build, wrong: str) -> None:
    """401 and never 500, and the venue goes on."""
    town = build()
    bob = web_person(town)
    town.web.pages[PAGE] = PAGES[wrong]
    refused(bob.run("v/ops/hitl/list"), "unauthorised")
    assert town.person().run("v/ops/hitl/list").status == 200


def test_a_key_that_was_taken_from_the_document(build: Build) -> None:
    """Within five minutes the venue looks again."""
    town = build()
    bob = web_person(town)
    assert bob.run("v/ops/hitl/list").status == 200
    successor = fresh_key(BOB)
    town.web.publish(PAGE, successor)
    town.clock.advance(5 * 60_000)
    refused(bob.run("v/ops/hitl/list"), "unauthorised")
    assert town.person(successor).run("v/ops/hitl/list").status == 200


def test_a_document_with_two_keys(build: Build) -> None:
    """Either signs."""
    town = build()
    one, two = fresh_key(BOB), fresh_key(BOB)
    methods = [
        {"id": f"{BOB}#{key.kid}", "type": "Multikey", "controller": BOB, "publicKeyMultibase": key.kid}
        for key in (one, two)
    ]
    town.web.publish(PAGE, one, verificationMethod=methods)
    for signer in (one, two):
        assert town.person(signer).run("v/ops/hitl/list").status == 200


def test_a_stranger_makes_the_venue_fetch_nothing(build: Build) -> None:
    """Where nobody is admitted by themselves, a bearer of an unknown did:web is not looked up (D4)."""
    town = build(users={"auto_create": False})
    bob = web_person(town)
    for bearer in (bob, town.relayed(bob)):
        refused(bearer.run("v/ops/hitl/list"), "unauthorised")
    refused(bob.request("GET", "/api/v1/operations"), "unauthorised")
    anonymous = town.by("")
    anonymous.request(
        "GET", "/api/v1/operations", headers={"X-Covia-Ucans": bob.grant(BOB, "w", "crud")}
    ).ok()
    anonymous.run("v/ops/covia/read", {"path": "v/info"}, [bob.grant(BOB, "w", "crud")])
    assert town.web.asked == []
    town.operator().run("v/ops/user/create", {"did": BOB}).ok()
    assert bob.run("v/ops/hitl/list").status == 200
    assert town.web.asked == [PAGE]


def test_no_more_documents_than_a_chain_may_have_proofs(build: Build) -> None:
    """A caller cannot make one request fetch a thousand."""
    town = build()
    ada = town.person()
    proofs = [
        town.person(fresh_key(f"did:web:host{number}.example")).grant(ada.did, "w", "crud", proofs=[])
        for number in range(16)
    ]
    wide = sign(fresh_key(), {"iss": "did:web:host.example", "prf": proofs * 3})
    ada.read("w/x", [wide, *proofs[:15]]).ok()
    assert 0 < len(town.web.asked) <= 17
    assert len(set(town.web.asked)) == len(town.web.asked)


@pytest.mark.parametrize("operation", [VERIFY, "v/ops/ucan/revoke"])
def test_a_token_in_the_input_is_judged_like_one_that_is_presented(build: Build, operation: str) -> None:
    """`ucan:verify` runs the very gate of enforcement, so it knows the same keys; revoking, too."""
    town = build()
    bob, ada = web_person(town), town.person()
    bob.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    token = bob.grant(ada.did, "w/r", "crud/read", lifetime=86_400)
    town.clock.advance(6 * 60_000)  # what was learnt of bob is forgotten
    if operation == VERIFY:
        said = ada.run(VERIFY, {"token": token, "with": f"{BOB}/w/r", "can": "crud/read"}).ok()
        assert (said["valid"], said["authorises"]) == (True, True)
    else:
        assert len(bob.run(operation, {"token": token}).ok()["revoked"]) == 1
        refused(ada.read(f"{BOB}/w/r", [token]), "denied")


# The web says nothing of whom this venue knows better itself.


def test_the_web_does_not_speak_for_a_managed_user(build: Build) -> None:
    """Whoever serves the public host's pages has no say over keys: those that are bound here count (D3)."""
    town = build(**PUBLIC)
    ada = town.keyed("ada")
    did = town.managed_did("ada")
    assert did == "did:web:venue.example:u:ada"
    bob = town.person()
    ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    page = "https://venue.example/u/ada/did.json"
    assert ada.signer is not None
    town.web.publish(page, ada.signer)
    token = ada.grant(bob.did, "w/r", "crud/read")
    assert bob.read(f"{did}/w/r", [token]).ok()["value"] == 1
    town.managed("ada").run("v/ops/user/unbind", {"key": ada.signer.key_did}).ok()
    refused(bob.read(f"{did}/w/r", [token]), "denied")
    thief = fresh_key(did)
    town.web.publish(page, thief)
    town.clock.advance(6 * 60_000)
    stolen = town.person(thief).grant(bob.did, "w/r", "crud/read")
    refused(bob.read(f"{did}/w/r", [stolen]), "denied")
    refused(town.relayed(town.person(thief)).run("v/ops/hitl/list"), "unauthorised")


def test_the_web_does_not_speak_for_an_agent(build: Build) -> None:
    """Its key is one that its owner bound here, or none: revoking the agent is then the end of it."""
    town = build()
    bob = web_person(town)
    town.agent(bob)
    did = f"{BOB}:g:helper"
    signer = fresh_key(did)
    town.web.publish("https://bob.example/g/helper/did.json", signer)
    bob.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    proof = bob.grant(did, "w/r", "crud/read")
    ada = town.person()
    chained = _chained(town, signer, ada.did, proof)
    refused(ada.read(f"{BOB}/w/r", [chained]), "denied")
    bob.run("v/ops/agent/bind", {"agentId": "helper", "proof": town.proof(signer)}).ok()
    assert ada.read(f"{BOB}/w/r", [chained]).ok()["value"] == 1


def _chained(town: Town, signer: Ed25519Signer, audience: str, proof: str) -> str:
    att = [{"with": f"{BOB}/w/r", "can": "crud/read"}]
    claims = {"iss": signer.did, "aud": audience, "ucv": "0.10.0", "att": att, "prf": [proof]}
    return sign(signer, {**claims, "exp": town.now + 60, "nnc": "n"})


# A venue with a public host.


def test_a_venue_with_a_public_host_is_a_did_web(build: Build) -> None:
    """One DID in status, document and whatever it signs; the did:key is its alias (D1)."""
    town = build(**PUBLIC)
    stranger = town.by("")
    status = stranger.request("GET", "/api/v1/status").ok()
    document = stranger.request("GET", "/.well-known/did.json").ok()
    assert status["did"] == document["id"] == town.did == "did:web:venue.example"
    assert document["alsoKnownAs"] == [town.signer.key_did]
    assert [method["publicKeyMultibase"] for method in document["verificationMethod"]] == [town.signer.kid]
    assert document["service"][0]["serviceEndpoint"] == "https://venue.example/api/v1"
    for audience in (town.did, town.signer.key_did):
        person = town.person()
        bearer = person.bearer(aud=audience)
        assert town.by(bearer).run("v/ops/hitl/list").status == 200
    for audience in (
        "https://venue.example",
        "did:web:venue.example:x",
        "venue.example",
        "did:web:VENUE.example",
    ):
        refused(town.by(town.person().bearer(aud=audience)).run("v/ops/hitl/list"), "unauthorised")
    assert town.web.asked == []


def test_tokens_under_both_names_of_the_venue(build: Build) -> None:
    """What it signed as did:key counts after it is known as did:web, and the reverse: one venue, one word."""
    town = build(**PUBLIC)
    ada, bob = town.person(), town.person()
    ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    minted = town.issued(ada, bob.did, "w/r", "crud/read")
    assert bob.read(f"{ada.did}/w/r", [minted]).ok()["value"] == 1
    under_alias = town.person(Ed25519Signer.from_seed(seed_of(town.site.name))).grant(
        bob.did, f"{ada.did}/w/r", "crud/read"
    )
    said = bob.run(VERIFY, {"token": under_alias, "with": f"{ada.did}/w/r", "can": "crud/read"}).ok()
    assert (said["iss"], said["authorises"]) == (town.signer.key_did, True)
    assert [entry["rootAuthority"] for entry in said["att"]] == ["venue"]
    assert bob.read(f"{ada.did}/w/r", [under_alias]).ok()["value"] == 1
    assert town.web.asked == []


def test_a_token_ask_is_not_for_either_name_of_the_venue(build: Build) -> None:
    """Its audience is never this venue (D12)."""
    town = build(**PUBLIC)
    ada = town.person()
    for audience in (town.did, town.signer.key_did):
        spec = {"caps": [{"with": "w/r", "can": "crud/read"}], "audience": audience}
        asks = [{"id": "t", "type": "token", "prompt": "Sign?", "token": spec}]
        refused(ada.invoke("v/ops/hitl/request", {"title": "T", "asks": asks}), "invalid_input")


def test_a_venue_below_a_path_is_a_did_key(build: Build) -> None:
    """There is no did:web for it that others could resolve; its URLs say where it is (D1)."""
    town = build(public_url="https://venue.example/hitl", users={"auto_create": True})
    assert town.did == town.signer.key_did
    document = town.by("").request("GET", "/.well-known/did.json").ok()
    assert (document["id"], document["alsoKnownAs"]) == (town.did, [])
    assert document["service"][0]["serviceEndpoint"] == "https://venue.example/hitl/api/v1"
    refused(town.by(town.person().bearer(aud="did:web:venue.example")).run("v/ops/hitl/list"), "unauthorised")


OTHERS: list[dict[str, Any]] = [
    {},
    {"public_url": "https://other.example"},
    {"public_url": "https://venue.example/hitl"},
]


@pytest.mark.parametrize("other", OTHERS)
def test_a_database_keeps_its_venues_did(thread: LoopThread, build: Build, other: dict[str, Any]) -> None:
    """Settings that would change it do not start, and change nothing (D1)."""
    town = build("kept", public_url="https://venue.example")
    town.stop()
    with pytest.raises(SchemaMismatch):
        thread.run(_launched(Site("kept", town.site.data, other), town))
    town.start()
    assert town.by("").request("GET", "/api/v1/status").ok()["did"] == "did:web:venue.example"


def test_a_database_keeps_its_venues_key(thread: LoopThread, build: Build) -> None:
    """The same host with another key is another venue."""
    town = build("kept", public_url="https://venue.example")
    town.stop()
    stolen = Site("stolen", town.site.data, {"public_url": "https://venue.example"})
    with pytest.raises(SchemaMismatch):
        thread.run(_launched(stolen, town))


async def _launched(site: Site, town: Town) -> None:
    """Launch a venue on a site, and stop it."""
    app = site.build(town.clock)
    async with app.router.lifespan_context(app):
        pass


def test_a_page_that_never_ends_is_given_up(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """However slowly somebody drips a document, the call that needs it is answered."""
    town = build()
    bob = web_person(town)

    async def never(_: str) -> bytes:
        await asyncio.Event().wait()
        return b""

    monkeypatch.setattr(didweb, "_TIMEOUT", 0.05)
    monkeypatch.setattr(town.web.__class__, "__call__", lambda _self, url: never(url))
    refused(bob.run("v/ops/hitl/list"), "unauthorised")
    assert town.person().run("v/ops/hitl/list").status == 200


def test_a_key_of_a_kind_that_is_not_spoken_here_takes_nothing_away(build: Build) -> None:
    """Documents list keys for other purposes too, such as X25519 for encryption."""
    town = build()
    signer = fresh_key(BOB)
    spoken = {"id": "#a", "type": "Multikey", "controller": BOB, "publicKeyMultibase": signer.kid}
    others = [
        {"id": "#b", "type": "JsonWebKey", "controller": BOB, "publicKeyJwk": {"kty": "OKP"}},
        {
            "id": "#c",
            "type": "Multikey",
            "controller": BOB,
            "publicKeyMultibase": "z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc",
        },
        "#d",
    ]
    town.web.publish(PAGE, signer, verificationMethod=[*others, spoken])
    assert town.person(signer).run("v/ops/hitl/list").status == 200
