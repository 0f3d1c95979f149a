"""kill -9 between any two statements of a settle, and around its commit: all of it is there, or nothing.

For each kind of settle the same request is settled again and again, each time by a server that dies one
statement later, until one outlives its fault and is killed when it has answered. After each death the file is
read, and then served again. Blocks, revocations and what is issued or asked go the same way.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.actors import Actor
from tests.harness.books import Books, Story
from tests.harness.commands import inside
from tests.harness.faulty import Faulty
from tests.harness.store import Store
from tests.harness.town import ISSUE, REVOKE
from ucan.jwt import read
from ucan.keys import Ed25519Signer

from .clients import ASKS, OFFER, until

SIGNER, BOB, CARL = (Ed25519Signer.from_seed(bytes(range(first, first + 32))) for first in (1, 2, 3))
AGENT = f"{SIGNER.did}:g:helper"
SPEC = {"caps": [{"with": "w/reports", "can": "crud/read"}]}
TOKEN_ASKS = [{"id": "ok", "type": "token", "prompt": "Sign?", "token": SPEC}]
NARROW = "w/reports/q3"
MOST = 60
"""No settle runs more statements than this."""


@dataclass(frozen=True)
class Scene:
    """A data directory as every try finds it, and what was made there before: tokens, and a request."""

    data: Path
    agent: str
    request: str = ""
    signed: str = ""
    tokens: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cast:
    """The owner and the agent of a scene, at the server that runs now."""

    faulty: Faulty
    scene: Scene

    @property
    def owner(self) -> Actor:
        """Who decides."""
        return self.faulty.owner(SIGNER)

    @property
    def agent(self) -> Actor:
        """Who asked."""
        return self.faulty.agent(self.scene.agent)


Act = Callable[[Cast], object]


@dataclass(frozen=True)
class Kind:
    """A way to settle: its act, the statement that its unit of work opens with, and how the request ends.

    `gone` is what the act takes away with it, `granted` what its token opens.
    """

    act: Act
    opening: str
    status: str
    asks: Sequence[Any] = tuple(ASKS)
    timeout: int | None = None
    gone: str = ""
    granted: str = ""


def _answer(cast: Cast) -> object:
    return cast.owner.respond(cast.scene.request, answers={"ok": True}, grants=[OFFER]).ok()


def _narrow(cast: Cast) -> object:
    echo = {**OFFER, "narrow": {"with": NARROW}}
    return cast.owner.respond(cast.scene.request, answers={"ok": True}, grants=[echo]).ok()


def _sign(cast: Cast) -> object:
    return cast.owner.respond(cast.scene.request, answers={"ok": cast.scene.signed}).ok()


def _reject(cast: Cast) -> object:
    return cast.owner.respond(cast.scene.request, "reject", comment="no").ok()


def _cancel(cast: Cast) -> object:
    return cast.agent.cancel(cast.scene.request, reason="never mind").ok()


def _delete(cast: Cast) -> object:
    return cast.owner.run("v/ops/covia/delete", {"path": f"h/{cast.scene.request}"}).ok()


def _forget(cast: Cast) -> object:
    return cast.agent.request("PUT", f"/api/v1/jobs/{cast.scene.request}/delete").ok()


def _fire(cast: Cast) -> object:
    return cast.owner.run("v/ops/agent/revoke", {"agentId": "helper"}).ok()


def _look(cast: Cast) -> object:
    return cast.owner.record(cast.scene.request)


KINDS = {
    "answer": Kind(_answer, "request.get", "answered", granted=OFFER["with"].rstrip("/")),
    "narrowed": Kind(_narrow, "request.get", "answered", granted=NARROW),
    "sign": Kind(_sign, "request.get", "answered", asks=TOKEN_ASKS),
    "reject": Kind(_reject, "request.get", "rejected"),
    "cancel": Kind(_cancel, "agent.get", "cancelled"),
    "delete": Kind(_delete, "request.get", "rejected", gone="record"),
    "delete the job": Kind(_forget, "agent.get", "cancelled", gone="job"),
    "revoke the agent": Kind(_fire, "agent.revoke", "cancelled"),
    "expire": Kind(_look, "request.due", "expired", timeout=1),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_settle_is_there_whole_or_not_at_all(tmp_path: Path, name: str) -> None:
    """Each point of the unit of work once; only those after the commit leave the settle behind."""
    kind = KINDS[name]
    with Faulty() as faulty:
        scene = _set(faulty, tmp_path / "scene", kind)
        marks = []
        for point, data in _deaths(faulty, scene, kind.act, kind.opening):
            story = Books.of(data / "venue.db").check()[scene.request]
            settled = story.status != "open"
            marks.append(_mark(scene, data))
            assert settled == (marks[-1] is not None), (point, "something is left of a settle that was not")
            _check_carrier(scene, data, delivered=settled and kind.asks is TOKEN_ASKS)
            if settled:
                _check_end(kind, scene, story)
            _serve_again(faulty, scene, data, kind, settled=settled)
    _check_whole(marks)


def _set(faulty: Faulty, data: Path, kind: Kind) -> Scene:
    data.mkdir()
    assert faulty.serve(data)
    owner = faulty.owner(SIGNER)
    token = owner.run("v/ops/agent/enrol", {"agentId": "helper"}).ok()["token"]
    timeout = {} if kind.timeout is None else {"timeout": kind.timeout}
    request = faulty.agent(token).ask(asks=kind.asks, **timeout)
    expires = owner.record(request).get("expires")
    faulty.kill()
    until(expires)
    return Scene(data, token, request, owner.grant(AGENT, "w/reports", "crud/read"))


def _deaths(faulty: Faulty, scene: Scene, act: Act, opening: str) -> Iterator[tuple[int, Path]]:
    """Each point, and a copy of the scene as a server left it that was killed there in the act.

    The last one had answered before it was killed.
    """
    for point in range(MOST):
        data = scene.data.parent / str(point)
        shutil.copytree(scene.data, data)
        outlived = _outlives(faulty, scene, data, act, opening, point)
        yield point, data
        if outlived:
            return
    raise AssertionError("the unit of work does not end")


def _outlives(faulty: Faulty, scene: Scene, data: Path, act: Act, opening: str, point: int) -> bool:
    """Let a server act that dies at a point; True when it does not, because the point lies beyond."""
    if not faulty.serve(data, opening, point):
        return False
    try:
        act(Cast(faulty, scene))
    except httpx.TransportError:
        faulty.wait_for_death()
        return False
    faulty.kill()
    return True


def _mark(scene: Scene, data: Path) -> Mapping[str, int] | None:
    """What an act left: None is nothing at all; else how many rows each table has now."""
    before, after = (Store(folder / "venue.db").dump() for folder in (scene.data, data))
    return None if after == before else {table: len(rows) for table, rows in after.items()}


def _check_whole(marks: Sequence[Mapping[str, int] | None]) -> None:
    """Nothing is left before the commit; and what is committed is all that is there once it is answered."""
    *early, committed, answered = marks
    assert len(early) > 4, "the unit of work was not met"
    assert early == [None] * len(early)
    assert committed is not None, "answered, and not committed"
    assert committed == answered


def _check_carrier(scene: Scene, data: Path, *, delivered: bool) -> None:
    """A signed token stands in the output of the job that asked for it, and nowhere on the disk before."""
    carrier = f"{SIGNER.did}/j/{scene.request}/output/tokens/ok"
    assert Store(data / "venue.db").places_of(scene.signed) == ([carrier] if delivered else [])


def _check_end(kind: Kind, scene: Scene, story: Story) -> None:
    """The end that this act comes to, what it took away, and what it confers."""
    gone = {"record": story.deleted, "job": story.forgotten}
    assert (story.status, gone) == (kind.status, {what: what == kind.gone for what in gone})
    assert story.tokens == ({"ok": scene.signed} if kind.asks is TOKEN_ASKS else {})
    granted = [] if story.token is None else read(story.token).claims["att"]
    conferred = [f"{SIGNER.did}/{kind.granted}"] if kind.granted else []
    assert [entry["with"].rstrip("/") for entry in granted] == conferred


def _serve_again(faulty: Faulty, scene: Scene, data: Path, kind: Kind, *, settled: bool) -> None:
    """Start a sound server on what the crash left: an answer works if and only if nothing was settled."""
    assert faulty.serve(data)
    owner = faulty.owner(SIGNER)
    answers, grants = ({"ok": scene.signed}, []) if kind.asks is TOKEN_ASKS else ({"ok": True}, [OFFER])
    answer = owner.respond(scene.request, answers=answers, grants=grants)
    if kind.status == "expired":
        assert (answer.status, answer.code) == (409, "expired")
    elif settled:
        assert (answer.status, answer.code) == (
            (404, "not_found") if kind.gone == "record" else (409, "not_open")
        )
    else:
        assert answer.status == 200
    job = owner.job(scene.request)
    listed = owner.run("v/ops/hitl/list").ok()["items"]
    faulty.kill()
    stories = Books.of(data / "venue.db").check()
    story = stories[scene.request]
    assert len(stories) == 1
    assert story.status == (kind.status if settled or kind.status == "expired" else "answered")
    assert [item["status"] for item in listed] == ([] if story.deleted else [story.status])
    assert (job.status == 404) == story.forgotten
    output = {} if story.forgotten else job.ok().get("output", {})
    assert (output.get("token"), output.get("tokens", {})) == (story.token, story.tokens), json.dumps(output)


@dataclass(frozen=True)
class Change:
    """An act that settles nothing, the statement it opens with, and whether a venue shows it happened."""

    act: Act
    opening: str
    shows: Callable[[Cast], bool]


def _block(cast: Cast) -> object:
    return cast.owner.run("v/ops/hitl/block", {"requester": BOB.did}).ok()


def _is_blocked(cast: Cast) -> bool:
    """Who is blocked is listed, and does not come through; who is not, does."""
    bob, owner = cast.faulty.owner(BOB), cast.owner
    listed = [item["requester"] for item in owner.run("v/ops/hitl/blocked").ok()["items"]]
    asked = {"title": "T", "asks": ASKS, "user": owner.did}
    reply = bob.invoke("v/ops/hitl/request", asked, [owner.grant(bob.did, "h/", "hitl/request")])
    assert (reply.status, listed) in ((201, []), (403, [bob.did]))
    return reply.status == 403


def _revoke(cast: Cast) -> object:
    """The granting right, and with it what was issued on it."""
    maya = cast.faulty.agent(cast.scene.tokens["maya"])
    return maya.run(REVOKE, {"token": cast.scene.tokens["right"]}).ok()


def _is_revoked(cast: Cast) -> bool:
    """Neither opens anything any more, or both do."""
    tokens = cast.scene.tokens
    maya = tokens["maya did"]
    used = cast.faulty.owner(CARL).read(f"{maya}/w/x", [tokens["issued"]])
    passed_on = cast.faulty.owner(BOB).run(ISSUE, _grant(CARL.did, f"{maya}/w/x"), [tokens["right"]])
    assert (used.status, passed_on.status) in ((200, 200), (403, 403))
    return used.status == 403


def _issue(cast: Cast) -> object:
    return cast.owner.run(ISSUE, _grant(BOB.did, "w/reports")).ok()


def _is_issued(cast: Cast) -> bool:
    mints = cast.owner.run("v/ops/ucan/list").ok()["items"]
    assert len(mints) <= 1
    return bool(mints)


def _ask(cast: Cast) -> object:
    return cast.agent.ask(asks=ASKS)


def _is_asked(cast: Cast) -> bool:
    """The record is there, and can be answered."""
    requests = cast.owner.run("v/ops/hitl/list").ok()["items"]
    answers = [cast.owner.respond(one["id"], answers={"ok": True}).ok() for one in requests]
    assert len(answers) <= 1
    return bool(answers)


CHANGES = {
    "block": Change(_block, "block.insert", _is_blocked),
    "revoke": Change(_revoke, "mint.get", _is_revoked),
    "issue": Change(_issue, "mint.insert", _is_issued),
    "ask": Change(_ask, "request.open_by_maker", _is_asked),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_there_whole_or_not_at_all(tmp_path: Path, name: str) -> None:
    """The same of what settles nothing: the file says so in every table, and a sound server acts by it."""
    change = CHANGES[name]
    with Faulty() as faulty:
        scene = _prepare(faulty, tmp_path / "scene")
        marks = []
        for point, data in _deaths(faulty, scene, change.act, change.opening):
            Books.of(data / "venue.db").check()
            marks.append(_mark(scene, data))
            assert faulty.serve(data)
            assert change.shows(Cast(faulty, scene)) == (marks[-1] is not None), point
            faulty.kill()
            Books.of(data / "venue.db").check()
    _check_whole(marks)


def _prepare(faulty: Faulty, data: Path) -> Scene:
    """An owner with an agent; Bob; and Maya, whom the venue manages and on whose right Bob gave something."""
    data.mkdir()
    maya = inside("user", "add", "maya", data=data).ok()
    signin = inside("user", "signin", "maya", data=data).ok()
    assert faulty.serve(data)
    agent = faulty.owner(SIGNER).run("v/ops/agent/enrol", {"agentId": "helper"}).ok()["token"]
    right = faulty.agent(signin).run(ISSUE, _grant(BOB.did, "w", "grant/crud/read", 7200)).ok()["token"]
    issued = faulty.owner(BOB).run(ISSUE, _grant(CARL.did, f"{maya}/w/x"), [right]).ok()["token"]
    faulty.owner(CARL).read(f"{maya}/w/x", [issued]).ok()
    faulty.kill()
    return Scene(data, agent, tokens={"maya": signin, "maya did": maya, "right": right, "issued": issued})


def _grant(audience: str, path: str, can: str = "crud/read", lifetime: int = 3600) -> dict[str, Any]:
    return {"aud": audience, "att": [{"with": path, "can": can}], "exp": int(time.time()) + lifetime}
