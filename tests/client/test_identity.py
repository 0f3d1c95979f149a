"""Who a client is, where its venue is, and that it keeps what it is told secret."""

import copy
import logging
import pickle
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.harness.actors import Actor
from tests.harness.served import Served
from ucan.did import did_key
from ucan.jwt import read
from venue import keyfile
from venue.client import (
    Answered,
    AskCancelled,
    AskExpired,
    AskRejected,
    BadAnswer,
    BadForm,
    BadSettings,
    ClockSkew,
    NoAnswer,
    NotAuthenticated,
    NotAVenue,
    Refused,
    Settled,
    TooFast,
    Unreachable,
    Venue,
    VenueError,
    VenueFault,
    WrongVenue,
)

DOWN = "http://127.0.0.1:1"


def who(venue: Venue) -> str:
    """The DID that a client speaks as."""
    job = venue.ask("T", [{"id": "a", "type": "text", "prompt": "?"}], wait=False).id
    found = venue.job(job)
    return str(found.get("actor", found["caller"]))


@pytest.fixture
def key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


def did_of(key: Ed25519PrivateKey) -> str:
    return did_key(key.public_key().public_bytes_raw())


@pytest.fixture
def key_file(key: Ed25519PrivateKey, tmp_path: Path) -> Path:
    path = tmp_path / "ada.pem"
    keyfile.write(path, key, b"correct horse")
    return path


def test_a_key_comes_from_argument_file_or_environment(
    served: Served, key: Ed25519PrivateKey, key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given in ({"key": key}, {"key": key_file, "passphrase": "correct horse"}):
        with Venue(served.url, **given) as venue:  # type: ignore[arg-type]
            assert who(venue) == did_of(key)
    monkeypatch.setenv("VENUE_URL", f"{served.url}/")
    monkeypatch.setenv("VENUE_KEY", str(key_file))
    monkeypatch.setenv("VENUE_PASSPHRASE", "correct horse")
    monkeypatch.setenv("VENUE_DID", served.did)
    monkeypatch.setenv("VENUE_TOKEN", "")
    with Venue() as venue:
        assert who(venue) == did_of(key)


def test_a_token_comes_from_argument_file_or_environment(
    served: Served, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, file = read(token).claims["sub"], tmp_path / "token"
    file.write_text(f"{token}\n")
    for given in (token, f" {token}\n", file):
        with Venue(served.url, token=given) as venue:
            assert who(venue) == agent
    for name, value in (("VENUE_TOKEN", token), ("VENUE_TOKEN_FILE", str(file))):
        with monkeypatch.context() as patch, Venue(served.url, key=Ed25519PrivateKey.generate()) as person:
            patch.setenv(name, value)
            assert who(person) != agent
            with Venue(served.url) as venue:
                assert who(venue) == agent


def test_a_bound_key_speaks_for_its_agent(served: Served, ada: Actor, key: Ed25519PrivateKey) -> None:
    agent = ada.run("v/ops/agent/enrol", {"agentId": "keyed"}).ok()["did"]
    with Venue(served.url, key=key, subject=agent) as venue, pytest.raises(NotAuthenticated):
        who(venue)


def test_nobody_may_look_at_what_is_public(served: Served) -> None:
    with Venue(served.url) as venue:
        assert venue.did() == served.did
        assert venue.read("v/ops/hitl/request")["name"] == "HITL Request"
        with pytest.raises(Refused) as caught:
            who(venue)
    assert caught.value.status == 401


SECRET = "s3cr3t-horse"


@pytest.mark.parametrize(
    ("given", "environment"),
    [
        ({"token": SECRET, "key": "ada.pem"}, {}),
        ({}, {"VENUE_TOKEN": SECRET, "VENUE_KEY": "ada.pem"}),
        ({}, {"VENUE_TOKEN": SECRET, "VENUE_TOKEN_FILE": "f"}),
        ({"token": f"{SECRET}\nX-Evil: 1"}, {}),
        ({"token": f"{SECRET} and more"}, {}),
        ({"token": f"{SECRET}é"}, {}),
        ({"token": " "}, {}),
        ({"token": Path("no.token")}, {}),
        ({"key": "no.pem"}, {}),
        ({"key": "ada.pem"}, {}),
        ({"key": "ada.pem", "passphrase": SECRET}, {}),
        ({"url": f"http://ada:{SECRET}@127.0.0.1:1"}, {}),
        ({"url": "127.0.0.1:8080"}, {}),
        ({"url": "ftp://127.0.0.1"}, {}),
        ({"url": "http://"}, {}),
        ({"url": "http://a:99999"}, {}),
        ({"url": f"http://a/?token={SECRET}"}, {}),
    ],
    ids=str,
)
def test_what_cannot_be_used_is_refused_at_once_and_not_repeated(
    given: Any, environment: dict[str, str], key_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(key_file.parent)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadSettings) as caught:
        Venue(**given)
    assert SECRET not in str(caught.value)


def test_another_venue_gets_no_signature_and_no_token(served: Served, ada: Actor, token: str) -> None:
    """Whoever stands at the address learns nothing: the DID is compared first."""
    heard: list[httpx.Request] = []

    def impostor(request: httpx.Request) -> httpx.Response:
        heard.append(request)
        return httpx.Response(200, json={"did": ada.did})

    for given in ({"token": token}, {"key": Ed25519PrivateKey.generate(), "did": served.did}):
        transport = httpx.MockTransport(impostor)
        with Venue(DOWN, transport=transport, **given) as venue:  # type: ignore[arg-type]
            for _ in range(2):
                with pytest.raises(WrongVenue) as caught:
                    who(venue)
        assert (caught.value.expected, caught.value.found) == (served.did, ada.did)
    assert {request.url.path for request in heard} == {"/api/v1/status"}
    assert not [request for request in heard if "authorization" in request.headers]
    with pytest.raises(BadSettings):
        Venue(DOWN, token=token, did=ada.did)


def test_a_venue_that_was_replaced_meanwhile_is_named(served: Served, tmp_path: Path) -> None:
    """The client lives on while another venue takes the address."""
    with Served(tmp_path / "first") as first:
        venue = Venue(first.url, key=Ed25519PrivateKey.generate(), patience=10)
        who(venue)
        first.kill()
        with Served(tmp_path / "second", "--port", str(first.port)) as second, venue:
            with pytest.raises(WrongVenue) as caught:
                who(venue)
            assert (caught.value.expected, caught.value.found) == (first.did, second.did)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>Hello"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"did": 7}),
        httpx.Response(200, json={"did": "venue"}),
        httpx.Response(302, headers={"Location": "https://login.example"}),
    ],
)
def test_what_is_no_venue_gets_nothing(answer: httpx.Response, key: Ed25519PrivateKey) -> None:
    transport = httpx.MockTransport(lambda _: answer)
    with Venue(DOWN, key=key, transport=transport) as venue, pytest.raises(NotAVenue):
        who(venue)


@pytest.mark.parametrize(("skew", "error"), [(45, ClockSkew), (-400, ClockSkew), (20, None), (-200, None)])
def test_a_wrong_clock_is_named(served: Served, skew: int, error: Any, key: Ed25519PrivateKey) -> None:
    with Venue(served.url, key=key, clock=lambda: datetime.now(UTC) + timedelta(seconds=skew)) as venue:
        if error is None:
            assert who(venue) == did_of(key)
            return
        with pytest.raises(error) as caught:
            who(venue)
        assert abs(caught.value.seconds - skew) <= 3
        assert "clock" in str(caught.value)


def test_a_token_is_never_blamed_on_the_clock(served: Served, ada: Actor, token: str) -> None:
    ada.run("v/ops/agent/revoke", {"agentId": "helper"}).ok()
    with Venue(served.url, token=token, clock=lambda: datetime(2020, 1, 1, tzinfo=UTC)) as venue:
        with pytest.raises(NotAuthenticated, match="revoked") as caught:
            who(venue)
        assert not isinstance(caught.value, ClockSkew)


def test_secrets_are_in_no_log_no_repr_and_no_error(
    served: Served, ada: Actor, token: str, key: Ed25519PrivateKey, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), Venue(served.url, token=token) as venue:
        offer: Any = {"with": "w/x/", "can": "crud/read"}
        asks = [{"id": "a", "type": "approval", "prompt": "?", "grants": [offer]}]
        handle = venue.ask("T", asks, wait=False)
        ada.respond(handle.id, answers={"a": True}, grants=[offer]).ok()
        minted = handle.wait().token
        assert minted is not None
        venue.read(f"{ada.did}/w/x/1", ucans=[minted])
        ada.run("v/ops/agent/revoke", {"agentId": "helper"}).ok()
        with pytest.raises(NotAuthenticated) as caught:
            venue.job(handle.id)
        said = [caplog.text, repr(venue), repr(vars(venue)), repr(handle), repr(handle.answered)]
        said += [repr(vars(venue._venue._http)), repr(caught.value), repr(vars(caught.value))]
    with caplog.at_level(logging.DEBUG), Venue(served.url, key=key) as person:
        who(person)
        said += [caplog.text, repr(vars(person._venue._http))]
    assert "HTTP Request: POST" in caplog.text
    for text in said:
        for secret in (token, minted, key.private_bytes_raw().hex(), "Bearer e"):
            assert secret not in text


ERRORS: list[VenueError] = [
    VenueError("x"),
    BadForm("x"),
    BadSettings("x"),
    Unreachable("x"),
    NoAnswer("x"),
    NotAVenue("x"),
    WrongVenue("did:a", "did:b"),
    Refused("denied", 403, "no", details={"a": 1}),
    NotAuthenticated("unauthorised", 401, "no"),
    ClockSkew("unauthorised", 401, "no", -40),
    Settled("not_open", 409, "no", details={"how": "answered", "when": 7}),
    TooFast("rate_limited", "no", 3.0),
    VenueFault("store", 503, "no"),
    AskRejected("1", None),
    AskExpired("1"),
    AskCancelled("1", "why"),
    BadAnswer("x", Answered(id="1", outcome="answer", answers={})),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling_and_copying(error: VenueError) -> None:
    error.add_note("seen")
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert (str(twin), vars(twin)) == (str(error), vars(error))
    assert len({error, error}) == 1
