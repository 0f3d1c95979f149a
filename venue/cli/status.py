"""Exit statuses (D33), and which of them an error of the client amounts to. Pure."""

from enum import IntEnum

from ..client import AskCancelled, AskExpired, AskRejected, Settled, Unreachable, VenueError


class Status(IntEnum):
    """What a command ends with."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    UNREACHABLE = 3
    EXPIRED = 4
    CANCELLED = 5
    INTERRUPTED = 130


def of(error: VenueError) -> Status:
    """The status that an error ends a command with."""
    if isinstance(error, Unreachable):
        return Status.UNREACHABLE
    if isinstance(error, AskExpired) or (isinstance(error, Settled) and error.how == "expired"):
        return Status.EXPIRED
    if isinstance(error, AskCancelled) or (isinstance(error, Settled) and error.how == "cancelled"):
        return Status.CANCELLED
    return Status.REFUSED


def code(error: VenueError) -> str:
    """A stable word for an error: the venue's own code, or the kind of error."""
    if isinstance(error, AskRejected):
        return "rejected"
    return str(getattr(error, "code", None) or _WORDS.get(type(error).__name__, "failed"))


_WORDS = {
    "AskExpired": "expired",
    "AskCancelled": "cancelled",
    "Unreachable": "unreachable",
    "WrongVenue": "wrong_venue",
}
