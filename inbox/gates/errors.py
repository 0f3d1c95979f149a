"""Everything that can go wrong with a gate.

One tree under `GateError`. Each leaf has a stable `code`, names its gate in `gate_id`, and says every problem
it found. All survive pickling, so a worker process may hand them on.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from ..jsonvalue import Issue


class GateError(Exception):
    """Root of the errors of this package. `gate_id` is the gate, or empty where a whole store is meant."""

    code: ClassVar[str] = "gate_error"

    def __init__(self, gate_id: str, problem: str) -> None:
        super().__init__(f"gate {gate_id!r}: {problem}" if gate_id else problem)
        self.gate_id = gate_id

    def __reduce__(self) -> tuple[Any, ...]:
        # Exception's own way would call the constructor with the finished sentence.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(kind: type[GateError], args: tuple[Any, ...], fields: dict[str, Any]) -> GateError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


# -- the gate is not what the caller took it for ---------------------------------------------------


class GateNotFound(GateError):
    """No gate has this id."""

    code = "not_found"

    def __init__(self, gate_id: str) -> None:
        super().__init__(gate_id, "not found")


class GateAlreadyExists(GateError):
    """A gate with this id is there already; it was left alone."""

    code = "already_exists"

    def __init__(self, gate_id: str) -> None:
        super().__init__(gate_id, "already exists")


class GateAlreadySettled(GateError):
    """The gate was settled before, with another answer or by an earlier call; `status` says how."""

    code = "already_settled"

    def __init__(self, gate_id: str, status: str) -> None:
        super().__init__(gate_id, f"already {status}")
        self.status = status


class GateExpired(GateError):
    """The gate's deadline passed before it was answered."""

    code = "expired"

    def __init__(self, gate_id: str) -> None:
        super().__init__(gate_id, "expired")
        self.status = "expired"


# -- a wait that brings no answer ------------------------------------------------------------------


class GateCancelled(GateError):
    """The gate waited on was cancelled, for `reason` if one was given."""

    code = "cancelled"

    def __init__(self, gate_id: str, reason: str | None) -> None:
        super().__init__(gate_id, f"cancelled: {reason}" if reason else "cancelled")
        self.reason = reason


class GateAborted(GateError):
    """The caller gave up waiting, and `reason` says how. The gate was not touched."""

    code = "aborted"

    def __init__(self, gate_id: str, reason: str) -> None:
        super().__init__(gate_id, f"wait given up: {reason}")
        self.reason = reason


class GateWaitInTransaction(GateError):
    """A wait inside an open transaction, which never sees the answer and may keep it from being written."""

    code = "wait_in_transaction"

    def __init__(self, gate_id: str) -> None:
        super().__init__(gate_id, "commit before you wait: inside an open transaction no answer can be seen")


# -- what was handed in is not right ---------------------------------------------------------------


class GateInvalid(GateError):
    """Something handed in breaks a rule; nothing was written. `issues` names every problem."""

    code = "invalid"
    _subject: ClassVar[str] = "invalid"

    def __init__(self, gate_id: str, issues: Iterable[Issue]) -> None:
        self.issues = tuple(issues)
        self.reason = "; ".join(map(str, self.issues))
        super().__init__(gate_id, f"{self._subject}: {self.reason}")

    @property
    def paths(self) -> tuple[str, ...]:
        """Where the problems are, dotted; `$` is the value itself."""
        return tuple(issue.path for issue in self.issues)


class GateArgumentInvalid(GateInvalid):
    """An id, a prompt, a reason, a poll interval, a timeout or an option of the store is none."""

    code = "argument_invalid"
    _subject = "invalid argument"


class GateSchemaInvalid(GateInvalid):
    """The schema cannot be stored, or says what the boundary cannot check (`strict_schema`)."""

    code = "schema_invalid"
    _subject = "invalid schema"


class GateExpiryInvalid(GateInvalid):
    """`expires_at` is no instant: unparseable, without a time zone, or impossible."""

    code = "expiry_invalid"
    _subject = "invalid expiry"


class GateRuleInvalid(GateInvalid):
    """The rule would bind the gate to nobody, or to somebody who may never resolve."""

    code = "rule_invalid"
    _subject = "invalid rule"


class GateBriefInvalid(GateInvalid):
    """The brief is incomplete where one is required, or breaks its form."""

    code = "brief_invalid"
    _subject = "invalid brief"


class GatePayloadInvalid(GateInvalid):
    """The payload does not fit the gate's schema, or, raised by a wait, not the waiter's type."""

    code = "payload_invalid"
    _subject = "invalid payload"


class GateEvidenceInvalid(GateInvalid):
    """The evidence is no JSON object, or exceeds 16 KB."""

    code = "evidence_invalid"
    _subject = "invalid evidence"


# -- who may settle --------------------------------------------------------------------------------


class GateResolverRefused(GateError):
    """This resolver may not give this answer; the gate stays pending.

    `actor_class` is the class it claimed, `reason` why it was refused. Its other fields are nobody's business
    here: the message never shows them.
    """

    code = "resolver_refused"

    def __init__(self, gate_id: str, actor_class: str | None, reason: str) -> None:
        who = f"resolver of class {actor_class!r} refused" if actor_class else "refused"
        super().__init__(gate_id, f"{who}: {reason}")
        self.actor_class = actor_class
        self.reason = reason


class GateAuthorizeInvalid(GateError):
    """`authorize` did not answer `{"allowed": bool}` synchronously; the gate stays pending."""

    code = "authorize_invalid"

    def __init__(self, gate_id: str, reason: str) -> None:
        super().__init__(gate_id, f"authorize {reason}; it must return {{'allowed': bool}}")
        self.reason = reason


# -- the store -------------------------------------------------------------------------------------


class GateStoreSchemaOutdated(GateError):
    """The table `table` lacks what `migration` adds. `gate_id` is empty when no store could be opened."""

    code = "store_schema_outdated"

    def __init__(self, gate_id: str, table: str, migration: str) -> None:
        super().__init__(gate_id, f"table {table!r} lacks what {migration} adds; run that migration")
        self.table = table
        self.migration = migration


class GateRowInvalid(GateInvalid):
    """A row that no store would have written: somebody edited it. `issues` names the columns."""

    code = "row_invalid"
    _subject = "unreadable row"
