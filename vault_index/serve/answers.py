"""HTTP answers: JSON, errors with their status, and common headers."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from vault_index.errors import UsageError, VaultIndexError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application: https://asgi.readthedocs.io/en/latest/specs/www.html."""

Headers = list[tuple[bytes, bytes]]

SECURITY: Headers = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
]

MOST = 2**53
"""The largest integer that all JSON parsers keep exact."""

_STATUS = {
    "usage": 400,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "defect": 500,
}
"""HTTP status by error code. All others mean that the index cannot answer now: 503."""


_CODES = {401: "unauthorized", 403: "forbidden", 429: "too_many", 503: "busy"}


class Refusal(UsageError):
    """A request refused by the HTTP layer; `headers` are sent with the answer."""

    def __init__(
        self, message: str, hint: str = "", status: int = 400, headers: Headers | None = None
    ) -> None:
        super().__init__(message, hint)
        self.status, self.code, self.headers = status, _CODES.get(status, self.code), headers or []


async def disconnected(receive: Receive) -> None:
    """Wait until the client disconnects. Call it after reading the body."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_json(send: Send, status: int, answer: Any, headers: Headers | None = None) -> None:
    """Send `answer` as JSON with this status."""
    # ASCII, because file names need not be valid UTF-8.
    body = json.dumps(answer, separators=(",", ":"), allow_nan=False).encode("ascii")
    told = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        *(headers or []),
    ]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, error: VaultIndexError) -> None:
    """Send the error with the status of its code; 503 with `retry-after` for an unknown code."""
    status, headers = _STATUS.get(error.code, 503), []
    if isinstance(error, Refusal):
        status, headers = error.status, error.headers
    later = [(b"retry-after", b"1")] if status == 503 else []
    await send_json(send, status, error_object(error), [*headers, *later])


def error_object(error: VaultIndexError) -> dict[str, Any]:
    """Return the error as all HTTP answers show it."""
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
