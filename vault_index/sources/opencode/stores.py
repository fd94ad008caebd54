"""Combine all databases and trees of OpenCode."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

from vault_index.disk import os_errors_as
from vault_index.errors import VaultIndexError
from vault_index.results.base import Problem
from vault_index.sources.opencode.database import Database
from vault_index.sources.opencode.places import Places
from vault_index.sources.opencode.tree import Tree
from vault_index.sources.sessions.client import Listing
from vault_index.sources.sessions.model import Listed
from vault_index.sources.walk import identity_of


class _Opened(threading.local):
    """Connections and caches of one thread. No slots, because threads would share them."""

    def __init__(self) -> None:
        self.databases: dict[Path, tuple[tuple[int, int], Database]] = {}
        self.listing: tuple[object, Listing] | None = None
        self.asked: tuple[object, dict[str, Listed]] = (None, {})
        """Single sessions looked up since the last write to a database."""
        self.trees: dict[Tree, tuple[object, list[Listed], tuple[str, ...]]] = {}


class Stores:
    """Finds the stores at every call, and opens each database once per thread."""

    def __init__(self, places: Callable[[], Places]) -> None:
        self._places = places
        self._opened = _Opened()

    def listing(self) -> Listing:
        """List all sessions; cached until a database changes."""
        places = self._places()
        version = self.version(places)
        known = self._opened.listing
        # Without a database, old clients may write files that do not change the version.
        if known is not None and known[0] == version and places.databases:
            return known[1]
        listing = self._read(places)
        self._opened.listing = (version, listing)
        return listing

    def version(self, places: Places | None = None) -> object:
        """Return a value that changes when a database is written; it ignores the old trees."""
        return [(path, self._version_of(path)) for path in (places or self._places()).databases]

    def session(self, id_: str) -> Listed | None:
        """Look up one session. Raises VaultIndexError if a database is unreadable."""
        places = self._places()
        version = self.version(places)
        known = self._opened.listing
        if (
            known is not None
            and known[0] == version
            and id_ in known[1].sessions
            and places.databases
        ):
            return known[1].sessions[id_]
        if self._opened.asked[0] != version:
            self._opened.asked = version, {}
        asked = self._opened.asked[1]
        if id_ in asked:
            return asked[id_]
        unknown: VaultIndexError | None = None
        for path in places.databases:
            try:
                database = self._database(path)
                if (listed := database.session(id_)) is not None:
                    asked[id_] = listed
                    return asked[id_]
            except VaultIndexError as error:  # another store may have the session
                unknown = unknown or error
        for tree in _trees(places):
            if (listed := tree.session(id_)) is not None:
                return listed
        if unknown is not None:
            raise unknown
        return None

    def _read(self, places: Places) -> Listing:
        sessions: dict[str, Listed] = {}
        faults: list[Problem] = []
        problems: list[str] = []
        for path in places.databases:
            try:
                database = self._database(path)
                for listed in database.sessions(problems):
                    sessions.setdefault(listed.session.id, listed)
            except VaultIndexError as error:
                faults.append(Problem(error.code, error.message, error.hint))
        for tree in _trees(places):
            for listed in self._in_tree(tree, problems, again=not places.databases):
                sessions.setdefault(listed.session.id, listed)
        return Listing(sessions, tuple(faults), tuple(problems))

    def _in_tree(self, tree: Tree, problems: list[str], *, again: bool) -> list[Listed]:
        version = tree.version()
        known = self._opened.trees.get(tree)
        if known is None or known[0] != version or again:
            found: list[str] = []
            known = version, tree.sessions(found), tuple(found)
            self._opened.trees[tree] = known
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


def _trees(places: Places) -> list[Tree]:
    return [*map(Tree, places.trees), *(Tree(root, True) for root in places.old_trees)]
