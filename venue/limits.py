"""How fast a caller may call: a bucket that fills at a rate and holds a burst (D22)."""

from inbox.clock import Clock
from inbox.errors import TooFast

_FORGET_ABOVE = 10_000


class Rates:
    """One bucket a caller; all anonymous callers share one. A rate of None lets everybody through."""

    def __init__(self, clock: Clock, per_second: int | None, burst: int) -> None:
        self._clock = clock
        self._rate = per_second
        self._burst = float(burst)
        self._buckets: dict[str, tuple[float, float]] = {}

    def check(self, who: str) -> None:
        """Take one drop from a caller's bucket. Raises TooFast (`rate_limited`) when there is none."""
        if self._rate is None:
            return
        now = self._clock().timestamp()
        if len(self._buckets) > _FORGET_ABOVE:
            self._forget_the_full(now)
        level, since = self._buckets.get(who, (self._burst, now))
        level = min(self._burst, level + max(0.0, now - since) * self._rate)
        if level < 1:
            self._buckets[who] = (level, now)
            raise TooFast(f"At most {self._rate} requests a second (requests_per_second)", retry_after=1)
        self._buckets[who] = (level - 1, now)

    def _forget_the_full(self, now: float) -> None:
        """A bucket that is full again is as good as none."""
        rate = self._rate or 0
        self._buckets = {
            who: (level, since)
            for who, (level, since) in self._buckets.items()
            if level + (now - since) * rate < self._burst
        }
