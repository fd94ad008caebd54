"""Retry failed requests after the server's Retry-After, or with exponential backoff."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

import tenacity

from vault_index.errors import EmbedderError, RequestRefused

T = TypeVar("T")

_FIRST_WAIT, _JITTER = 0.5, 0.25


class Unavailable(EmbedderError):
    """A temporary failure of the server."""

    def __init__(
        self,
        message: str,
        hint: str,
        *,
        retry_after: float | None = None,
        most_retries: int | None = None,
    ) -> None:
        """Take the server's `retry_after` in seconds, and a limit of useful retries."""
        super().__init__(message, hint)
        self.retry_after = retry_after
        self.most_retries = most_retries


class Broken(Unavailable, RequestRefused):
    """The server failed on a request, temporarily or because of one of its texts."""


@dataclass(frozen=True, slots=True)
class Patience:
    """A retry policy. `longest_wait` (seconds) limits every wait.

    With `or_give_up`, a server that asks for a longer wait gets no retry.
    """

    retries: int
    longest_wait: float
    or_give_up: bool = False

    def keep_trying(self, request: Callable[[], T], sleep: Callable[[float], object]) -> T:
        """Call `request`, with retries while it raises Unavailable, and return its result."""
        retrying = tenacity.Retrying(
            sleep=lambda seconds: (sleep(seconds), None)[1],
            stop=self._ends,
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(Unavailable),
            reraise=True,
        )
        return retrying(request)

    def _ends(self, state: tenacity.RetryCallState) -> bool:
        failure = _failure(state)
        most = (
            self.retries
            if failure.most_retries is None
            else min(self.retries, failure.most_retries)
        )
        too_long = self.or_give_up and (failure.retry_after or 0.0) > self.longest_wait
        return too_long or state.attempt_number > most

    def _wait(self, state: tenacity.RetryCallState) -> float:
        """Return the next wait, with jitter against simultaneous retries of several programs."""
        asked = _failure(state).retry_after
        if asked is not None:
            return min(asked + random.uniform(0, _JITTER), self.longest_wait)
        full = min(_FIRST_WAIT * 2 ** min(state.attempt_number - 1, 30), self.longest_wait)
        return random.uniform(full / 2, full)


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the wait in seconds from `retry-after-ms` or `Retry-After`, or None.

    `now` is in seconds since the epoch. `headers` must be case-insensitive.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(parsedate_to_datetime(headers["retry-after"]).timestamp() - now, 0.0)
    except (KeyError, ValueError, OverflowError):
        return None


def _failure(state: tenacity.RetryCallState) -> Unavailable:
    failure = state.outcome.exception() if state.outcome else None
    assert isinstance(failure, Unavailable)
    return failure
