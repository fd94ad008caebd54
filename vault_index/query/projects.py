"""Which project a folder or a name means."""

import os

from vault_index.disk import linked_worktrees, worktree_of
from vault_index.markdown.normalize import normalize_tag, project_form
from vault_index.store.documents import Project


def project_of(named: str) -> Project:
    """The project of a name, or of a folder: the main git worktree of the one it lies in, else the folder itself.

    Linked worktrees belong to it. A folder's project is called by the folder's name, wherever it lies: a memory that
    names one is true on another machine, too. Sessions are told by the folder.
    """
    if not is_folder(named):
        return Project((named,), _tags(named), ())
    path = os.path.abspath(os.path.expanduser(named))
    root = worktree_of(path)
    name = os.path.basename(root)
    folders = tuple(dict.fromkeys((root, os.path.realpath(root), *linked_worktrees(root))))
    home = os.path.expanduser("~")
    short = [f"~{folder.removeprefix(home)}" for folder in folders if folder.startswith(f"{home}/")]
    return Project(tuple(filter(None, (name, *folders, *short))), _tags(name), folders)


def is_folder(named: str) -> bool:
    """Whether a project is named by its folder, not by a link (`[[folder/Note]]`)."""
    return not named.startswith("[[") and (
        os.sep in named or named.startswith("~") or named in (".", "..")
    )


def _tags(name: str) -> tuple[str, ...]:
    tags = dict.fromkeys(normalize_tag(f"project/{one}") for one in (name, project_form(name)))
    return tuple(tag for tag in tags if tag != "project")
