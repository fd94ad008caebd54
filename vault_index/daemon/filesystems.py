"""Which file systems say nothing when something changes in them: they have to be looked at again and again."""

import os
import re
from pathlib import PurePosixPath

# What another machine changes reaches no watch: shares, folders of the host, everything in user space but local disks.
_SILENT = frozenset(
    {"9p", "drvfs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "virtiofs", "vboxsf", "fuse", "ceph", "afs"}
)
_ESCAPED = re.compile(r"\\([0-7]{3})")
_TABLE = "/proc/self/mountinfo"


def silent_filesystem(folder: str) -> str:
    """The kind of the first file system under `folder`, itself included, that gives no events; empty where all do, and
    where the system does not tell."""
    try:
        with open(_TABLE, encoding="utf-8", errors="surrogateescape") as lines:
            return silent_in(os.path.realpath(folder), lines.read())
    except OSError:
        return ""


def silent_in(folder: str, table: str) -> str:
    """The same, given a real path and the text of `mountinfo` (see proc(5))."""
    here, inside = "", []
    longest = -1
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        place, kind = _unescaped(before.split()[4]), after.split()[0]
        if PurePosixPath(place).is_relative_to(folder) and place != folder:
            inside.append(kind)
        elif PurePosixPath(folder).is_relative_to(place) and len(place) >= longest:
            here, longest = kind, len(place)  # of several at one place, the last one is on top
    return next((kind for kind in (here, *inside) if kind in _SILENT or kind.startswith("fuse.")), "")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)
