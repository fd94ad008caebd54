"""What went wrong at an embeddings server, as an error of this program: with a hint, without the key or the texts."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import openai

from vault_index.embeddings.retry import Unavailable, retry_after
from vault_index.errors import EmbedderError, EmbedderRefused, TextTooLong

_LONGEST_QUOTE = 200
_SHARED = 20
"""Characters a server's message may have in common with a text before it counts as quoting it."""
_NO_QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"})
_TOO_LONG = re.compile(
    r"context[ _]length|too[ _](?:long|large|many[ _](?:tokens|inputs))"
    r"|maximum (?:context|sequence|request|batch|input|allowed)"
    r"|max_tokens_per_request|string_above_max_length|array_above_max_length|exceeds? (?:the )?(?:max|context|limit)",
    re.IGNORECASE,
)


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
        return _of_status(error, asked)
    reason = _quote(str(error.__cause__ or error), asked)
    return Unavailable(
        f"cannot talk to the embeddings server at {asked.endpoint}{reason}",
        "is it running, and embedding.base_url right? Nothing is lost: what is missing is embedded later",
    )


def refuses_base64(error: openai.APIError) -> bool:
    """Whether a server that knows no `encoding_format` refuses to answer because of it."""
    return (
        isinstance(error, openai.APIStatusError)
        and error.status_code in (400, 422)
        and "encoding_format" in _said(error)
    )


def _of_status(error: openai.APIStatusError, asked: Asked) -> EmbedderError:
    status, said = error.status_code, _said(error)
    quote = _quote(_message(error.body), asked)
    codes = {error.code, error.type}
    if status == 402 or codes & _NO_QUOTA:
        return EmbedderRefused(
            f"the account at {asked.endpoint} has no quota left{quote}",
            "add credit there, then run `vault-index embed`; what was embedded is kept",
        )
    if status == 413 or (status in (400, 422, 500) and _TOO_LONG.search(said)):
        return TextTooLong(
            f"{asked.endpoint} takes no request this long{quote}",
            "lower embedding.batch_tokens, or chunk.tokens below what the model takes at once",
        )
    if status in (408, 409, 425, 429) or status >= 500:
        return Unavailable(
            f"{asked.endpoint} {'asks to slow down' if status == 429 else 'failed'} (status {status}){quote}",
            "try again later; what was embedded is kept",
            retry_after=retry_after(error.response.headers, time.time()),
        )
    return _refusal(status, asked, quote)


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
    return EmbedderError(
        f"{asked.endpoint} refuses the request (status {status}){quote}",
        "check embedding.model and embedding.dimensions; many models take only their own, which is 0",
    )


def _said(error: openai.APIStatusError) -> str:
    """All the server says, to recognise an error by; it is never shown."""
    return f"{error.code} {error.type} {error.body}"


def _message(body: object) -> str:
    if isinstance(body, Mapping):
        inner = body.get("error")
        if isinstance(inner, Mapping):
            return _message(inner)
        return next((str(body[key]) for key in ("message", "error", "detail") if isinstance(body.get(key), str)), "")
    return body if isinstance(body, str) else ""


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
