"""kill -9 between any two statements of a settle, and around its commit: all of it is there, or nothing.

For each kind of settle the same request is settled again and again, each time by a server that dies one
statement later, until one outlives its fault. After each death the file is read, and then served again.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.harness.actors import Actor
from tests.harness.books import Books, dump
from tests.harness.faulty import Faulty
from ucan.keys import Ed25519Signer

from .clients import ASKS, OFFER, until

SIGNER = Ed25519Signer.from_seed(bytes(range(1, 33)))
MOST = 60
"""No settle runs more statements than this."""


@dataclass(frozen=True)
class Kind:
    """A way to settle: its act, the statement that its unit of work opens with, and how the request ends."""

    act: Callable[[Actor, Actor, str], object]
    opening: str
    status: str
    gone: bool = False


def _answer(owner: Actor, _: Actor, request: str) -> object:
    return owner.respond(request, answers={"ok": True}, grants=[OFFER]).ok()


def _reject(owner: Actor, _: Actor, request: str) -> object:
    return owner.respond(request, "reject", comment="no").ok()


def _cancel(_: Actor, agent: Actor, request: str) -> object:
    return agent.cancel(request, reason="never mind").ok()


def _delete(owner: Actor, _: Actor, request: str) -> object:
    return owner.run("v/ops/covia/delete", {"path": f"h/{request}"}).ok()


def _look(owner: Actor, _: Actor, request: str) -> object:
    return owner.record(request)


KINDS = {
    "answer": Kind(_answer, "request.get", "answered"),
    "reject": Kind(_reject, "request.get", "rejected"),
    "cancel": Kind(_cancel, "agent.get", "cancelled"),
    "delete": Kind(_delete, "request.get", "rejected", gone=True),
    "expire": Kind(_look, "request.due", "expired"),
}


@dataclass(frozen=True)
class Scene:
    """A data directory with one open request in it, as every try finds it."""

    data: Path
    token: str
    request: str


@pytest.mark.parametrize("name", KINDS)
def test_a_settle_is_there_whole_or_not_at_all(tmp_path: Path, name: str) -> None:
    """Each point of the unit of work once; only the point after the commit leaves the settle behind."""
    kind = KINDS[name]
    with Faulty() as faulty:
        scene = _set(faulty, tmp_path / "scene", timed=name == "expire")
        before = dump(scene.data / "venue.db")
        settled = []
        for point in range(MOST):
            data = tmp_path / str(point)
            shutil.copytree(scene.data, data)
            if _outlives(faulty, scene, data, kind, point):
                break
            story = Books.of(data / "venue.db").check()[scene.request]
            settled.append(story.status != "open")
            assert story.status in ("open", kind.status), point
            assert story.deleted == (kind.gone and settled[-1]), point
            if not settled[-1]:
                assert dump(data / "venue.db") == before, (
                    point,
                    "something was left of a settle that was not",
                )
            _serve_again(faulty, scene, data, kind, settled=settled[-1])
    assert len(settled) > 10, "the unit of work was not met"
    assert settled == [False] * (len(settled) - 1) + [True]


def _set(faulty: Faulty, data: Path, *, timed: bool) -> Scene:
    data.mkdir()
    assert faulty.serve(data)
    owner = faulty.owner(SIGNER)
    token = owner.run("v/ops/agent/enrol", {"agentId": "helper"}).ok()["token"]
    timeout = {"timeout": 1} if timed else {}
    request = faulty.agent(token).ask(asks=ASKS, **timeout)
    expires = owner.record(request).get("expires")
    faulty.kill()
    until(expires)
    return Scene(data, token, request)


def _outlives(faulty: Faulty, scene: Scene, data: Path, kind: Kind, point: int) -> bool:
    """Let a server settle that dies at a point; True when it does not, because the point lies beyond."""
    if not faulty.serve(data, kind.opening, point):
        return False
    try:
        kind.act(faulty.owner(SIGNER), faulty.agent(scene.token), scene.request)
    except httpx.TransportError:
        faulty.wait_for_death()
        return False
    faulty.kill()
    return True


def _serve_again(faulty: Faulty, scene: Scene, data: Path, kind: Kind, *, settled: bool) -> None:
    """Start a sound server on what the crash left: an answer works if and only if nothing was settled."""
    assert faulty.serve(data)
    owner, agent = faulty.owner(SIGNER), faulty.agent(scene.token)
    answer = owner.respond(scene.request, answers={"ok": True}, grants=[OFFER])
    if kind.status == "expired":
        assert (answer.status, answer.code) == (409, "expired")
    elif settled:
        assert (answer.status, answer.code) == ((404, "not_found") if kind.gone else (409, "not_open"))
    else:
        assert answer.status == 200
    job = agent.job(scene.request).ok()
    listed = owner.run("v/ops/hitl/list").ok()["items"]
    faulty.kill()
    stories = Books.of(data / "venue.db").check()
    story = stories[scene.request]
    assert len(stories) == 1
    assert story.status == (kind.status if settled or kind.status == "expired" else "answered")
    assert [item["status"] for item in listed] == ([] if story.deleted else [story.status])
    assert job.get("output", {}).get("token") == story.token, json.dumps(job)
