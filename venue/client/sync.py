"""`Venue`: the same without asyncio. It runs an `AsyncVenue` in a thread of its own, so that each call is
written once.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, cast, overload

from pydantic import BaseModel

from inbox.clock import Clock, system_clock

from .aio import AsyncVenue
from .asked import Asked
from .errors import Refused, VenueError
from .forms import Asks, Form, Grants
from .identity import PATIENCE, Key, Token
from .loop import Background
from .models import Answered, Change, Page, Record, Summary

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
V = TypeVar("V")
M = TypeVar("M", bound=BaseModel)


class Runs(Protocol):
    """Runs a coroutine of the client, and returns what it returns."""

    def __call__(self, work: Coroutine[Any, Any, V], /) -> V:
        """Run it."""
        ...


class AskedNow(Generic[T]):
    """A question that was asked; see `Asked`."""

    def __init__(self, asked: Asked[T], run: Runs) -> None:
        self.id = asked.id
        self._asked = asked
        self._run = run

    def __repr__(self) -> str:
        return f"<AskedNow {self.id}>"

    @property
    def answered(self) -> Answered:
        """All that came with the answer, once `wait` has seen it. Raises VenueError before that."""
        return self._asked.answered

    def wait(self, timeout: float | None = None) -> T:
        """The answer. Raises AskRejected, AskExpired, AskCancelled, BadAnswer; TimeoutError after `timeout`
        seconds, which leaves the question as it is, as does Ctrl-C.
        """
        return self._run(self._asked.wait(timeout))

    def cancel(self, reason: str | None = None) -> None:
        """Withdraw the question. One that was settled before stays as it was settled."""
        self._run(self._asked.cancel(reason))


class Venue:
    """A venue, as one caller sees it; any thread may use it. Use it with `with`, or close it.

    `caller` is the DID of that caller, None for nobody. See `AsyncVenue` for what each call does and raises.
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
        """Connect to `url` (or VENUE_URL), as an agent by `token` or a person by `key`: see `AsyncVenue`."""
        self._venue = AsyncVenue(
            url,
            token=token,
            key=key,
            passphrase=passphrase,
            subject=subject,
            did=did,
            patience=patience,
            clock=clock,
            transport=transport,
            user_agent=user_agent,
        )
        self.caller = self._venue.caller
        self._background = Background()
        self._closed = False

    def __repr__(self) -> str:
        return repr(self._venue).replace("AsyncVenue", "Venue")

    def __enter__(self) -> "Venue":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections and the thread; what was asked goes on waiting."""
        if not self._closed:
            self._closed = True
            self._background.close(self._venue.close())

    def did(self) -> str:
        """The venue's DID."""
        return self._run(self._venue.did())

    @overload
    def ask(
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
    def ask(
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
    ) -> AskedNow[M]: ...

    @overload
    def ask(
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
    def ask(
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
    ) -> AskedNow[Answered]: ...

    def ask(
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
        """Ask a person, and wait for the answer; with `wait=False` a handle comes back at once."""
        asked: Asked[Any] = self._run(
            self._venue.ask(
                title,
                cast("Any", form),  # the overloads above say which goes with which
                to=to,
                description=description,
                timeout=timeout,
                grants=grants,
                ucans=ucans,
                key=key,
                wait=False,
            )
        )
        handle = AskedNow(asked, self._run)
        return handle.wait() if wait else handle

    @overload
    def attach(self, request_id: str) -> AskedNow[Answered]: ...

    @overload
    def attach(self, request_id: str, form: type[M]) -> AskedNow[M]: ...

    def attach(self, request_id: str, form: type[BaseModel] | None = None) -> AskedNow[Any]:
        """The handle of a question that was asked before, perhaps by a process that is gone."""
        asked = self._venue.attach(request_id) if form is None else self._venue.attach(request_id, form)
        return AskedNow(asked, self._run)

    def inbox(self, status: str | None = "open") -> list[Summary]:
        """What waits in one's own inbox, or what stands otherwise, oldest first; every page of it."""
        return self._run(self._venue.inbox(status))

    def page(self, status: str | None = "open", *, cursor: str | None = None, limit: int = 100) -> Page:
        """One page of one's own inbox, oldest first."""
        return self._run(self._venue.page(status, cursor=cursor, limit=limit))

    def follow(self, heard: Callable[[Change], None]) -> Callable[[], object]:
        """Call `heard`, on another thread, with each change of one's own inbox; returns how to stop.

        The last is of the kind `refused` when the venue no longer lets this caller hear of any.
        """

        async def work() -> None:
            try:
                async for change in self._venue.feed():
                    await asyncio.to_thread(heard, change)  # it may call this client
            except Refused:
                await asyncio.to_thread(heard, Change(kind="refused", version=0))

        return self._background.start(work())

    def record(self, request_id: str) -> Record:
        """A whole request of one's own inbox."""
        return self._run(self._venue.record(request_id))

    def answer(
        self,
        request_id: str,
        answers: Mapping[str, object],
        *,
        grants: Sequence[Mapping[str, object]] = (),
        comments: Mapping[str, str] | None = None,
        comment: str | None = None,
        digest: str | None = None,
    ) -> None:
        """Answer a request of one's own inbox. `grants` echoes what is to be conferred: nothing else is."""
        self._run(
            self._venue.answer(
                request_id, answers, grants=grants, comments=comments, comment=comment, digest=digest
            )
        )

    def reject(self, request_id: str, reason: str | None = None, *, digest: str | None = None) -> None:
        """Reject a request of one's own inbox; the reason reaches whoever asked, word for word."""
        self._run(self._venue.reject(request_id, reason, digest=digest))

    def cancel(self, request_id: str, reason: str | None = None) -> None:
        """Withdraw a question of one's own."""
        self._run(self._venue.cancel(request_id, reason))

    def receipt(self, request_id: str) -> str:
        """The venue's signed receipt of how a request was settled, a JWT."""
        return self._run(self._venue.receipt(request_id))

    def issue(self, audience: str, capabilities: Sequence[Mapping[str, object]], exp: int) -> str:
        """Have the venue sign a token over what is one's own, until `exp` (unix seconds)."""
        return self._run(self._venue.issue(audience, capabilities, exp))

    def revoke(self, *, token: str | None = None, hash: str | None = None) -> list[str]:
        """Revoke a token, and everything that rests on it; returns the hashes of what fell."""
        return self._run(self._venue.revoke(token=token, hash=hash))

    def read(self, path: str, *, ucans: Sequence[str] = ()) -> Any:
        """The value at a path, None when there is none; `ucans` are the proofs for somebody else's."""
        return self._run(self._venue.read(path, ucans=ucans))

    def write(self, path: str, value: object, *, ucans: Sequence[str] = ()) -> None:
        """Write a value below `w/`."""
        self._run(self._venue.write(path, value, ucans=ucans))

    def run(self, operation: str, data: Mapping[str, object], *, ucans: Sequence[str] = ()) -> Any:
        """Run any operation and return its output."""
        return self._run(self._venue.run(operation, data, ucans=ucans))

    def invoke(
        self,
        operation: str,
        data: Mapping[str, object],
        *,
        ucans: Sequence[str] = (),
        key: str | None = None,
    ) -> dict[str, Any]:
        """Start any operation as a job, and return that job. What was started under a `key` is there once."""
        return self._run(self._venue.invoke(operation, data, ucans=ucans, key=key))

    def job(self, job_id: str) -> dict[str, Any]:
        """A job as it stands."""
        return self._run(self._venue.job(job_id))

    def wait_for_job(self, job_id: str) -> dict[str, Any]:
        """A job once it is finished."""
        return self._run(self._venue.wait_for_job(job_id))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._closed:
            work.close()
            raise VenueError("This client was closed")
        return self._background.run(work)
