"""What each step of the flow refuses: a good call with one thing wrong, judged by its code.

After every refusal the same holds: a 4xx with a sentence and a code, nothing stored, nothing parked, and the
inbox can be listed.
"""

import copy
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.harness.actors import Actor, Reply
from tests.harness.served import Served
from ucan.capability import Capability
from ucan.issue import identity, issue
from ucan.jwt import _encode, _to_base64url, read, sign
from ucan.keys import Ed25519Signer
from venue.problems import STATUS

RESPOND = "v/ops/hitl/respond"
OFFER = {"with": "w/reports/", "can": "crud/read"}
GOOD: dict[str, Any] = {
    "title": "May I?",
    "description": "Because.",
    "timeout": 3600,
    "asks": [
        {"id": "ok", "type": "approval", "prompt": "OK?", "required": True, "grants": [OFFER]},
        {"id": "why", "type": "text", "prompt": "Why?"},
        {
            "id": "one",
            "type": "choice",
            "prompt": "Which?",
            "options": [
                {"id": "a", "label": "A", "grants": [{"with": "w/a", "can": "crud/read"}]},
                {"id": "b"},
            ],
        },
        {"id": "many", "type": "checkboxes", "prompt": "Which?", "options": [{"id": "x"}, {"id": "y"}]},
    ],
}
ANSWER: dict[str, Any] = {
    "outcome": "answer",
    "answers": {"ok": True, "why": "", "one": "b", "many": ["x"]},
    "grants": [OFFER],
}
CAPS = [{"with": "", "can": "*"}]


@pytest.fixture(scope="module")
def owner(venue: Served) -> Actor:
    """The person against whose namespace every refusal is tried; nothing of it may change."""
    return venue.owner()


@pytest.fixture(scope="module")
def agent(venue: Served, owner: Actor) -> Actor:
    """An agent that may do everything that an agent can be configured to do."""
    return venue.agent(owner, "mighty", caps=CAPS)


@pytest.fixture(scope="module")
def open_id(owner: Actor, agent: Actor) -> str:
    """A request that stays open, for refused answers are no answers."""
    return agent.ask(**GOOD)


@pytest.fixture
def nothing_changed(owner: Actor, agent: Actor, open_id: str) -> Iterator[None]:
    """Everything that the owner has reads after the test as it did before it."""
    before = _all(owner)
    yield
    assert _all(owner) == before
    assert owner.run("v/ops/hitl/list").status == 200


def _all(owner: Actor) -> list[Any]:
    return [
        owner.run("v/ops/hitl/list").ok(),
        owner.read("h").ok(),
        owner.read("j").ok(),
        owner.read("w").ok(),
        owner.run("v/ops/agent/list").ok(),
    ]


def refused(reply: Reply, code: str) -> None:
    """A refusal as clients are promised it: this code, its status, a sentence."""
    assert isinstance(reply.body, dict), reply.body
    assert reply.body.get("code") == code, reply.body
    assert reply.status == STATUS[code]
    assert 400 <= reply.status < 500
    assert isinstance(reply.body["error"], str)
    assert reply.body["error"].strip()
    assert (reply.status == 401) == ("www-authenticate" in reply.headers)


def changed(good: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The good value with one place changed; Ellipsis takes the place away."""
    whole = copy.deepcopy(good)
    inner = whole
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return whole


pytestmark = pytest.mark.usefixtures("nothing_changed")


# Step 1: the request.

_BODY = '{"operation":"v/ops/covia/write","input":{"path":"w/x","value":%s}}'


def _nested(depth: int) -> bytes:
    return (_BODY % ("[" * depth + "]" * depth)).encode()


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"not json", id="no JSON"),
        pytest.param(b'{"operation":"v/ops/hitl/list"', id="cut short"),
        pytest.param(b'{"operation":"a","operation":"v/ops/hitl/list"}', id="a key twice"),
        pytest.param((_BODY % '{"a":1,"a":2}').encode(), id="a key twice, inside"),
        pytest.param((_BODY % "NaN").encode(), id="NaN"),
        pytest.param((_BODY % "-Infinity").encode(), id="infinity"),
        pytest.param((_BODY % "1e999").encode(), id="a number that overflows"),
        pytest.param((_BODY % "9007199254740992").encode(), id="2^53"),
        pytest.param((_BODY % ("9" * 5000)).encode(), id="5000 digits"),
        pytest.param(_nested(31), id="depth 33"),
        pytest.param(_nested(398), id="depth 400"),
        pytest.param(_nested(100_000), id="depth 100002"),
        pytest.param((_BODY % '"\\u0000"').encode(), id="NUL"),
        pytest.param((_BODY % '{"\\u0000":1}').encode(), id="NUL in a key"),
        pytest.param((_BODY % '"\\ud800"').encode(), id="lone high surrogate"),
        pytest.param((_BODY % '"\\udc00\\ud800"').encode(), id="surrogates the wrong way round"),
        pytest.param((_BODY % '"').encode() + b'\xff"}}', id="no UTF-8"),
        pytest.param(b"\xef\xbb\xbf{}", id="byte order mark"),
    ],
)
def test_body_that_is_no_strict_json(owner: Actor, body: bytes) -> None:
    """What two readers could read differently, or some could not read, is not read at all (D22)."""
    refused(_post(owner, body), "invalid_json")


@pytest.mark.parametrize("value", ["30 levels", "\u202e\u200b", 2**53 - 1, -(2**53) + 1, 1e300, "\U0001f600"])
def test_body_next_to_those_limits_is_read(venue: Served, value: Any) -> None:
    """The good neighbours of the refusals above."""
    body = _nested(30) if value == "30 levels" else (_BODY % json.dumps(value)).encode()
    person = venue.owner()
    assert _post(person, body).status == 200
    if value != "30 levels":
        assert person.read("w/x").ok()["value"] == value


def _post(actor: Actor, body: Any, kind: str = "application/json", **headers: str) -> Reply:
    return actor.request("POST", "/api/v1/run", content=body, headers={"Content-Type": kind, **headers})


_LIST = b'{"operation":"v/ops/hitl/list"}'


@pytest.mark.parametrize("kind", ["text/plain", "", "application/x-www-form-urlencoded", "application/jsonx"])
def test_body_of_another_content_type(owner: Actor, kind: str) -> None:
    """A page on another site can send these without asking (D32)."""
    assert _post(owner, _LIST, "application/json; charset=utf-8").status == 200
    refused(_post(owner, _LIST, kind), "unsupported_media_type")


def test_body_that_is_too_large(owner: Actor) -> None:
    """A body over the limit is refused, whether its length is declared or only found out."""
    large = (_BODY % ('"' + "a" * (1024 * 1024) + '"')).encode()
    refused(_post(owner, large), "body_too_large")
    refused(_post(owner, iter([large[:1000], large[1000:]])), "body_too_large")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.", "["]
)
def test_host_that_is_not_ours(owner: Actor, host: str) -> None:
    """A name that somebody else pointed at this machine (DNS rebinding)."""
    refused(owner.request("GET", "/api/v1/operations", headers={"Host": host}), "unknown_host")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
@pytest.mark.parametrize("kind", ["text/plain", "application/json"])
def test_origin_that_is_not_ours(owner: Actor, origin: str, kind: str) -> None:
    """A page from elsewhere, as a simple request or with the right content type."""
    refused(_post(owner, _LIST, kind, Origin=origin), "foreign_origin")


def test_origin_of_our_own_is_fine(venue: Served, owner: Actor) -> None:
    """The neighbour of the refusal above."""
    assert _post(owner, _LIST, Origin=venue.url).status == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"operation": ...},
        {"operation": None},
        {"operation": 7},
        {"ucans": "token"},
        {"ucans": [7]},
        {"ucans": None},
        {"private": "yes"},
        {"private": True},
        {"wait": "soon"},
        {"wait": -1},
        {"wait": "-1"},
        {"wait": 1.5},
        {"wait": [1]},
        {"wait": "\u0663"},
    ],
)
@pytest.mark.parametrize("verb", ["invoke", "run"])
def test_envelope_field_that_is_wrong(owner: Actor, verb: str, wrong: dict[str, Any]) -> None:
    """Each field of the body of `invoke` and `run`. (`run` waits to the end and reads no `wait`.)"""
    (name, value) = next(iter(wrong.items()))
    good = {"operation": "v/ops/hitl/request", "input": GOOD}
    body = changed({name: None, **good}, (name,), value)
    if verb == "run" and name == "wait":  # it waits to the end, and what would refuse it is not looked at
        body["private"] = True
    refused(owner.request("POST", f"/api/v1/{verb}", json=body), "invalid_input")


@pytest.mark.parametrize("body", [[], "x", 7, None, True])
def test_envelope_that_is_no_object(owner: Actor, body: Any) -> None:
    """JSON, but not a call."""
    refused(owner.request("POST", "/api/v1/invoke", json=body), "invalid_input")


def test_envelope_with_too_many_proofs(owner: Actor) -> None:
    """More than a chain may have (D8); one that is too large is void, like any other bad proof."""
    refused(owner.run("v/ops/hitl/list", {}, ["x"] * 17), "too_large")
    assert owner.run("v/ops/hitl/list", {}, ["x" * 70_000] * 2).status == 200
    refused(owner.run("v/ops/covia/read", {"path": f"{_STRANGER.did}/w"}, ["x" * 70_000]), "denied")


@pytest.mark.parametrize("digits", [20, 400, 5000])
def test_wait_of_any_length_is_the_longest(venue: Served, owner: Actor, digits: int) -> None:
    """A number is a number however long, and is clamped; a job that is done does not wait."""
    data = {"path": "w/never/there"}
    reply = venue.owner().invoke("v/ops/covia/delete", data, wait="9" * digits)
    assert (reply.status, reply.body["status"]) == (200, "COMPLETE")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/api/v1/nothing"), ("POST", "/nothing"), ("GET", "/api/v2/status")]
)
def test_endpoint_that_is_not_there(owner: Actor, method: str, path: str) -> None:
    """The one wording by which clients tell a missing feature from a missing thing."""
    reply = owner.request(method, path)
    refused(reply, "no_endpoint")
    assert reply.body["error"] == f"Endpoint {method} {path} not found"


def test_method_that_is_not_allowed(owner: Actor) -> None:
    """The path is there, and takes another verb."""
    refused(owner.request("DELETE", "/api/v1/invoke"), "method_not_allowed")


# Step 2: who calls.


def _agent_claims(owner: Actor, **other: Any) -> dict[str, Any]:
    now = int(time.time())
    did = f"{owner.did}:g:mighty"
    claims = {
        "iss": owner.venue_did,
        "sub": did,
        "aud": owner.venue_did,
        "iat": now,
        "exp": now + 60,
        "jti": "00",
    }
    return {**claims, **other}


def _resigned(actor: Actor, header: dict[str, Any], **claims: Any) -> str:
    """A bearer with another header, signed over what it says where there is anything to sign."""
    assert actor.signer is not None
    said = read(actor.bearer(**claims)).claims
    signing_input = _encode(header) + b"." + _encode(said)
    return (signing_input + b"." + _to_base64url(actor.signer.sign(signing_input))).decode()


def _tampered(token: str) -> str:
    head, body, signature = token.split(".")
    return f"{head}.{body}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


def _now() -> int:
    return int(time.time())


_STRANGER = Ed25519Signer.from_seed(b"s" * 32)

BEARERS: dict[str, Callable[[Actor, Actor], str]] = {
    "empty": lambda _o, _a: "",
    "one word": lambda o, _: o.bearer(),
    "no token at all": lambda _o, _a: "Bearer",
    "basic": lambda _o, _a: "Basic dXNlcjpwYXNz",
    "basic with a good token": lambda o, _: f"Basic {o.bearer()}",
    "not a token": lambda _o, _a: "Bearer abc",
    "three empty segments": lambda _o, _a: "Bearer ..",
    "expired": lambda o, _: f"Bearer {o.bearer(iat=_now() - 400, exp=_now() - 1)}",
    "expires now": lambda o, _: f"Bearer {o.bearer(exp=_now())}",
    "from the future": lambda o, _: f"Bearer {o.bearer(iat=_now() + 60)}",
    "not yet": lambda o, _: f"Bearer {o.bearer(nbf=_now() + 60)}",
    "lives too long": lambda o, _: f"Bearer {o.bearer(exp=_now() + 16 * 60)}",
    "no end": lambda o, _: f"Bearer {o.bearer(exp=None)}",
    "no beginning": lambda o, _: f"Bearer {o.bearer(iat=None)}",
    "end is a text": lambda o, _: f"Bearer {o.bearer(exp=str(_now() + 60))}",
    "end is a float": lambda o, _: f"Bearer {o.bearer(exp=_now() + 60.5)}",
    "beginning is true": lambda o, _: f"Bearer {o.bearer(iat=True)}",
    "another venue": lambda o, _: f"Bearer {o.bearer(aud=_STRANGER.did)}",
    "audience is a URL": lambda o, _: f"Bearer {o.bearer(aud='http://127.0.0.1')}",
    "audience is a list": lambda o, _: f"Bearer {o.bearer(aud=[o.venue_did])}",
    "audience is empty": lambda o, _: f"Bearer {o.bearer(aud='')}",
    "no audience": lambda o, _: f"Bearer {o.bearer(aud=None)}",
    "somebody else's subject": lambda o, _: f"Bearer {o.bearer(sub=_STRANGER.did)}",
    "somebody else's issuer": lambda o, _: f"Bearer {o.bearer(iss=_STRANGER.did, sub=_STRANGER.did)}",
    "no subject": lambda o, _: f"Bearer {o.bearer(sub=None)}",
    "its own agent's subject": lambda o, _: f"Bearer {o.bearer(sub=o.did + ':g:mighty')}",
    "a managed user's subject": lambda o, _: f"Bearer {o.bearer(sub=o.venue_did + ':u:ada')}",
    "kid of another key": lambda o, _: (
        f"Bearer {_resigned(o, {'alg': 'EdDSA', 'typ': 'JWT', 'kid': _STRANGER.kid})}"
    ),
    "tampered": lambda o, _: f"Bearer {_tampered(o.bearer())}",
    "alg none": lambda o, _: f"Bearer {_resigned(o, {'alg': 'none', 'typ': 'JWT'})}",
    "alg none, no signature": lambda o, _: (
        "Bearer " + _resigned(o, {"alg": "none", "typ": "JWT"}).rpartition(".")[0] + "."
    ),
    "alg HS256": lambda o, _: f"Bearer {_resigned(o, {'alg': 'HS256', 'typ': 'JWT'})}",
    "alg ES256": lambda o, _: f"Bearer {_resigned(o, {'alg': 'ES256', 'typ': 'JWT'})}",
    "typ of a receipt": lambda o, _: (
        f"Bearer {_resigned(o, {'alg': 'EdDSA', 'typ': 'venue-receipt+jwt', 'kid': o.signer.kid})}"  # type: ignore[union-attr]
    ),
    "no typ": lambda o, _: f"Bearer {_resigned(o, {'alg': 'EdDSA'})}",
    "crit": lambda o, _: f"Bearer {_resigned(o, {'alg': 'EdDSA', 'typ': 'JWT', 'crit': ['x']})}",
    "a capability token": lambda o, _: f"Bearer {o.grant(o.venue_did, 'w/x', 'crud/read')}",
    "an empty capability": lambda o, _: f"Bearer {o.bearer(att=[{}])}",
    "agent token by the owner": lambda o, _: (
        f"Bearer {sign(o.signer, _agent_claims(o), typ='venue-agent+jwt')}"  # type: ignore[arg-type]
    ),
    "agent token by a stranger": lambda o, _: (
        f"Bearer {sign(_STRANGER, _agent_claims(o), typ='venue-agent+jwt')}"
    ),
    "agent token by another venue": lambda o, _: (
        f"Bearer {sign(_STRANGER, _agent_claims(o, iss=_STRANGER.did), typ='venue-agent+jwt')}"
    ),
    "agent token tampered": lambda _, a: f"Bearer {_tampered(a.token)}",
    "agent token twice": lambda _, a: f"Bearer {a.token} {a.token}",
}


@pytest.mark.parametrize("wrong", BEARERS)
def test_bearer_that_is_wrong(owner: Actor, agent: Actor, wrong: str) -> None:
    """Bad is 401, never anonymous: also where an anonymous caller would be served."""
    header = {"Authorization": BEARERS[wrong](owner, agent)}
    refused(owner.request("GET", "/api/v1/operations", headers=header), "unauthorised")
    body = {"operation": "v/ops/hitl/request", "input": GOOD}
    refused(owner.request("POST", "/api/v1/invoke", json=body, headers=header), "unauthorised")
    assert owner.request("GET", "/api/v1/status", headers=header).status == 200
    assert owner.request("GET", "/.well-known/did.json", headers=header).status == 200


def test_bearer_next_to_those_limits_is_good(owner: Actor) -> None:
    """The neighbours: no kid, a clock that is a little ahead, the longest life."""
    for bearer in (
        _resigned(owner, {"alg": "EdDSA", "typ": "JWT"}),
        owner.bearer(iat=_now() + 20),
        owner.bearer(exp=_now() + 15 * 60 - 5),
    ):
        header = {"Authorization": f"bearer {bearer}"}
        assert owner.request("GET", "/api/v1/operations", headers=header).status == 200


def test_bearer_that_came_in_the_query_is_none(venue: Served, owner: Actor) -> None:
    """Tokens never travel in a URL (D2)."""
    path = f"/api/v1/jobs/{'0' * 32}?access_token={owner.bearer()}&token={owner.bearer()}"
    refused(venue.stranger().request("GET", path), "auth_required")


def test_bearer_of_an_agent_that_was_revoked(venue: Served) -> None:
    """Revocation is immediate, for both tokens of an agent, and its id is never used again (D3)."""
    person = venue.owner()
    one, two = venue.agent(person), venue.agent(person)
    assert one.run("v/ops/hitl/list").status == two.run("v/ops/hitl/list").status == 200
    assert person.run("v/ops/agent/revoke", {"agentId": "helper"}).ok() == {"revoked": True}
    for gone in (one, two):
        refused(gone.run("v/ops/hitl/list"), "unauthorised")
    refused(person.run("v/ops/agent/enrol", {"agentId": "helper"}), "wrong_state")
    assert person.run("v/ops/agent/revoke", {"agentId": "helper"}).ok() == {"revoked": False}


def test_bearer_of_a_second_venue(tmp_path_factory: pytest.TempPathFactory, owner: Actor) -> None:
    """What one venue signed for an agent is nothing at another."""
    with Served(tmp_path_factory.mktemp("other")) as other:
        person = other.owner(owner.signer)
        token = other.agent(person, "mighty", caps=CAPS).token
        assert person.run("v/ops/hitl/list").status == 200
    refused(
        owner.request("GET", "/api/v1/operations", headers={"Authorization": f"Bearer {token}"}),
        "unauthorised",
    )


@pytest.mark.parametrize(
    ("method", "path", "options"),
    [
        ("POST", "/api/v1/invoke", {"json": {"operation": "v/ops/hitl/request", "input": GOOD}}),
        ("POST", "/api/v1/run", {"json": {"operation": "v/ops/hitl/list"}}),
        (
            "POST",
            "/api/v1/run",
            {"json": {"operation": "v/ops/covia/write", "input": {"path": "w/x", "value": 1}}},
        ),
        ("POST", "/api/v1/run", {"json": {"operation": "v/ops/covia/delete", "input": {"path": "h/00"}}}),
        ("POST", "/api/v1/run", {"json": {"operation": RESPOND, "input": {}}}),
        ("POST", "/api/v1/run", {"json": {"operation": "v/ops/ucan/issue", "input": {}}}),
        ("POST", "/api/v1/run", {"json": {"operation": "v/ops/ucan/verify", "input": {"token": "x"}}}),
        ("POST", "/api/v1/run", {"json": {"operation": "v/ops/agent/enrol", "input": {"agentId": "x"}}}),
        ("POST", "/api/v1/run", {"json": {"operation": "v/ops/agent/list"}}),
        ("POST", "/api/v1/invoke", {"json": {"operation": "v/ops/covia/read", "input": {"path": "v/ops"}}}),
        ("GET", "/api/v1/assets", {}),
        ("GET", f"/api/v1/jobs/{'0' * 32}", {}),
        ("GET", f"/api/v1/jobs/{'0' * 32}/sse", {}),
        ("PUT", f"/api/v1/jobs/{'0' * 32}/cancel", {}),
        ("GET", "/api/v1/values/read?path=w/x", {}),
        ("GET", "/api/v1/values/list?path=h", {}),
    ],
)
def test_stranger_is_asked_who_they_are(
    venue: Served, method: str, path: str, options: dict[str, Any]
) -> None:
    """An anonymous caller may look at the catalogue and at nothing else (D2)."""
    refused(venue.stranger().request(method, path, **options), "auth_required")


# Step 3: the operation and its input.


@pytest.mark.parametrize(
    "reference",
    [
        "",
        "v/ops/hitl/nothing",
        "hitl",
        "hitl:nothing",
        "v/ops/hitl/request/x",
        "x" * 10_000,
        "did:web:evil.example/v/ops/hitl/list",
    ],
)
def test_operation_that_is_not_there(venue: Served, owner: Actor, reference: str) -> None:
    """Unknown here, or of another venue."""
    refused(owner.run(reference), "unknown_operation")
    refused(owner.invoke(reference), "unknown_operation")


def test_operation_that_is_not_in_the_catalogue(owner: Actor) -> None:
    """As a resource it is missing, as a call it was wrong."""
    for path in ("v/ops/hitl/nothing", "v%2Fops%2Fhitl%2Fnothing"):
        refused(owner.request("GET", f"/api/v1/operations/{path}"), "not_found")


LONG = "a" * 70_000
REQUEST_FAULTS: list[tuple[tuple[Any, ...], Any]] = [
    *((("title",), wrong) for wrong in (..., None, 7, "", "  \t", "two\nlines", "a\u2028b", "a\r", ["T"])),
    *((("description",), wrong) for wrong in (7, ["x"], {})),
    *((("timeout",), wrong) for wrong in (0, -1, 1.5, "60", True, 3_653 * 86_400 + 1, 2**53 - 1, [1])),
    *(
        (("user",), wrong)
        for wrong in (7, "", "ada", "did:", "did:key:z6Mk x", "did:web:a.example:g:bot", [])
    ),
    *((("grants",), wrong) for wrong in ([], [OFFER], None, {}, "x")),
    *((("asks",), wrong) for wrong in (..., None, [], {}, "x", 7, [None], ["x"], [[]], [{}])),
    *((("asks", 0, "id"), wrong) for wrong in (..., None, "", 7, "why")),
    *((("asks", 0, "type"), wrong) for wrong in (..., None, "", "token", "Approval", 7, ["approval"])),
    *((("asks", 0, "prompt"), wrong) for wrong in (..., None, "", " ", 7)),
    *((("asks", 0, "required"), wrong) for wrong in ("yes", 1, None)),
    *((("asks", 0, "comment"), wrong) for wrong in ("yes", 1, None)),
    *((("asks", 0, "options"), wrong) for wrong in ([], [{"id": "a"}], None)),
    *((("asks", 1, "options"), wrong) for wrong in ([], [{"id": "a"}])),
    *((("asks", 1, "grants"), wrong) for wrong in ([], [OFFER])),
    *((("asks", 2, "grants"), wrong) for wrong in ([], [OFFER])),
    *((("asks", 2, "options"), wrong) for wrong in (..., [], None, {}, "x", [None], ["a"], [{}])),
    *((("asks", 3, "options"), wrong) for wrong in (..., [])),
    *((("asks", 2, "options", 0, "id"), wrong) for wrong in (..., None, "", 7, "b")),
    *((("asks", 2, "options", 0, "label"), wrong) for wrong in (7, ["A"])),
    *((("asks", 2, "options", 0, "grants"), wrong) for wrong in (None, {}, "x", [None], [{}])),
    *(
        (("asks", 0, "grants"), wrong)
        for wrong in (None, {}, "x", [None], [{}], [OFFER, {**OFFER, "nb": {"a": 1}}])
    ),
    *(
        (("asks", 0, "grants", 0, "with"), wrong)
        for wrong in (..., None, "", "/", "//w", "w//x", "w/../x", "w/./x")
    ),
    *(
        (("asks", 0, "grants", 0, "with"), wrong)
        for wrong in (".", "w/%2e", "w\\x", "w/\u202ex", "w/\nx", "a:b/x")
    ),
    *((("asks", 0, "grants", 0, "with"), wrong) for wrong in (7, ["w"], "did:", "did:key:z6Mk/../x")),
    *(
        (("asks", 0, "grants", 0, "can"), wrong)
        for wrong in (..., None, "", "/", "crud/", "/crud", "crud/*", "a b", 7)
    ),
    *((("asks", 0, "grants", 0, "exp"), wrong) for wrong in (None, 0, -1, 1, 10**12, "soon", 1.5, True)),
    *(
        (("asks", 0, "grants", 0, "lifetime"), wrong)
        for wrong in (None, 0, -1, "60", 1.5, True, 91 * 86_400, 10**12)
    ),
    *((("asks", 0, "grants", 0, "nb"), wrong) for wrong in ("x", [], 7)),
    *(
        (("asks", 0, "grants", 0, name), "x")
        for name in ("cann", "expires", "narrow", "not_before", "resource", "")
    ),
]


@pytest.mark.parametrize(("path", "wrong"), REQUEST_FAULTS)
def test_request_with_one_thing_wrong(agent: Actor, path: tuple[Any, ...], wrong: Any) -> None:
    """Every field of `hitl:request`, down to its offers (D12)."""
    refused(agent.invoke("v/ops/hitl/request", changed(GOOD, path, wrong)), "invalid_input")


TOO_LARGE: list[tuple[tuple[Any, ...], Any]] = [
    (("title",), "a" * 281),
    (("description",), LONG),
    (("asks",), [{**GOOD["asks"][1], "id": str(n)} for n in range(51)]),
    (("asks", 0, "id"), "a" * 4_001),
    (("asks", 0, "prompt"), "a" * 4_001),
    (("asks", 2, "options"), [{"id": str(n)} for n in range(101)]),
    (("asks", 2, "options", 0, "id"), "a" * 4_001),
    (("asks", 2, "options", 0, "label"), "a" * 4_001),
    (("asks", 0, "grants"), [{"with": f"w/{n}", "can": "crud"} for n in range(50)]),
]


@pytest.mark.parametrize(("path", "wrong"), TOO_LARGE)
def test_request_beyond_a_limit(agent: Actor, path: tuple[Any, ...], wrong: Any) -> None:
    """One more than each limit of D22; the refusal names it."""
    reply = agent.invoke("v/ops/hitl/request", changed(GOOD, path, wrong))
    refused(reply, "too_large")
    assert "limit of" in reply.body["error"]


def test_offer_that_ends_in_two_ways_or_beyond_the_ceiling(agent: Actor) -> None:
    """`exp` and `lifetime` exclude each other; the ceiling binds either (D10)."""
    day = 86_400
    for more in (
        {"exp": _now() + 60, "lifetime": 60},
        {"exp": _now() + 90 * day + 60},
        {"lifetime": 90 * day + 1},
        {"exp": _now()},
        {"exp": (_now() + 60) * 1000},
    ):
        asks = changed(GOOD, ("asks", 0, "grants", 0), {**OFFER, **more})
        refused(agent.invoke("v/ops/hitl/request", asks), "invalid_input")


def test_request_next_to_those_limits_is_stored_as_it_is(venue: Served) -> None:
    """The good neighbours: the largest of everything, strange characters, unknown keys where they may be."""
    person = venue.owner()
    asks = copy.deepcopy(GOOD["asks"])
    asks[0] |= {"hint": {"deep": [1]}, "prompt": "\u202eevil\u200b"}
    asks[0]["grants"] = [
        {**OFFER, "nb": {"url": "x"}},
        {**OFFER, "nb": {"url": "x"}, "lifetime": 90 * 86_400},
    ]
    asks[2]["options"] = [{"id": str(n), "more": None} for n in range(100)]
    fields = {"title": "\u202e" + "a" * 279, "description": "a\n" * 32_768, "asks": asks, "ignored": {"x": 1}}
    record = person.record(person.ask(**fields, timeout=3_653 * 86_400))
    assert (record["title"], record["description"]) == (fields["title"], fields["description"])
    assert record["asks"] == asks
    assert "ignored" not in record


OTHER_INPUTS: list[tuple[str, dict[str, Any], str]] = [
    *(
        ("v/ops/hitl/list", {name: wrong}, "invalid_input")
        for name, wrong in [
            ("status", "done"),
            ("status", 7),
            ("status", ""),
            ("limit", 0),
            ("limit", 1_001),
            ("limit", -1),
            ("limit", "10"),
            ("limit", 1.0),
            ("limit", True),
            ("limit", None),
            ("cursor", 7),
        ]
    ),
    ("v/ops/hitl/list", {"cursor": "no id"}, "invalid_input"),
    *(
        ("v/ops/covia/read", data, "invalid_input")
        for data in [
            {},
            {"path": None},
            {"path": 7},
            {"path": {}},
            {"path": [7]},
            {"path": "w//x"},
            {"path": "w/../h"},
            {"path": "w/."},
            {"path": "w/%2e"},
            {"path": "w\\x"},
            {"path": "w/\u202e"},
            {"path": "w/\n"},
            {"path": "did:key:x/../y"},
            {"path": "http://evil.example/"},
            {"path": "w/x", "maxSize": -1},
            {"path": "w/x", "maxSize": "9"},
            {"path": "w/x", "maxSize": True},
        ]
    ),
    *(
        ("v/ops/covia/list", {"path": "w", name: wrong}, "invalid_input")
        for name, wrong in [
            ("path", 7),
            ("limit", 0),
            ("limit", 1_001),
            ("limit", "1"),
            ("offset", -1),
            ("offset", 0.5),
        ]
    ),
    *(
        ("v/ops/covia/write", data, "invalid_input")
        for data in [
            {},
            {"path": "w/x"},
            {"value": 1},
            {"path": None, "value": 1},
            {"path": "w", "value": 1},
            {"path": "w/" + "a/" * 33, "value": 1},
            {"path": "w/..", "value": 1},
            {"path": ["w"], "value": 1},
        ]
    ),
    *(
        ("v/ops/covia/write", {"path": path, "value": 1}, "not_writable")
        for path in ["h/x", "j/x", "v/ops/x", "x", "o/x", "s/KEY", "", "/", "h/" + "0" * 32]
    ),
    *(
        ("v/ops/covia/delete", data, "invalid_input")
        for data in [{}, {"path": None}, {"path": "w"}, {"path": "h/xyz"}]
    ),
    *(
        ("v/ops/covia/delete", {"path": path}, "not_writable")
        for path in ["", "h", "j/x", "v/x", "h/" + "0" * 32 + "/title"]
    ),
    *(
        ("v/ops/agent/enrol", data, "invalid_input")
        for data in [
            {},
            {"agentId": None},
            {"agentId": 7},
            {"agentId": ""},
            {"agentId": "a" * 65},
            {"agentId": "a b"},
            {"agentId": "a:g:b"},
            {"agentId": ".."},
            {"agentId": "-x"},
            {"agentId": "x", "caps": {}},
            {"agentId": "x", "caps": [None]},
            {"agentId": "x", "caps": [{}]},
            {"agentId": "x", "caps": [{"with": "w"}]},
            {"agentId": "x", "caps": [{"with": "w", "can": "crud", "cann": 1}]},
            {"agentId": "x", "caps": [{"with": "w/..", "can": "crud"}]},
            {"agentId": "x", "caps": [{"with": "w", "can": "crud/*"}]},
            {"agentId": "x", "caps": [{"with": "w", "can": "crud", "nb": {"gate": "g"}}]},
            {"agentId": "x", "lifetime": 59},
            {"agentId": "x", "lifetime": 3_653 * 86_400 + 1},
            {"agentId": "x", "lifetime": "60"},
            {"agentId": "x", "lifetime": None},
            {"agentId": "x", "extra": 1},
        ]
    ),
    *(
        ("v/ops/agent/revoke", data, "invalid_input")
        for data in [{}, {"agentId": ""}, {"agentId": "../x"}, {"agentId": 7}]
    ),
    ("v/ops/agent/enrol", {"agentId": "mighty"}, "wrong_state"),
    *(
        ("v/ops/ucan/verify", data, "invalid_input")
        for data in [
            {},
            {"token": None},
            {"token": 7},
            {"token": "x", "with": 7},
            {"token": "x", "can": []},
            {"token": "x", "aud": 7},
        ]
    ),
]


@pytest.mark.parametrize("verb", ["run", "invoke"])
@pytest.mark.parametrize(("operation", "data", "code"), OTHER_INPUTS)
def test_other_input_with_one_thing_wrong(
    owner: Actor, verb: str, operation: str, data: Any, code: str
) -> None:
    """`hitl:list`, `covia:*`, `agent:*` and `ucan:verify`, each field."""
    refused(getattr(owner, verb)(operation, data), code)


@pytest.mark.parametrize("data", [[], "x", 7, True])
@pytest.mark.parametrize(
    "operation", ["hitl/request", "hitl/respond", "hitl/list", "covia/read", "agent/list", "ucan/issue"]
)
def test_input_that_is_no_object(owner: Actor, operation: str, data: Any) -> None:
    """Whatever the operation, its input is an object or absent."""
    refused(owner.run(f"v/ops/{operation}", data), "invalid_input")


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("read", "invalid_input"),
        ("read?path=", "invalid_input"),
        ("read?path=w/x&maxSize=-1", "invalid_input"),
        ("read?path=w/x&maxSize=1e3", "invalid_input"),
        ("read?path=w/%2e%2e/h", "invalid_input"),
        ("read?path=w/%00", "invalid_input"),
        ("read?path=w%5Cx", "invalid_input"),
        ("list?path=w&limit=0", "invalid_input"),
        ("list?path=w&limit=1001", "invalid_input"),
        ("list?path=w&offset=-1", "invalid_input"),
        ("list?path=w&offset=" + "9" * 400, "invalid_input"),
    ],
)
def test_query_with_one_thing_wrong(owner: Actor, query: str, code: str) -> None:
    """The same reads over GET."""
    refused(owner.request("GET", f"/api/v1/values/{query}"), code)


ISSUE_FAULTS: list[tuple[tuple[Any, ...], Any, str]] = [
    *((("aud",), wrong, "invalid_input") for wrong in (..., None, "", 7, "ada", "did:", "http://x", [])),
    (("aud",), "did:key:z6MkeTG3bFFSLYVU7VqhgZxqr6YzpaGrQtFMh1uvqGy1vDnP", "invalid_input"),
    *((("att",), wrong, "invalid_input") for wrong in (..., None, [], {}, "x", [None], [{}])),
    (("att",), [{"with": f"w/{n}", "can": "crud"} for n in range(51)], "invalid_input"),
    *((("att", 0, "with"), wrong, "invalid_input") for wrong in (..., None, "", "w/../x", "w%2f", 7)),
    *((("att", 0, "can"), wrong, "invalid_input") for wrong in (..., None, "", "crud/*", 7)),
    *((("att", 0, "nb"), wrong, "invalid_input") for wrong in ("x", [], 7)),
    (("att", 0, "nb"), {"x": "a" * 70_000}, "invalid_input"),
    (("att", 0, "cann"), "x", "invalid_input"),
    *(
        (("exp",), wrong, "invalid_input")
        for wrong in (..., None, 0, -1, 1, "soon", 1.5, True, 10**12, 2**53 - 1)
    ),
    (("exp",), 4_000_000_000, "invalid_input"),
    (("extra",), 1, "invalid_input"),
    (("att", 0, "with"), f"{_STRANGER.did}/w/x", "denied"),
    (("att", 0, "with"), _STRANGER.did, "denied"),
]


@pytest.mark.parametrize(("path", "wrong", "code"), ISSUE_FAULTS)
def test_issue_with_one_thing_wrong(owner: Actor, path: tuple[Any, ...], wrong: Any, code: str) -> None:
    """`ucan:issue`: each field, and what is not the caller's to give (D9)."""
    good = {"aud": _STRANGER.did, "att": [{"with": "w/x", "can": "crud/read"}], "exp": _now() + 60}
    refused(owner.run("v/ops/ucan/issue", changed(good, path, wrong)), code)


# Step 4: the decision.


@pytest.mark.parametrize(
    "request_id", ["", "xyz", "0" * 31, "0" * 32, "0x" + "0" * 32, "../" * 11, "g" * 32, "a" * 9_999]
)
@pytest.mark.parametrize("outcome", ["answer", "reject"])
def test_decision_on_an_id_that_nobody_has(owner: Actor, request_id: str, outcome: str) -> None:
    """No such request, however it is misspelt."""
    refused(owner.respond(request_id, outcome, answers={}), "not_found")


def test_decision_on_somebody_elses_request_looks_like_a_random_id(
    venue: Served, agent: Actor, open_id: str
) -> None:
    """The same status, code and text, whoever asks: a stranger to it, and a proof changes nothing (D14)."""
    stranger, random = venue.owner(), open_id[:-1] + ("0" if open_id[-1] != "0" else "1")
    foreign, unknown = (stranger.respond(known, answers={"ok": True}) for known in (open_id, random))
    refused(foreign, "not_found")
    assert foreign.status == unknown.status
    assert json.dumps(foreign.body).replace(open_id, "?") == json.dumps(unknown.body).replace(random, "?")


def test_decision_under_a_proof_is_none(venue: Served, owner: Actor, open_id: str) -> None:
    """Nobody answers for somebody else, whatever they hold."""
    stranger = venue.owner()
    proof = owner.grant(stranger.did, "did:" + owner.did[4:], "*")
    data = {"id": open_id, "outcome": "reject"}
    refused(stranger.run(RESPOND, data, [proof]), "not_found")
    refused(stranger.run("v/ops/covia/delete", {"path": f"{owner.did}/h/{open_id}"}, [proof]), "denied")
    assert stranger.read(f"{owner.did}/h/{open_id}", [proof]).ok()["value"]["status"] == "open"


@pytest.mark.parametrize(
    ("operation", "data"),
    [
        ("hitl/respond", {"id": "?", "outcome": "reject"}),
        ("hitl/respond", {"id": "?", "outcome": "answer", "answers": {"ok": True}}),
        ("hitl/respond", {"id": "f" * 32, "outcome": "reject"}),
        ("hitl/respond", {"nonsense": True}),
        ("covia/delete", {"path": "h/?"}),
        ("covia/delete", {"path": "{owner}/h/?"}),
        ("covia/delete", {"path": "/h/0x?/"}),
        ("covia/delete", {"path": ["h", "?"]}),
        (
            "ucan/issue",
            {"aud": _STRANGER.did, "att": [{"with": "w/x", "can": "crud/read"}], "exp": 4_000_000_000},
        ),
        ("ucan/issue", {}),
        ("agent/enrol", {"agentId": "second"}),
        ("agent/list", {}),
        ("agent/revoke", {"agentId": "mighty"}),
    ],
)
@pytest.mark.parametrize("verb", ["run", "invoke"])
def test_agent_never_decides(
    owner: Actor, agent: Actor, open_id: str, operation: str, data: Any, verb: str
) -> None:
    """By identity, on every path of D9, with every capability there is and a proof for the rest."""
    proof = owner.grant(f"{owner.did}:g:mighty", owner.did, "*")
    said = json.loads(json.dumps(data).replace("?", open_id).replace("{owner}", owner.did))
    refused(getattr(agent, verb)(f"v/ops/{operation}", said, [proof]), "agent_refused")


ANSWER_FAULTS: list[tuple[tuple[Any, ...], Any]] = [
    *((("outcome",), wrong) for wrong in (..., None, "", "maybe", "cancelled", 7)),
    *((("id",), wrong) for wrong in (..., None, 7, [])),
    *((("answers",), wrong) for wrong in (..., None, [], "x", {}, {"why": "x"}, {"ok": None})),
    *((("answers", "ok"), wrong) for wrong in (1, 0, "true", "yes", [], {}, [True])),
    *((("answers", "why"), wrong) for wrong in (7, True, [], {}, ["x"])),
    *((("answers", "one"), wrong) for wrong in ("c", "", 0, True, ["a"], {})),
    *((("answers", "many"), wrong) for wrong in ("x", {"x": True}, ["z"], ["x", "x"], [7], [None], [["x"]])),
    (("answers", "nobody"), "x"),
    *((("comments",), wrong) for wrong in ("x", [], 7, {"nobody": "x"}, {"ok": 7}, {"ok": None})),
    *((("comment",), wrong) for wrong in (7, [], {}, True)),
    *((("digest",), wrong) for wrong in (7, [], True)),
    (("extra",), 1),
    (("token",), "x"),
    *((("grants",), wrong) for wrong in ("x", {}, 7, [None], ["x"], [[]], [{}])),
    *(
        (("grants", 0, "with"), wrong)
        for wrong in (..., None, "", "w/reports", "/w/reports/", "w/", "w/reports/q3", "w")
    ),
    *((("grants", 0, "can"), wrong) for wrong in (..., None, "", "crud", "*", "crud/read/x", "crud/write")),
    *((("grants", 0, name), 1) for name in ("exp", "lifetime", "nb", "narrow", "cann", "fct", "aud")),
    (("grants", 0), {"with": "w/a", "can": "crud/read"}),
    (("grants", 0), {"with": "w/never", "can": "crud/read"}),
]


@pytest.mark.parametrize(("path", "wrong"), ANSWER_FAULTS)
def test_answer_with_one_thing_wrong(owner: Actor, open_id: str, path: tuple[Any, ...], wrong: Any) -> None:
    """Forms match exactly; an echo is what was offered, triggered, and nothing else (D14)."""
    good = {"id": open_id, "comments": {}, "comment": "", "digest": owner.record(open_id)["digest"], **ANSWER}
    refused(owner.run(RESPOND, changed(good, path, wrong)), "invalid_input")


def test_echo_of_what_was_refused(owner: Actor, open_id: str) -> None:
    """The offer stands, but the person said no to it."""
    said = changed(ANSWER, ("answers", "ok"), False)
    refused(owner.run(RESPOND, {"id": open_id, **said}), "invalid_input")


@pytest.mark.parametrize("place", ["why", "comment", "comments", "grants"])
def test_answer_beyond_a_limit(owner: Actor, open_id: str, place: str) -> None:
    """A text answer and a remark have one limit."""
    said: dict[str, Any] = {"id": open_id, **copy.deepcopy(ANSWER)}
    if place == "why":
        said["answers"]["why"] = LONG
    elif place == "grants":
        said["grants"] = [OFFER] * 51
    else:
        said[place] = {"ok": LONG} if place == "comments" else LONG
    refused(owner.run(RESPOND, said), "too_large")


@pytest.mark.parametrize("digest", ["", "sha256:", "sha256:" + "0" * 64])
@pytest.mark.parametrize("outcome", ["answer", "reject"])
def test_answer_to_another_record_than_was_shown(
    owner: Actor, open_id: str, digest: str, outcome: str
) -> None:
    """The digest is the record's or the answer is refused, a rejection too."""
    said = {"id": open_id, **ANSWER, "outcome": outcome, "digest": digest}
    refused(owner.run(RESPOND, said), "stale_digest")


def test_answer_after_those_refusals_is_taken(venue: Served) -> None:
    """The good case that every refusal above is a step away from."""
    person = venue.owner()
    job_id = person.ask(**GOOD)
    assert person.run(RESPOND, {"id": job_id, **ANSWER}).ok() == {"id": job_id, "status": "answered"}


def test_answer_whose_token_would_be_too_large(venue: Served) -> None:
    """Signing fails inside the settle: record and job are as they were, and one can still say no."""
    person = venue.owner()
    offers = [{**OFFER, "with": f"w/{n}/", "nb": {"x": "a" * 3_900}} for n in range(20)]
    posted = person.invoke("v/ops/hitl/request", changed(GOOD, ("asks", 0, "grants"), offers)).ok()
    job_id = posted["id"].removeprefix("0x")
    before = (person.record(job_id), person.job(job_id).ok())
    echoes = [{"with": offer["with"], "can": offer["can"]} for offer in offers]
    refused(person.run(RESPOND, {"id": job_id, **ANSWER, "grants": echoes}), "invalid_input")
    assert (person.record(job_id), person.job(job_id).ok()) == before
    person.respond(job_id, "reject").ok()


# Steps 5 and 6: claims and jobs.


@pytest.mark.parametrize("job_id", ["xyz", "0" * 31, "0" * 33, "g" * 32, "0x", "%00"])
def test_job_id_that_is_none(owner: Actor, job_id: str) -> None:
    """What cannot be an id is a bad request, not a missing job."""
    for method, path in (("GET", ""), ("GET", "/sse"), ("PUT", "/cancel")):
        refused(owner.request(method, f"/api/v1/jobs/{job_id}{path}"), "invalid_input")


def test_job_of_somebody_else_looks_like_a_random_one(venue: Served, open_id: str) -> None:
    """Reading, following and cancelling: a foreign job is as absent as one that never was (D23)."""
    stranger, random = venue.owner(), open_id[:-1] + ("0" if open_id[-1] != "0" else "1")
    for method, path in (("GET", ""), ("GET", "/sse"), ("PUT", "/cancel")):
        replies = [stranger.request(method, f"/api/v1/jobs/{job}{path}") for job in (open_id, random)]
        refused(replies[0], "not_found")
        assert json.dumps(replies[0].body).replace(open_id, "?") == json.dumps(replies[1].body).replace(
            random, "?"
        )


def test_job_of_another_agent_of_the_same_owner(venue: Served, owner: Actor, open_id: str) -> None:
    """An agent sees the jobs and records that it made, and no others (D23)."""
    person = venue.owner()
    one, two = venue.agent(person, "one", caps=CAPS), venue.agent(person, "two", caps=CAPS)
    job_id = one.ask()
    refused(two.job(job_id), "not_found")
    refused(two.cancel(job_id), "not_found")
    assert two.read(f"h/{job_id}").ok()["exists"] is False
    assert two.read(f"j/{job_id}").ok()["exists"] is False
    assert two.run("v/ops/hitl/list").ok()["count"] == 0
    assert person.job(job_id).ok()["status"] == "INPUT_REQUIRED"


@pytest.mark.parametrize("body", [[], 7, "x", False, 0, "", {"reason": 7}, {"reason": ["x"]}])
def test_cancel_with_a_body_that_is_wrong(agent: Actor, open_id: str, body: Any) -> None:
    """An empty body is none; any other is an object with a text."""
    refused(agent.request("PUT", f"/api/v1/jobs/{open_id}/cancel", json=body), "invalid_input")


@pytest.mark.parametrize("accept", ["application/json", "text/html", "image/*"])
def test_stream_that_the_client_would_not_read(agent: Actor, open_id: str, accept: str) -> None:
    """It is a stream of events or nothing."""
    path = f"/api/v1/jobs/{open_id}/sse"
    refused(agent.request("GET", path, headers={"Accept": accept}), "not_acceptable")


def test_run_that_is_rejected_says_so(venue: Served) -> None:
    """A `run` that parked ends with its job's own sentence."""
    person = venue.owner()
    with ThreadPoolExecutor(1) as pool, httpx.Client(base_url=venue.url, timeout=30) as http:
        waiting = pool.submit(Actor(http, venue.did, signer=person.signer).run, "v/ops/hitl/request", GOOD)
        items: list[Any] = []
        while not items and not waiting.done():
            items = person.run("v/ops/hitl/list").ok()["items"]
        person.respond(items[0]["id"], "reject", comment="no").ok()
        reply = waiting.result(timeout=30)
    refused(reply, "not_completed")
    assert reply.body["error"] == "HITL request rejected: no"


def test_too_many_open_requests_are_held_back(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Over the limit: 429 with Retry-After, nothing stored; a settled one makes room (D22)."""
    environ = {"VENUE_LIMITS__OPEN_PER_REQUESTER": "3", "VENUE_LIMITS__OPEN_PER_INBOX": "4"}
    with Served(tmp_path_factory.mktemp("small"), environ=environ) as small:
        person, friend = small.owner(), small.owner()
        jobs = [person.ask() for _ in range(3)]
        over = person.invoke("v/ops/hitl/request", GOOD)
        refused(over, "too_many_open")
        assert int(over.headers["retry-after"]) > 0
        proof = person.grant(friend.did, "h/", "hitl/request")
        friend.ask([proof], user=person.did)
        refused(friend.invoke("v/ops/hitl/request", {**GOOD, "user": person.did}, [proof]), "too_many_open")
        assert person.run("v/ops/hitl/list").ok()["count"] == 4
        person.respond(jobs[0], "reject").ok()
        person.ask()


def test_identity_ucan_is_not_enough_to_decide(venue: Served) -> None:
    """It may have come through a relay: enough to ask and to read, and for nothing that binds (D2)."""
    person = venue.owner()
    assert person.signer is not None
    now = _now()
    text = identity(person.signer, audience=person.venue_did, expires=now + 60, now=now, nonce="n")
    relayed = Actor(venue.http, venue.did, token=text)
    job_id = relayed.ask()
    assert relayed.run("v/ops/hitl/list").ok()["count"] == 1
    refused(relayed.respond(job_id, answers={"ok": True}), "weak_credential")
    refused(relayed.run("v/ops/covia/delete", {"path": f"h/{job_id}"}), "weak_credential")
    refused(relayed.run("v/ops/covia/write", {"path": "w/x", "value": 1}), "weak_credential")
    refused(relayed.run("v/ops/agent/enrol", {"agentId": "x"}), "weak_credential")
    data = {"aud": _STRANGER.did, "att": [{"with": "w/x", "can": "crud"}], "exp": now + 60}
    refused(relayed.run("v/ops/ucan/issue", data), "weak_credential")
    relayed.cancel(job_id).ok()


def test_capability_for_the_venue_is_no_bearer(owner: Actor) -> None:
    """A token that confers something does not say who calls."""
    assert owner.signer is not None
    caps = [Capability(f"{owner.did}/w", "crud")]
    text = issue(
        owner.signer, audience=owner.venue_did, capabilities=caps, expires=_now() + 60, now=_now(), nonce="n"
    )
    refused(
        owner.request("GET", "/api/v1/operations", headers={"Authorization": f"Bearer {text}"}),
        "unauthorised",
    )
