"""Read OpenCode's databases and its older JSON trees."""

import os
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from vault_index.disk import os_errors_as
from vault_index.errors import VaultIndexError
from vault_index.results.base import Problem
from vault_index.sources.opencode.database import Database
from vault_index.sources.opencode.entries import read_messages
from vault_index.sources.opencode.tree import Tree
from vault_index.sources.sessions.client import ALL_BRANCHES, Client, Conversation, Listing
from vault_index.sources.sessions.clients import folders_of
from vault_index.sources.sessions.model import Listed
from vault_index.sources.walk import identity_of


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


class _Opened(threading.local):
    """Connections and caches of one thread. No slots, because threads would share them."""

    def __init__(self) -> None:
        self.databases: dict[Path, tuple[tuple[int, int], Database]] = {}
        self.trees: dict[Tree, tuple[object, list[Listed], list[str]]] = {}
        self.version: object = None
        """The version of the listing and of the sessions."""
        self.listing: Listing | None = None
        self.sessions: dict[str, Listed] = {}


class OpenCode(Client):
    """The client for OpenCode. Each thread opens each database once."""

    name = "opencode"
    title = "OpenCode"
    command = "opencode", "-s"
    deep = False  # do not watch its subfolders, which include git trees

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        """Use data folders, or single database files; `cache` is unused."""
        super().__init__(*folders, cache=cache)
        self._opened = _Opened()
        self._found: tuple[list[int], Places] | None = None

    def present(self) -> bool:
        """Return whether a database or a tree exists."""
        return any(self._places())

    def listing(self) -> Listing:
        """List the sessions of all databases and trees; cached until a database changes."""
        opened = self._current()
        if opened.listing is None:
            opened.listing = self._list()
            opened.sessions = opened.listing.sessions
        return opened.listing

    def session(self, id_: str) -> Listed | None:
        """Look up a session; None if the id is unknown or not OpenCode's (`ses_…`)."""
        if not id_.startswith("ses_"):
            return None
        known = self._current().sessions
        if id_ not in known and (found := self._find(id_)) is not None:
            known[id_] = found
        return known.get(id_)

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

    def deleted(self, listed: Listed) -> bool:
        """Return whether a database exists, which then lacks the session.

        Only the user deletes rows. Files of a tree may be missing for other reasons.
        """
        return bool(self._places().databases)

    def forget(self, sessions: Collection[str]) -> None:
        """Do nothing: this client has no cache of titles."""

    def version(self) -> list[object]:
        """Return a value that changes when a database is written; it ignores the old trees."""
        return [(path, self._version_of(path)) for path in self._places().databases]

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
        """Return the stores; search again when the mtime of a data folder changes."""
        changed = [_mtime_ns(folder_of(folder)) for folder in self.folders]
        if self._found is None or self._found[0] != changed or not self._found[1].databases:
            self._found = changed, find_places(self.folders, os.environ)
        return self._found[1]

    def _current(self) -> _Opened:
        """Return the cache of this thread, emptied if a database was written."""
        opened, version = self._opened, self.version()
        # Without a database, old clients may write files that do not change the version.
        if opened.version != version or not version:
            opened.version, opened.listing, opened.sessions = version, None, {}
        return opened

    def _find(self, id_: str) -> Listed | None:
        """Find one session. Raises VaultIndexError if a database is unreadable."""
        unknown: VaultIndexError | None = None
        places = self._places()
        for path in places.databases:
            try:
                if (listed := self._database(path).session(id_)) is not None:
                    return listed
            except VaultIndexError as error:  # another store may have the session
                unknown = unknown or error
        listed = next(filter(None, (tree.session(id_) for tree in places.trees)), None)
        if listed is None and unknown is not None:
            raise unknown
        return listed

    def _list(self) -> Listing:
        found, faults, problems = list[Listed](), list[Problem](), list[str]()
        places = self._places()
        for path in places.databases:
            try:
                found += self._database(path).sessions(problems)
            except VaultIndexError as error:
                faults.append(Problem(error.code, error.message, error.hint))
        for tree in places.trees:
            found += self._in_tree(tree, problems, again=not places.databases)
        # The first store that has a session wins.
        sessions = {listed.session.id: listed for listed in reversed(found)}
        return Listing(sessions, tuple(faults), tuple(problems))

    def _in_tree(self, tree: Tree, problems: list[str], *, again: bool) -> list[Listed]:
        version, known = tree.version(), self._opened.trees.get(tree)
        if known is None or known[0] != version or again:
            found = list[str]()
            known = self._opened.trees[tree] = version, tree.sessions(found), found
        problems += known[2]
        return known[1]

    def _version_of(self, path: Path) -> object:
        try:
            database = self._database(path)
            return id(database), database.data_version()
        except VaultIndexError:
            return object()  # differs each time, to retry

    def _database(self, path: Path) -> Database:
        with os_errors_as(f"{path} cannot be read", "check its permissions"):
            identity = identity_of(os.stat(path))
        known = self._opened.databases.get(path)
        if known is not None and known[0] == identity:
            return known[1]
        if known is not None:  # the file was replaced
            known[1].close()
        database = Database(path)
        self._opened.databases[path] = (identity, database)
        return database


def _mtime_ns(folder: Path) -> int:
    with suppress(OSError):
        return os.stat(folder).st_mtime_ns
    return 0
