"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta

START = datetime(2030, 6, 3, 9, 30, tzinfo=UTC)
"""Where every frozen clock begins: a whole second, far from the machine's time, so that a mix-up shows."""


class FrozenClock:
    """The current instant for a venue, its callers and whoever checks them; only `advance` moves it."""

    def __init__(self, start: datetime = START) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """The current instant."""
        return self._now

    @property
    def seconds(self) -> int:
        """The current instant in whole unix seconds, as tokens count it."""
        return int(self._now.timestamp())

    def advance(self, milliseconds: int) -> None:
        """Move on; a clock never runs back."""
        assert milliseconds >= 0, milliseconds
        self._now += timedelta(milliseconds=milliseconds)

    def reach(self, instant: datetime) -> None:
        """Move on to an instant that somebody else's clock has reached."""
        self._now = max(self._now, instant)
