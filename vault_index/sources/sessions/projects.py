"""Patterns of projects in the settings, which sessions they cover, and what a session's document is called."""

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

# Compiled when they are needed first.
_NOT_IN_NAMES = r"[\x00-\x1f/\\:#|\[\]^]"


class Projects:
    """Patterns: the name of a project (`api`, `client-*`), or a folder, with everything in it (`~/clients/secret`)."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._names = [project_form(pattern) for pattern in patterns if not is_place(pattern)]
        given = [os.path.expanduser(pattern).rstrip("/") or "/" for pattern in patterns if is_place(pattern)]
        self._folders = list(dict.fromkeys((*given, *map(os.path.realpath, given))))

    def __bool__(self) -> bool:
        return bool(self._names or self._folders)

    def covers(self, project: str, *held_in: str) -> bool:
        """A project by its name, or by one of the folders its session was held in."""
        return any(fnmatchcase(form, name) for name in self._names for form in forms_of(project)) or any(
            is_under(pattern, folder) or fnmatchcase(folder, pattern)
            for pattern in self._folders
            for folder in held_in
            if folder
        )

    def may_cover(self, project: str) -> bool:
        """A project of which nothing but its name is known: it may be the folder of a pattern, lie in one, or be a
        repository in a folder of that."""
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
    """Whether a project is given as a folder."""
    return project.startswith(("/", "~"))


def forms_of(project: str) -> set[str]:
    """The forms of a project's name: as a whole, and without the folders before it."""
    return {form := project_form(project), project_form(name_of(form))} - {""}


def _inside(folder: str) -> list[str]:
    with suppress(OSError):
        return [f"{folder}/{name}" for name in os.listdir(folder)]
    return []


def with_targets(folders: Iterable[str]) -> set[str]:
    """Folders, and what they are links to. NotFoundError for what names none."""
    try:
        plain = [os.path.normpath(os.path.expanduser(folder)) for folder in folders]
        return {*plain, *map(os.path.realpath, plain)}
    except ValueError as error:
        raise NotFoundError("a project is named by a folder that cannot be", "change its `project`") from error


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
