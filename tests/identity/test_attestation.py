"""Hosted attestation (D7): over the things of somebody with a key of their own the venue attests what they
instructed, and this venue alone honours it.
"""

from tests.harness.town import VERIFY, Town, offering, refused
from tests.harness.towns import Build
from ucan.did import agent_did
from ucan.jwt import read

ECHO = [{"with": "w/r", "can": "crud/read"}]


def test_the_token_says_who_instructed_and_opens_exactly_that(town: Town) -> None:
    """Signed by the venue, for that audience, over that resource, naming grantor and request."""
    ada = town.person()
    for path in ("w/r", "w/rs", "w/other"):
        ada.run("v/ops/covia/write", {"path": path, "value": {"inner": 1}}).ok()
    agent, sibling, bob = town.agent(ada), town.agent(ada, "other"), town.person()
    request = agent.ask(**offering())
    ada.respond(request, answers={"ok": True}, grants=ECHO).ok()
    token = agent.job(request).ok()["output"]["token"]
    claims = read(token).claims
    assert (claims["iss"], claims["aud"]) == (town.did, agent_did(ada.did, "helper"))
    assert claims["fct"] == [{"grantor": ada.did, "request": request}]
    assert (claims["prf"], claims["ucv"]) == ([], "0.10.0")
    assert claims["att"] == [{"with": f"{ada.did}/w/r", "can": "crud/read"}]
    for path, status in (
        ("w/r", 200),
        ("w/r/inner", 200),
        ("w/rs", 403),
        ("w/other", 403),
        ("w", 403),
    ):
        assert agent.read(f"{ada.did}/{path}", [token]).status == status, path
    assert agent.read(f"{ada.did}/h", [token]).ok()["value"].keys() == {request}
    refused(
        agent.run("v/ops/covia/write", {"path": f"{ada.did}/w/r", "value": 2}, [token]), "capability_denied"
    )
    refused(agent.run("v/ops/covia/delete", {"path": f"{ada.did}/w/r"}, [token]), "capability_denied")
    refused(bob.read(f"{ada.did}/w/r", [token]), "denied")
    refused(sibling.read(f"{ada.did}/w/r", [token]), "capability_denied")
    said = agent.run(VERIFY, {"token": token, "with": f"{ada.did}/w/r", "can": "crud/read"}).ok()
    assert (said["valid"], said["authorises"], said["rootIssuer"]) == (True, True, town.did)
    assert [entry["rootAuthority"] for entry in said["att"]] == ["venue"]


def test_the_token_is_worth_nothing_at_a_second_venue(build: Build) -> None:
    """Not even where the same owner and the same audience have accounts, nor where the first is trusted."""
    first = build("first")
    second = build("second", clock=first.clock)
    trusting = build("trusting", clock=first.clock, auth={"trusted_issuers": [first.did]})
    ada, bob = first.person(), first.person()
    token = first.issued(ada, bob.did, "w/r", "crud/read")
    for elsewhere in (first, second, trusting):
        her = elsewhere.person(ada.signer)
        her.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
        reply = elsewhere.person(bob.signer).read(f"{ada.did}/w/r", [token])
        said = her.run(
            VERIFY, {"token": token, "with": f"{ada.did}/w/r", "can": "crud/read", "aud": bob.did}
        ).ok()
        word = said["att"][0]["rootAuthority"]
        if elsewhere is first:
            assert (reply.status, said["authorises"], word) == (200, True, "venue")
        else:
            refused(reply, "denied")
            assert (said["valid"], said["authorises"], word) == (True, False, "refused")


def test_the_venue_attests_only_for_whom_it_hosts(build: Build) -> None:
    """A token by the venue's own key over a stranger's things is worth nothing here either."""
    town = build(users={"auto_create": False})
    stranger, bob = town.person(), town.person()
    town.operator().run("v/ops/user/create", {"did": bob.did}).ok()
    token = town.person(town.signer).grant(bob.did, f"{stranger.did}/w/r", "crud/read")
    refused(bob.read(f"{stranger.did}/w/r", [token]), "denied")
    town.operator().run("v/ops/user/create", {"did": stranger.did}).ok()
    assert bob.read(f"{stranger.did}/w/r", [token]).status == 200


def test_a_venue_that_attests_for_managed_users_alone(build: Build) -> None:
    """The echo of somebody with a key is refused and nothing is settled; without it the answer stands. A
    managed user's echo is minted as ever, and what was attested before the setting counts no more.
    """
    before = build("strict")
    ada, bob = before.person(), before.person()
    ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    old = before.issued(ada, bob.did, "w/r", "crud/read")
    assert bob.read(f"{ada.did}/w/r", [old]).status == 200
    before.stop()
    strict = build("strict", clock=before.clock, grants={"attest": "managed"})
    ada, bob = strict.person(ada.signer), strict.person(bob.signer)
    refused(bob.read(f"{ada.did}/w/r", [old]), "denied")
    agent = strict.agent(ada)
    request = agent.ask(**offering())
    refused(ada.respond(request, answers={"ok": True}, grants=ECHO), "denied")
    assert ada.record(request)["status"] == "open"
    ada.respond(request, answers={"ok": True}).ok()
    output = agent.job(request).ok()["output"]
    assert "token" not in output
    assert "grants" not in output
    data = {"aud": bob.did, "att": ECHO, "exp": strict.now + 60}
    refused(ada.run("v/ops/ucan/issue", data), "denied")
    own = ada.grant(bob.did, "w/r", "crud/read")
    assert bob.read(f"{ada.did}/w/r", [own]).status == 200
    maya = strict.managed("maya")
    hers = strict.agent(maya)
    assert strict.approved(maya, hers)


def test_an_audience_cannot_stretch_what_was_attested(town: Town) -> None:
    """Passing it on gives what it gave and no more, and only who holds it may pass it on."""
    ada, bob, carl = town.person(), town.person(), town.person()
    ada.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    token = town.issued(ada, bob.did, "w/r", "crud/read")
    alone = bob.grant(carl.did, f"{ada.did}/w/r", "crud/read")
    wider = town.passed_on(bob, carl.did, f"{ada.did}/w", "crud/read", [token])
    stolen = town.passed_on(carl, carl.did, f"{ada.did}/w/r", "crud/read", [token])
    for proofs in ([alone], [alone, token], [wider], [stolen], [token]):
        refused(carl.read(f"{ada.did}/w/r", proofs), "denied")
    good = town.passed_on(bob, carl.did, f"{ada.did}/w/r", "crud/read", [token])
    assert carl.read(f"{ada.did}/w/r", [good]).ok()["value"] == 1
