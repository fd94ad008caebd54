"""Read the mounts under a folder from `/proc` (Linux only; elsewhere the list is empty)."""

import contextlib
import os
import re
from pathlib import PurePosixPath
from typing import NamedTuple

_ESCAPED = re.compile(r"\\([0-7]{3})")
_TABLE = "/proc/self/mountinfo"
_BOOT = "/proc/sys/kernel/random/boot_id"
# File systems that assign inode numbers on access, as FUSE does: FAT, network and host folders.
_VOLATILE = frozenset({"9p", "cifs", "exfat", "msdos", "smb3", "vboxsf", "vfat"})


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
