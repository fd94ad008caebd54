"""How often somebody may ask."""

import math


class Rates:
    """A token bucket a name (https://en.wikipedia.org/wiki/Token_bucket): `rate` requests a second, and `burst` at once
    after a pause. The names that were seen last are remembered, `most` of them."""

    def __init__(self, rate: float, burst: float, most: int = 4096) -> None:
        self._rate, self._burst, self._most = rate, burst, most
        self._left: dict[str, tuple[float, float]] = {}
        """What each had left, and when; those seen last at the end."""

    def wait(self, name: str, now: float) -> int:
        """Count a request; 0 if it may be answered, else the seconds after which one may be."""
        left, since = self._left.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1
        self._left[name] = (left - allowed, now)
        if len(self._left) > self._most:
            del self._left[next(iter(self._left))]
        return 0 if allowed else math.ceil((1 - left) / self._rate)
