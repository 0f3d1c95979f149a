"""`Venue`: the same without asyncio. It runs an `AsyncVenue` in a thread of its own, so that each call is
written once.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar, overload

import httpx
from anyio.from_thread import start_blocking_portal
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import BaseModel

from inbox.clock import Clock, system_clock

from .aio import Asked, AsyncVenue, Form
from .errors import Refused
from .forms import Grants
from .http import PATIENCE
from .models import Answered, Change, Page, Record, Summary

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)


class AskedNow(Generic[T]):
    """A question that was asked; see `Asked`."""

    def __init__(self, venue: "Venue", asked: Asked[T]) -> None:
        self.id = asked.id
        self._venue = venue
        self._asked = asked

    @property
    def answered(self) -> Answered | None:
        """Everything that came with the answer, once it is there."""
        return self._asked.answered

    def wait(self, timeout: float | None = None) -> T:
        """The answer. Raises AskRejected, AskExpired, AskCancelled; TimeoutError after `timeout` seconds."""
        answer: T = self._venue.call(self._asked.wait, timeout)
        return answer

    def cancel(self, reason: str | None = None) -> None:
        """Withdraw the question."""
        self._venue.call(self._asked.cancel, reason)


class Venue:
    """A venue, as one caller sees it.

    Use it with `with`, or close it; see `AsyncVenue` for what each call does.
    """

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
        """Connect to `url` (or VENUE_URL), as an agent by `token` or as a person by `key`."""
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
        self._stack = ExitStack()
        self._portal = self._stack.enter_context(start_blocking_portal())

    def __enter__(self) -> "Venue":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections and the thread; what was asked goes on waiting."""
        self._portal.call(self._venue.close)
        self._portal.call(self._portal.stop, True)  # a call that Ctrl-C left behind ends too
        self._stack.close()

    def call(self, function: Any, *arguments: Any, **named: Any) -> Any:
        """Run a coroutine function of the `AsyncVenue` and return what it returns; Ctrl-C cancels it."""

        async def work() -> Any:
            return await function(*arguments, **named)

        future = None
        try:
            future = self._portal.start_task_soon(work)
            return future.result()
        except BaseException:
            if future is not None:
                future.cancel()
            raise

    def did(self) -> str:
        """The venue's DID."""
        return str(self.call(self._venue.did))

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
    def ask(
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
    ) -> AskedNow[Answered]: ...

    def ask(self, title: str, form: Form, *, wait: bool = True, **named: Any) -> Any:
        """Ask a person, and wait for the answer; with `wait=False` a handle comes back at once."""
        asked = AskedNow(self, self.call(self._venue.ask, title, form, wait=False, **named))
        return asked.wait() if wait else asked

    def attach(self, request_id: str, form: type[M]) -> AskedNow[M]:
        """The handle of a question that was asked before."""
        return AskedNow(self, self._venue.attach(request_id, form))

    def inbox(self, status: str | None = "open") -> list[Summary]:
        """What waits in one's own inbox, oldest first."""
        found: list[Summary] = self.call(self._venue.inbox, status)
        return found

    def page(self, status: str | None = "open", *, cursor: str | None = None, limit: int = 100) -> Page:
        """One page of one's own inbox, oldest first."""
        found: Page = self.call(self._venue.page, status, cursor=cursor, limit=limit)
        return found

    def follow(self, heard: Callable[[Change], None]) -> Callable[[], object]:
        """Call `heard`, on another thread, with each change of one's own inbox; returns how to stop.

        The last is of the kind `refused` when the venue no longer lets this caller hear of any.
        """

        async def work() -> None:
            try:
                async for change in self._venue.feed():
                    heard(change)
            except Refused:
                heard(Change(kind="refused", version=0))

        return self._portal.start_task_soon(work).cancel

    def record(self, request_id: str) -> Record:
        """A whole request of one's own inbox."""
        found: Record = self.call(self._venue.record, request_id)
        return found

    def answer(self, request_id: str, answers: Mapping[str, Any], **named: Any) -> None:
        """Answer a request of one's own inbox; `grants` echoes what is to be conferred."""
        self.call(self._venue.answer, request_id, answers, **named)

    def reject(self, request_id: str, reason: str | None = None, *, digest: str | None = None) -> None:
        """Reject a request of one's own inbox."""
        self.call(self._venue.reject, request_id, reason, digest=digest)

    def cancel(self, request_id: str, reason: str | None = None) -> None:
        """Withdraw a question of one's own."""
        self.call(self._venue.cancel, request_id, reason)

    def issue(self, audience: str, capabilities: Sequence[Mapping[str, Any]], exp: int) -> str:
        """Have the venue sign a token over what is one's own."""
        return str(self.call(self._venue.issue, audience, capabilities, exp))

    def revoke(self, *, token: str | None = None, hash: str | None = None) -> list[str]:
        """Revoke a token, and everything that rests on it."""
        found: list[str] = self.call(self._venue.revoke, token=token, hash=hash)
        return found

    def read(self, path: str, *, ucans: Sequence[str] = ()) -> Any:
        """The value at a path, None when there is none."""
        return self.call(self._venue.read, path, ucans=ucans)

    def write(self, path: str, value: Any, *, ucans: Sequence[str] = ()) -> None:
        """Write a value below `w/`."""
        self.call(self._venue.write, path, value, ucans=ucans)

    def run(self, operation: str, data: Mapping[str, Any], *, ucans: Sequence[str] = ()) -> Any:
        """Run any operation and return its output."""
        return self.call(self._venue.run, operation, data, ucans=ucans)

    def job(self, job_id: str) -> dict[str, Any]:
        """A job as it stands."""
        found: dict[str, Any] = self.call(self._venue.job, job_id)
        return found

    def wait_for_job(self, job_id: str) -> dict[str, Any]:
        """A job once it is finished."""
        found: dict[str, Any] = self.call(self._venue.wait_for_job, job_id)
        return found
