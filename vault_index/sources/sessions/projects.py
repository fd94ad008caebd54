"""Project patterns of the settings, and the document paths of sessions."""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from glob import iglob
from typing import TYPE_CHECKING

from vault_index.disk import is_under, name_of
from vault_index.errors import NotFoundError
from vault_index.markdown.normalize import project_form

if TYPE_CHECKING:
    from vault_index.sources.sessions.model import Session

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
        self._folders = list(dict.fromkeys((*given, *map(os.path.realpath, given))))

    def __bool__(self) -> bool:
        return bool(self._names or self._folders)

    def covers(self, project: str, *held_in: str) -> bool:
        """Return whether a pattern matches the project name or one of the session's folders."""
        return any(
            fnmatchcase(form, name) for name in self._names for form in forms_of(project)
        ) or any(
            is_under(pattern, folder) or fnmatchcase(folder, pattern)
            for pattern in self._folders
            for folder in held_in
            if folder
        )

    def may_cover(self, project: str) -> bool:
        """Return whether a pattern may match a project with an unknown folder.

        The name may be a pattern's folder, one of its subfolders, or a git repository one level
        deeper.
        """
        forms = forms_of(project)
        folders = {folder for pattern in self._folders for folder in (pattern, *iglob(pattern))}
        inside = [path for folder in folders for path in _inside(folder)]
        names = [project_form(os.path.basename(path)) for path in (*folders, *inside)]
        return any(fnmatchcase(form, name) for form in forms for name in names) or any(
            project_form(os.path.basename(path)) in forms and os.path.lexists(f"{path}/.git")
            for folder in inside
            for path in _inside(folder)
        )


def is_place(project: str) -> bool:
    """Return whether a project is written as a folder path."""
    return project.startswith(("/", "~"))


def forms_of(project: str) -> set[str]:
    """Return the normalised project name, with and without its parent folders."""
    return {form := project_form(project), project_form(name_of(form))} - {""}


def _inside(folder: str) -> list[str]:
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
