"""`AsyncVenue`: everything a client can do, in asyncio (D34)."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload
from urllib.parse import quote

from pydantic import BaseModel

from inbox.clock import Clock, system_clock

from .asked import ENDED, Asked
from .errors import NotAVenue, Refused, TooFast, Unreachable, VenueError, VenueFault
from .forms import Asks, Form, Grants, answer_of, asks_of
from .identity import PATIENCE, Key, Token, base_url, credential, expected_did
from .models import Answered, Change, Page, Record, Summary

if TYPE_CHECKING:
    import httpx

M = TypeVar("M", bound=BaseModel)

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 5.0


class AsyncVenue:
    """A venue, as one caller sees it. Use it with `async with`, or close it.

    `caller` is the DID of that caller, None for nobody.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        token: Token | None = None,
        key: Key | None = None,
        passphrase: str | None = None,
        subject: str | None = None,
        did: str | None = None,
        patience: float = PATIENCE,
        clock: Clock = system_clock,
        transport: "httpx.AsyncBaseTransport | None" = None,
        user_agent: str | None = None,
    ) -> None:
        """Connect to `url` (or VENUE_URL): as an agent by `token`, itself or the path of its file, or as a
        person by `key` (or VENUE_TOKEN, VENUE_TOKEN_FILE, VENUE_KEY with VENUE_PASSPHRASE).

        `did` (or VENUE_DID) is the venue that is expected there; a token names its own. `patience` is for how
        many seconds a call is tried again while the venue is away, slow or busy. Raises BadSettings.
        """
        from .http import Http  # noqa: PLC0415 - importing the client loads no HTTP

        found = credential(clock, token=token, key=key, passphrase=passphrase, subject=subject)
        self.caller = found.did
        self._http = Http(
            base_url(url),
            found,
            clock,
            did=expected_did(did, found),
            patience=patience,
            transport=transport,
            user_agent=user_agent,
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._http.base}>"

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
        """The venue's DID. Raises WrongVenue when another was expected, NotAVenue for something else."""
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
        form: Asks,
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
        form: Asks,
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
        `to` is whose inbox, one's own user's when absent; `timeout` the seconds until the request expires;
        `grants` what each choice offers to confer; `ucans` are proofs, where somebody else's inbox needs one.
        However often the connection drops, this is asked once; with a `key` of your own it is asked once over
        all attempts of all processes. With `wait=False` a handle comes back at once.

        Raises BadForm, Refused, Unreachable, WrongVenue, and what `Asked.wait` raises.
        """
        asks = asks_of(form, grants)
        said = {"title": title, "asks": asks, "description": description, "timeout": timeout, "user": to}
        data = {name: value for name, value in said.items() if value is not None}
        job = await self.invoke("v/ops/hitl/request", data, ucans=ucans, key=key)
        asked = self._asked(str(job["id"]), form)
        return await asked.wait() if wait else asked

    @overload
    def attach(self, request_id: str) -> Asked[Answered]: ...

    @overload
    def attach(self, request_id: str, form: type[M]) -> Asked[M]: ...

    def attach(self, request_id: str, form: type[BaseModel] | None = None) -> Asked[Any]:
        """The handle of a question that was asked before, perhaps by a process that is gone."""
        return self._asked(request_id, form)

    def _asked(self, request_id: str, form: Form | None) -> Asked[Any]:
        read: Callable[[Answered], Any] = partial(answer_of, form) if isinstance(form, type) else _whole
        return Asked(self, request_id.removeprefix("0x"), read)

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
        given = {name: value for name, value in wanted.items() if value is not None}
        return Page.model_validate(await self.run("v/ops/hitl/list", given))

    async def feed(self) -> AsyncIterator[Change]:
        """What changes in one's own inbox, for ever: `resync` at first and whenever something may have been
        missed, `lost` when the connection ended. Raises Refused; a venue that cannot be reached is tried
        again, with a pause.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                async with self._http.events("inbox/sse") as events:
                    async for event, data in events:
                        pause = _FIRST_PAUSE
                        yield Change.model_validate({"kind": event, **data})
            except (Unreachable, TooFast, VenueFault):
                pass
            yield Change(kind="lost", version=0)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def record(self, request_id: str) -> Record:
        """A whole request of one's own inbox. Raises Refused (`not_found`)."""
        found = await self.read(f"h/{request_id}")
        if found is None:
            raise Refused("not_found", 404, f"No HITL request {request_id} in your inbox")
        return Record.model_validate(found)

    async def answer(
        self,
        request_id: str,
        answers: Mapping[str, object],
        *,
        grants: Sequence[Mapping[str, object]] = (),
        comments: Mapping[str, str] | None = None,
        comment: str | None = None,
        digest: str | None = None,
    ) -> None:
        """Answer a request of one's own inbox. `grants` echoes what is to be conferred: nothing else is.

        `digest` is that of the record that was shown. Raises Settled when it was settled before, Refused
        (`stale_digest`, …).
        """
        said = {"answers": dict(answers), "grants": [dict(grant) for grant in grants], "comments": comments}
        await self._respond(request_id, "answer", {**said, "comment": comment, "digest": digest})

    async def reject(self, request_id: str, reason: str | None = None, *, digest: str | None = None) -> None:
        """Reject a request of one's own inbox; the reason reaches whoever asked, word for word."""
        await self._respond(request_id, "reject", {"comment": reason, "digest": digest})

    async def cancel(self, request_id: str, reason: str | None = None) -> None:
        """Withdraw a question of one's own."""
        body = {"reason": reason} if reason is not None else None
        await self._http.call("PUT", f"{_job_path(request_id)}/cancel", json=body)

    async def receipt(self, request_id: str) -> str:
        """The venue's signed receipt of how a request was settled, a JWT. Raises Refused (`not_found`)."""
        return str((await self._http.call("GET", f"{_job_path(request_id)}/receipt"))["receipt"])

    async def issue(self, audience: str, capabilities: Sequence[Mapping[str, object]], exp: int) -> str:
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

    async def write(self, path: str, value: object, *, ucans: Sequence[str] = ()) -> None:
        """Write a value below `w/`."""
        await self.run("v/ops/covia/write", {"path": path, "value": value}, ucans=ucans)

    async def run(self, operation: str, data: Mapping[str, object], *, ucans: Sequence[str] = ()) -> Any:
        """Run any operation and return its output."""
        return await self._post("run", operation, data, ucans, None)

    async def invoke(
        self,
        operation: str,
        data: Mapping[str, object],
        *,
        ucans: Sequence[str] = (),
        key: str | None = None,
    ) -> dict[str, Any]:
        """Start any operation as a job, and return that job. What was started under a `key` is there once."""
        job = await self._post("invoke", operation, data, ucans, key)
        if not isinstance(job, dict) or not isinstance(job.get("id"), str):
            raise NotAVenue("What answers there accepted the call, and did not answer with a job")
        return job

    async def job(self, job_id: str) -> dict[str, Any]:
        """A job as it stands."""
        found: dict[str, Any] = await self._http.call("GET", _job_path(job_id))
        return found

    async def wait_for_job(self, job_id: str) -> dict[str, Any]:
        """A job once it is finished, by its stream; by asking again, wherever a stream ends early or is not
        to be had.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                async with self._http.events(f"{_job_path(job_id)}/sse") as events:
                    async for _, job in events:
                        pause = _FIRST_PAUSE
                        if job.get("status") in ENDED:
                            return job
            except (Unreachable, Refused):
                pass  # no stream, or no longer: the answer below says whether there is more to it
            job = await self.job(job_id)
            if job["status"] in ENDED:
                return job
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _respond(self, request_id: str, outcome: str, said: Mapping[str, object]) -> None:
        given = {name: value for name, value in said.items() if value is not None}
        await self.run("v/ops/hitl/respond", {"id": request_id, "outcome": outcome, **given})

    async def _post(
        self, verb: str, operation: str, data: Mapping[str, object], ucans: Sequence[str], key: str | None
    ) -> Any:
        """A call that may change something carries a key, so that no repetition of it does so twice (D20)."""
        body = {"operation": operation, "input": dict(data), **({"ucans": list(ucans)} if ucans else {})}
        headers = {"Idempotency-Key": key if key is not None else secrets.token_hex(16)}
        return await self._http.call("POST", verb, json=body, headers=headers)


def _job_path(job_id: str) -> str:
    return f"jobs/{quote(job_id, safe='')}"


def _whole(answered: Answered) -> Answered:
    return answered
