"""Job ids: 6 bytes of milliseconds, 2 of a counter, 8 of entropy, as 32 hex digits; they sort by time."""

from collections.abc import Callable
from threading import Lock

from inbox.clock import Clock, millis

_COUNTER = 1 << 16


class IdSource:
    """Makes ids that strictly increase, even while the clock stands still or runs back.

    A cursor of a list is the id of what was seen last, so a smaller one would never be found behind it.
    """

    def __init__(self, clock: Clock, entropy: Callable[[int], bytes]) -> None:
        self._clock = clock
        self._entropy = entropy
        self._last = 0
        self._lock = Lock()

    def go_on_after(self, newest: str) -> None:
        """Make greater ids than this one, which an earlier process made, from now on."""
        with self._lock:
            self._last = max(self._last, int(newest[:16], 16))

    def __call__(self) -> str:
        """The next id."""
        with self._lock:
            self._last = max(self._last + 1, millis(self._clock()) * _COUNTER)
            stamp = self._last
        return stamp.to_bytes(8, "big").hex() + self._entropy(8).hex()
