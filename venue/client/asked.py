"""A question that was asked, and what it came to (D19, D34)."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from pydantic import ValidationError

from .errors import AskCancelled, AskExpired, AskRejected, Unreachable, VenueError
from .models import Answered

T = TypeVar("T")

REJECTED = "HITL request rejected"
EXPIRED = "HITL request expired"
CANCELLED = "HITL request cancelled"
"""How the error of a job begins that was rejected, expired or withdrawn (D17-D19)."""

ENDED = ("COMPLETE", "FAILED", "CANCELLED")
"""The states of a job that nothing follows."""


class Home(Protocol):
    """The client through which it was asked."""

    async def wait_for_job(self, job_id: str) -> dict[str, Any]:
        """A job once it is finished."""
        ...

    async def cancel(self, request_id: str, reason: str | None = None) -> None:
        """Withdraw a question."""


class Asked(Generic[T]):
    """A question that was asked: wait for it here, or later, or in another process by its `id`."""

    def __init__(self, venue: Home, request_id: str, read: Callable[[Answered], T]) -> None:
        self.id = request_id
        self._venue = venue
        self._read = read
        self._answered: Answered | None = None

    def __repr__(self) -> str:
        return f"<Asked {self.id}>"

    @property
    def answered(self) -> Answered:
        """All that came with the answer: remarks, what was conferred, the token.

        Raises VenueError until `wait` has seen it.
        """
        if self._answered is None:
            raise VenueError(f"No answer to {self.id} has been waited for")
        return self._answered

    async def wait(self, timeout: float | None = None) -> T:
        """The answer. Raises AskRejected, AskExpired, AskCancelled; BadAnswer when the model refuses it.

        TimeoutError after `timeout` seconds. Giving up, by the timeout or by cancellation, leaves the
        question as it is. Unreachable says, in a note, the id by which to wait on.
        """
        try:
            async with asyncio.timeout(timeout):
                job = await self._venue.wait_for_job(self.id)
        except TimeoutError:
            raise TimeoutError(f"No answer to {self.id} within {timeout} s; it goes on waiting") from None
        except Unreachable as error:
            error.add_note(f"The question waits on: attach({self.id!r})")
            raise
        self._answered = outcome(self.id, job)
        return self._read(self._answered)

    async def cancel(self, reason: str | None = None) -> None:
        """Withdraw the question. One that was settled before stays as it was settled."""
        await self._venue.cancel(self.id, reason)


def outcome(request_id: str, job: Mapping[str, Any]) -> Answered:
    """What a finished job came to. Raises AskRejected, AskExpired, AskCancelled, or VenueError."""
    error = str(job.get("error", ""))
    if job["status"] == "CANCELLED":
        raise AskCancelled(request_id, None if error == CANCELLED else error)
    if error == EXPIRED:
        raise AskExpired(request_id)
    if error.startswith(REJECTED):
        raise AskRejected(request_id, error.removeprefix(REJECTED).removeprefix(": ") or None)
    if job["status"] != "COMPLETE":
        raise VenueError(error)
    try:
        return Answered.model_validate(job["output"])
    except ValidationError:
        raise VenueError(f"Job {request_id} is no question: it was {job.get('op')}") from None
