"""Failures of an embeddings server, for `EmbeddingServer.fail_next` and `fail_always`."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.embeddings.replies import Failure, Reply, Request, as_json, error


def unauthorized(request: Request, reply: Reply) -> Reply:
    """401 of a careless server, with the key in the message."""
    key = request.headers.get("authorization", "").removeprefix("Bearer ")
    return error(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")


def rate_limited(retry_after: str | None = None, retry_after_ms: str | None = None) -> Failure:
    """429, with `Retry-After` in seconds or as a date, and OpenAI's header in milliseconds."""
    headers = {"Retry-After": retry_after, "retry-after-ms": retry_after_ms}
    given = {name: value for name, value in headers.items() if value is not None}
    return lambda request, reply: replace(error(429, "Rate limit reached.", code="rate_limit_exceeded"), headers=given)


def overloaded(request: Request, reply: Reply) -> Reply:
    """503 as a proxy sends it."""
    return Reply(503, b"<html><body><h1>503 Service Unavailable</h1></body></html>", {"Content-Type": "text/html"})


def repeats_input(request: Request, reply: Reply) -> Reply:
    """422 as of servers that validate with pydantic."""
    return as_json(422, {"detail": f"Input should be a valid string, got: {request.texts[0][:60]}"})


def redirect(request: Request, reply: Reply) -> Reply:
    return Reply(307, b"", {"Location": "/elsewhere/v1/embeddings"})


def truncated(request: Request, reply: Reply) -> Reply:
    """The connection ends before the body does."""
    half = len(reply.body) // 2
    return replace(reply, body=reply.body[:half], missing=len(reply.body) - half)


# --- behaviour of known servers, as data ----------------------------------------------------------------------------

POISON = "POISON"
"""Marks a text that a server cannot embed."""


def says(status: int, body: object, when: Callable[[Request], bool] = lambda request: True) -> Failure:
    """Answer the requests that meet a condition with this."""
    return lambda request, reply: as_json(status, body) if when(request) else reply


def poisoned(request: Request) -> bool:
    return any(POISON in text for text in request.texts)


def over(most: int) -> Callable[[Request], bool]:
    return lambda request: len(request.texts) > most


def changed(change: Callable[[list[dict[str, Any]], Request], object]) -> Failure:
    """`change` edits the list of vectors of every valid answer, or returns its replacement."""

    def failure(request: Request, reply: Reply) -> Reply:
        body = json.loads(reply.body)
        items = body.get("data", [])
        return as_json(reply.status, {**body, "data": change(items, request) or items})

    return failure


def spoiled(embedding: object) -> Failure:
    """Poisoned texts get this instead of a vector."""

    def change(items: list[dict[str, Any]], request: Request) -> None:
        for text, item in zip(request.texts, items, strict=True):
            item["embedding"] = embedding if POISON in text else item["embedding"]

    return changed(change)


def numbered(number: Callable[[int], object], *, backwards: bool = False) -> Failure:
    """Write the `index` of vectors in another form; None omits it."""

    def change(items: list[dict[str, Any]], request: Request) -> object:
        numbers = [(item, number(item.pop("index"))) for item in items]
        found = [item if n is None else {**item, "index": n} for item, n in numbers]
        return found[::-1] if backwards else found

    return changed(change)


wrong_dimensions = changed(lambda items, request: [{**item, "embedding": [0.5] * 7} for item in items])
server_error = says(500, {"error": {"message": "The server had an error while processing your request."}})
quota = says(429, {"error": {"message": "You exceeded your current quota.", "code": "insufficient_quota"}})
