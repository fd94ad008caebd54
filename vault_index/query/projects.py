"""Resolves the name or the folder of a project."""

import os

from vault_index.markdown.normalize import normalize_tag, project_form
from vault_index.sources.git import linked_worktrees, worktree_of
from vault_index.store.documents import Project


def project_of(named: str) -> Project:
    """Return the project of a name or a folder.

    The project of a folder is its main git worktree, or else the folder itself; linked worktrees
    belong to it. It has the name of its folder in any location, because a memory that names it must
    be valid on other machines too. Sessions are matched by folder.
    """
    if not is_folder(named):
        return Project((named,), _tags(named), ())
    root = worktree_of(os.path.abspath(os.path.expanduser(named)))
    name = os.path.basename(root)
    folders = tuple(dict.fromkeys((root, os.path.realpath(root), *linked_worktrees(root))))
    home = os.path.expanduser("~")
    short = [f"~{folder.removeprefix(home)}" for folder in folders if folder.startswith(f"{home}/")]
    return Project(tuple(filter(None, (name, *folders, *short))), _tags(name), folders)


def is_folder(named: str) -> bool:
    """Return whether a project is given by its folder; `[[folder/Note]]` is not a folder."""
    return not named.startswith("[[") and (
        os.sep in named or named.startswith("~") or named in (".", "..")
    )


def _tags(name: str) -> tuple[str, ...]:
    tags = dict.fromkeys(normalize_tag(f"project/{one}") for one in (name, project_form(name)))
    return tuple(tag for tag in tags if tag != "project")
