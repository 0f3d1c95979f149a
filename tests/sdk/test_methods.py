"""Each public method of the SDK that `wire.md` calls needed, with both of its clients, on its own models.

The two clients have the same methods; one story drives them both, and awaits where there is need.
"""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import pytest
from covia import Ed25519Auth, Grid, GridError, JobNotFoundError, JobStatus, grant
from covia.async_api import AsyncGrid
from covia.models import (
    JobData,
    MCPDiscovery,
    OperationInfo,
    UCANIssueResult,
    UCANVerifyResult,
    VenueStatus,
    WorkspaceAggregateResult,
    WorkspaceAppendResult,
    WorkspaceCopyResult,
    WorkspaceCountResult,
    WorkspaceDeleteResult,
    WorkspaceInspectResult,
    WorkspaceListResult,
    WorkspaceReadResult,
    WorkspaceSliceResult,
    WorkspaceWriteResult,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from httpx_sse import SSEError

from tests.harness.served import Served

ASK = {"id": "ok", "type": "approval", "prompt": "OK?"}
REQUEST = {"title": "May I?", "asks": [ASK]}
Story = Callable[[Any, Served, Any], Awaitable[None]]


async def got(result: Any) -> Any:
    """What a call gives, awaited if it has to be."""
    return await result if inspect.isawaitable(result) else result


async def each(stream: Any) -> AsyncIterator[Any]:
    """The events of a stream of either client."""
    if isinstance(stream, Iterator):
        for event in stream:
            yield event
    else:
        async for event in stream:
            yield event


async def fails(call: Callable[[], Any], status: int, kind: type[Exception] = GridError) -> None:
    """The call raises the SDK's own error."""
    with pytest.raises(kind) as error:
        await got(call())
    assert getattr(error.value, "status_code", status) == status


@pytest.fixture(params=[Grid, AsyncGrid], ids=["sync", "async"])
def tell(request: pytest.FixtureRequest, served: Served) -> Callable[[Story], None]:
    """Runs a story with a venue of one of the clients, and a second identity's."""

    def told(story: Story) -> None:
        async def run() -> None:
            async with AsyncExitStack() as later:
                now = later.enter_context(ExitStack())
                venues = []
                for _ in range(2):
                    key = Ed25519Auth(Ed25519PrivateKey.generate())
                    opened = request.param.connect(served.url, auth=key)
                    if request.param is AsyncGrid:
                        venue = await later.enter_async_context(opened)
                    else:
                        venue = now.enter_context(opened)
                    venue.key = key
                    venues.append(venue)
                await story(venues[0], served, venues[1])

        asyncio.run(run())

    return told


async def _did(venue: Any) -> str:
    """Who this client is: the owner of what it makes."""
    job = await got(venue.invoke("v/ops/covia/write", {"path": "w/me", "value": 1}))
    data = await got(venue.get_job(str(job.id)))
    return str(data.data.model_extra["caller"])


def test_discovery(tell: Callable[[Story], None]) -> None:
    """status, wait_until_ready, did_document, mcp_discovery, agent_card, the catalogue."""

    async def story(venue: Any, served: Served, _: Any) -> None:
        status = await got(venue.status())
        assert isinstance(status, VenueStatus)
        assert (status.did, status.url, status.status) == (served.did, served.url, "OK")
        assert (status.access["public"], status.stats["ops"] > 20) == (True, True)
        assert (await got(venue.wait_until_ready(timeout=5))).did == served.did
        assert (await got(venue.did_document())).id == served.did
        assert isinstance(await got(venue.mcp_discovery()), MCPDiscovery)
        await fails(venue.agent_card, 501)
        operations = await got(venue.list_operations())
        assert all(isinstance(operation, OperationInfo) for operation in operations)
        assert all(operation.description and operation.output for operation in operations)
        one = await got(venue.get_operation("v/ops/covia/read"))
        assert (one.readOnly, one.internal) == (True, False)
        adapter = await got(venue.get_adapter_operations("covia"))
        assert adapter["v/ops/covia/copy"]["operation"]["readOnly"] is False
        await fails(lambda: venue.get_adapter_operations("none"), 404)
        assert (await got(venue.list_assets())).total == 0

    tell(story)


def test_jobs(tell: Callable[[Story], None]) -> None:
    """invoke, get, list, refresh, wait, result, cancel, delete, pause, resume, message."""

    async def story(venue: Any, _: Served, other: Any) -> None:
        job = await got(venue.invoke("v/ops/hitl/request", REQUEST))
        job_id = str(job.id)
        assert isinstance(job.data, JobData)
        assert (job.status, job.needs_input, job.is_paused) == (JobStatus.INPUT_REQUIRED, True, True)
        assert await got(venue.list_jobs()) == [job_id.removeprefix("0x")]
        same = await got(venue.get_job(job_id.removeprefix("0x")))
        assert (same.id, same.data.op, same.data.adapter) == (job_id, "v/ops/hitl/request", "hitl:request")
        for refused in (venue.pause_job, venue.resume_job):
            await fails(lambda refused=refused: refused(job_id), 409)
        for refused in (job.pause, job.resume, lambda: job.send_message({"any": "thing"})):
            await fails(refused, 409)
        await fails(lambda: venue.send_job_message(job_id, "hello"), 409)
        for hidden in (other.get_job, other.cancel_job, other.delete_job):
            await fails(lambda hidden=hidden: hidden(job_id), 404, JobNotFoundError)
        await got(
            venue.run("v/ops/hitl/respond", {"id": job_id, "outcome": "answer", "answers": {"ok": None}})
        )
        await got(same.refresh())
        assert same.is_complete
        assert (await got(job.result(timeout=10)))["outcome"] == "answer"
        late = await got(venue.cancel_job(job_id, reason="too late"))
        assert (late.status, late.error) == (JobStatus.COMPLETE, None)
        await got(venue.delete_job(job_id))
        await fails(lambda: venue.get_job(job_id), 404, JobNotFoundError)
        second = await got(venue.invoke("v/ops/hitl/request", REQUEST))
        await got(second.cancel(reason="enough"))
        assert (second.status, second.error) == (JobStatus.CANCELLED, "enough")

    tell(story)


def test_streams(tell: Callable[[Story], None]) -> None:
    """The SDK's stream carries no bearer of its own, and is told so; with one in its headers it is served."""

    async def story(venue: Any, served: Served, _: Any) -> None:
        job = await got(venue.invoke("v/ops/hitl/request", REQUEST))
        with pytest.raises(SSEError):
            _ = [event async for event in each(venue.stream_job_events(str(job.id)))]
        await got(job.cancel())
        auth: dict[str, str] = {}
        venue.key.apply(auth, served.did)
        grid = AsyncGrid if inspect.iscoroutinefunction(venue.status) else Grid
        listener = grid.connect(served.url, headers=auth)
        events = [event async for event in each(listener.stream_job_events(str(job.id)))]
        await got(listener.aclose() if grid is AsyncGrid else listener.close())
        assert [(event.event, event.json["status"]) for event in events] == [("job-update", "CANCELLED")]

    tell(story)


def test_workspace(tell: Callable[[Story], None]) -> None:
    """Every form of reading and writing, on the SDK's own results."""

    async def story(venue: Any, _: Served, __: Any) -> None:
        w = venue.workspace
        first = await got(w.write("w/a/b/c", {"k": ["x", {"s": "open"}]}))
        assert (type(first), first.existed, first.pathCreated) == (WorkspaceWriteResult, False, True)
        assert (await got(w.write("w/a/b/c", {"k": ["x", {"s": "open"}]}))).existed is True
        read = await got(w.read("w/a/b/c/k/1/s"))
        assert (type(read), read.exists, read.value) == (WorkspaceReadResult, True, "open")
        assert (await got(w.read("w/a", max_size=1))).truncated is True
        assert (await got(w.read("w/none"))).exists is False
        for number in range(2):
            added = await got(w.append("w/list", number))
            assert (type(added), added.index, added.newSize) == (WorkspaceAppendResult, number, number + 1)
        copied = await got(w.copy("w/list", "w/copy"))
        assert (type(copied), copied.existed) == (WorkspaceCopyResult, False)
        listed = await got(w.list("w", limit=2, offset=1))
        assert (type(listed), listed.keys, listed.count) == (WorkspaceListResult, ["copy", "list"], 3)
        assert (await got(w.list())).type == "Map"
        part = await got(w.slice("w/list", offset=1, limit=5))
        assert (type(part), part.values, part.count) == (WorkspaceSliceResult, [1], 2)
        shown = await got(w.inspect("w/list", budget=100, compact=True))
        assert (type(shown), shown.result) == (WorkspaceInspectResult, "[0, 1]")
        assert (await got(w.inspect(["w/list", "w/copy"]))).result.keys() == {"w/list", "w/copy"}
        counted = await got(w.count("w", depth=1))
        assert (type(counted), counted.count) == (WorkspaceCountResult, 3)
        grouped = await got(w.aggregate("w/a/b/c/k", depth=1, group_by="s"))
        assert (type(grouped), grouped.groups["open"].count) == (WorkspaceAggregateResult, 1)
        gone = await got(w.delete("w/copy"))
        assert (type(gone), gone.deleted) == (WorkspaceDeleteResult, True)
        await fails(lambda: w.write("h/x", 1), 403)
        await fails(lambda: w.read("w/../x"), 400)

    tell(story)


def test_proofs_with_every_form(tell: Callable[[Story], None]) -> None:
    """With `ucans` every read is a run; a string of `paths` is as good as a list."""

    async def story(venue: Any, served: Served, other: Any) -> None:
        await got(venue.workspace.write("w/open/x", [1, 2]))
        owner, reader = await _did(venue), await _did(other)
        exp = int(time.time()) + 600
        issued = await got(venue.ucan.issue(reader, [{"with": "w/open", "can": "crud"}], exp))
        assert isinstance(issued, UCANIssueResult)
        proofs = [issued.token]
        path, w = f"{owner}/w/open/x", other.workspace
        assert (await got(w.read(path, ucans=proofs))).value == [1, 2]
        assert (await got(w.list(path, ucans=proofs))).count == 2
        assert (await got(w.slice(path, ucans=proofs))).values == [1, 2]
        assert (await got(w.inspect(path, ucans=proofs))).result == "[1, 2]"
        assert (await got(w.count(path, ucans=proofs))).count == 2
        assert (await got(w.aggregate(path, ucans=proofs))).count == 2
        assert (await got(w.write(f"{owner}/w/open/y", 3, ucans=proofs))).existed is False
        assert (await got(w.append(path, 3, ucans=proofs))).newSize == 3
        assert (await got(w.delete(f"{owner}/w/open/y", ucans=proofs))).deleted is True
        for refused in (lambda: w.read(path), lambda: w.read(f"{owner}/w", ucans=proofs)):
            await fails(refused, 403)
        verdict = await got(other.ucan.verify(issued.token, with_=path, can="crud/read"))
        assert isinstance(verdict, UCANVerifyResult)
        assert (verdict.valid, verdict.authorises, verdict.root_issuer) == (True, True, served.did)
        bad = await got(other.ucan.verify("nonsense"))
        assert (bad.valid, bool(bad.reason)) == (False, True)

    tell(story)


def test_a_token_that_the_sdk_signed(served: Served) -> None:
    """The SDK's own UCANs, which carry no kid, are proofs like any other (`wire.md` 3.5)."""
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    with (
        Grid.connect(served.url, auth=Ed25519Auth(key)) as mine,
        Grid.connect(served.url, auth=Ed25519Auth(other)) as theirs,
    ):
        did = Ed25519Auth(key).did
        mine.workspace.write("w/x", 1)
        proof = grant(key, Ed25519Auth(other).did, f"{did}/w", "crud/read", 60)
        assert theirs.workspace.read(f"{did}/w/x", ucans=[proof]).value == 1


def test_operations_that_the_venue_lacks_say_so(tell: Callable[[Story], None]) -> None:
    """What is out of scope fails as the SDK expects of an older venue, and not as something broken."""

    async def story(venue: Any, _: Served, __: Any) -> None:
        await fails(venue.list_secrets, 404)
        await fails(lambda: venue.run("v/ops/secret/set", {"name": "x", "value": "y"}), 400)
        venue.set_private(True)
        await fails(lambda: venue.run("v/ops/covia/list", {}), 400)

    tell(story)
