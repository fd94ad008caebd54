"""Find OpenCode's databases and trees on this machine."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from vault_index.sources.opencode.tree import Tree
from vault_index.sources.sessions.clients import folders_of


class Places(NamedTuple):
    """The stores, by precedence: the first one that has a session wins."""

    databases: tuple[Path, ...] = ()
    trees: tuple[Tree, ...] = ()
    """Those of OpenCode before 1.2, then those of the first versions."""


def folder_of(setting: Path) -> Path:
    """Return the data folder that a setting names, or that holds the database it names."""
    return setting.parent if setting.suffix == ".db" else setting


def find_places(settings: Iterable[Path] = (), environ: Mapping[str, str] = os.environ) -> Places:
    """Return the existing databases and trees of data folders, and single databases.

    In the default folder, OPENCODE_DB names the only database, as in OpenCode; a relative path is
    relative to the folder.
    """
    databases, trees, old_trees = list[Path](), list[Tree](), list[Tree]()
    default = folders_of("opencode", (), environ)
    for setting in settings or default:
        folder = folder_of(setting)
        one = setting.name if setting != folder else ""
        if setting in default:
            one = environ.get("OPENCODE_DB", "")
        known = [folder / "opencode.db", *sorted(folder.glob("opencode-*.db"))]
        databases += filter(Path.is_file, [folder / one] if one else known)
        if (folder / "storage/session").is_dir():
            trees.append(Tree(folder / "storage"))
        for info in sorted(folder.glob("project/*/storage/session/info")):
            old_trees.append(Tree(info.parent, True))
    return Places(tuple(databases), (*trees, *old_trees))
