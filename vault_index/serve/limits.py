"""Rate limits."""

import math


class Rates:
    """Token buckets by name (https://en.wikipedia.org/wiki/Token_bucket).

    Each allows `rate` requests per second, and `burst` after a pause. Only the `most` recent names
    are stored.
    """

    def __init__(self, rate: float, burst: float, most: int = 4096) -> None:
        self._rate, self._burst, self._most = rate, burst, most
        self._left: dict[str, tuple[float, float]] = {}
        """Remaining requests and time by name, most recent last."""

    def wait(self, name: str, now: float) -> int:
        """Count a request; return 0 if allowed, else the seconds to wait."""
        left, since = self._left.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1
        self._left[name] = (left - allowed, now)
        if len(self._left) > self._most:
            del self._left[next(iter(self._left))]
        return 0 if allowed else math.ceil((1 - left) / self._rate)
