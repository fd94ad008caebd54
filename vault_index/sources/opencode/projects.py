"""Which projects a setting means: those left out, and those whose text stays on this machine."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase

from vault_index.sources.opencode.model import Session


class Projects:
    """Patterns: the name of a project (`api`, `client-*`), or a folder, with everything in it (`~/work/secret`)."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._names = [pattern for pattern in patterns if "/" not in pattern and not pattern.startswith("~")]
        self._folders = [
            os.path.expanduser(pattern).rstrip("/") or "/" for pattern in patterns if pattern not in self._names
        ]

    def covers(self, session: Session, project: str) -> bool:
        return any(fnmatchcase(project, name) for name in self._names) or any(
            _inside(folder, pattern)
            for pattern in self._folders
            for folder in (session.directory, session.worktree)
            if folder
        )


def _inside(folder: str, pattern: str) -> bool:
    return folder == pattern or folder.startswith(f"{pattern.rstrip('/')}/") or fnmatchcase(folder, pattern)
