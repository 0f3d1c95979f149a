"""Faults of who may answer, of lists, of grants and of limits that others have had (C7, C9, C11, C12).

Each test looks for the same kind of fault here; README.md beside it says which row it answers.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.routing import Mount

from ops.model import Caller, Kind
from tests.harness.books import Books
from tests.harness.kernel import ASKS, ECHO, Kernel, kernel
from tests.harness.site import no_web
from ucan.capability import Capability
from ucan.issue import issue
from ucan.keys import Ed25519Signer
from venue.app import create_app, open_database
from venue.config import Settings
from venue.didweb import fetch_public

from .test_settling import RESPOND, code_of

OPEN = {
    ("GET", path)
    for path in (
        *("/api/v1/status", "/api/v1/operations", "/api/v1/operations/{path}"),
        *("/api/v1/adapters/{name}/operations", "/api/v1/assets", "/healthz", "/readyz"),
        *("/.well-known/did.json", "/.well-known/mcp", "/.well-known/agent-card.json", "/u/{name}/did.json"),
    )
}
"""What anybody may ask for (D2)."""

LINK = ("POST", "/api/v1/link")
"""Here a one-time code is the credential (D35); tests/web/test_link.py is about it."""


def run(scenario: Callable[[Kernel], Awaitable[None]], folder: Path) -> None:
    """Play a scenario on a venue without HTTP."""

    async def bounded() -> None:
        async with asyncio.timeout(60), kernel(folder / "venue.db") as venue:
            await scenario(venue)

    asyncio.run(bounded())


def key(number: int) -> Ed25519Signer:
    """The key of one of the kernel's persons."""
    return Ed25519Signer.from_seed(bytes([number]) * 32)


def test_nobody_but_the_owner_settles_on_any_path(tmp_path: Path) -> None:
    """The requester, its owner, a delegate, the operator, a relayed credential and a stranger, by every verb
    that settles; the one exception is the requester's own cancel (rows 73, 75).
    """

    async def scenario(venue: Kernel) -> None:
        owner, asker = venue.person(1), venue.person(2)
        proof = issue(
            key(1),
            audience=asker.did,
            capabilities=[Capability("h/", "*")],
            expires=venue.now // 1000 + 600,
            now=venue.now // 1000,
            nonce="1",
        )
        asker = replace(asker, proofs=(proof,))
        request = await venue.ask(asker, user=owner.did)
        nobody = [
            asker,
            venue.agent(owner),
            venue.agent(asker),
            replace(owner, kind=Kind.RELAYED),
            Caller(venue.world.did, venue.world.did, Kind.OPERATOR),
            Caller("did:web:nobody.example", "did:web:nobody.example", Kind.ANONYMOUS),
        ]
        before = Books.of(venue.path).requests
        for caller in nobody:
            for outcome in ("answer", "reject"):
                assert await code_of(venue.respond(caller, request, outcome)) is not None
            for path in (f"h/{request}", f"{owner.did}/h/{request}"):
                call = venue.invoker.invoke("v/ops/covia/delete", {"path": path}, caller)
                if caller is not asker or path.startswith("did:"):
                    assert await code_of(call) is not None
                else:
                    assert (await call).output == {"deleted": False}
            if caller is not asker:
                assert await code_of(venue.desk.cancel(request, None, caller)) is not None
                assert await code_of(venue.desk.delete(request, caller)) is not None
        assert await code_of(venue.desk.cancel(request, None, owner)) == "not_found"
        assert Books.of(venue.path).requests == before

    run(scenario, tmp_path)


@pytest.mark.parametrize("forged", ["resolver", "responder", "by", "class", "user", "agent", "status"])
def test_who_answers_cannot_be_said_in_the_answer(tmp_path: Path, forged: str) -> None:
    """An answer with a field of that kind is no answer (row 74)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        request = await venue.ask(owner)
        forgery = {forged: venue.person(2).did}
        assert await code_of(venue.respond(owner, request, **forgery)) == "invalid_input"
        assert Books.of(venue.path).check()[request].status == "open"

    run(scenario, tmp_path)


def test_a_history_that_the_requester_brings_is_not_believed(tmp_path: Path) -> None:
    """What a post says of its own id, maker, status and answer is ignored (row 80)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        response = {"outcome": "answer", "answers": {"ok": True}, "grants": ECHO}
        claims: dict[str, Any] = {
            "id": "f" * 32,
            "from": owner.did,
            "status": "answered",
            "digest": "sha256:0",
        }
        request = await venue.ask(venue.agent(owner), **claims, response=response, resolver=owner.did)
        assert Books.of(venue.path).check()[request].status == "open"
        found = await venue.invoker.run("v/ops/covia/read", {"path": f"h/{request}"}, owner)
        record = found["value"]
        assert (record["id"], record["status"], record["from"]) == (request, "open", venue.agent(owner).did)
        assert not record.keys() & {"response", "resolver"}

    run(scenario, tmp_path)


@asynccontextmanager
async def served(folder: Path) -> Any:
    """The whole application, called without a socket."""
    settings = Settings(data=folder)
    signer = Ed25519Signer.from_seed(bytes(32))
    app = create_app(settings, db=open_database(folder / "venue.db"), signer=signer, fetch=no_web)
    transport = httpx.ASGITransport(app)
    async with (
        app.state.life.of(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8080") as http,
    ):
        yield app, http


def test_every_route_asks_who_calls(tmp_path: Path) -> None:
    """Each one that there is, taken from the application itself, but for what anybody may ask for; nothing is
    mounted beside them (rows 77, 86).
    """

    async def scenario() -> None:
        async with served(tmp_path) as (app, http):
            assert not [route for route in app.routes if isinstance(route, Mount)]
            asked = 0
            for path, verbs in app.openapi()["paths"].items():
                for verb in verbs:
                    if (verb.upper(), path) in {*OPEN, LINK} or path.startswith("/api/v1/values"):
                        continue
                    url = path.replace("{job_id}", "0" * 32)
                    assert "{" not in url
                    body = {"operation": "v/ops/hitl/list", "input": {}} if verb == "post" else None
                    answer = await http.request(verb, url, json=body)
                    assert (answer.status_code, answer.json()["code"]) == (401, "auth_required"), (verb, path)
                    asked += 1
            assert asked >= 10
            for verb in ("read", "list", "slice", "inspect", "count", "aggregate"):
                for place in ("w/x", "h", "j"):
                    answer = await http.get(f"/api/v1/values/{verb}", params={"path": place})
                    assert answer.status_code == 401, (verb, place)

    asyncio.run(scenario())


def test_the_oldest_that_waits_is_on_the_first_page(tmp_path: Path) -> None:
    """However much newer is settled: what waits is its own query, not a part of the history (row 103)."""

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        old = await venue.ask(owner, title="old")
        for _ in range(500):
            await venue.respond(owner, await venue.ask(owner), "reject")
        page = await venue.invoker.run("v/ops/hitl/list", {"status": "open", "limit": 1}, owner)
        assert [row["id"] for row in page["items"]] == [old]
        assert (page["count"], "cursor" in page) == (1, False)

    run(scenario, tmp_path)


def test_the_right_one_of_several_proofs_counts(tmp_path: Path) -> None:
    """A token of another venue beside it does no harm, and alone opens nothing (row 121)."""

    async def scenario(venue: Kernel) -> None:
        owner, asker = venue.person(1), venue.person(2)
        now = venue.now // 1000

        def delegated(signer: Ed25519Signer) -> str:
            return issue(
                signer,
                audience=asker.did,
                capabilities=[Capability(f"{owner.did}/h/", "hitl/request")],
                expires=now + 600,
                now=now,
                nonce="1",
            )

        foreign, right = delegated(Ed25519Signer.from_seed(b"v" * 32)), delegated(key(1))
        alone = replace(asker, proofs=(foreign,))
        assert await code_of(venue.ask(alone, user=owner.did)) == "denied"
        for proofs in ((foreign, right), (right, foreign)):
            await venue.ask(replace(asker, proofs=proofs), user=owner.did)
        assert len(Books.of(venue.path).check()) == 2

    run(scenario, tmp_path)


def test_a_revocation_takes_what_rests_on_it_and_survives_a_restart(tmp_path: Path) -> None:
    """The child is refused at the next call, and by the next process (row 129)."""

    async def scenario(venue: Kernel) -> tuple[Caller, str]:
        owner, friend, asker = venue.person(1), venue.person(2), venue.person(3)
        now = venue.now // 1000
        what = [Capability(f"{owner.did}/h/", "hitl/request")]
        said: dict[str, Any] = {"capabilities": what, "expires": now + 600, "now": now, "nonce": "1"}
        parent = issue(key(1), audience=friend.did, **said)
        child = issue(key(2), audience=asker.did, **said, proofs=[parent])
        caller = replace(asker, proofs=(child,))
        await venue.ask(caller, user=owner.did)
        await venue.invoker.invoke("v/ops/ucan/revoke", {"token": parent}, owner)
        assert await code_of(venue.ask(caller, user=owner.did)) == "denied"
        return caller, owner.did

    async def both() -> None:
        async with kernel(tmp_path / "venue.db") as venue:
            caller, owner = await scenario(venue)
        async with kernel(tmp_path / "venue.db") as venue:
            assert await code_of(venue.ask(caller, user=owner)) == "denied"

    asyncio.run(both())


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "[::1]", "127.1", "127.0.0.1", "10.0.0.1", "192.168.1.1", "[fe80::1]", "0.0.0.0"],
)
def test_nothing_is_fetched_from_this_machine_or_its_network(host: str) -> None:
    """The one thing that a venue fetches, a did:web document, comes from public addresses alone (row 132)."""
    with pytest.raises(ValueError, match="public address"):
        asyncio.run(fetch_public(f"https://{host}/.well-known/did.json"))


def test_a_name_that_leads_home_is_not_followed() -> None:
    """A public name for a private address, which is what a rebinding name is at the moment of the call."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        with pytest.raises(ValueError, match="public address"):
            asyncio.run(fetch_public(f"https://localhost:{listener.getsockname()[1]}/did.json"))
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.parametrize("how", ["open", "answered", "rejected", "expired", "cancelled"])
def test_what_was_withdrawn_confers_nothing(tmp_path: Path, how: str) -> None:
    """A cancel at each state: an open question goes with what it offered, a settled one is as it was (row
    136).
    """

    async def scenario(venue: Kernel) -> None:
        owner = venue.person(1)
        request = await venue.ask(owner, timeout=10)
        match how:
            case "answered":
                await venue.respond(owner, request, grants=ECHO)
            case "rejected":
                await venue.respond(owner, request, "reject")
            case "expired":
                venue.clock.advance(10_000)
            case "cancelled":
                await venue.desk.cancel(request, "first", owner)
        await venue.desk.cancel(request, "withdrawn", owner)
        answer = {"id": request, "outcome": "answer", "answers": {"ok": True}, "grants": ECHO}
        assert await code_of(venue.invoker.invoke(RESPOND, answer, owner)) in ("not_open", "expired")
        books = Books.of(venue.path)
        assert books.check()[request].status == {"open": "cancelled"}.get(how, how)
        assert len(books.mints) == (how == "answered")

    run(scenario, tmp_path)


def test_unknown_keys_of_an_offer_are_refused_and_not_ignored(tmp_path: Path) -> None:
    """A misspelt scope is no wider grant (row 125)."""

    async def scenario(venue: Kernel) -> None:
        for wrong in ({"wiht": "w/a"}, {"caps": []}, {"resource": "w/a"}, {"nbf": 1}, {"Exp": 1}):
            asks = [{**ASKS[0], "grants": [{**ECHO[0], **wrong}]}]
            assert await code_of(venue.ask(venue.person(1), asks=asks)) == "invalid_input"
        assert Books.of(venue.path).jobs == {}

    run(scenario, tmp_path)
