"""Implement the client interface for OpenCode."""

import os
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path

from vault_index.sources.opencode.entries import read_messages
from vault_index.sources.opencode.places import Places, data_folder, find_places
from vault_index.sources.opencode.stores import Stores
from vault_index.sources.sessions.client import ALL_BRANCHES, Conversation, Listing
from vault_index.sources.sessions.model import Listed, Session


class OpenCode:
    """The client for OpenCode, which reads its databases and its older JSON trees."""

    name = "opencode"
    title = "OpenCode"
    deep = False  # do not watch its subfolders, which include git trees

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        """Use a data folder, or one database file; `cache` is unused."""
        self._setting = None if folder == data_folder(None, os.environ) else folder
        self.folder = data_folder(self._setting, os.environ)
        self._stores = Stores(self._places)
        self._found: tuple[int, Places] | None = None

    def present(self) -> bool:
        """Return whether a database or a tree exists."""
        return bool(self._places())

    def listing(self) -> Listing:
        """List the sessions of all databases and trees."""
        return self._stores.listing()

    def session(self, id_: str) -> Listed | None:
        """Look up a session; None if the id is unknown or not OpenCode's (`ses_…`)."""
        return self._stores.session(id_) if id_.startswith("ses_") else None

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

    def version(self) -> object:
        """Return a value that changes when a database is written."""
        return self._stores.version()

    def watched(self) -> Sequence[Path]:
        """Return the folders of the databases, or the data folder without a database."""
        databases = {path.parent for path in self._places().databases}
        return sorted(databases or {self.folder})

    def concerns(self, path: str) -> bool:
        """Return whether a path is a database of OpenCode or its `-wal` file."""
        name = os.path.basename(path)
        named = {database.name for database in self._places().databases}
        return ("opencode" in name and name.endswith((".db", ".db-wal"))) or name.removesuffix(
            "-wal"
        ) in named

    def session_of_file(self, path: str) -> Session | None:
        """Return None, because a file holds many sessions, or only a part of one."""
        return None

    def resume(self, session: str) -> Sequence[str]:
        """Return the command that resumes a session."""
        return "opencode", "-s", session

    # --- inside -----------------------------------------------------------------------------------

    def _places(self) -> Places:
        """Return the stores; search again when the data folder's mtime changes."""
        try:
            changed = os.stat(self.folder).st_mtime_ns
        except OSError:
            changed = 0
        known = self._found
        if known is None or known[0] != changed or not known[1].databases:
            self._found = known = changed, find_places(self._setting, os.environ)
        return known[1]
