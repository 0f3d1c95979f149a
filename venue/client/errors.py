"""What a client of a venue can meet.

Each says what happened and what to do next; none holds a token or a key. All survive pickling.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .models import Answered


class VenueError(Exception):
    """Root of the errors of the client."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception's own way would call the constructor with the finished sentence.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[VenueError], args: tuple[Any, ...], fields: dict[str, Any]) -> VenueError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


# -- before anything was sent ----------------------------------------------------------------------


class BadSettings(VenueError):
    """An address, a key, a token or a passphrase that cannot be used. Nothing was sent."""


class BadForm(VenueError):
    """A model has a field that no ask can carry, grants name one that is not there, or a value is no JSON.

    Nothing was sent.
    """


# -- the venue did not do it -----------------------------------------------------------------------


class Unreachable(VenueError):
    """The venue could not be reached for as long as the client's patience lasted.

    The last call may have arrived: ask again under the same key, and nobody is asked twice.
    """


class NoAnswer(Unreachable):
    """The venue was reached and did not answer in time: it is too slow, or stuck."""


class NotAVenue(VenueError):
    """Something answers at this address, and it is no venue. Nothing was signed for it."""


class WrongVenue(VenueError):
    """The venue at this address has another DID than was expected: nothing was signed for it."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(
            f"The venue at this address is {found}, not {expected}. If it was really set up anew, forget "
            "the old DID; otherwise somebody may be between you and it"
        )
        self.expected = expected
        self.found = found


class Refused(VenueError):
    """The venue said no. `code` is stable, `status` the HTTP status, `message` the venue's own sentence.

    `details` is what else the answer said: of an `idempotency_conflict` the `job` that the key had made.
    """

    def __init__(
        self,
        code: str,
        status: int,
        message: str,
        *,
        details: Mapping[str, Any] | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(f"{message} ({code})" + (f". {hint}" if hint else ""))
        self.code = code
        self.status = status
        self.message = message
        self.details: dict[str, Any] = {**(details or {})}


class NotAuthenticated(Refused):
    """The key or token is not, or no longer, good here: expired, revoked, or for another venue."""


class ClockSkew(NotAuthenticated):
    """The bearer was refused, and this clock is `seconds` ahead of the venue's (behind it, if negative)."""

    def __init__(
        self, code: str, status: int, message: str, seconds: int, *, details: Mapping[str, Any] | None = None
    ) -> None:
        where = "ahead of" if seconds > 0 else "behind"
        hint = f"This clock is {abs(seconds)} seconds {where} the venue's: set it"
        super().__init__(code, status, message, details=details, hint=hint)
        self.seconds = seconds


class Settled(Refused):
    """The request was settled before: `how` (answered, rejected, expired, cancelled) and `when` (epoch
    milliseconds).
    """

    def __init__(self, code: str, status: int, message: str, *, details: Mapping[str, Any]) -> None:
        super().__init__(code, status, message, details=details)
        self.how = str(details.get("how", ""))
        when = details.get("when")
        self.when = when if isinstance(when, int) else None


class TooFast(Refused):
    """Still too many calls, streams or open requests after waiting as long as was allowed.

    Nothing has happened; `retry_after` is after how many seconds it may go better.
    """

    def __init__(
        self, code: str, message: str, retry_after: float, *, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(
            code, 429, message, details=details, hint=f"Try again in {max(1, round(retry_after))} s"
        )
        self.retry_after = retry_after


class VenueFault(Refused):
    """The venue, or something before it, failed (5xx). If it lasts, the operator finds why in its log."""


# -- what a question came to -----------------------------------------------------------------------


class AskRejected(VenueError):
    """The person said no. `reason` is word for word what they wrote, or None."""

    def __init__(self, request_id: str, reason: str | None) -> None:
        super().__init__(reason or "Rejected without a reason")
        self.request_id = request_id
        self.reason = reason


class AskExpired(VenueError):
    """Nobody answered before the deadline. That is no rejection."""

    def __init__(self, request_id: str) -> None:
        super().__init__("Nobody answered in time")
        self.request_id = request_id


class AskCancelled(VenueError):
    """The question was withdrawn before it was answered. `reason` is the text that was given, or None."""

    def __init__(self, request_id: str, reason: str | None) -> None:
        super().__init__(reason or "Withdrawn without a reason")
        self.request_id = request_id
        self.reason = reason


class BadAnswer(VenueError):
    """The person answered, and the model's own rules refuse it. `answered` is what came.

    An inbox checks the kind of an answer and the choice of options; it knows no other rule of a model.
    """

    def __init__(self, problem: str, answered: "Answered") -> None:
        super().__init__(problem)
        self.answered = answered
