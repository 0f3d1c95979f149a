"""`venue demo` ends well, and fails as soon as one answer of the server is not what the story says."""

import io
import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from rich.console import Console

from inbox.clock import system_clock
from ucan.jwt import _encode, read
from venue.demo.stage import DemoFailed
from venue.demo.story import run

Edit = Callable[[httpx.Request, Any], Any]
_DEMO = [sys.executable, "-m", "venue", "demo"]


class Editing(httpx.BaseTransport):
    """The real transport, with an edit applied to the JSON of every answer, frames of streams included."""

    def __init__(self, edit: Edit) -> None:
        self._inner = httpx.HTTPTransport()
        self._edit = edit
        self.edited = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request on, and hand back the answer as edited."""
        answer, before = self._inner.handle_request(request), self.edited
        text = answer.read().decode()
        if answer.headers["content-type"].startswith("text/event-stream"):
            lines = (self._frame(request, line) for line in text.split("\n"))
            content = "\n".join(lines)
        else:
            content = self._said(request, text)
        opened = self.edited > before and answer.status_code == 403
        headers = {"content-type": answer.headers["content-type"]}
        return httpx.Response(200 if opened else answer.status_code, headers=headers, text=content)

    def close(self) -> None:
        """Let go of the connections."""
        self._inner.close()

    def _said(self, request: httpx.Request, text: str) -> str:
        said = json.loads(text)
        edited = self._edit(request, json.loads(text))
        self.edited += said != edited
        return json.dumps(edited)

    def _frame(self, request: httpx.Request, line: str) -> str:
        field, _, said = line.partition("data: ")
        return f"data: {self._said(request, said)}" if said and not field else line


def _same(_: httpx.Request, said: Any) -> Any:
    return said


def _output(change: Callable[[dict[str, Any]], object]) -> Edit:
    def edit(_: httpx.Request, said: Any) -> Any:
        if isinstance(said, dict) and "token" in (said.get("output") or {}):
            change(said["output"])
        return said

    return edit


def _claims(**other: Any) -> Edit:
    """Change what the minted token says; the story decodes it as anybody would."""

    def change(output: dict[str, Any]) -> None:
        head, _, signature = output["token"].split(".")
        output["token"] = ".".join(
            (head, _encode({**read(output["token"]).claims, **other}).decode(), signature)
        )

    return _output(change)


def _replaced(key: str, old: Any, new: Any) -> Edit:
    def edit(_: httpx.Request, said: Any) -> Any:
        return {**said, key: new} if isinstance(said, dict) and said.get(key) == old else said

    return edit


def _opened(path: str, value: Any) -> Edit:
    """Let a door that stays shut open, or a read that gives a value give another."""

    def edit(request: httpx.Request, said: Any) -> Any:
        wanted = request.url.params.get("path", "").endswith(path)
        return {"exists": True, "value": value, "valueBytes": 9} if wanted else said

    return edit


def _after_the_crash(_: httpx.Request, said: Any) -> Any:
    """The finished job reads otherwise over `GET jobs/{id}`; its stream is left alone."""
    finished = (
        isinstance(said, dict) and said.get("status") == "COMPLETE" and "token" in said.get("output", {})
    )
    return {**said, "updated": said["updated"] + 1} if finished and "/sse" not in str(_.url) else said


def _record_from_somebody_else(_: httpx.Request, said: Any) -> Any:
    if isinstance(said, dict) and isinstance(said.get("value"), dict) and "from" in said["value"]:
        said["value"]["from"] = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
    return said


EDITS: dict[str, tuple[Edit, str]] = {
    "the token is missing": (_output(lambda output: output.pop("token")), "carries a token"),
    "the token says more": (
        _claims(att=[{"with": "did:web:x/w", "can": "crud/read"}]),
        "exactly what was offered",
    ),
    "the token is for another": (_claims(aud="did:web:x"), "for the agent and nobody else"),
    "the answer is another": (
        _output(lambda output: output["answers"].update(access=False)),
        "the answer is yes",
    ),
    "the agent reads too early": (_opened("w/reports/q3", {}), "cannot read the report yet"),
    "the door beside opens": (_opened("w/private/plan", "not for agents"), "the door beside it stays shut"),
    "the inbox shows another count": (_replaced("count", 1, 2), "one request waits"),
    "somebody else asks": (_record_from_somebody_else, "who really asks"),
    "the reason is another": (
        _replaced("error", "HITL request rejected: Not before Monday.", "HITL request rejected"),
        "the reason arrives word for word",
    ),
    "a rejection cancels": (_replaced("status", "FAILED", "CANCELLED"), "a rejection fails the job"),
    "an expiry is a rejection": (
        _replaced("error", "HITL request expired", "HITL request rejected"),
        "an expiry is not a rejection",
    ),
    "the crash changed something": (_after_the_crash, "reads as before the crash"),
}


@pytest.mark.parametrize("wrong", EDITS)
def test_demo_fails_when_an_answer_is_edited(wrong: str) -> None:
    """One answer is not as told, and the story stops there and says which."""
    edit, expected = EDITS[wrong]
    transport = Editing(edit)
    with pytest.raises(DemoFailed) as failed:
        run(Console(file=io.StringIO()), system_clock, transport=transport)
    assert expected in str(failed.value)
    assert transport.edited > 0


def test_demo_ends_well_when_nothing_is_edited() -> None:
    """The same transport without an edit: the refusals above are due to the edits."""
    told = io.StringIO()
    run(Console(file=told), system_clock, transport=Editing(_same))
    assert "The end." in told.getvalue()


def test_demo_ends_with_status_0_as_a_process() -> None:
    """As in the README: it ends by itself, tells every step, and prints no whole token."""
    done = subprocess.run(_DEMO, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    steps = [int(number) for number in re.findall(r"^ ?(\d+)\. ", done.stdout, re.MULTILINE)]
    assert steps == list(range(1, len(steps) + 1))
    for shown in ("hitl:request is given", "hitl:list answers", "the token, decoded", "HITL request expired"):
        assert shown in done.stdout
    assert re.search(r"eyJ[\w-]+\.eyJ[\w-]+\.[\w-]{20}", done.stdout.replace("\n", "")) is None


def test_demo_stays_until_it_is_interrupted() -> None:
    """`--stay`: the venue still answers at the end, and Ctrl-C ends both with status 0."""
    child = subprocess.Popen([*_DEMO, "--stay"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        url = next(m[1] for line in child.stdout if (m := re.search(r"still serves at (http://\S+);", line)))
        assert httpx.get(f"{url}/healthz").json() == {"status": "ok"}
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        rest, complaints = child.communicate(timeout=30)
    finally:
        child.kill()
        child.communicate()
    assert (child.returncode, complaints) == (0, "")
    assert "The server was stopped." in rest
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/healthz")
