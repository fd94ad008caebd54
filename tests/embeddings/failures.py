"""The ways an embeddings server fails: give them to `EmbeddingServer.fail_next` and `fail_always`."""

import json
import math
from dataclasses import replace

from tests.embeddings.replies import Failure, Reply, Request, as_json, embeddings, error


def unauthorized(request: Request, reply: Reply) -> Reply:
    """As a careless server says it: with the key in the message."""
    key = request.headers.get("authorization", "").removeprefix("Bearer ")
    return error(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")


def quota(request: Request, reply: Reply) -> Reply:
    return error(429, "You exceeded your current quota, please check your plan.", code="insufficient_quota")


def rate_limited(retry_after: str | None = None, retry_after_ms: str | None = None) -> Failure:
    """429, with `Retry-After` in seconds or as a date, and OpenAI's header in milliseconds."""
    headers = {"Retry-After": retry_after, "retry-after-ms": retry_after_ms}
    given = {name: value for name, value in headers.items() if value is not None}
    return lambda request, reply: replace(error(429, "Rate limit reached.", code="rate_limit_exceeded"), headers=given)


def server_error(request: Request, reply: Reply) -> Reply:
    return error(500, "The server had an error while processing your request.")


def overloaded(request: Request, reply: Reply) -> Reply:
    """As a proxy says it."""
    return Reply(503, b"<html><body><h1>503 Service Unavailable</h1></body></html>", {"Content-Type": "text/html"})


def too_large(request: Request, reply: Reply) -> Reply:
    return error(413, "The request is too large.")


def context_length(request: Request, reply: Reply) -> Reply:
    return error(400, "This model's maximum context length is 8192 tokens, however you requested 9001 tokens.")


def repeats_input(request: Request, reply: Reply) -> Reply:
    """As servers do that validate with pydantic."""
    return as_json(422, {"detail": f"Input should be a valid string, got: {request.texts[0][:60]}"})


def refuses_base64(request: Request, reply: Reply) -> Reply:
    if request.body.get("encoding_format") == "base64":
        return error(400, "Unknown value for encoding_format: base64")
    return reply


def redirect(request: Request, reply: Reply) -> Reply:
    return Reply(307, b"", {"Location": "/elsewhere/v1/embeddings"})


def malformed(request: Request, reply: Reply) -> Reply:
    """Half of the JSON, as if it were all."""
    return replace(reply, body=reply.body[: len(reply.body) // 2])


def truncated(request: Request, reply: Reply) -> Reply:
    """The connection ends before the body does."""
    half = len(reply.body) // 2
    return replace(reply, body=reply.body[:half], missing=len(reply.body) - half)


def backwards(request: Request, reply: Reply) -> Reply:
    """Every vector with its right number, the last one first: that is allowed."""
    body = json.loads(reply.body)
    return as_json(200, {**body, "data": body["data"][::-1]})


def wrong_dimensions(request: Request, reply: Reply) -> Reply:
    return _filled(request, 7, 0.5)


def not_a_number(request: Request, reply: Reply) -> Reply:
    return _filled(request, _dimensions(request, reply), math.nan)


def _filled(request: Request, dimensions: int, value: float) -> Reply:
    return embeddings([[value] * dimensions for _ in request.texts], as_base64=True, model=request.body.get("model"))


def _dimensions(request: Request, reply: Reply) -> int:
    first = json.loads(reply.body)["data"][0]["embedding"]
    return len(first) * 3 // 16 if isinstance(first, str) else len(first)
