"""The one clock of the repository.

Deadlines, token times and rates read a `Clock` that is handed in, so that a test can hold time still.
Wait windows, heartbeats and polls run on the event loop's time instead (house rule 10).
"""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""A callable that returns the current instant as an aware UTC datetime."""


def system_clock() -> datetime:
    """The machine's own time, aware and in UTC."""
    return datetime.now(UTC)


def millis(instant: datetime) -> int:
    """An aware instant as whole milliseconds since the epoch, rounded down."""
    return int(instant.timestamp() * 1000)
