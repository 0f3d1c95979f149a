"""`venue serve` as a process: what it refuses to start with, its streams and waits, and how it stops."""

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.actors import Actor
from tests.harness.served import Served

pytestmark = pytest.mark.timeout(60)

REQUEST = {"title": "T", "asks": [{"id": "ok", "type": "approval", "prompt": "OK?"}]}
ASK = "v/ops/hitl/request"
STOPPED = (0, -signal.SIGTERM)
"""How a server that was asked to stop ends: by itself, or by the signal once everything is put away."""

HEARTBEAT = 5.0
"""How often a stream says that it is still there, in seconds."""


@pytest.fixture(scope="module")
def venue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A venue that lets a caller have three streams."""
    environ = {"VENUE_LIMITS__STREAMS": "3"}
    with Served(tmp_path_factory.mktemp("serve") / "data", environ=environ) as served:
        yield served


def refused(data: Path, *options: str, environ: dict[str, str] | None = None) -> tuple[int, str]:
    """The status and the complaint of a server that does not start."""
    command = [sys.executable, "-m", "venue", "serve", "--data", str(data), "--port", "0", *options]
    env = {**os.environ, **(environ or {})}
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, env=env)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def frames(text: str) -> list[dict[str, Any]]:
    """The records in the text of a stream."""
    return [json.loads(line.removeprefix("data: ")) for line in text.split("\n") if line.startswith("data: ")]


# Starting.


def test_the_data_directory_is_its_owners_alone(venue: Served) -> None:
    """Directory 0700, key 0600; the key is nowhere in the log."""
    assert stat.S_IMODE((venue.data / "venue.key").stat().st_mode) == 0o600
    assert "PRIVATE" not in venue.log
    assert venue.http.get("/readyz").json() == {"status": "ready"}


def test_a_new_data_directory_is_made_for_its_owner(tmp_path: Path) -> None:
    """Nobody else may look into it, where it was not there before."""
    data = tmp_path / "new" / "data"
    assert refused(data, environ={"VENUE_HOST": "192.0.2.1", "VENUE_INSECURE_HTTP": "true"})[0] == 2
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_a_second_server_on_the_same_data_is_refused(venue: Served) -> None:
    """Two processes on one SQLite file would be two venues; the first goes on (D29)."""
    status, said = refused(venue.data)
    assert (status, "another process" in said) == (2, True)
    assert venue.owner().run("v/ops/hitl/list").status == 200


def test_a_database_of_another_venue_is_refused(tmp_path: Path) -> None:
    """The identity is fixed when a venue is created (D1); with its own key the same database starts."""
    one, two = tmp_path / "one", tmp_path / "two"
    with Served(one) as first:
        did = first.did
        person = first.owner()
        person.run("v/ops/covia/write", {"path": "w/x", "value": 1}).ok()
        assert first.stop() in STOPPED
    with Served(two) as second:
        assert second.did != did
        assert second.stop() in STOPPED
    before = (two / "venue.key").read_bytes()
    for file in one.glob("venue.db*"):
        shutil.copy(file, two / file.name)
    status, said = refused(two)
    assert (status, did in said) == (1, True)
    assert (two / "venue.key").read_bytes() == before
    shutil.copy(one / "venue.key", two / "venue.key")
    with Served(two) as moved:
        assert moved.did == did
        assert moved.owner(person.signer).read("w/x").ok()["value"] == 1


def test_a_changed_public_url_is_refused(tmp_path: Path) -> None:
    """It would change the venue's DID; where the DID stays, it may change (D1)."""
    public = {"VENUE_PUBLIC_URL": "https://venue.example"}
    with Served(tmp_path, environ=public) as venue:
        assert venue.did == "did:web:venue.example"
        assert venue.stop() in STOPPED
    for other in (
        {},
        {"VENUE_PUBLIC_URL": "https://other.example"},
        {"VENUE_PUBLIC_URL": "https://venue.example:8443"},
    ):
        assert refused(tmp_path, environ=other)[0] == 1
    for same in (public, {"VENUE_PUBLIC_URL": "https://VENUE.example/"}):
        with Served(tmp_path, environ=same) as venue:
            assert venue.did == "did:web:venue.example"
            assert venue.stop() in STOPPED


@pytest.mark.parametrize(
    ("options", "environ"),
    [
        (["--host", "0.0.0.0"], {}),
        ([], {"VENUE_NAM": "x"}),
        ([], {"VENUE_LIMITS__TITLE": "0"}),
        (["--config", "/none.toml"], {}),
        ([], {"VENUE_PUBLIC_URL": "http://venue.example"}),
        (["--port", "65536"], {}),
        (["--host", "no such host"], {"VENUE_INSECURE_HTTP": "true"}),
    ],
)
def test_settings_that_are_wrong_are_status_2(
    tmp_path: Path, options: list[str], environ: dict[str, str]
) -> None:
    """A sentence, no traceback, and nothing was made."""
    assert refused(tmp_path, *options, environ=environ)[0] == 2
    assert not (tmp_path / "venue.db").exists()


def test_a_port_that_is_taken_is_status_2(tmp_path: Path) -> None:
    """Somebody else listens there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert refused(tmp_path, "--port", str(taken.getsockname()[1]))[0] == 2


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """Whatever lies there is left as it is."""
    (tmp_path / "venue.db").write_bytes(b"not a database, but long enough to be looked at" * 100)
    assert refused(tmp_path)[0] == 1
    assert (tmp_path / "venue.db").read_bytes().startswith(b"not a database")


# Waiting.


@pytest.mark.parametrize("wait", [True, 30_000, "true", "30000", 10**12])
def test_a_wait_ends_with_the_answer(venue: Served, wait: Any) -> None:
    """200 with the finished job."""
    person = venue.owner()
    reply = _meanwhile(
        venue, person, wait=wait, then=lambda job: person.respond(job, answers={"ok": True}).ok()
    )
    assert (reply.status_code, reply.json()["status"]) == (200, "COMPLETE")


def test_a_wait_for_a_rejection_is_201(venue: Served) -> None:
    """Only completion is 200 (`wire.md` 2.3); the query overrides the body."""
    person = venue.owner()
    reply = _meanwhile(
        venue, person, wait=0, query="?wait=true", then=lambda job: person.respond(job, "reject").ok()
    )
    assert (reply.status_code, reply.json()["status"]) == (201, "FAILED")


@pytest.mark.parametrize(
    ("wait", "query"), [(1, ""), (True, "?wait=1"), (True, "?wait=false"), (None, "?wait=0")]
)
def test_a_wait_that_is_over_is_201_with_the_job_as_it_is(venue: Served, wait: Any, query: str) -> None:
    """The request stays open and can still be answered."""
    person = venue.owner()
    body = {"operation": ASK, "input": REQUEST, "wait": wait}
    reply = person.request("POST", f"/api/v1/invoke{query}", json=body)
    assert (reply.status, reply.body["status"]) == (201, "INPUT_REQUIRED")
    person.respond(reply.body["id"], answers={"ok": True}).ok()


def _meanwhile(
    venue: Served, person: Actor, *, wait: Any, query: str = "", then: Callable[[str], Any]
) -> httpx.Response:
    body = {"operation": ASK, "input": REQUEST, "wait": wait}
    with ThreadPoolExecutor(1) as pool:
        headers = person.headers()
        waiting = pool.submit(
            httpx.post, f"{venue.url}/api/v1/invoke{query}", json=body, headers=headers, timeout=30
        )
        items: list[Any] = []
        while not items and not waiting.done():
            items = person.run("v/ops/hitl/list", {"status": "open"}).ok()["items"]
        then(items[0]["id"])
        return waiting.result(timeout=30)


# Streams.


def test_a_stream_is_frames_with_line_feeds_only(venue: Served) -> None:
    """The current record first, the finished one last, then it closes; the headers are the wire's (1.4)."""
    person = venue.owner()
    job_id = person.ask(description="a\r\nb\u2028c\u2029d\x85e\x0bf")
    with venue.http.stream("GET", f"/api/v1/jobs/{job_id}/sse", headers=person.headers()) as stream:
        assert stream.headers["content-type"].split(";")[0] == "text/event-stream"
        assert (stream.headers["cache-control"], stream.headers["x-accel-buffering"]) == ("no-cache", "no")
        raw = stream.iter_raw()
        first = next(raw)
        person.respond(job_id, answers={"ok": True}).ok()
        text = (first + b"".join(raw)).decode()
    assert "\r" not in text
    events = [
        event.split("\n") for event in text.removesuffix("\n\n").split("\n\n") if not event.startswith(":")
    ]
    assert [[line.partition(": ")[0] for line in event] for event in events] == [["event", "data"]] * 2
    assert {event[0] for event in events} == {"event: job-update"}
    assert [len(line.splitlines()) for event in events for line in event] == [1] * 4
    seen = frames(text)
    assert [job["status"] for job in seen] == ["INPUT_REQUIRED", "COMPLETE"]
    assert seen[-1] == person.job(job_id).ok()


@pytest.mark.parametrize(
    "accept", ["text/event-stream", "*/*", "text/*", "application/json, text/event-stream;q=0.5"]
)
def test_a_stream_may_be_asked_for_in_each_way(venue: Served, accept: str) -> None:
    """What the clients send."""
    person = venue.owner()
    job_id = person.ask()
    person.cancel(job_id).ok()
    headers = {**person.headers(), "Accept": accept}
    assert len(frames(venue.http.get(f"/api/v1/jobs/{job_id}/sse", headers=headers).text)) == 1


def test_a_stream_beats_and_ends_with_its_bearer(venue: Served) -> None:
    """A comment while nothing happens; no more once the bearer expired, or the agent was revoked (D25)."""
    person = venue.owner()
    agent = venue.agent(person)
    short, revoked = person.ask(), agent.ask()
    start = time.monotonic()
    with ThreadPoolExecutor(3) as pool:
        expiring = {"Authorization": "Bearer " + person.bearer(exp=int(time.time()) + 3)}
        texts = [
            pool.submit(_until_it_ends, venue, short, expiring, None),
            pool.submit(_until_it_ends, venue, revoked, agent.headers(), None),
            pool.submit(_until_it_ends, venue, short, person.headers(), ": "),
        ]
        while not (agent.job(revoked).status == 200 and _streams(venue, agent, revoked)):
            pass
        person.run("v/ops/agent/revoke", {"agentId": "helper"}).ok()
        expired, gone, alive = (text.result(timeout=20) for text in texts)
    assert time.monotonic() - start < 3 * HEARTBEAT
    assert [len(frames(text)) for text in (expired, gone, alive)] == [1, 1, 1]
    assert alive.count("\n: ") == 1
    person.respond(short, "reject").ok()
    assert venue.http.get(f"/api/v1/jobs/{short}/sse", headers=expiring).json()["code"] == "unauthorised"


def _until_it_ends(venue: Served, job_id: str, headers: dict[str, str], stop: str | None) -> str:
    """The text of a stream to its end, or to a line that begins with `stop`."""
    text = ""
    with (
        httpx.Client(base_url=venue.url, timeout=30) as http,
        http.stream("GET", f"/api/v1/jobs/{job_id}/sse", headers=headers) as stream,
    ):
        for line in stream.iter_lines():
            text += line + "\n"
            if stop is not None and line.startswith(stop):
                break
    return text


def _streams(venue: Served, agent: Actor, job_id: str) -> bool:
    """Whether the agent's first stream is open: then three more are one too many."""
    with httpx.Client(base_url=venue.url, timeout=30) as http:
        two = [http.stream("GET", f"/api/v1/jobs/{job_id}/sse", headers=agent.headers()) for _ in range(3)]
        opened = [stream.__enter__() for stream in two]
        full = any(stream.status_code == 429 for stream in opened)
        for stream in two:
            stream.__exit__(None, None, None)
    return full


def test_a_caller_has_only_so_many_streams(venue: Served) -> None:
    """The one too many is 429 and says when to come back; one that ended makes room (D22)."""
    person, other = venue.owner(), venue.owner()
    job_id = person.ask()
    path = f"/api/v1/jobs/{job_id}/sse"
    with httpx.Client(base_url=venue.url, timeout=30) as http:
        streams = [http.stream("GET", path, headers=person.headers()) for _ in range(3)]
        chunks = [stream.__enter__().iter_raw() for stream in streams]
        assert all(next(chunk) for chunk in chunks)
        over = person.request("GET", path)
        assert (over.status, over.code) == (429, "too_many_streams")
        assert int(over.headers["retry-after"]) > 0
        theirs = other.ask()
        other.cancel(theirs).ok()
        assert other.request("GET", f"/api/v1/jobs/{theirs}/sse").status == 200
        person.respond(job_id, "reject").ok()
        for stream in streams:
            stream.__exit__(None, None, None)
    # The server hears of an end a moment after the client: it is asked until it has, within bounds.
    tries = (person.request("GET", path).status for _ in range(1_000))
    assert next((status for status in tries if status == 200), None) == 200


# Stopping.


def test_a_stop_lets_everybody_go_within_five_seconds(tmp_path: Path) -> None:
    """Open streams end, an invoke that waits gets its job as it is, a run is told to come back (D31)."""
    with Served(tmp_path) as venue:
        person = venue.owner()
        job_id, headers = person.ask(), person.headers()
        body = {"operation": ASK, "input": REQUEST, "wait": True}
        with ThreadPoolExecutor(6) as pool:
            streams = [pool.submit(_until_it_ends, venue, job_id, person.headers(), None) for _ in range(4)]
            invoked = pool.submit(
                httpx.post, f"{venue.url}/api/v1/invoke", json=body, headers=headers, timeout=60
            )
            ran = pool.submit(httpx.post, f"{venue.url}/api/v1/run", json=body, headers=headers, timeout=60)
            while person.run("v/ops/hitl/list").ok()["count"] < 3:
                pass
            start = time.monotonic()
            status = venue.stop()
            took = time.monotonic() - start
            texts = [stream.result(timeout=10) for stream in streams]
            waited, told = invoked.result(timeout=10), ran.result(timeout=10)
        assert (status in STOPPED, took < 5) == (True, True)
        assert [len(frames(text)) for text in texts] == [1] * 4
        assert (waited.status_code, waited.json()["status"]) == (201, "INPUT_REQUIRED")
        assert (told.status_code, told.json()["code"]) == (503, "shutting_down")
        assert told.headers["retry-after"]
        venue.start()
        again = venue.owner(person.signer)
        assert again.run("v/ops/hitl/list", {"status": "open"}).ok()["count"] == 3
        assert again.respond(job_id, answers={"ok": True}).ok()["status"] == "answered"
