"""Resolves the name or the folder of a project."""

import os
from collections.abc import Iterable

from vault_index.config import Config
from vault_index.markdown.normalize import normalize_tag, project_form
from vault_index.sources.git import linked_worktrees, names_of, repository_of, worktree_of
from vault_index.sources.sessions.projects import Projects
from vault_index.store.documents import Project


def project_of(named: str, visited: Iterable[str] = ()) -> Project:
    """Return the project of a name or a folder.

    The project of a folder is its main git worktree, or else the folder itself. Linked worktrees
    belong to it, and the clones of the same origin among the `visited` folders. Its first name is
    that of the origin, or else of its folder in any location, because a memory that names it must
    be valid on other machines too. Sessions are matched by folder.
    """
    if not is_folder(named):
        return Project((named,), _tags([named]), ())
    root = worktree_of(os.path.abspath(os.path.expanduser(named)))
    repository = repository_of(root)
    others = sorted({*map(worktree_of, visited)} - {root})
    roots = [root, *(one for one in others if repository_of(one) == repository)]
    names = list(dict.fromkeys(name for one in roots for name in names_of(one)))
    places = ((one, os.path.realpath(one), *linked_worktrees(one)) for one in roots)
    folders = tuple(dict.fromkeys(folder for place in places for folder in place))
    home = os.path.expanduser("~")
    short = [f"~{folder.removeprefix(home)}" for folder in folders if folder.startswith(f"{home}/")]
    return Project((*names, *folders, *short), _tags(names), folders)


def name_for_memory(named: str, config: Config) -> str:
    """Return the project that a memory names: a private name of a folder, or else the first.

    Another name of a private project would not keep the memory on other machines.
    """
    names = project_of(named).names
    limits = (client.local_only for client in config.clients.values())
    private = Projects([name for one in limits if isinstance(one, tuple) for name in one])
    return next(filter(private.covers, names), names[0])


def is_folder(named: str) -> bool:
    """Return whether a project is given by its folder; `[[folder/Note]]` is not a folder."""
    return not named.startswith("[[") and (
        os.sep in named or named.startswith("~") or named in (".", "..")
    )


def _tags(names: Iterable[str]) -> tuple[str, ...]:
    spellings = (one for name in names for one in (name, project_form(name)))
    tags = dict.fromkeys(normalize_tag(f"project/{one}") for one in spellings)
    return tuple(tag for tag in tags if tag != "project")
