"""The protocol of the daemon's socket: version, limits, encoding and errors (docs/protocol.md)."""

from __future__ import annotations

import json

from vault_index import errors

TYPE_CHECKING = False  # spares the client the import of typing; type checkers know the name
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
MAX_REQUEST_BYTES = 4 * 1024 * 1024
HEARTBEAT_SECONDS = 5.0
"""Maximum seconds between progress lines while a writing request waits or works."""


def encode(message: dict[str, Any]) -> bytes:
    """Encode one line in ASCII, so that invalid UTF-8 in file names (lone surrogates) survives."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def too_long() -> errors.UsageError:
    """Return the error for a request over MAX_REQUEST_BYTES."""
    return errors.UsageError(
        f"the request is longer than {MAX_REQUEST_BYTES // 2**20} MiB",
        "pass the name of a file instead",
    )


def error_object(error: errors.VaultIndexError) -> dict[str, Any]:
    """Return the `error` object of a reply."""
    return {
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "exit_code": error.exit_code,
    }


def error_from(reply: Any) -> errors.VaultIndexError:
    """Return the exception for an `error` object; the base class for an unknown code."""
    if not isinstance(reply, dict):
        reply = {}
    kind = _class_of(str(reply.get("code", "")), errors.VaultIndexError) or errors.VaultIndexError
    return kind(str(reply.get("message", "the daemon failed")), str(reply.get("hint", "")))


def _class_of(
    code: str, among: type[errors.VaultIndexError]
) -> type[errors.VaultIndexError] | None:
    if among.code == code:
        return among
    return next((found for sub in among.__subclasses__() if (found := _class_of(code, sub))), None)
