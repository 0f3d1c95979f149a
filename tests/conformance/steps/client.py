"""The reference client: `venue inbox show` and `venue inbox answer`, as processes of their own."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

from tests.conftest import ROOT

from ..errors import BadScenario
from ..replies import Reply, refused
from . import Act, step

_DID = re.compile(r"did:[a-z0-9]+:[A-Za-z0-9._%-]+(?::[A-Za-z0-9._%-]+)*")
_ESCAPE = "\x1b"


@step("client.render")
def render(act: Act, id: str) -> Reply:
    """What the card says: who verifiedly asks, what of the requester's own words stands there too, each
    choice with its grants, and whether markup was anything but text.
    """
    shown = _venue(act, "inbox", "show", id, "--json")
    if shown.returncode:
        return _refused(shown)
    found = json.loads(shown.stdout)
    card = _venue(act, "inbox", "show", id).stdout
    region = card[: card.index("what the requester wrote")]
    written = [*found["wrote"].values(), *(ask["prompt"] for ask in found["asks"])]
    claimed = [did for text in written for did in _DID.findall(text)]
    kept_out = [did for did in claimed if did not in region]
    choices = {name: choice for ask in found["asks"] for name, choice in ask["choices"].items()}
    return Reply(
        result={
            "verified_from": found["verified"]["from"]
            if found["verified"]["from"] in _unwrapped(region)
            else None,
            "verified_region_excludes": kept_out[0] if kept_out and kept_out == claimed else None,
            "executes_markup": _ESCAPE in card or not all(text in card for text in written),
            "choices": choices,
        }
    )


@step("client.answer")
def answer(act: Act, id: str, answers: Mapping[str, Any], capable_of_grants: bool) -> Reply:
    """Answer by the command line; a client that cannot show grants never says --echo."""
    if capable_of_grants:
        raise BadScenario("client.answer: which grants to echo is not said")
    values = [f"{name}={json.dumps(value)}" for name, value in answers.items()]
    done = _venue(
        act, "inbox", "answer", id, "--json", *(word for text in values for word in ("--set", text))
    )
    return _refused(done) if done.returncode else Reply(result=json.loads(done.stdout), settled=True)


def _venue(act: Act, *words: str) -> subprocess.CompletedProcess[str]:
    venue = act.stage.venue(act.who)
    clean = {key: value for key, value in os.environ.items() if not key.startswith("VENUE_")}
    with tempfile.TemporaryDirectory() as home:
        said = {
            "PYTHONPATH": str(ROOT),
            "XDG_CONFIG_HOME": home,
            "VENUE_URL": venue.url,
            "VENUE_TOKEN": str(act.stage.cast.bearer(act.who)),
        }
        command = [sys.executable, "-m", "venue", *words]
        return subprocess.run(command, env={**clean, **said}, capture_output=True, text=True, timeout=60)


def _refused(done: subprocess.CompletedProcess[str]) -> Reply:
    try:
        said = json.loads(done.stderr)
        return refused(str(said["code"]), str(said["error"]))
    except (ValueError, KeyError):
        return refused("unreadable", done.stderr)


def _unwrapped(region: str) -> str:
    return re.sub(r"\n +", "", region)
