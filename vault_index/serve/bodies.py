"""Read request bodies: JSON in UTF-8, within limits of size and time."""

import asyncio
import json
from typing import Any

from starlette.requests import Request

from vault_index.errors import UsageError
from vault_index.serve.answers import Refusal

BODY_SECONDS = 10.0


async def read_params(request: Request) -> dict[str, Any]:
    """Return the JSON object of a request; an empty one without a body."""
    body = await read_body(request)
    params = parse_json(body) if body else {}
    if not isinstance(params, dict):
        raise UsageError("the body is not a JSON object", "send an object with the parameters")
    return params


async def read_body(request: Request) -> bytes:
    """Read a JSON body of at most `scope["max_body_bytes"]`. Raises Refusal."""
    headers, most = request.scope["known_headers"], request.scope["max_body_bytes"]
    length = headers.get("content-length", "0")
    if length == "0" and not headers.keys() & {"content-type", "transfer-encoding"}:
        return b""
    kind, _, more = headers.get("content-type", "").lower().partition(";")
    charset = more.replace(" ", "").replace('"', "")
    if kind.strip() != "application/json" or charset not in ("", "charset=utf-8"):
        hint = "send the header content-type: application/json"
        raise Refusal("the content type must be application/json", hint, 415)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal("the body is compressed", "send it uncompressed", 415)
    too_long = Refusal(
        f"the body is longer than {most} bytes", "send less, or raise serve.max_body_bytes", 413
    )
    if length.isdecimal() and int(length) > most:
        raise too_long
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > most:
                    raise too_long
    except TimeoutError as error:
        close = {"connection": "close"}
        hint = "send it without delay"
        raise Refusal("the body did not arrive in time", hint, 408, close) from error
    return bytes(body)


def parse_json(body: bytes) -> Any:
    """Parse a JSON body. Raises Refusal, also for NaN and duplicate keys."""
    try:
        # int("NaN") raises ValueError.
        return json.loads(body.decode(), parse_constant=int, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise Refusal("the body is not valid JSON in UTF-8", "send a JSON object", 400) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found
