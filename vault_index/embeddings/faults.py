"""What went wrong at an embeddings server, as an error of this program: with a hint, without the key or the texts."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import openai

from vault_index.embeddings.retry import Broken, Unavailable, retry_after
from vault_index.errors import EmbedderError, EmbedderRefused, RequestRefused

_LONGEST_QUOTE = 200
_SHARED = 20
"""Characters a server's message may have in common with a text before it counts as quoting it."""
_NO_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"})
_MESSAGES = ("error", "message", "detail", "msg")
"""Where servers put the sentence that says what is wrong."""
_OUTAGES = frozenset({408, 409, 425, 429, 502, 503, 504})
"""Statuses of a server that is overloaded or away, whatever the texts are."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What an error message needs to know of a request; the key and the texts are here to be kept out of it."""

    endpoint: str
    model: str
    timeout: float
    key: str = field(repr=False)
    texts: list[str] = field(repr=False)


def translate(error: openai.APIError, asked: Asked) -> EmbedderError:
    """The error to raise; Unavailable where it makes sense to ask again."""
    if isinstance(error, openai.APITimeoutError):
        return Unavailable(
            f"{asked.endpoint} did not answer within {asked.timeout:g} s",
            "raise embedding.timeout, or lower embedding.batch_texts",
            most_retries=1,
        )
    if isinstance(error, openai.APIStatusError):
        wait = retry_after(error.response.headers, time.time())
        return of_status(error.status_code, error.body, asked, wait)
    reason = _quote(str(error.__cause__ or error), asked)
    return Unavailable(
        f"cannot talk to the embeddings server at {asked.endpoint}{reason}",
        "is it running, and embedding.base_url right? Nothing is lost: what is missing is embedded later",
    )


def of_status(status: int, said: object, asked: Asked, wait: float | None = None) -> EmbedderError:
    """Return the error for an HTTP status; `said` is the error object of the answer, `wait` its Retry-After in
    seconds."""
    quote = _quote(_message(said), asked)
    codes = {str(said.get("code")), str(said.get("type"))} if isinstance(said, Mapping) else set()
    if status == 402 or codes & _NO_QUOTA:
        return EmbedderRefused(
            f"the account at {asked.endpoint} has no quota left{quote}",
            "add credit there, then run `vault-index embed`; what was embedded is kept",
        )
    later = "try again later; what was embedded is kept"
    if status in _OUTAGES or (status >= 500 and wait is not None):
        does = "asks to slow down" if status == 429 else "failed"
        return Unavailable(f"{asked.endpoint} {does} (status {status}){quote}", later, retry_after=wait)
    if status >= 500:
        retries = 1 if len(asked.texts) > 1 else None
        return Broken(f"{asked.endpoint} failed (status {status}){quote}", later, most_retries=retries)
    return _refusal(status, asked, quote)


def of_error_object(said: object, asked: Asked) -> EmbedderError:
    """Return the error for an answer with status 200 that holds an error instead of vectors."""
    code = str(said.get("code")) if isinstance(said, Mapping) else ""
    status = int(code) if len(code) == 3 and code.isdecimal() else 0
    return of_status(status if 400 <= status < 600 else 500, said, asked)


def _refusal(status: int, asked: Asked, quote: str) -> EmbedderError:
    """Answers that will be the same next time."""
    if status in (401, 403):
        return EmbedderRefused(
            f"{asked.endpoint} does not accept the API key (status {status}){quote}",
            "set the key: embedding.api_key_env names its environment variable, embedding.api_key_command a command",
        )
    if status == 404:
        return EmbedderRefused(
            f"{asked.endpoint} does not know the model {asked.model!r}, or is no embeddings API{quote}",
            "check embedding.model and embedding.base_url, which usually ends in /v1",
        )
    if 300 <= status < 400:
        return EmbedderRefused(
            f"{asked.endpoint} sends requests elsewhere (status {status})",
            "set embedding.base_url to the address that answers itself; texts do not follow a redirect",
        )
    return RequestRefused(
        f"{asked.endpoint} refuses the request (status {status}){quote}",
        "check embedding.model and embedding.dimensions (many models take only their own, which is 0); if the texts are"
        " too long for the model, lower chunk.tokens",
    )


def _message(said: object) -> str:
    """Return the sentence in an error of any server: a text, or the first in an object or a list."""
    while not isinstance(said, str):
        values = [said.get(key) for key in _MESSAGES] if isinstance(said, Mapping) else said
        if not isinstance(values, list):
            return ""
        said = next((value for value in values if isinstance(value, str | list | Mapping)), None)
    return said


def _quote(message: str, asked: Asked) -> str:
    """`: message` of the server for the end of our message; empty without one, or where it repeats what was sent."""
    words = " ".join("".join(c if c.isprintable() else " " for c in message).split())
    if not words or words.startswith("<"):
        return ""
    # Some servers repeat the request in their complaint; texts of notes belong neither into logs nor on a screen.
    pieces = {words[i : i + _SHARED] for i in range(max(len(words) - _SHARED, 0) + 1)}
    sent = [" ".join(text.split()) for text in asked.texts]
    if any(piece in text for text in sent for piece in pieces if len(piece) == _SHARED):
        return ""
    if any(text and text in words for text in sent):
        return ""
    words = words.replace(asked.key, "…") if asked.key else words
    return ": " + (words if len(words) <= _LONGEST_QUOTE else words[: _LONGEST_QUOTE - 1] + "…")
