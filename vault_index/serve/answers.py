"""Answers over HTTP: JSON, errors with their status, and the headers that every answer has."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from vault_index.errors import UsageError, VaultIndexError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An application as ASGI has it: https://asgi.readthedocs.io/en/latest/specs/www.html."""

Headers = list[tuple[bytes, bytes]]

SECURITY: Headers = [
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
]

MOST = 2**53
"""The largest number that JSON keeps everywhere."""

_STATUS = {
    "usage": 400,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "defect": 500,
}
"""By the code of an error. The rest says that the index cannot answer now, whoever asks: 503."""


_CODES = {401: "unauthorized", 403: "forbidden", 429: "too_many", 503: "busy"}


class Refusal(UsageError):
    """A request that HTTP itself refuses; `headers` go with the answer."""

    def __init__(self, message: str, hint: str = "", status: int = 400, headers: Headers | None = None) -> None:
        super().__init__(message, hint)
        self.status, self.code, self.headers = status, _CODES.get(status, self.code), headers or []


async def disconnected(receive: Receive) -> None:
    """Until the client is gone; after its body was read."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_json(send: Send, status: int, answer: Any, headers: Headers | None = None) -> None:
    # ASCII: names of files need not be UTF-8.
    body = json.dumps(answer, separators=(",", ":"), allow_nan=False).encode("ascii")
    told = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": told})
    await send({"type": "http.response.body", "body": body})


async def send_error(send: Send, error: VaultIndexError) -> None:
    status, headers = _STATUS.get(error.code, 503), []
    if isinstance(error, Refusal):
        status, headers = error.status, error.headers
    later = [(b"retry-after", b"1")] if status == 503 else []
    await send_json(send, status, error_object(error), [*headers, *later])


def error_object(error: VaultIndexError) -> dict[str, Any]:
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
