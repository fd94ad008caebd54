"""Patterns of projects in the settings, which sessions they cover, and what a session's document is called."""

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING

from vault_index.disk import is_under
from vault_index.errors import NotFoundError

if TYPE_CHECKING:
    from vault_index.sources.sessions.model import Session

# Compiled when they are needed first.
_NOT_IN_NAMES = r"[\x00-\x1f/\\:#|\[\]^]"


class Projects:
    """Patterns: the name of a project (`api`, `client-*`), or a folder, with everything in it (`~/clients/secret`)."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._names = [pattern for pattern in patterns if "/" not in pattern and not pattern.startswith("~")]
        given = [os.path.expanduser(pattern).rstrip("/") or "/" for pattern in patterns if pattern not in self._names]
        self._folders = list(dict.fromkeys((*given, *map(os.path.realpath, given))))

    def __bool__(self) -> bool:
        return bool(self._names or self._folders)

    def covers(self, project: str, *held_in: str) -> bool:
        """A project by its name, or by one of the folders its session was held in."""
        return any(fnmatchcase(project, name) for name in self._names) or any(
            is_under(pattern, folder) or fnmatchcase(folder, pattern)
            for pattern in self._folders
            for folder in held_in
            if folder
        )

    def may_cover(self, project: str) -> bool:
        """A project of which nothing but its name is known: it may be the folder of a pattern, or one in it."""
        return self.covers(project) or any(
            fnmatchcase(project, os.path.basename(folder)) or os.path.lexists(f"{folder}/{project}")
            for folder in self._folders
        )

    @property
    def by_name(self) -> bool:
        """Whether a name tells all there is to know."""
        return not self._folders


def with_targets(folders: Iterable[str]) -> set[str]:
    """Folders, and what they are links to. NotFoundError for what names none."""
    try:
        plain = [os.path.expanduser(folder) for folder in folders]
        return {*plain, *map(os.path.realpath, plain)}
    except ValueError as error:
        raise NotFoundError("a project is named by a folder that cannot be", "change its `project`") from error


def alike(name: str) -> str:
    """Equal for names that one tag stands for."""
    return name.casefold().replace(" ", "-")


def path_of(session: "Session") -> str:
    return f"{_folder(session.project)}/{session.id}.md"


def session_in(path: str) -> str:
    """The session whose document is called so."""
    return path.rpartition("/")[2].removesuffix(".md")


@cache
def _folder(project: str) -> str:
    return re.sub(_NOT_IN_NAMES, "-", redacted(project)).strip(". ") or "elsewhere"


def redacted(text: str) -> str:
    # Late: most searches list no sessions.
    from vault_index.secrets.find import redact

    return redact(text)[0]
