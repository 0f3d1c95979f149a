"""Exit statuses (D33), and which of them an error of the client amounts to. Pure."""

from enum import IntEnum

from ..client import (
    AskCancelled,
    AskExpired,
    AskRejected,
    BadForm,
    BadSettings,
    ClockSkew,
    NoAnswer,
    NotAVenue,
    Refused,
    Settled,
    Unreachable,
    VenueError,
    VenueFault,
    WrongVenue,
)


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
    if isinstance(error, Unreachable | VenueFault):
        return Status.UNREACHABLE
    if isinstance(error, BadSettings | BadForm):
        return Status.USAGE
    if isinstance(error, AskExpired) or (isinstance(error, Settled) and error.how == "expired"):
        return Status.EXPIRED
    if isinstance(error, AskCancelled) or (isinstance(error, Settled) and error.how == "cancelled"):
        return Status.CANCELLED
    return Status.REFUSED


def code(error: VenueError) -> str:
    """A stable word for an error: the venue's own code, or the kind of error."""
    if isinstance(error, Refused) and not isinstance(error, ClockSkew):
        return error.code
    return _WORDS.get(type(error), "failed")


_WORDS: dict[type[VenueError], str] = {
    AskRejected: "rejected",
    AskExpired: "expired",
    AskCancelled: "cancelled",
    BadForm: "bad_form",
    BadSettings: "bad_settings",
    ClockSkew: "clock_skew",
    NoAnswer: "no_answer",
    NotAVenue: "not_a_venue",
    Unreachable: "unreachable",
    WrongVenue: "wrong_venue",
}
