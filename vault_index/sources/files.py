"""Classify files by name, read them in a consistent state, and list the mounts under a folder."""

import codecs
import contextlib
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice, product
from pathlib import PurePosixPath
from typing import NamedTuple
from unicodedata import normalize

from vault_index.disk import path_in
from vault_index.errors import VaultIndexError
from vault_index.models import FileStamp

DOCUMENT_ENDINGS = (".md", ".markdown", ".canvas")
"""Case-insensitive. Obsidian reads `.md` and `.canvas`; documentation folders use `.markdown`."""

_HALF = re.compile("[\ud800-\udfff]")
_ICLOUD = ".icloud"
_SPELLINGS = 64
"""Maximum number of spellings per path, because they multiply with each accented folder."""
_IGNORED_FOLDERS = frozenset(
    {"node_modules", "site-packages", "@eadir", "@recycle", "#recycle", "$recycle.bin", "__macosx"}
)
_CONFLICTS = (
    # Dropbox, Nextcloud, pCloud, Seafile
    "conflicted copy", "conflict copy", "sfconflict", "case conflict",
    "in konflikt stehende kopie", "konfliktkopie", "copie en conflit", "copia en conflicto",
    "copia in conflitto",
    "cópia em conflito", "conflicterende kopie", "kopia powodująca konflikt", "kopia w konflikcie",
    "конфликтующая копия", "競合コピー", "競合したコピー", "冲突副本", "冲突的副本", "衝突複本",
    "충돌된 복사본", "충돌 사본", "çakışan kopya",
)  # fmt: skip
"""Names of sync programs for a conflict copy, in brackets and in lower case."""
_CONFLICT = re.compile(
    rf"[(\[][^()\[\]]{{0,99}}(?:{'|'.join(_CONFLICTS)})[^()\[\]]{{0,99}}[)\]]"
    # pCloud, Syncthing, ownCloud, Synology Drive
    r"|\[conflicted\]|\.sync-conflict-|_conflict-\d{8}-\d{6}|_[a-z]{3}-\d\d-\d{6}-\d{4}_(?:case)?conflict\."
)
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
_ESCAPED = re.compile(r"\\([0-7]{3})")
_TABLE = "/proc/self/mountinfo"
_BOOT = "/proc/sys/kernel/random/boot_id"
# File systems that assign inode numbers on access, as FUSE does: FAT, network and host folders.
_VOLATILE = frozenset({"9p", "cifs", "exfat", "msdos", "smb3", "vboxsf", "vfat"})


def is_document_name(name: str) -> bool:
    """Return whether a file name is a document's; a placeholder (`.note.md.icloud`) is not."""
    # The fast test first: it decides for nearly every file.
    if not name.endswith(".md") and not name.lower().endswith(DOCUMENT_ENDINGS):
        return False
    may_be_conflict = "onfli" in name.lower() or not name.isascii()
    return not (
        name.startswith((".", "~$"))
        or (may_be_conflict and _CONFLICT.search(normalize("NFC", name.lower())))
    )


def is_folder_name(name: str) -> bool:
    """Return whether a folder name allows documents inside."""
    return name[0] != "." and name.lower() not in _IGNORED_FOLDERS


def is_readable_name(name: str) -> bool:
    """Return whether a name is valid UTF-8; others cannot be stored or shown."""
    # Python decodes other bytes to lone surrogates.
    return name.isascii() or not _HALF.search(name)


def placeholder_of(name: str) -> str:
    """Return the document name in an iCloud placeholder (`.note.md.icloud`), or ""."""
    document = name[1 : -len(_ICLOUD)] if name.startswith(".") and name.endswith(_ICLOUD) else ""
    return document if document and is_document_name(document) else ""


def placeholder_name(name: str) -> str:
    """Return the iCloud placeholder of a document name."""
    return f".{name}{_ICLOUD}"


def same_name(name: str, found: Iterable[str]) -> str:
    """Return a name as it is spelled in `found`; names with the same NFC form match."""
    names = list(found)
    if name in names:
        return name
    plain = normalize("NFC", name)
    return min((other for other in names if normalize("NFC", other) == plain), default=name)


def spellings(path: str) -> list[str]:
    """Return the path, and its variants with names in Unicode NFC or NFD."""
    forms = [
        dict.fromkeys((part, normalize("NFC", part), normalize("NFD", part)))
        for part in path.split("/")
    ]
    return ["/".join(parts) for parts in islice(product(*forms), _SPELLINGS)]


def shown_name(path: str) -> str:
    """Return a text as valid UTF-8; other bytes become backslash escapes."""
    if is_readable_name(path):
        return path
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # surrogates that no file name has
        return path.encode("utf-8", "backslashreplace").decode()


def readable_part(path: str) -> str:
    """Return the path up to and including its first name that is not valid UTF-8."""
    parts = path.split("/")
    bad = next(
        (number for number, part in enumerate(parts) if not is_readable_name(part)), len(parts)
    )
    return "/".join(parts[: bad + 1])


def parts_of(path: str) -> list[str] | None:
    """Split a relative path at `/`; None if invalid (absolute, `..`, empty names)."""
    parts = path.split("/")
    return None if "\0" in path or any(part in ("", ".", "..") for part in parts) else parts


def stamp_of(status: os.stat_result) -> FileStamp:
    """Return size, times (ns) and inode; equal stamps mean an unchanged file."""
    # SQLite stores 63 bits. The device is left out, because its number may change at each boot.
    modified, changed = (
        max(-_LARGEST, min(ns, _LARGEST)) for ns in (status.st_mtime_ns, status.st_ctime_ns)
    )
    return FileStamp(status.st_size, modified, changed, status.st_ino & _LARGEST)


def stamp_at(path: str | os.PathLike[str]) -> FileStamp | None:
    """Return the stamp of a file or folder; None if it is missing or unreadable."""
    with suppress(OSError):
        return stamp_of(os.stat(path))
    return None


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


class Mount(NamedTuple):
    """One mount, as listed in `mountinfo`: mount id, device and file system type."""

    number: str
    device: str
    """`major:minor`."""
    kind: str


def mounts_in(folder: str, table: str) -> list[Mount]:
    """Return the mount that holds a folder (a real path), if known, then the mounts inside it.

    `table` is the text of `mountinfo` (see proc(5)).
    """
    here, inside = [], []
    longest = -1
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        number, _, device, _, escaped, *_ = before.split()
        place = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), escaped)
        mount = Mount(number, device, after.split()[0])
        if PurePosixPath(place).is_relative_to(folder) and place != folder:
            inside.append(mount)
        elif PurePosixPath(folder).is_relative_to(place) and len(place) >= longest:
            here, longest = [mount], len(place)  # the last mount at a path is on top
    return [*here, *inside]


def mounts_under(folder: str) -> list[Mount]:
    """Return the current mounts of a folder; empty if unknown."""
    return mounts_in(os.path.realpath(folder), _text(_TABLE))


def numbering(folder: str) -> str:
    """Return a key of the mounts under a folder that assign new inode numbers when mounted.

    While the key is unchanged, an inode number stands for the same file. The key is empty if there
    are no such mounts.
    """
    mounts = mounts_under(folder)
    volatile = [one for one in mounts if one.kind in _VOLATILE or one.kind.startswith("fuse")]
    return "\n".join((_text(_BOOT), *map(_mount_key, volatile))) if volatile else ""


def _mount_key(mount: Mount) -> str:
    """Return a key of one mount. It includes a ctime, because the other numbers are reused."""
    made = 0
    for path in (
        f"/sys/fs/fuse/connections/{mount.device.partition(':')[2]}",
        f"/dev/block/{mount.device}",
    ):
        with contextlib.suppress(OSError):
            made = max(made, os.stat(path).st_ctime_ns)
    return f"{' '.join(mount)} {made}"


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""
