"""Project patterns of the settings, and the document paths of sessions."""

import os
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from glob import iglob
from typing import TYPE_CHECKING, NamedTuple

from vault_index.disk import is_under, name_of
from vault_index.errors import NotFoundError
from vault_index.markdown.normalize import project_form
from vault_index.sources.git import names_of, repository_of, worktree_of

if TYPE_CHECKING:
    from vault_index.sources.sessions.model import Session

_FRESH_SECONDS = 10.0
"""Seconds for which git's files are not read again, because a listing asks for each session."""
# A plain string, because most commands never compile it.
_NOT_IN_NAMES = r"[\x00-\x1f/\\:#|\[\]^]"


class Projects:
    """Patterns of project names (`api`, `client-*`) and folder trees (`~/clients/secret`)."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._names = [project_form(pattern) for pattern in patterns if not is_place(pattern)]
        given = [
            os.path.expanduser(pattern).rstrip("/") or "/"
            for pattern in patterns
            if is_place(pattern)
        ]
        self._folders = tuple(dict.fromkeys((*given, *map(os.path.realpath, given))))

    def __bool__(self) -> bool:
        return bool(self._names or self._folders)

    def covers(self, project: str, *held_in: str) -> bool:
        """Return whether a pattern matches the project name or one of the session's folders.

        A linked worktree and a clone count like the repository that a pattern matches.
        """
        if not self:
            return False
        forms = all_forms_of(project, *held_in)
        if any(fnmatchcase(form, pattern) for pattern in self._names for form in forms):
            return True
        known = [_repository(folder, _period()) for folder in held_in if folder]
        folders = {*filter(None, held_in), *(one.root for one in known)}
        return any(
            is_under(pattern, folder) or fnmatchcase(folder, pattern)
            for pattern in self._folders
            for folder in folders
        ) or not _inside_of(self._folders, _period())[1].isdisjoint(one.origin for one in known)

    def may_cover(self, project: str) -> bool:
        """Return whether a pattern may match a project with an unknown folder.

        The name may be that of a pattern's folder, of one of its subfolders, or of a git repository
        one level deeper.
        """
        names = _inside_of(self._folders, _period())[0]
        return any(fnmatchcase(form, name) for form in forms_of(project) for name in names)


class _Repository(NamedTuple):
    root: str
    origin: str
    names: tuple[str, ...]


@lru_cache(maxsize=4096)
def _repository(folder: str, period: int) -> _Repository:
    """Return the main worktree of a folder, its repository and the names of the project."""
    root = worktree_of(folder)
    return _Repository(root, repository_of(root), names_of(root))


def _period() -> int:
    return int(time.monotonic() / _FRESH_SECONDS)


@lru_cache(maxsize=16)
def _inside_of(patterns: tuple[str, ...], period: int) -> tuple[set[str], set[str]]:
    """Return the names and the repositories of the projects in folder trees."""
    folders = {folder for pattern in patterns for folder in (pattern, *iglob(pattern))}
    inside = [path for folder in folders for path in _entries(folder)]
    deeper = [path for folder in inside for path in _entries(folder)]
    roots = [*folders, *inside, *(path for path in deeper if os.path.lexists(f"{path}/.git"))]
    return (
        {project_form(name) for root in roots for name in names_of(root)},
        {*map(repository_of, roots)},
    )


def is_place(project: str) -> bool:
    """Return whether a project is written as a folder path."""
    return project.startswith(("/", "~"))


def forms_of(project: str) -> set[str]:
    """Return the normalised project name, with and without its parent folders."""
    return {form := project_form(project), project_form(name_of(form))} - {""}


def all_forms_of(project: str, *folders: str) -> set[str]:
    """Return the normalised names of a project: the given one, and those that its folders have."""
    names = (name for one in folders if one for name in _repository(one, _period()).names)
    return {form for name in (project, *names) for form in forms_of(name)}


def _entries(folder: str) -> list[str]:
    with suppress(OSError):
        return [f"{folder}/{name}" for name in os.listdir(folder)]
    return []


def with_targets(folders: Iterable[str]) -> set[str]:
    """Return the folders and the targets of their links.

    Raises NotFoundError for an invalid path.
    """
    try:
        plain = [os.path.normpath(os.path.expanduser(folder)) for folder in folders]
        return {*plain, *map(os.path.realpath, plain)}
    except ValueError as error:
        raise NotFoundError("a `project` value is not a valid path", "correct `project`") from error


def path_of(session: "Session") -> str:
    """Return the document path of a session: `<project>/<session>.md`."""
    return f"{_folder(session.project)}/{session.id}.md"


def session_in(path: str) -> str:
    """Return the session id in a document path."""
    return path.rpartition("/")[2].removesuffix(".md")


@cache
def _folder(project: str) -> str:
    return re.sub(_NOT_IN_NAMES, "-", redacted(project)).strip(". ") or "elsewhere"


def redacted(text: str) -> str:
    """Return a text without credentials."""
    # Imported late, because most searches list no sessions.
    from vault_index.secrets.find import redact

    return redact(text)[0]
