"""Read OpenCode's databases and its older JSON trees."""

import os
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from vault_index.errors import VaultIndexError
from vault_index.models import FileStamp
from vault_index.sources.files import stamp_at
from vault_index.sources.opencode.database import Database
from vault_index.sources.opencode.entries import read_messages
from vault_index.sources.opencode.tree import Tree
from vault_index.sources.sessions.client import ALL_BRANCHES, Conversation
from vault_index.sources.sessions.clients import folders_of
from vault_index.sources.sessions.database_client import DatabaseClient
from vault_index.sources.sessions.model import Listed


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
        infos = folder.glob("project/*/storage/session/info")
        old_trees += [Tree(info.parent, True) for info in sorted(infos)]
    return Places(tuple(databases), (*trees, *old_trees))


class _Trees(threading.local):
    """The listings of trees, of one thread. No slots, because threads would share them."""

    def __init__(self) -> None:
        self.listed: dict[Tree, tuple[object, list[Listed], list[str]]] = {}


class OpenCode(DatabaseClient):
    """The client for OpenCode."""

    name = "opencode"
    database = Database  # its subfolders, which include git trees, are not watched

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        """Use data folders, or single database files; `cache` is unused."""
        super().__init__(*folders, cache=cache)
        self._trees = _Trees()
        self._found: tuple[list[FileStamp | None], Places] | None = None

    def databases(self) -> Sequence[Path]:
        """Return the existing databases."""
        return self._places().databases

    def present(self) -> bool:
        """Return whether a database or a tree exists."""
        return any(self._places())

    def session(self, id_: str) -> Listed | None:
        """Look up a session; None if the id is unknown or not OpenCode's (`ses_…`)."""
        return super().session(id_) if id_.startswith("ses_") else None

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read the whole session."""
        store, revert = listed.place
        problems = list[str]()
        # An open cursor would keep an old snapshot.
        with closing(store.messages(listed.session.id, problems)) as raw:
            kept = None if ALL_BRANCHES in include else revert
            messages = list(read_messages(raw, kept, include, problems))
        return Conversation(listed.session, messages, problems)

    def times(self, listed: Listed) -> Sequence[int]:
        """Return the times of the messages in ms; empty for a tree."""
        times: list[int] = listed.place.store.times(listed.session.id)
        return times

    def watched(self) -> Sequence[Path]:
        """Return the folders of the databases, or the data folder without a database."""
        databases = {path.parent for path in self._places().databases}
        return sorted(databases or {folder_of(self.folders[0])})

    def concerns(self, path: str) -> bool:
        """Return whether a path is a database of OpenCode or its `-wal` file."""
        name = os.path.basename(path)
        named = {database.name for database in self._places().databases}
        return ("opencode" in name and name.endswith((".db", ".db-wal"))) or name.removesuffix(
            "-wal"
        ) in named

    # --- inside -----------------------------------------------------------------------------------

    def _places(self) -> Places:
        """Return the stores; search again when the stamp of a data folder changes."""
        changed = [stamp_at(folder_of(folder)) for folder in self.folders]
        if self._found is None or self._found[0] != changed or not self._found[1].databases:
            self._found = changed, find_places(self.folders, os.environ)
        return self._found[1]

    def _find_elsewhere(self, id_: str, unknown: VaultIndexError | None) -> Listed | None:
        found = (tree.session(id_) for tree in self._places().trees)
        return next(filter(None, found), None) or super()._find_elsewhere(id_, unknown)

    def _elsewhere(self, problems: list[str]) -> list[Listed]:
        # Without a database, old clients may write files that do not change the version.
        places = self._places()
        found = (self._in_tree(one, problems, again=not places.databases) for one in places.trees)
        return [*chain.from_iterable(found)]

    def _in_tree(self, tree: Tree, problems: list[str], *, again: bool) -> list[Listed]:
        version, known = tree.version(), self._trees.listed.get(tree)
        if known is None or known[0] != version or again:
            found = list[str]()
            known = self._trees.listed[tree] = version, tree.sessions(found), found
        problems += known[2]
        return known[1]
