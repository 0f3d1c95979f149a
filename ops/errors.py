"""Why an operation was refused.

Every leaf has a stable `code`, which `venue.problems` maps to an HTTP status.
"""

from ucan.errors import UcanError


class OpsError(Exception):
    """Root of the errors of this package."""

    code = "ops"


class UnknownOperation(OpsError):
    """No operation goes by this reference."""

    code = "unknown_operation"


class NotFoundInCatalogue(OpsError):
    """No operation stands at this place of the catalogue."""

    code = "not_found"


class BadInput(OpsError):
    """The input does not fit the operation's schema, or names something impossible."""

    code = "invalid_input"


class AuthRequired(OpsError):
    """Only a caller who has said who they are may do this."""

    code = "auth_required"


class Forbidden(OpsError):
    """The caller is known and has no right to this."""

    code = "denied"


class NotAdmitted(Forbidden):
    """The caller proved who they are, but has no account here (D4)."""

    code = "not_admitted"


class LinkRefused(Forbidden):
    """A one-time link was used already, is too old, or was never made for this user (D35)."""

    code = "link_refused"


class AgentRefused(Forbidden):
    """Agents never answer, never grant, never manage anybody, whatever their caps say (D9)."""

    code = "agent_refused"


class OperatorRefused(Forbidden):
    """The operator looks after the venue, and never acts for anybody in it (D5)."""

    code = "operator_refused"


class WeakCredential(Forbidden):
    """An identity UCAN may have passed through a relay, and is not enough for this (D2)."""

    code = "weak_credential"


class CapabilityDenied(Forbidden):
    """An agent's configured caps do not reach this (D23)."""

    code = "capability_denied"


class NotWritable(Forbidden):
    """Only `w/` is written by hand; every other namespace is a view (D24)."""

    code = "not_writable"


class NoSuchJob(OpsError):
    """No such job, or none that this caller may see; the two look alike (D23)."""

    code = "not_found"


class WrongState(OpsError):
    """The job or thing is not in a state that allows this."""

    code = "wrong_state"


class IdempotencyConflict(OpsError):
    """The key was used before, with another input (D20): `job` is what the caller made with it then."""

    code = "idempotency_conflict"

    def __init__(self, job_id: str) -> None:
        super().__init__("This Idempotency-Key was used before, with another input")
        self.job = f"0x{job_id}"


class QuotaExceeded(OpsError):
    """A size beyond a limit of D22, which the message names."""

    code = "too_large"


class NotCompleted(OpsError):
    """A run whose job ended otherwise than complete: rejected, expired or cancelled; the message is the job's
    own.
    """

    code = "not_completed"


def refused(error: UcanError, place: str = "path") -> BadInput:
    """What is malformed in an input for `ucan`, as this package's own error, naming the place."""
    return BadInput(f"{place}: {error}")
