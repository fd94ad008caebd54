"""HTTP responses: JSON, errors with their status, and the headers of every response."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from vault_index.errors import UsageError, VaultIndexError

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
