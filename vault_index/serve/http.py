"""Read request bodies and send answers, both in JSON."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from vault_index.errors import UsageError, VaultIndexError

BODY_SECONDS = 10.0
SECURITY = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

_STATUS = {
    "usage": 400,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "defect": 500,
}
"""HTTP status by error code. All others mean that the index cannot answer now: 503."""

_CODES = {401: "unauthorized", 403: "forbidden", 429: "too_many", 503: "busy"}


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


class Refusal(UsageError):
    """A request refused by the HTTP layer; `headers` are sent with the answer."""

    def __init__(
        self, message: str, hint: str = "", status: int = 400, headers: Mapping[str, str] = {}
    ) -> None:
        super().__init__(message, hint)
        self.status, self.code, self.headers = status, _CODES.get(status, self.code), headers


class JsonResponse(Response):
    """A response with compact JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body. ASCII, because file names need not be valid UTF-8."""
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")


def error_response(error: VaultIndexError) -> JsonResponse:
    """Return the response for an error; 503 with `retry-after` for an unknown code."""
    status = error.status if isinstance(error, Refusal) else _STATUS.get(error.code, 503)
    headers = dict(error.headers) if isinstance(error, Refusal) else {}
    if status == 503:
        headers["retry-after"] = "1"
    body = {"code": error.code, "message": error.message, "hint": error.hint}
    return JsonResponse({"error": body}, status, headers)
