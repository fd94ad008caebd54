"""The base class of clients that store their sessions in SQLite databases."""

import os
import threading
from collections.abc import Collection, Sequence
from pathlib import Path

from vault_index.disk import os_errors_as
from vault_index.errors import VaultIndexError
from vault_index.results.base import Problem
from vault_index.sources.sessions.client import Client, Conversation, Listing
from vault_index.sources.sessions.client_database import SessionDatabase
from vault_index.sources.sessions.entries import Reading, conversation
from vault_index.sources.sessions.model import Listed
from vault_index.sources.walk import identity_of


class _Opened(threading.local):
    """Connections and caches of one thread. No slots, because threads would share them."""

    def __init__(self) -> None:
        self.databases: dict[Path, tuple[tuple[int, int], SessionDatabase]] = {}
        self.version: object = None
        """The version of the listing and of the sessions."""
        self.listing: Listing | None = None
        self.sessions: dict[str, Listed] = {}


class DatabaseClient(Client):
    """Lists the sessions of databases. Each thread opens each database once."""

    deep = False
    database: type[SessionDatabase]
    file = ""
    """Path of the database in a data folder."""

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        """Use data folders; `cache` is unused."""
        super().__init__(*folders, cache=cache)
        self._opened = _Opened()

    def databases(self) -> Sequence[Path]:
        """Return the existing databases; the first one that has a session wins."""
        return [*filter(Path.is_file, (folder / self.file for folder in self.folders))]

    def present(self) -> bool:
        """Return whether a database exists."""
        return bool(self.databases())

    def listing(self) -> Listing:
        """List the sessions of all databases; cached until a database changes."""
        opened = self._current()
        if opened.listing is None:
            opened.listing = self._list()
            opened.sessions = opened.listing.sessions
        return opened.listing

    def session(self, id_: str) -> Listed | None:
        """Look up a session. Raises VaultIndexError if a database is unreadable."""
        known = self._current().sessions
        if id_ not in known and (found := self._find(id_)) is not None:
            known[id_] = found
        return known.get(id_)

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a whole session."""
        reading, database = Reading(self.title), listed.place[0]
        entries = list(database.entries(listed, reading))
        return conversation(self.name, listed.session, entries, include, reading)

    def deleted(self, listed: Listed) -> bool:
        """Return whether a database exists, which then lacks the session.

        Only the user deletes rows.
        """
        return bool(self.databases())

    def version(self) -> list[object]:
        """Return a value that changes when a database is written."""
        return [(path, self._version_of(path)) for path in self.databases()]

    def watched(self) -> Sequence[Path]:
        """Return the folders of the databases."""
        return [(folder / self.file).parent for folder in self.folders]

    def concerns(self, path: str) -> bool:
        """Return whether a path is a database of the client or its `-wal` file."""
        return os.path.basename(path).removesuffix("-wal") == os.path.basename(self.file)

    # --- inside -----------------------------------------------------------------------------------

    def _current(self) -> _Opened:
        """Return the cache of this thread, emptied if a database was written."""
        opened, version = self._opened, DatabaseClient.version(self)
        if opened.version != version or not version:
            opened.version, opened.listing, opened.sessions = version, None, {}
        return opened

    def _find(self, id_: str) -> Listed | None:
        """Find one session. Raises VaultIndexError if a database is unreadable."""
        unknown: VaultIndexError | None = None
        for path in self.databases():
            try:
                if (listed := self._database(path).session(id_)) is not None:
                    return listed
            except VaultIndexError as error:  # another store may have the session
                unknown = unknown or error
        return self._find_elsewhere(id_, unknown)

    def _find_elsewhere(self, id_: str, unknown: VaultIndexError | None) -> Listed | None:
        """Find a session that no readable database has; raise `unknown` otherwise."""
        if unknown is not None:
            raise unknown
        return None

    def _list(self) -> Listing:
        found, faults, problems = list[Listed](), list[Problem](), list[str]()
        for path in self.databases():
            try:
                found += self._database(path).sessions(problems)
            except VaultIndexError as error:
                faults.append(Problem(error.code, error.message, error.hint))
        found += self._elsewhere(problems)
        # The first store that has a session wins.
        sessions = {listed.session.id: listed for listed in reversed(found)}
        return Listing(sessions, tuple(faults), tuple(problems))

    def _elsewhere(self, problems: list[str]) -> list[Listed]:
        """Return the sessions of other stores than databases."""
        return []

    def _version_of(self, path: Path) -> object:
        try:
            database = self._database(path)
            return id(database), database.data_version()
        except VaultIndexError:
            return object()  # differs each time, to retry

    def _database(self, path: Path) -> SessionDatabase:
        with os_errors_as(f"{path} cannot be read", "check its permissions"):
            identity = identity_of(os.stat(path))
        known = self._opened.databases.get(path)
        if known is not None and known[0] == identity:
            return known[1]
        if known is not None:  # the file was replaced
            known[1].close()
        database = self.database(path)
        self._opened.databases[path] = (identity, database)
        return database
