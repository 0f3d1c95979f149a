"""Schemathesis against the published document, as a user, as an agent and as nobody, with all of its checks.

Its coverage phase tries every bound of every parameter, its fuzzing phase what it can think of, its stateful
phase what one answer leads to: no 5xx, nothing that the document does not say, nothing accepted that it
forbids.
"""

import copy
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import schemathesis
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema

from tests.harness.actors import Actor, new_signer
from tests.harness.clock import FrozenClock
from tests.harness.site import Site
from tests.harness.uvicorns import LoopThread, Served
from venue.app import OPERATIONS

ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409", "429"]
WAITS = "v/ops/hitl/request"
"""As `run` it waits for a person; tests/sdk has it. As `invoke` it is posted here like any other."""

BOUNDS = {
    "run": {
        f"v/ops/{name}"
        for name in ("hitl/respond", "hitl/block", "covia/list", "covia/inspect", "covia/copy")
    }
    | {f"v/ops/{name}" for name in ("ucan/issue", "ucan/verify", "agent/enrol", "user/create", "audit/read")},
    "invoke": {WAITS, "v/ops/covia/write"},
}
"""The inputs whose every bound is tried; the fuzzing phase has them all."""


@pytest.fixture(scope="module")
def clock() -> FrozenClock:
    """Stands still, so that no bearer ends while this runs."""
    return FrozenClock(datetime.now(UTC))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, clock: FrozenClock) -> Iterator[Served]:
    """A venue with the operations that ship, which counts no calls."""
    limits = {"requests_per_second": "none", "open_per_requester": 5}
    site = Site("schemathesis", tmp_path_factory.mktemp("http"), {"limits": limits})
    with LoopThread() as thread:
        venue = Served(thread, site.build(clock, operations=OPERATIONS))
        yield venue
        venue.leave().result(30)


@pytest.fixture(scope="module")
def document(served: Served) -> Any:
    """What the venue publishes about itself, to anybody."""
    return httpx.get(f"{served.url}/openapi.json").raise_for_status().json()


@pytest.fixture(scope="module")
def callers(served: Served, clock: FrozenClock) -> Iterator[Mapping[str, dict[str, str]]]:
    """The headers of a person who has something, of an agent that may do what agents may, and of nobody."""
    with httpx.Client(base_url=served.url) as http:
        user = Actor(http, served.app.state.world.did, signer=new_signer(), now=lambda: clock.seconds)
        user.run("v/ops/covia/write", {"path": "w/x", "value": {"a": [1, {"b": None}]}}).ok()
        user.ask()
        caps = [{"with": "", "can": "*"}]
        token = user.run("v/ops/agent/enrol", {"agentId": "all", "caps": caps}).ok()["token"]
        yield {"user": user.headers(), "agent": {"Authorization": f"Bearer {token}"}, "nobody": {}}


@pytest.mark.parametrize(
    ("who", "phases"),
    [
        ("user", ["coverage"]),
        ("user", ["fuzzing", "stateful"]),
        ("agent", ["fuzzing"]),
        ("nobody", ["fuzzing"]),
    ],
)
def test_every_check(
    served: Served, document: Any, callers: Mapping[str, dict[str, str]], who: str, phases: list[str]
) -> None:
    """No check of Schemathesis fails, and nothing keeps it from asking."""
    wanted = BOUNDS if phases == ["coverage"] else {"run": _every(document, "run") - {WAITS}}
    config = _config(served.url, callers[who], phases)
    schema = schemathesis.openapi.from_dict(_narrowed(document, wanted), config=config)
    failures: list[str] = []
    cases = 0
    for event in from_schema(schema).execute():
        assert not isinstance(event, events.FatalError | events.NonFatalError), event
        if isinstance(event, events.ScenarioFinished):
            cases += len(event.recorder.checks)
            failures += _failures(event.recorder)
    assert not failures, "\n".join(failures[:10])
    assert cases > 100


def _config(url: str, headers: Mapping[str, str], phases: list[str]) -> SchemathesisConfig:
    accepting = {"positive_data_acceptance": {"expected-statuses": [*ACCEPTED, "400"]}}
    return SchemathesisConfig.from_dict(
        {
            "seed": 20300603,
            "base-url": url,
            "headers": dict(headers),
            "request-timeout": 10,
            "max-stream-events": 1,
            "generation": {"max-examples": 6, "database": "none"},
            "phases": {
                name: {"enabled": name in phases} for name in ("examples", "coverage", "fuzzing", "stateful")
            },
            "checks": {
                "positive_data_acceptance": {"expected-statuses": ACCEPTED},
                "not_a_server_error": {"expected-statuses": ["2xx", "3xx", "4xx", "501"]},
            },
            "operations": [
                # The grammar of a path, and an operation's own rules, say more than a schema can.
                {"include-path-regex": "/(values/[a-z]+|invoke|run|jobs/{job_id})$", "checks": accepting},
                {
                    "include-path": "/.well-known/agent-card.json",
                    "checks": {"positive_data_acceptance": {"expected-statuses": ["501"]}},
                },
            ],
        }
    )


def _every(document: Any, verb: str) -> set[str]:
    """The operations whose bodies the document has for a route."""
    return {body["properties"]["operation"]["const"] for body in _bodies(document, verb)}


def _bodies(document: Any, verb: str) -> list[Any]:
    post = document["paths"][f"/api/v1/{verb}"]["post"]
    bodies: list[Any] = post["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    return bodies


def _narrowed(document: Any, wanted: Mapping[str, set[str]]) -> Any:
    """The document with only these operations' bodies for these routes."""
    narrowed = copy.deepcopy(document)
    for verb, operations in wanted.items():
        bodies = _bodies(narrowed, verb)
        bodies[:] = [body for body in bodies if body["properties"]["operation"]["const"] in operations]
    return narrowed


@schemathesis.hook("before_call")
def _impatient(context: Any, case: schemathesis.Case, kwargs: Any) -> None:
    """Every wait that is long is a millisecond."""
    if case.query and "wait" in case.query:
        case.query["wait"] = _short(case.query["wait"])
    if isinstance(case.body, dict) and case.body.get("wait") not in (None, False):
        case.body["wait"] = _short(case.body["wait"])


def _short(wait: Any) -> Any:
    if wait is True or (isinstance(wait, int) and wait > 1):
        return 1
    return "1" if isinstance(wait, str) and (wait == "true" or wait.isdigit()) else wait


def _failures(recorder: Any) -> list[str]:
    return [
        f"{check.name}: {recorder.cases[case].value.operation.label}: {check.failure_info.failure}"
        for case, checks in recorder.checks.items()
        for check in checks
        if check.failure_info is not None
    ]
