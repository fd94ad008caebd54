"""Read a consistent state of a regular file, and decode it."""

import codecs
import os
import re
import stat

from vault_index.disk import path_in
from vault_index.errors import VaultIndexError
from vault_index.models import FileStamp

_TRIES = 3
_LARGEST = (1 << 63) - 1
_DATALESS = 0x40000000
"""macOS flag SF_DATALESS: only the cloud provider (such as iCloud) has the content."""
_RECALLED = 0x1000 | 0x40000 | 0x400000
"""Windows attributes OFFLINE, RECALL_ON_OPEN, RECALL_ON_DATA_ACCESS."""
_LINE_END = re.compile(rb"\r\n|\r|\n")
# UTF-32 first, because its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def stamp_of(status: os.stat_result) -> FileStamp:
    """Return size, times (ns) and inode; equal stamps mean an unchanged file."""
    # SQLite stores 63 bits. The device is left out, because its number may change at each boot.
    modified, changed = (
        max(-_LARGEST, min(ns, _LARGEST)) for ns in (status.st_mtime_ns, status.st_ctime_ns)
    )
    return FileStamp(status.st_size, modified, changed, status.st_ino & _LARGEST)


def is_placeholder(status: os.stat_result) -> bool:
    """Return whether reading the file would download its content."""
    flags, attributes = getattr(status, "st_flags", 0), getattr(status, "st_file_attributes", 0)
    return bool(flags & _DATALESS or attributes & _RECALLED)


def read_inside(
    root: str, path: str, limit: int, *, outside: bool = False
) -> tuple[bytes, os.stat_result]:
    """Read a file under `root` as `read_regular` does.

    Raises UsageError if a link leads out of the root, unless `outside` is true.
    """
    real = path_in(root, path, outside=outside)
    return read_regular(real, limit, follow=False, shown=f"{root}/{path}")


def read_regular(
    path: str, limit: int, *, follow: bool = True, shown: str = ""
) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a file and their `stat`, which differs after any later change.

    Raises OSError, also for a link unless `follow` is true, and VaultIndexError if the path is not
    a regular file or is larger than `limit` bytes. Never opens pipes, sockets and devices. Messages
    name the file as `shown`.
    """
    shown = shown or path
    # Check before opening too, because opening a device may have effects.
    _must_be_regular(os.stat(path, follow_symlinks=follow), shown, limit)
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    descriptor = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    with open(descriptor, "rb", buffering=0):  # closes the descriptor
        for _ in range(_TRIES):
            before = os.fstat(descriptor)
            _must_be_regular(before, shown, limit)
            os.lseek(descriptor, 0, os.SEEK_SET)
            data = _read(descriptor, before.st_size + 1)
            if len(data) == before.st_size and stamp_of(os.fstat(descriptor)) == stamp_of(before):
                break
    # If the file keeps changing, return the last read; its old stamp causes another read later.
    return data, before


def decode(data: bytes) -> tuple[str, int | None]:
    """Return the text without byte order mark, and the line of the first invalid byte (from 1)."""
    mark, encoding = next(
        ((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8")
    )
    body = data[len(mark) :]
    try:
        return body.decode(encoding), None
    except UnicodeDecodeError as error:
        before = body[: error.start].decode(encoding, "replace").encode()
        return body.decode(encoding, "replace"), len(_LINE_END.findall(before)) + 1


def _read(descriptor: int, most: int) -> bytes:
    parts = []
    while most > 0 and (part := os.read(descriptor, min(most, 1 << 20))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _must_be_regular(status: os.stat_result, path: str, limit: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise VaultIndexError(f"{path} is not a file", "only regular files are read")
    if is_placeholder(status):
        raise VaultIndexError(f"{path} is only in the cloud", "open the file once to download it")
    if status.st_size > limit:
        raise VaultIndexError(
            f"{path} has {status.st_size} bytes, over the limit of {limit}",
            "split the file, or raise max_file_bytes of the source",
        )
