"""Which projects a setting means: those left out, and those whose text stays on this machine."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase


class Projects:
    """Patterns: the name of a project (`api`, `client-*`), or a folder, with everything in it (`~/clients/secret`)."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._names = [pattern for pattern in patterns if "/" not in pattern and not pattern.startswith("~")]
        self._folders = [
            os.path.expanduser(pattern).rstrip("/") or "/" for pattern in patterns if pattern not in self._names
        ]

    def covers(self, project: str, *held_in: str) -> bool:
        """A project by its name, or by one of the folders its session was held in."""
        return any(fnmatchcase(project, name) for name in self._names) or any(
            _inside(folder, pattern) for pattern in self._folders for folder in held_in if folder
        )


def _inside(folder: str, pattern: str) -> bool:
    return folder == pattern or folder.startswith(f"{pattern.rstrip('/')}/") or fnmatchcase(folder, pattern)
