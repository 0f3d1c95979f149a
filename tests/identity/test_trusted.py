"""`auth.trusted_issuers` (D7): another venue's word counts here, for its own managed users only."""

from typing import Any

import pytest

from tests.harness.town import VERIFY, Town, refused
from tests.harness.towns import Build
from venue.config import ConfigError, load


def _verified(here: Town, token: str, resource: str, presenter: str) -> tuple[bool, bool, str]:
    said = here.person().run(VERIFY, {"token": token, "with": resource, "can": "crud/read", "aud": presenter})
    body = said.ok()
    return body["valid"], body["authorises"], body["att"][0]["rootAuthority"]


def _pair(build: Build, **settings: Any) -> tuple[Town, Town]:
    there = build("there")
    here = build("here", clock=there.clock, auth={"trusted_issuers": [there.did], **settings})
    return here, there


def test_a_trusted_venue_speaks_for_the_users_it_manages(build: Build) -> None:
    """Its token over their things has the word "venue"; at a venue that does not trust it, none."""
    here, there = _pair(build)
    stranger = build("stranger", clock=there.clock)
    ada, bob = there.managed("ada"), here.person()
    resource = f"{there.managed_did('ada')}/w/r"
    token = there.issued(ada, bob.did, "w/r", "crud/read")
    assert _verified(here, token, resource, bob.did) == (True, True, "venue")
    assert _verified(here, token, resource, here.person().did) == (True, False, "venue")
    assert _verified(stranger, token, resource, bob.did) == (True, False, "refused")
    assert _verified(there, token, resource, bob.did) == (True, True, "venue")


def test_a_trusted_venue_speaks_for_nobody_else(build: Build) -> None:
    """Not for somebody with a key, not for our managed users, not for us, not for a third venue's."""
    here, there = _pair(build)
    ada, bob = here.person(), here.person()
    ours = here.keyed("ada")
    for person in (ada, ours):
        person.run("v/ops/covia/write", {"path": "w/r", "value": 1}).ok()
    venue = there.person(there.signer)
    third = build("third", clock=there.clock)
    for owner in (
        ada.did,
        here.managed_did("ada"),
        here.did,
        third.managed_did("ada"),
        f"{there.managed_did('x')}:g:y",
    ):
        token = venue.grant(bob.did, f"{owner}/w/r", "crud/read")
        assert _verified(here, token, f"{owner}/w/r", bob.did) == (True, False, "refused"), owner
        if owner in (ada.did, here.managed_did("ada")):
            refused(bob.read(f"{owner}/w/r", [token]), "denied")
    token = venue.grant(bob.did, f"{ada.did}/h/", "hitl/request")
    refused(
        bob.invoke("v/ops/hitl/request", {"title": "T", "asks": [], "user": ada.did}, [token]),
        "invalid_input",
    )


def test_a_trusted_venue_delivers_to_nobody_here(build: Build) -> None:
    """Its word over the inbox of one of ours is none."""
    here, there = _pair(build)
    ada, bob = here.person(), here.person()
    assert ada.run("v/ops/hitl/list").status == 200
    token = there.person(there.signer).grant(bob.did, f"{ada.did}/h/", "hitl/request")
    data = {"title": "T", "asks": [{"id": "ok", "type": "approval", "prompt": "OK?"}], "user": ada.did}
    refused(bob.invoke("v/ops/hitl/request", data, [token]), "denied")


def test_the_venue_does_not_sign_over_another_venues_users(build: Build) -> None:
    """Trusting its word is not taking it over: no grant of ours is over its users' things (D9)."""
    here, there = _pair(build)
    ada, bob = there.managed("ada"), here.person()
    token = there.issued(ada, bob.did, "w/", "grant/crud")
    resource = f"{there.managed_did('ada')}/w/r"
    data = {
        "aud": here.person().did,
        "att": [{"with": resource, "can": "crud/read"}],
        "exp": here.now + 60,
    }
    refused(bob.run("v/ops/ucan/issue", data, [token]), "denied")


def test_credentials_of_a_trusted_venue_are_none_here(build: Build) -> None:
    """Its sign-ins, agent tokens and operator stay its own; only tokens over its users count."""
    here, there = _pair(build)
    ada = there.managed("ada")
    agent = there.agent(ada)
    for bearer in (ada.token, agent.token, there.operator().token):
        refused(here.by(bearer).run("v/ops/hitl/list"), "unauthorised")


@pytest.mark.parametrize("trusted", [["not a did"], ["https://other.example"], [""]])
def test_a_setting_that_names_no_venue(trusted: list[str]) -> None:
    """What is no DID would trust nobody, in silence: the settings are refused."""
    with pytest.raises(ConfigError):
        load(auth={"trusted_issuers": trusted})
