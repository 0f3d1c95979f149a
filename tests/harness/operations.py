"""Operations that only a test's own server has: jobs that wait, and are in nobody's inbox."""

from typing import Any

from pydantic import BaseModel

from ops.model import ASKERS, Call, JobStatus, Operation, Parked


class AwaitInput(BaseModel):
    """Nothing to say."""


class SleepInput(BaseModel):
    """How long to sleep."""

    seconds: int


def await_input(_: Call, __: AwaitInput) -> Parked:
    """Park, and wait for something that never comes."""
    return Parked()


def sleep(_: Call, __: SleepInput) -> Parked:
    """Run for longer than any test does."""
    return Parked(JobStatus.STARTED)


def _operation(name: str, model: type[BaseModel], handler: Any) -> Operation:
    return Operation(
        path=f"v/test/ops/{name}",
        adapter=f"test:{name}",
        name=f"Test {name}",
        description="For tests.",
        input=model,
        output=AwaitInput,
        handler=handler,
        callers=ASKERS,
        read_only=False,
    )


TEST_OPERATIONS = (
    _operation("await_input", AwaitInput, await_input),
    _operation("sleep", SleepInput, sleep),
)
