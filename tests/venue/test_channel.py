"""How an answer came in is recorded: by a page, by the command line, or by anything else (D28)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.served import Served
from ucan.jwt import read
from venue.version import CLI_AGENT, VERSION

CASES = {
    "a page": ({"Origin": "SAME"}, "web"),
    "a page that calls itself the command line": ({"Origin": "SAME", "User-Agent": f"{CLI_AGENT}/1"}, "web"),
    "the command line": ({"User-Agent": f"{CLI_AGENT}/{VERSION}"}, "cli"),
    "something with a longer name": ({"User-Agent": f"{CLI_AGENT}-evil/1"}, "api"),
    "anything else": ({}, "api"),
}


@pytest.fixture(scope="module")
def venue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A venue of its own."""
    data: Path = tmp_path_factory.mktemp("channel")
    with Served(data) as served:
        yield served


@pytest.mark.parametrize("case", CASES)
def test_the_receipt_and_the_audit_say_how_the_answer_came_in(venue: Served, case: str) -> None:
    """By the headers of the call, and nothing that the answer itself says."""
    headers, channel = CASES[case]
    headers = {name: venue.url if value == "SAME" else value for name, value in headers.items()}
    owner = venue.owner()
    job = owner.ask()
    body = {"operation": "v/ops/hitl/respond", "input": {"id": job, "outcome": "reject"}}
    owner.request("POST", "/api/v1/run", json=body, headers={**owner.headers(), **headers}).ok()
    receipt = owner.request("GET", f"/api/v1/jobs/{job}/receipt").ok()["receipt"]
    assert read(receipt).claims["channel"] == channel
    lines = owner.run("v/ops/audit/read", {}).ok()["items"]
    assert [line["says"]["channel"] for line in lines if line["says"].get("request") == job] == [channel]
