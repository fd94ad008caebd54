"""Check which user owns the other end of a socket. Imports little, for every command."""

import os
import socket
import stat
import sys

_PEERCRED = (socket.SOL_SOCKET, socket.SO_PEERCRED) if hasattr(socket, "SO_PEERCRED") else (0, 1)
"""Level and option; the second pair is SOL_LOCAL and LOCAL_PEERCRED of macOS and the BSDs."""
_PEERCRED_BYTES = 76
"""Size of `struct xucred`; `struct ucred` has 12 bytes. Both have the user id as second number."""


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
