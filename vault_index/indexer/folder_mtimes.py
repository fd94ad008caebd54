"""Detect added and removed files in a folder tree by the modification times of its folders."""

import os
from collections.abc import Iterable, Mapping

Times = Mapping[str, int]
"""The modification time of each folder of a tree, in nanoseconds."""


class FolderTimes:
    """Remembers folder trees. An edit of a file changes no folder; the watcher detects edits."""

    def __init__(self) -> None:
        self._kept: dict[str, Times] = {}

    def news(self, root: str) -> Times | None:
        """Return the current times of a tree, or None if it is unchanged since `keep`."""
        kept = self._kept.get(root)
        if kept and all(_time(folder) == time for folder, time in kept.items()):
            return None
        return {folder: _time(folder) for folder, _, _ in os.walk(root)}

    def keep(self, root: str, times: Times) -> None:
        """Record that the tree was indexed after it had these times."""
        self._kept[root] = times

    def wrote(self, root: str, files: Iterable[str]) -> None:
        """Record that this program wrote and indexed these files below the root."""
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
