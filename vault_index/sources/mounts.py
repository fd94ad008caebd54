"""What the system says of the file systems under a folder (on Linux; elsewhere nothing is known)."""

import contextlib
import os
import re
from pathlib import PurePosixPath
from typing import NamedTuple

_ESCAPED = re.compile(r"\\([0-7]{3})")
_TABLE = "/proc/self/mountinfo"
_BOOT = "/proc/sys/kernel/random/boot_id"
# Files get numbers as they are met: in user space (FUSE), on FAT, which has none, and on folders of a host.
_NUMBERED_ANEW = frozenset({"9p", "cifs", "exfat", "msdos", "smb3", "vboxsf", "vfat"})


class Mount(NamedTuple):
    number: str
    device: str
    """Major and minor number, with a colon."""
    kind: str


def mounts_in(folder: str, table: str) -> list[Mount]:
    """The mount that holds a folder (a real path), if one is known, then those inside of it, given the text of
    `mountinfo` (see proc(5))."""
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
            here, longest = [mount], len(place)  # of several at one place, the last one is on top
    return [*here, *inside]


def mounts_under(folder: str) -> list[Mount]:
    """Those of now; none where the system does not tell."""
    return mounts_in(os.path.realpath(folder), _text(_TABLE))


def numbering(folder: str) -> str:
    """What names the present mounts under a folder whose files have other inodes with each mount: as long as it stays,
    equal inodes mean the same file. Empty where inodes last."""
    passing = [one for one in mounts_under(folder) if one.kind in _NUMBERED_ANEW or one.kind.startswith("fuse")]
    return "\n".join((_text(_BOOT), *map(_told_apart, passing))) if passing else ""


def _told_apart(mount: Mount) -> str:
    """Numbers of mounts and devices are given again; what stands for them in the system is made anew with each."""
    made = 0
    for path in (f"/sys/fs/fuse/connections/{mount.device.partition(':')[2]}", f"/dev/block/{mount.device}"):
        with contextlib.suppress(OSError):
            made = max(made, os.stat(path).st_ctime_ns)
    return f"{' '.join(mount)} {made}"


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""
