"""What a client of a venue can meet.

Each says what happened and what to do next; none holds a token or a key.
"""


class VenueError(Exception):
    """Root of the errors of the client."""


class BadForm(VenueError):
    """A model has a field that no ask can carry, or grants name a field that is not there.

    Nothing was sent.
    """


class Unreachable(VenueError):
    """The venue could not be reached, or did not answer in time.

    What was asked with a key was not asked twice.
    """


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
    """The venue said no. `code` is stable, `status` the HTTP status, the text the venue's own sentence."""

    def __init__(self, code: str, status: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.status = status
        self.message = message


class NotAuthenticated(Refused):
    """The key or token is not, or no longer, good here: expired, revoked, or for another venue."""


class ClockSkew(NotAuthenticated):
    """The bearer was refused, and this clock differs from the venue's by `seconds`: set the clock."""

    def __init__(self, code: str, status: int, message: str, seconds: int) -> None:
        super().__init__(code, status, f"{message}; this clock and the venue's differ by {seconds} seconds")
        self.seconds = seconds


class Settled(Refused):
    """The request was settled before: `how` (answered, rejected, expired, cancelled) and `when` (epoch
    milliseconds).
    """

    def __init__(self, code: str, status: int, message: str, how: str, when: int | None) -> None:
        super().__init__(code, status, message)
        self.how = how
        self.when = when


class TooFast(Refused):
    """Still too many calls or open requests after waiting as long as was allowed; nothing has happened."""


class AskRejected(VenueError):
    """The person said no. `reason` is word for word what they wrote, or None."""

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason or "rejected without a reason")
        self.reason = reason


class AskExpired(VenueError):
    """Nobody answered before the deadline. That is no rejection."""


class AskCancelled(VenueError):
    """The question was withdrawn before it was answered; the text is the reason that was given."""
