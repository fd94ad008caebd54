"""Retry failed requests, and translate errors of embeddings servers without key or texts."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TypeVar

import openai
import tenacity

from vault_index.errors import EmbedderError, EmbedderRefused, RequestRefused

T = TypeVar("T")

_FIRST_WAIT, _JITTER = 0.5, 0.25
_LONGEST_QUOTE = 200
_SHARED = 20
"""Number of common characters from which a server's message counts as a quote of a text."""
_NO_QUOTA = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}
)
_MESSAGES = ("error", "message", "detail", "msg")
"""Keys of the error message in responses."""
_OUTAGES = frozenset({408, 409, 425, 429, 502, 503, 504})
"""Status codes of an overloaded or unreachable server, independent of the texts."""


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


@dataclass(frozen=True, slots=True)
class Request:
    """The request that an error message is about; `key` and `texts` are redacted from it."""

    endpoint: str
    model: str
    timeout: float
    key: str = field(repr=False)
    texts: list[str] = field(repr=False)


def translate(error: openai.APIError, request: Request) -> EmbedderError:
    """Return the error to raise; Unavailable if a retry may help."""
    if isinstance(error, openai.APITimeoutError):
        return Unavailable(
            f"{request.endpoint} did not answer within {request.timeout:g} s",
            "raise embedding.timeout, or lower embedding.batch_texts",
            most_retries=1,
        )
    if isinstance(error, openai.APIStatusError):
        wait = retry_after(error.response.headers, time.time())
        return of_status(error.status_code, error.body, request, wait)
    reason = _quote(str(error.__cause__ or error), request)
    return Unavailable(
        f"cannot reach the embeddings server at {request.endpoint}{reason}",
        "start the server, or correct embedding.base_url; missing vectors are built later",
    )


def of_status(
    status: int, body: object, request: Request, wait: float | None = None
) -> EmbedderError:
    """Return the error for an HTTP status.

    `body` is the error object of the response, `wait` its Retry-After in seconds.
    """
    quote = _quote(_message(body), request)
    codes = {str(body.get("code")), str(body.get("type"))} if isinstance(body, Mapping) else set()
    if status == 402 or codes & _NO_QUOTA:
        return EmbedderRefused(
            f"the account at {request.endpoint} has no quota left{quote}",
            "add credit there, then run `vault-index embed`; finished vectors are kept",
        )
    later = "try again later; finished vectors are kept"
    if status in _OUTAGES or (status >= 500 and wait is not None):
        does = "asks to slow down" if status == 429 else "failed"
        return Unavailable(
            f"{request.endpoint} {does} (status {status}){quote}", later, retry_after=wait
        )
    if status >= 500:
        retries = 1 if len(request.texts) > 1 else None
        return Broken(
            f"{request.endpoint} failed (status {status}){quote}", later, most_retries=retries
        )
    return _refusal(status, request, quote)


def of_error_object(body: object, request: Request) -> EmbedderError:
    """Return the error for a response with status 200 and an error object."""
    code = str(body.get("code")) if isinstance(body, Mapping) else ""
    status = int(code) if len(code) == 3 and code.isdecimal() else 0
    return of_status(status if 400 <= status < 600 else 500, body, request)


def _refusal(status: int, request: Request, quote: str) -> EmbedderError:
    """Return the error for a permanent failure."""
    if status in (401, 403):
        return EmbedderRefused(
            f"{request.endpoint} does not accept the API key (status {status}){quote}",
            "set the key in the variable embedding.api_key_env, or set embedding.api_key_command",
        )
    if status == 404:
        return EmbedderRefused(
            f"{request.endpoint} has no model {request.model!r}, "
            f"or is not an embeddings API{quote}",
            "check embedding.model and embedding.base_url, which usually ends in /v1",
        )
    if 300 <= status < 400:
        return EmbedderRefused(
            f"{request.endpoint} redirects requests (status {status})",
            "set embedding.base_url to the final URL; texts do not follow redirects",
        )
    return RequestRefused(
        f"{request.endpoint} refused the request (status {status}){quote}",
        "check embedding.model, and set embedding.dimensions to 0 (the model's default);"
        " if the texts are too long for the model, lower chunk.tokens",
    )


def _message(body: object) -> str:
    """Return the message in a server's error: a string, or the first one in an object or list."""
    while not isinstance(body, str):
        values = [body.get(key) for key in _MESSAGES] if isinstance(body, Mapping) else body
        if not isinstance(values, list):
            return ""
        body = next((value for value in values if isinstance(value, str | list | Mapping)), None)
    return body


def _quote(message: str, request: Request) -> str:
    """Return `: ` and the server's message; empty without one, or if it quotes the request."""
    words = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    if not words or words.startswith("<"):
        return ""
    # Some servers repeat the request, but texts of notes must not appear in logs or messages.
    pieces = {words[i : i + _SHARED] for i in range(len(words) - _SHARED + 1)}
    sent = [" ".join(text.split()) for text in request.texts]
    if any(piece in text for text in sent for piece in pieces):
        return ""
    if any(text and text in words for text in sent):
        return ""
    words = words.replace(request.key, "…") if request.key else words
    return ": " + (words if len(words) <= _LONGEST_QUOTE else words[: _LONGEST_QUOTE - 1] + "…")
