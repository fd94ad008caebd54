"""The protocol of the daemon's socket (docs/protocol.md), and who owns its other end."""

from __future__ import annotations

import json
import os
import socket
import stat
import sys

from vault_index import errors

TYPE_CHECKING = False  # spares the client the import of typing; type checkers know the name
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
MAX_REQUEST_BYTES = 4 * 1024 * 1024
HEARTBEAT_SECONDS = 5.0
"""Maximum seconds between progress lines while a writing request waits or works."""
_PEERCRED = (socket.SOL_SOCKET, socket.SO_PEERCRED) if hasattr(socket, "SO_PEERCRED") else (0, 1)
"""Level and option; the second pair is SOL_LOCAL and LOCAL_PEERCRED of macOS and the BSDs."""
_PEERCRED_BYTES = 76
"""Size of `struct xucred`; `struct ucred` has 12 bytes. Both have the user id as second number."""


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


def is_own_process(connection: socket.socket) -> bool:
    """Return whether the process at the other end runs as this user; False if unknown."""
    try:
        credentials = connection.getsockopt(*_PEERCRED, _PEERCRED_BYTES)
    except OSError:
        return False
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.geteuid()


def is_own_socket(path: str | os.PathLike[str]) -> bool:
    """Return whether only this user can have created a socket.

    The folder may be reached through a link that this user or root made.
    """
    user = os.geteuid()
    folder = os.path.dirname(path)
    try:
        place, found = os.lstat(folder), os.lstat(path)
        if stat.S_ISLNK(place.st_mode) and place.st_uid in (0, user):
            place = os.stat(folder)
    except OSError:
        return False
    closed = stat.S_ISDIR(place.st_mode) and not place.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return closed and place.st_uid == user == found.st_uid and stat.S_ISSOCK(found.st_mode)
