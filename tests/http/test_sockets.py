"""What clients do wrong, and what proxies and browsers do, byte by byte."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from tests.harness.actors import Actor
from tests.harness.venue import until

from .conftest import House
from .raw import Answer, Raw

KIND = "Content-Type: application/json"
LIST = json.dumps({"operation": "v/ops/hitl/list"}).encode()
REQUEST = {"title": "T", "asks": [{"id": "ok", "type": "approval", "prompt": "OK?"}]}


@pytest.fixture
def raw(house: House) -> Iterator[Raw]:
    """A connection to the venue."""
    with Raw(house.url) as connection:
        yield connection


@pytest.fixture(scope="module")
def owner(house: House) -> Actor:
    """Somebody whom the venue knows."""
    return house.owner()


def bearer(actor: Actor) -> str:
    """The header line that says who calls."""
    return f"Authorization: Bearer {actor.bearer()}"


def refused(answer: Answer, status: int, code: str) -> None:
    """A refusal in the one shape."""
    assert (answer.status, answer.json()["code"]) == (status, code)


def test_pipelined_requests_are_answered_in_order(raw: Raw, owner: Actor) -> None:
    """Three requests in one go, one of them with a body."""
    raw.request("GET", "/healthz")
    raw.request("POST", "/api/v1/run", KIND, bearer(owner), body=LIST)
    raw.request("GET", "/api/v1/nothing")
    answers = [raw.answer() for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 404]
    assert answers[1].json() == {"items": [], "count": 0}
    assert answers[2].json()["error"] == "Endpoint GET /api/v1/nothing not found"


def test_chunked_body_is_read(raw: Raw, owner: Actor) -> None:
    """A body in pieces is a body."""
    pieces = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (LIST[:7], LIST[7:])) + b"0\r\n\r\n"
    raw.request("POST", "/api/v1/run", KIND, bearer(owner), "Transfer-Encoding: chunked")
    raw.send(pieces)
    assert raw.answer().status == 200


def test_chunked_body_ends_at_the_limit(raw: Raw, owner: Actor) -> None:
    """Eleven megabytes that never say how many they are, are refused as soon as they are too many."""
    raw.request("POST", "/api/v1/run", KIND, bearer(owner), "Transfer-Encoding: chunked")
    piece = b"%x\r\n%s\r\n" % (262_144, b" " * 262_144)
    for _ in range(42):
        raw.send(piece)
    refused(raw.answer(), 413, "body_too_large")


def test_eleven_megabytes_are_refused_by_their_length(raw: Raw, owner: Actor) -> None:
    """A body that says that it is too large is refused before it is read."""
    raw.request("POST", "/api/v1/run", KIND, bearer(owner), "Content-Length: 11000000")
    refused(raw.answer(), 413, "body_too_large")


def test_slow_request_is_read_to_its_end(raw: Raw, house: House, owner: Actor) -> None:
    """A byte now and then keeps nobody else waiting."""
    whole = f"POST /api/v1/run HTTP/1.1\r\nHost: {raw.host}\r\n{KIND}\r\n{bearer(owner)}\r\n"
    whole += f"Content-Length: {len(LIST)}\r\n\r\n{LIST.decode()}"
    for part in re.findall(r"(?s).{1,120}", whole):
        raw.send(part.encode())
        assert house.http.get("/healthz").status_code == 200
    assert raw.answer().status == 200


def test_half_closed_connection_is_answered(raw: Raw, owner: Actor) -> None:
    """A client that has said everything, and closed its side, still gets its answer."""
    raw.request("POST", "/api/v1/run", KIND, bearer(owner), "Connection: close", body=LIST)
    raw.half_close()
    found = raw.rest()
    assert not found or found.startswith(b"HTTP/1.1 200")


def test_body_that_never_comes_changes_nothing(house: House) -> None:
    """A client that leaves in the middle of its body is forgotten, without a word of alarm."""
    owner = house.owner()
    with Raw(house.url) as leaving:
        leaving.request("POST", "/api/v1/invoke", KIND, bearer(owner), "Content-Length: 500")
        leaving.send(b'{"operation"')
    assert owner.request("GET", "/api/v1/jobs").ok()["total"] == 0


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "[::2]", "@", "", "x" * 300])
def test_wrong_host_is_refused(raw: Raw, host: str) -> None:
    """DNS rebinding ends here."""
    raw.send(f"GET /api/v1/status HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    refused(raw.answer(), 403, "unknown_host")


def test_request_without_a_host_is_refused(raw: Raw) -> None:
    """HTTP/1.1 needs one; so does HTTP/1.0 here."""
    raw.send(b"GET /api/v1/status HTTP/1.0\r\n\r\n")
    assert raw.rest().startswith(b"HTTP/1.1 403")


def test_http_1_0_is_served_and_closed(raw: Raw) -> None:
    """Old clients get an answer, and its end."""
    raw.send(f"GET /healthz HTTP/1.0\r\nHost: {raw.host}\r\n\r\n".encode())
    found = raw.rest()
    assert found.startswith(b"HTTP/1.1 200")
    assert found.endswith(b'{"status":"ok"}')


def test_absolute_target_is_judged_by_its_host_header(raw: Raw) -> None:
    """The absolute form is served as the path that it names, and no other host comes in through it."""
    raw.send(f"GET http://{raw.host}/healthz HTTP/1.1\r\nHost: {raw.host}\r\n\r\n".encode())
    assert raw.answer().status == 200
    raw.send(f"GET http://{raw.host}/healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode())
    refused(raw.answer(), 403, "unknown_host")


@pytest.mark.parametrize(
    "framing",
    [
        "Content-Length: 5\r\nContent-Length: 31",
        "Content-Length: 31\r\nTransfer-Encoding: chunked",
        "Content-Length: -1",
        "Content-Length: 3,1",
        "Transfer-Encoding: gzip, identity",
    ],
)
def test_ambiguous_length_smuggles_nothing(raw: Raw, owner: Actor, framing: str) -> None:
    """What two readers could cut in two ways is refused, or read in one way and nothing comes after it."""
    head = f"POST /api/v1/run HTTP/1.1\r\nHost: {raw.host}\r\n{KIND}\r\n{bearer(owner)}\r\n{framing}\r\n\r\n"
    raw.send(head.encode() + b"0\r\n\r\nGET /api/v1/jobs HTTP/1.1\r\n\r\n")
    raw.half_close()
    found = raw.rest()
    assert b" 200 " not in found
    assert found.count(b"HTTP/1.1") <= 1


def test_head_has_the_headers_and_no_body(raw: Raw) -> None:
    """As the GET, without its body; the next answer begins where it should."""
    raw.request("GET", "/.well-known/did.json")
    whole = raw.answer()
    raw.request("HEAD", "/.well-known/did.json")
    head = raw.answer(head=True)
    assert (head.status, head.headers["content-type"]) == (200, "application/did+json")
    assert head.headers["content-length"] == str(len(whole.body))
    raw.request("HEAD", "/api/v1/nothing")
    assert raw.answer(head=True).status == 404
    raw.request("GET", "/healthz")
    assert raw.answer().json() == {"status": "ok"}


def test_head_of_a_stream_ends(raw: Raw, owner: Actor) -> None:
    """Whoever asks for the headers of a stream gets them, and no stream."""
    job_id = owner.ask()
    for path in (f"/api/v1/jobs/{job_id}/sse", "/api/v1/inbox/sse"):
        with Raw(f"http://{raw.host}") as asking:
            asking.request("HEAD", path, bearer(owner))
            head = asking.answer(head=True)
            assert head.headers["content-type"].startswith("text/event-stream")
            assert asking.rest() == b""
    owner.cancel(job_id).ok()


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/v1/status", "GET, HEAD, OPTIONS"),
        ("/api/v1/invoke", "OPTIONS, POST"),
        (f"/api/v1/jobs/{'0' * 32}", "GET, HEAD, OPTIONS, POST"),
        (f"/api/v1/jobs/{'0' * 32}/cancel", "OPTIONS, PUT"),
    ],
)
def test_options_and_405_name_the_methods(raw: Raw, path: str, allowed: str) -> None:
    """Over all routes of a path."""
    raw.request("OPTIONS", path)
    answer = raw.answer()
    assert (answer.status, answer.headers["allow"], answer.body) == (204, allowed, b"")
    raw.request("PATCH", path)
    answer = raw.answer()
    refused(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("line", ["GET /\x00 HTTP/1.1", "GET", "G\u00e9T / HTTP/1.1", "GET / HTTP/9.9"])
def test_garbage_is_a_400_or_a_closed_door(raw: Raw, line: str) -> None:
    """What is no HTTP never reaches the venue."""
    raw.send(f"{line}\r\nHost: {raw.host}\r\n\r\n".encode("latin-1"))
    raw.half_close()
    found = raw.rest()
    assert not found or found[9:12] in (b"400", b"505")


def _tasks(house: House) -> int:
    async def count() -> int:
        return len(asyncio.all_tasks())

    return int(house.venue.on_loop(count()))


@pytest.mark.parametrize("verb", ["run", "invoke?wait=true"])
def test_client_that_leaves_frees_its_waiter(house: House, verb: str) -> None:
    """The wait ends with the client, the request goes on, and no task is left behind."""
    owner = house.owner()
    owner.run("v/ops/hitl/list").ok()
    before = _tasks(house)
    body = json.dumps({"operation": "v/ops/hitl/request", "input": REQUEST}).encode()
    with Raw(house.url) as leaving:
        leaving.request("POST", f"/api/v1/{verb}", KIND, bearer(owner), body=body)
        until(lambda: owner.run("v/ops/hitl/list").ok()["count"] == 1)
        assert _tasks(house) > before
    until(lambda: _tasks(house) <= before)
    assert owner.run("v/ops/hitl/list", {"status": "open"}).ok()["count"] == 1


def test_client_that_leaves_a_stream_frees_its_place(open_house: Callable[..., House]) -> None:
    """With one stream allowed, the next one is let in as soon as the first has gone."""
    house = open_house(limits={"streams": 1})
    owner = house.owner()
    path = f"/api/v1/jobs/{owner.ask()}/sse"
    before = _tasks(house)
    with Raw(house.url) as first:
        first.request("GET", path, bearer(owner))
        assert first.begun().startswith("HTTP/1.1 200")
        for second in (path, "/api/v1/inbox/sse"):
            reply = owner.request("GET", second)
            assert (reply.code, reply.headers["retry-after"]) == ("too_many_streams", "10")
    until(lambda: owner.request("HEAD", path).status == 200)
    until(lambda: _tasks(house) <= before)


def test_streams_that_begin_together_are_counted(open_house: Callable[..., House]) -> None:
    """Of many at once as many begin as may be, and each other one is a whole refusal."""
    house = open_house(limits={"streams": 2})
    owner = house.owner()
    path = f"/api/v1/jobs/{owner.ask()}/sse"
    with ExitStack() as stack:
        many = [stack.enter_context(Raw(house.url)) for _ in range(8)]
        for one in many:
            one.request("GET", path, bearer(owner))
        tops = [one.begun() for one in many]
    assert sorted(top[9:12] for top in tops) == ["200"] * 2 + ["429"] * 6


# Behind a proxy, under a prefix.


class Proxy:
    """A small reverse proxy at /venue, which takes the prefix away or leaves it."""

    def __init__(self, upstream: str, *, strips: bool) -> None:
        self.upstream = upstream
        self.strips = strips

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass one request on."""
        path = scope["path"].removeprefix("/venue") if self.strips else scope["path"]
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        headers |= {"host": "venue.example", "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9"}
        query = scope["query_string"].decode()
        async with httpx.AsyncClient() as http:
            url = f"{self.upstream}{path}" + (f"?{query}" if query else "")
            answer = await http.request(scope["method"], url, headers=headers, content=body)
        kept = [(n.encode(), v.encode()) for n, v in answer.headers.items() if n != "transfer-encoding"]
        await send({"type": "http.response.start", "status": answer.status_code, "headers": kept})
        await send({"type": "http.response.body", "body": answer.content})


@pytest.mark.parametrize("strips", [True, False])
def test_prefix_behind_a_proxy(open_house: Callable[..., House], strips: bool) -> None:
    """Everything that the venue publishes about itself leads back through the proxy."""
    base = "https://venue.example/venue"
    house = open_house(
        host="0.0.0.0", public_url=base, trusted_proxies=["127.0.0.1"], users={"auto_create": True}
    )
    transport = httpx.ASGITransport(Proxy(house.url, strips=strips))

    async def story() -> None:
        async with httpx.AsyncClient(transport=transport, base_url=base) as http:
            status = (await http.get(f"{base}/api/v1/status")).raise_for_status().json()
            assert (status["url"], status["did"]) == (base, house.did)
            document = (await http.get(f"{base}/.well-known/did.json")).json()
            assert document["service"][0]["serviceEndpoint"] == f"{base}/api/v1"
            assert (await http.get(f"{base}/openapi.json")).json()["servers"] == [{"url": base}]
            owner = house.owner()
            body = {"operation": "v/ops/hitl/request", "input": REQUEST}
            said = {**owner.headers(), "Origin": "https://venue.example"}
            posted = await http.post(f"{base}/api/v1/invoke", json=body, headers=said)
            assert posted.status_code == 201, posted.text
            where = httpx.URL(base).join(posted.headers["location"])
            seen = await http.get(where, headers=owner.headers())
            assert seen.json()["id"] == posted.json()["id"]
            lost = await http.get(f"{base}/api/v1/nothing")
            assert lost.json()["error"] == "Endpoint GET /api/v1/nothing not found"

    asyncio.run(story())


def test_forwarded_headers_of_anybody_change_nothing(raw: Raw, house: House) -> None:
    """Whoever is no trusted proxy does not shape what the venue says of itself."""
    forged = ("X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /evil")
    raw.request("GET", "/api/v1/status", *forged, "Forwarded: host=evil.example", "X-Request-Id: mine")
    answer = raw.answer()
    assert answer.json()["url"] == house.url
    assert answer.headers["x-request-id"] != "mine"


# Browsers of other origins.

LISTED, UNLISTED = "https://app.example", "https://evil.example"
PREFLIGHT = (
    "Access-Control-Request-Method: POST",
    "Access-Control-Request-Headers: content-type, authorization",
)


@pytest.fixture(scope="module")
def shared(open_house: Callable[..., House]) -> House:
    """A venue that lists one origin."""
    return open_house(cors_origins=[LISTED])


def test_listed_origin_may_ask_and_read(shared: House) -> None:
    """Preflight, call, and even a refusal; never with credentials of the browser's own."""
    owner = shared.owner()
    with Raw(shared.url) as raw:
        raw.request("OPTIONS", "/api/v1/run", f"Origin: {LISTED}", *PREFLIGHT)
        preflight = raw.answer()
        raw.request("POST", "/api/v1/run", f"Origin: {LISTED}", KIND, bearer(owner), body=LIST)
        call = raw.answer()
        raw.request("POST", "/api/v1/run", f"Origin: {LISTED}", "Content-Type: text/plain", body=b"x")
        wrong = raw.answer()
        raw.request("GET", "/api/v1/values/read?path=w/x", f"Origin: {LISTED}")
        nobody = raw.answer()
    answers = (preflight, call, wrong, nobody)
    assert [answer.status for answer in answers] == [200, 200, 415, 401]
    for answer in answers:
        assert answer.headers["access-control-allow-origin"] == LISTED
        assert answer.headers["vary"].startswith("Origin")
        assert "access-control-allow-credentials" not in answer.headers
    allowed = preflight.headers["access-control-allow-headers"].lower()
    assert {"x-covia-ucans", "idempotency-key"} <= {name.strip() for name in allowed.split(",")}
    assert "Retry-After" in call.headers["access-control-expose-headers"]


def test_unlisted_origin_may_neither_ask_nor_read(shared: House, house: House) -> None:
    """Its preflight and its calls are refused; what it may GET, its page cannot read."""
    for venue in (shared, house):
        owner = venue.owner()
        with Raw(venue.url) as raw:
            raw.request("OPTIONS", "/api/v1/run", f"Origin: {UNLISTED}", *PREFLIGHT)
            refused(preflight := raw.answer(), 403, "foreign_origin")
            raw.request("POST", "/api/v1/run", f"Origin: {UNLISTED}", KIND, bearer(owner), body=LIST)
            refused(call := raw.answer(), 403, "foreign_origin")
            raw.request("GET", "/api/v1/status", f"Origin: {UNLISTED}")
            seen = raw.answer()
        assert seen.status == 200
        for answer in (preflight, call, seen):
            assert "access-control-allow-origin" not in answer.headers


def test_every_answer_carries_the_headers_of_a_careful_server(raw: Raw) -> None:
    """A request id and the security headers, also on refusals."""
    ids = set()
    for target, host in (("/healthz", ""), ("/api/v1/nothing", ""), ("/healthz", "evil.example")):
        raw.request("GET", target, host=host)
        headers = raw.answer().headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        ids.add(headers["x-request-id"])
    assert len(ids) == 3
