"""What can go wrong with requests and with the store beneath them.

One tree; every leaf has a stable `code`, which `venue.problems` maps to an HTTP status (house rule 5).
Messages are sentences for a person and never hold an answer, a key or a token.
"""


class InboxError(Exception):
    """Root of the errors of this package."""

    code = "inbox"


class BadRequest(InboxError):
    """A submitted request, answer or echo breaks a rule (D12, D14). Nothing was stored."""

    code = "invalid_input"


class NotFound(InboxError):
    """No such record in the caller's own inbox; a foreign id and a random one answer alike (D14)."""

    code = "not_found"


class AlreadySettled(InboxError):
    """The request left the open state before: `how` it was settled and `when` (epoch milliseconds)."""

    code = "not_open"

    def __init__(self, request_id: str, how: str, when: int) -> None:
        super().__init__(f"Request {request_id} is not open: it was {how} at {when} (ms since the epoch)")
        self.request_id = request_id
        self.how = how
        self.when = when


class Expired(InboxError):
    """The deadline passed before this answer arrived (D17): `when` is the deadline in epoch milliseconds."""

    code = "expired"

    def __init__(self, request_id: str, when: int) -> None:
        super().__init__(f"Request {request_id} has expired: its deadline was {when} (ms since the epoch)")
        self.request_id = request_id
        self.how = "expired"
        self.when = when


class StaleDigest(InboxError):
    """The digest given with an answer is not the record's: the person saw something else (D14)."""

    code = "stale_digest"


class NotGrantable(InboxError):
    """An echoed grant cannot be conferred: the grantor has no authority over it (D7, D9)."""

    code = "denied"


class TokenRefused(InboxError):
    """A token given as an answer is not the responder's own, or not for whom it is asked (D15)."""

    code = "token_refused"


class LimitExceeded(InboxError):
    """A size or count beyond a limit of D22, which the message names. Final: the same call fails again."""

    code = "too_large"


class TooFast(InboxError):
    """More posts or calls than allowed for now (D22). Nothing happened; `retry_after` is in whole seconds."""

    code = "rate_limited"

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TooManyOpen(InboxError):
    """An inbox or a requester has its full number of open requests (D22).

    Nothing happened; settling frees a place.
    """

    code = "too_many_open"


class StoreError(InboxError):
    """The database could not do what it was asked; nothing of that unit of work was kept."""

    code = "store"


class StoreBusy(StoreError):
    """Another process holds the database; nothing was kept, and a retry may succeed."""

    code = "store_busy"


class SchemaMismatch(StoreError):
    """The database was made by another version of this software."""

    code = "schema"
