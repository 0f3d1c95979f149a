"""`AsyncVenue`: everything a client can do, in asyncio (D34)."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar, overload

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import BaseModel

from inbox.clock import Clock, system_clock

from .errors import AskCancelled, AskExpired, AskRejected, Refused, TooFast, Unreachable, VenueError
from .forms import Grants, answer_of, asks_of
from .http import PATIENCE, Http
from .identity import base_url, credential
from .models import Answered, Change, Page, Record, Summary

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Form = type[BaseModel] | Sequence[Mapping[str, Any]]

_REJECTED = "HITL request rejected"
_EXPIRED = "HITL request expired"
_ENDED = ("COMPLETE", "FAILED", "CANCELLED")
_PAUSE = 0.5


class Asked(Generic[T]):
    """A question that was asked: wait for it here, or later, or in another process by its `id`."""

    def __init__(self, venue: "AsyncVenue", request_id: str, form: Form | None) -> None:
        self.id = request_id
        self.answered: Answered | None = None
        self._venue = venue
        self._form = form

    async def wait(self, timeout: float | None = None) -> T:
        """The answer. Raises AskRejected, AskExpired, AskCancelled; TimeoutError after `timeout` seconds.

        Giving up, by the timeout or by cancellation, leaves the question as it is. `answered` holds the rest
        of what came: remarks, what was conferred, and the token.
        """
        async with asyncio.timeout(timeout):
            job = await self._venue.wait_for_job(self.id)
        self.answered = _outcome(job)
        if isinstance(self._form, type):
            return answer_of(self._form, self.answered.answers)  # type: ignore[return-value]
        return self.answered  # type: ignore[return-value]

    async def cancel(self, reason: str | None = None) -> None:
        """Withdraw the question. One that was settled before stays as it was settled."""
        await self._venue.cancel(self.id, reason)


class AsyncVenue:
    """A venue, as one caller sees it. Use it with `async with`, or close it."""

    def __init__(
        self,
        url: str | None = None,
        *,
        token: str | None = None,
        key: Ed25519PrivateKey | Path | str | None = None,
        passphrase: str | None = None,
        subject: str | None = None,
        did: str | None = None,
        patience: float = PATIENCE,
        clock: Clock = system_clock,
        transport: httpx.AsyncBaseTransport | None = None,
        user_agent: str | None = None,
    ) -> None:
        """Connect to `url` (or VENUE_URL), as an agent by `token` or as a person by `key` (or VENUE_TOKEN,
        VENUE_KEY).

        `did` is the venue that is expected there; `patience` how many seconds a venue that cannot be reached
        is tried.
        """
        found = credential(clock, token=token, key=key, passphrase=passphrase, subject=subject)
        self._http = Http(
            base_url(url),
            found,
            clock,
            did=did,
            patience=patience,
            transport=transport,
            user_agent=user_agent,
        )

    async def __aenter__(self) -> "AsyncVenue":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections; what was asked goes on waiting."""
        await self._http.close()

    async def did(self) -> str:
        """The venue's DID. Raises WrongVenue when another was expected."""
        return await self._http.did()

    @overload
    async def ask(
        self,
        title: str,
        form: type[M],
        *,
        to: str | None = None,
        description: str | None = None,
        timeout: int | None = None,
        grants: Grants | None = None,
        ucans: Sequence[str] = (),
        key: str | None = None,
        wait: Literal[True] = True,
    ) -> M: ...

    @overload
    async def ask(
        self,
        title: str,
        form: type[M],
        *,
        to: str | None = None,
        description: str | None = None,
        timeout: int | None = None,
        grants: Grants | None = None,
        ucans: Sequence[str] = (),
        key: str | None = None,
        wait: Literal[False],
    ) -> Asked[M]: ...

    @overload
    async def ask(
        self,
        title: str,
        form: Sequence[Mapping[str, Any]],
        *,
        to: str | None = None,
        description: str | None = None,
        timeout: int | None = None,
        ucans: Sequence[str] = (),
        key: str | None = None,
        wait: Literal[True] = True,
    ) -> Answered: ...

    @overload
    async def ask(
        self,
        title: str,
        form: Sequence[Mapping[str, Any]],
        *,
        to: str | None = None,
        description: str | None = None,
        timeout: int | None = None,
        ucans: Sequence[str] = (),
        key: str | None = None,
        wait: Literal[False],
    ) -> Asked[Answered]: ...

    async def ask(
        self,
        title: str,
        form: Form,
        *,
        to: str | None = None,
        description: str | None = None,
        timeout: int | None = None,
        grants: Grants | None = None,
        ucans: Sequence[str] = (),
        key: str | None = None,
        wait: bool = True,
    ) -> Any:
        """Ask a person, and wait for the answer.

        `form` is a pydantic model, whose instance comes back, or a list of asks, which brings an `Answered`.
        `to` is whose inbox, one's own when absent; `timeout` the seconds until the request expires; `grants`
        what each choice offers to confer; `key` an idempotency key, without which one is made for this call:
        however often the connection drops, it is asked once. With `wait=False` a handle comes back at once.

        Raises BadForm, Refused, Unreachable, and what `Asked.wait` raises.
        """
        asks = asks_of(form, grants) if isinstance(form, type) else list(form)
        said = {"title": title, "asks": asks, "description": description, "timeout": timeout, "user": to}
        job = await self._post(
            "invoke",
            "v/ops/hitl/request",
            {name: value for name, value in said.items() if value is not None},
            ucans,
            key or secrets.token_hex(16),
        )
        asked: Asked[Any] = Asked(self, str(job["id"]).removeprefix("0x"), form)
        return await asked.wait() if wait else asked

    def attach(self, request_id: str, form: type[M]) -> Asked[M]:
        """The handle of a question that was asked before, perhaps by a process that is gone."""
        return Asked(self, request_id, form)

    async def inbox(self, status: str | None = "open") -> list[Summary]:
        """What waits in one's own inbox, or what stands otherwise, oldest first; every page of it."""
        found: list[Summary] = []
        cursor: str | None = None
        while True:
            page = await self.page(status, cursor=cursor, limit=1_000)
            found += page.items
            cursor = page.cursor
            if cursor is None:
                return found

    async def page(self, status: str | None = "open", *, cursor: str | None = None, limit: int = 100) -> Page:
        """One page of one's own inbox, oldest first."""
        wanted = {"status": status, "cursor": cursor, "limit": limit}
        found = await self.run("v/ops/hitl/list", {name: v for name, v in wanted.items() if v is not None})
        return Page.model_validate(found)

    async def feed(self) -> AsyncIterator[Change]:
        """What changes in one's own inbox, for ever: `resync` at first and whenever something may have been
        missed, `lost` when the connection ended. Raises Refused; a venue that cannot be reached is tried
        again, with a pause.
        """
        pause = _PAUSE
        while True:
            try:
                async with self._http.stream("inbox/sse", await self._http.headers()) as answer:
                    async for event, data in self._frames(answer):
                        pause = _PAUSE
                        yield Change.model_validate({"kind": event, **data})
            except (httpx.HTTPError, ValueError, Unreachable, TooFast):
                pass
            yield Change(kind="lost", version=0)
            await asyncio.sleep(pause)
            pause = min(pause * 2, 10.0)

    async def record(self, request_id: str) -> Record:
        """A whole request of one's own inbox. Raises Refused (`not_found`)."""
        found = await self.read(f"h/{request_id}")
        if found is None:
            raise Refused("not_found", 404, f"No HITL request {request_id} in your inbox")
        return Record.model_validate(found)

    async def answer(
        self,
        request_id: str,
        answers: Mapping[str, Any],
        *,
        grants: Sequence[Mapping[str, Any]] = (),
        comments: Mapping[str, str] | None = None,
        comment: str | None = None,
        digest: str | None = None,
    ) -> None:
        """Answer a request of one's own inbox. `grants` echoes what is to be conferred: nothing else is.

        `digest` is that of the record that was shown. Raises Refused (`not_open`, `expired`, `stale_digest`,
        …).
        """
        said = {"answers": dict(answers), "grants": [dict(grant) for grant in grants], "comments": comments}
        await self._respond(request_id, "answer", {**said, "comment": comment, "digest": digest})

    async def reject(self, request_id: str, reason: str | None = None, *, digest: str | None = None) -> None:
        """Reject a request of one's own inbox; the reason reaches whoever asked, word for word."""
        await self._respond(request_id, "reject", {"comment": reason, "digest": digest})

    async def cancel(self, request_id: str, reason: str | None = None) -> None:
        """Withdraw a question of one's own."""
        body = {"reason": reason} if reason is not None else None
        await self._http.call("PUT", f"jobs/{request_id}/cancel", json=body, repeat=True)

    async def issue(self, audience: str, capabilities: Sequence[Mapping[str, Any]], exp: int) -> str:
        """Have the venue sign a token over what is one's own, until `exp` (unix seconds)."""
        data = {"aud": audience, "att": [dict(capability) for capability in capabilities], "exp": exp}
        return str((await self.run("v/ops/ucan/issue", data))["token"])

    async def revoke(self, *, token: str | None = None, hash: str | None = None) -> list[str]:
        """Revoke a token, and everything that rests on it; returns the hashes of what fell."""
        data = {"token": token} if token is not None else {"hash": hash}
        return list((await self.run("v/ops/ucan/revoke", data))["revoked"])

    async def read(self, path: str, *, ucans: Sequence[str] = ()) -> Any:
        """The value at a path, None when there is none; `ucans` are the proofs for somebody else's."""
        headers = {"X-Covia-Ucans": ",".join(ucans)} if ucans else {}
        found = await self._http.call("GET", "values/read", params={"path": path}, headers=headers)
        if found.get("truncated"):
            raise VenueError(f"The value at {path} is too large to read whole: {found['valueBytes']} bytes")
        return found["value"]

    async def write(self, path: str, value: Any, *, ucans: Sequence[str] = ()) -> None:
        """Write a value below `w/`."""
        await self.run("v/ops/covia/write", {"path": path, "value": value}, ucans=ucans)

    async def run(self, operation: str, data: Mapping[str, Any], *, ucans: Sequence[str] = ()) -> Any:
        """Run any operation and return its output."""
        return await self._post("run", operation, dict(data), ucans, secrets.token_hex(16))

    async def job(self, job_id: str) -> dict[str, Any]:
        """A job as it stands."""
        found: dict[str, Any] = await self._http.call("GET", f"jobs/{job_id}")
        return found

    async def wait_for_job(self, job_id: str) -> dict[str, Any]:
        """A job once it is finished, by its stream; by asking again, wherever a stream ends early or is not
        to be had.
        """
        pause = _PAUSE
        while True:
            try:
                async for job in self._job_stream(job_id):
                    pause = _PAUSE
                    if job["status"] in _ENDED:
                        return job
            except (httpx.HTTPError, ValueError):
                pass  # a dropped connection or a venue that restarts: ask, and stream again
            job = await self.job(job_id)
            if job["status"] in _ENDED:
                return job
            await asyncio.sleep(pause)
            pause = min(pause * 2, 10.0)

    async def _job_stream(self, job_id: str) -> AsyncIterator[dict[str, Any]]:
        async with self._http.stream(f"jobs/{job_id}/sse", await self._http.headers()) as answer:
            async for _, data in self._frames(answer):
                yield data

    async def _frames(self, answer: httpx.Response) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """The name and the data of each event in a stream; each has exactly one line of data."""
        if answer.is_error:
            await answer.aread()
            raise self._http.refusal(answer)
        event = ""
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield event, json.loads(line.removeprefix("data: "))

    async def _respond(self, request_id: str, outcome: str, said: Mapping[str, Any]) -> None:
        given = {name: value for name, value in said.items() if value is not None}
        await self.run("v/ops/hitl/respond", {"id": request_id, "outcome": outcome, **given})

    async def _post(self, verb: str, operation: str, data: Any, ucans: Sequence[str], key: str) -> Any:
        body = {"operation": operation, "input": data, **({"ucans": list(ucans)} if ucans else {})}
        return await self._http.call("POST", verb, json=body, headers={"Idempotency-Key": key}, repeat=True)


def _outcome(job: Mapping[str, Any]) -> Answered:
    if job["status"] == "COMPLETE":
        return Answered.model_validate(job["output"])
    error = str(job.get("error", ""))
    if job["status"] == "CANCELLED":
        raise AskCancelled(error)
    if error == _EXPIRED:
        raise AskExpired("Nobody answered in time")
    if error.startswith(_REJECTED):
        raise AskRejected(error.removeprefix(_REJECTED).removeprefix(": ") or None)
    raise VenueError(error)
