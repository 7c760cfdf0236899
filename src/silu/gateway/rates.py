"""How often somebody may ask: a bucket a token, filled again evenly over the minute."""

import time
from collections.abc import Callable


class Rates:
    """`clock` gives seconds and never goes back."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, who: str, *, per_minute: int) -> float:
        """Count one call; 0 when it may be made, else the seconds until one may."""
        now = self._clock()
        left, at = self._buckets.get(who, (float(per_minute), now))
        left = min(float(per_minute), left + (now - at) * per_minute / 60)
        if left < 1:
            self._buckets[who] = (left, now)
            return (1 - left) * 60 / per_minute
        self._buckets[who] = (left - 1, now)
        return 0.0
