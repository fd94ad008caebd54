"""One client with several data folders, such as one per profile."""

from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path

from vault_index.sources.sessions.client import Client, Conversation, Listing
from vault_index.sources.sessions.model import Listed, Session


class Several:
    """Combines clients; if a session is in several folders, the first folder wins."""

    def __init__(self, clients: Sequence[Client]) -> None:
        self._clients, first = clients, clients[0]
        self._owners: dict[str, Client] = {}
        self.name, self.title, self.deep, self.folder = (
            first.name,
            first.title,
            first.deep,
            first.folder,
        )

    def present(self) -> bool:
        """Return whether any folder has data."""
        return any(one.present() for one in self._clients)

    def listing(self) -> Listing:
        """List the sessions of all folders."""
        listings = [one.listing() for one in self._clients]
        sessions = dict[str, Listed]()
        for client, listed in zip(reversed(self._clients), reversed(listings), strict=True):
            sessions |= listed.sessions
            self._owners |= dict.fromkeys(listed.sessions, client)
        return Listing(
            sessions,
            tuple(chain.from_iterable(one.faults for one in listings)),
            tuple(chain.from_iterable(one.problems for one in listings)),
        )

    def session(self, id_: str) -> Listed | None:
        """Return the current state of a session, from its folder."""
        return self._owner(id_).session(id_)

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a session from its folder."""
        return self._owner(listed.session.id).read(listed, include, earlier)

    def times(self, listed: Listed) -> Sequence[int]:
        """Return the times of the messages."""
        return self._owner(listed.session.id).times(listed)

    def version(self) -> object:
        """Return a value that changes when any folder may have changed."""
        return [one.version() for one in self._clients]

    def watched(self) -> Sequence[Path]:
        """Return the folders to watch, of all data folders."""
        return [folder for one in self._clients for folder in one.watched()]

    def concerns(self, path: str) -> bool:
        """Return whether a path belongs to a session in any folder."""
        return any(one.concerns(path) for one in self._clients)

    def session_of_file(self, path: str) -> Session | None:
        """Return the only session that a file holds; None if unknown or shared."""
        return next(filter(None, (one.session_of_file(path) for one in self._clients)), None)

    def resume(self, session: str) -> Sequence[str]:
        """Return the command that resumes a session."""
        return self._owner(session).resume(session)

    def deleted(self, listed: Listed) -> bool:
        """Return whether every folder's client reports it as deleted.

        All must agree, because the folder of a missing session is unknown.
        """
        return all(one.deleted(listed) for one in self._clients)

    def forget(self, sessions: Collection[str]) -> None:
        """Drop cached titles and folders of these sessions."""
        for one in self._clients:
            one.forget(sessions)

    def _owner(self, id_: str) -> Client:
        if (known := self._owners.get(id_)) is not None and known.session(id_):
            return known  # a miss in the others costs a full listing
        return next((one for one in self._clients if one.session(id_)), self._clients[0])
