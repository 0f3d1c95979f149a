"""One tree, a stable code per leaf, and errors that survive a pickle."""

import copy
import pickle
from collections.abc import Iterator

import pytest

from inbox import gates
from inbox.gates import errors
from inbox.gates.aio import GateTaskCancelled
from inbox.jsonvalue import Issue

ISSUES = [Issue("a.0", "must be there"), Issue("$", "is wrong")]

EXAMPLES: dict[str, errors.GateError] = {
    "not_found": errors.GateNotFound("g1"),
    "already_exists": errors.GateAlreadyExists("g1"),
    "already_settled": errors.GateAlreadySettled("g1", "resolved"),
    "expired": errors.GateExpired("g1"),
    "cancelled": errors.GateCancelled("g1", "superseded"),
    "aborted": errors.GateAborted("g1", "nothing within 5 s"),
    "wait_in_transaction": errors.GateWaitInTransaction("g1"),
    "invalid": errors.GateInvalid("g1", ISSUES),
    "argument_invalid": errors.GateArgumentInvalid("g1", ISSUES),
    "schema_invalid": errors.GateSchemaInvalid("g1", ISSUES),
    "expiry_invalid": errors.GateExpiryInvalid("g1", ISSUES),
    "rule_invalid": errors.GateRuleInvalid("g1", ISSUES),
    "brief_invalid": errors.GateBriefInvalid("g1", ISSUES),
    "payload_invalid": errors.GatePayloadInvalid("g1", ISSUES),
    "evidence_invalid": errors.GateEvidenceInvalid("g1", ISSUES),
    "resolver_refused": errors.GateResolverRefused("g1", "agent", "may not"),
    "authorize_invalid": errors.GateAuthorizeInvalid("g1", "returned NoneType"),
    "store_schema_outdated": errors.GateStoreSchemaOutdated("g1", "hitl_gate", "gate_rule_migration"),
    "row_invalid": errors.GateRowInvalid("g1", ISSUES),
}


def leaves(root: type[errors.GateError]) -> Iterator[type[errors.GateError]]:
    for each in root.__subclasses__():
        yield each
        yield from leaves(each)


def test_every_error_has_a_code_and_an_example() -> None:
    ours = {each for each in leaves(errors.GateError) if each.__module__ == errors.__name__}
    assert {each.code for each in ours} == set(EXAMPLES)
    assert {type(error) for error in EXAMPLES.values()} == ours
    assert all(error.code == code for code, error in EXAMPLES.items())
    assert all(getattr(gates, each.__name__) is each for each in ours)


@pytest.mark.parametrize(
    "error", [*EXAMPLES.values(), GateTaskCancelled("g1", "x")], ids=lambda e: type(e).__name__
)
def test_an_error_is_the_same_after_a_pickle_and_a_copy(error: errors.GateError) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is type(error)
        assert (str(again), again.code, again.args) == (str(error), error.code, error.args)
        assert vars(again) == vars(error)
        assert again.gate_id == "g1"
        assert "g1" in str(again)


@pytest.mark.parametrize(
    "error", [error for error in EXAMPLES.values() if isinstance(error, errors.GateInvalid)]
)
def test_every_problem_is_named(error: errors.GateInvalid) -> None:
    assert error.paths == ("a.0", "$")
    assert all(str(issue) in str(error) for issue in ISSUES)
