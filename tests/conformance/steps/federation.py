"""Calls that come through another venue, and calls made by hand. The runner is the relay: ours is none."""

from collections.abc import Mapping, Sequence
from typing import Any

from ucan.jwt import read

from ..errors import BadScenario
from ..replies import Reply, of_job, of_value
from . import Act, step
from .tokens import mint


@step("grid:invoke", proofs=True)
def grid_invoke(
    act: Act,
    venue: str,
    operation: str,
    input: Any = None,
    authenticateAs: str = "anonymous",  # noqa: N803 - the format's word
) -> Reply:
    """What a relay sends on: the caller's identity token as the bearer, the rest of the tokens as proofs."""
    if venue != act.stage.venue("venue").did:
        raise BadScenario("grid:invoke: only our own venue is called")
    if authenticateAs not in ("anonymous", "caller"):
        raise BadScenario(f"authenticateAs {authenticateAs!r} needs a relaying venue")
    identities = [token for token in act.ucans if read(token).claims.get("att") == []]
    bearer = identities[0] if authenticateAs == "caller" else None
    proofs = [token for token in act.ucans if token not in identities]
    return _invoked(act, bearer, proofs, operation, input)


@step("remote_request")
def remote_request(act: Act, to: str) -> Reply:
    """A person of another venue asks somebody here, with a delegation of theirs and an identity token."""
    name = act.who.partition("@")[0]
    target = next(one for one in ("bob", "carol", "frank") if act.stage.cast.did(one) == to)
    exp = act.stage.clock.seconds + 3_600
    caller = Act(act.stage, name)
    identity = mint(caller, aud=act.stage.venue("venue").did, att=[], exp=exp).result
    att = [{"with": f"{to}/h/", "can": "hitl/request"}]
    proof = mint(Act(act.stage, target), aud=act.stage.cast.did(name), att=att, exp=exp).result
    data = {"user": to, "title": "T", "asks": [{"id": "ok", "type": "approval", "prompt": "OK?"}]}
    return _invoked(act, identity, [proof], "v/ops/hitl/request", data)


@step("http.invoke")
def http_invoke(
    act: Act,
    bearer_of: str,
    ucans: Sequence[str],
    operation: str,
    input: Any,
) -> Reply:
    """A hand-made invoke: one principal's bearer, whatever else is in the envelope."""
    return _invoked(act, act.stage.cast.bearer(bearer_of), ucans, operation, input)


@step("http.job_get")
def http_job_get(act: Act, id: str, header: Mapping[str, str]) -> Reply:
    """A hand-made read of a job, with these headers and no bearer."""
    return of_value(act.stage.send_raw("GET", f"/api/v1/jobs/{id}", headers=header))


def _invoked(act: Act, bearer: str | None, ucans: Sequence[str], operation: str, data: Any) -> Reply:
    headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
    body = {"operation": operation, "input": data, "ucans": list(ucans)}
    return of_job(act.stage.send_raw("POST", "/api/v1/invoke", json=body, headers=headers))
