"""Folders whose files are known, as long as no time in their tree changes."""

import os
from collections.abc import Iterable, Mapping

Times = Mapping[str, int]
"""When each folder of a tree changed last, in nanoseconds."""


class FolderTimes:
    """Remembers trees of folders. A file that is edited in place changes no folder: that is the watcher's to see."""

    def __init__(self) -> None:
        self._kept: dict[str, Times] = {}

    def news(self, root: str) -> Times | None:
        """The times of a tree that changed since `keep`, None for one that did not."""
        kept = self._kept.get(root)
        if kept and all(_time(folder) == time for folder, time in kept.items()):
            return None
        return {folder: _time(folder) for folder, _, _ in os.walk(root)}

    def keep(self, root: str, times: Times) -> None:
        """The tree was read after it had these times."""
        self._kept[root] = times

    def wrote(self, root: str, files: Iterable[str]) -> None:
        """These files below the root were written by ourselves, and are known."""
        folders = set(self._kept.get(root, ()))
        for file in files:
            while (file := os.path.dirname(file)).startswith(root):
                folders.add(file)
        self._kept[root] = {folder: _time(folder) for folder in folders}


def _time(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
