"""The one clock of the repository.

Deadlines, token times and rates read a `Clock` that is handed in, so that a test can hold time still.
Wait windows, heartbeats and polls run on the event loop's time instead (house rule 10).
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

Clock = Callable[[], datetime]
"""A callable that returns the current instant as an aware UTC datetime."""


def system_clock() -> datetime:
    """The machine's own time, aware and in UTC."""
    return datetime.now(UTC)


def millis(instant: datetime) -> int:
    """An aware instant as whole milliseconds since the epoch, rounded down."""
    return (instant - _EPOCH) // _MILLISECOND  # whole numbers: a float is a millisecond short now and then
