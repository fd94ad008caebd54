"""Decide from the settings which sources, paths, projects and sessions are private."""

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import chain

from vault_index.config import Config
from vault_index.errors import VaultIndexError
from vault_index.models import Origin
from vault_index.sources.git import worktree_of
from vault_index.sources.sessions.archive import has_unknown_folder
from vault_index.sources.sessions.projects import (
    Projects,
    all_forms_of,
    forms_of,
    is_place,
    with_targets,
)
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import Source

_ANY_NOTE = "-.md"
"""Name of a hypothetical note, to ask whether every note of a folder is private."""


class PrivateScope:
    """The private folders, sources, projects and sessions.

    Methods raise VaultIndexError if the answer is unknown.

    A private project is private in every client, also in clients that are not indexed, because
    memories may come from them. Sessions of a client that the settings do not mention are private.
    """

    def __init__(self, config: Config, sources: Iterable[Source] = ()) -> None:
        self.sources = {source.config.name: source for source in sources}
        self.clients = {name: SessionSource(config, name) for name in config.clients}
        self._vaults = [one for one in self.sources.values() if one.config.kind == "vault"]
        self.unconfigured = {name for name, one in self.clients.items() if not one.configured}
        self._limits = [one.config.local_only for one in self.clients.values() if one.configured]
        self._projects = Projects(
            [*chain.from_iterable(one for one in self._limits if isinstance(one, tuple))]
        )

    @cached_property
    def empty(self) -> bool:
        """Whether nothing is private."""
        vaults = any(source.config.local_only for source in self._vaults)
        found = any(not self.clients[name].missing() for name in self.unconfigured)
        return not (True in self._limits or self._projects or vaults or found)

    def is_private_source(self, name: str) -> bool:
        """Return whether a whole source is private. An unknown source counts as private."""
        return name not in self.sources or self.sources[name].config.local_only is True

    def keeps_path(self, path: str, sources: Collection[str] = ()) -> bool:
        """Return whether a path is a private document, or a folder of private notes only."""
        return any(
            source.stays_home(path) or source.stays_home(f"{path}/{_ANY_NOTE}".lstrip("/"))
            for source in self._vaults
            if not sources or source.config.name in sources
        )

    def resolve(self, origin: Origin) -> Origin:
        """Add the client, project and folders of the session to an origin.

        An unknown session gets no client. Raises the error of an unreadable client only if no other
        client has the session.
        """
        unknown: VaultIndexError | None = None
        for name, client in self.clients.items() if origin.session else ():
            try:
                session = client.session(origin.session)
            except VaultIndexError as error:
                unknown = unknown or error
                continue
            if session is not None and not has_unknown_folder(session):
                folders = filter(None, (*origin.folders, session.directory, session.worktree))
                return Origin((*origin.projects, session.project), tuple(folders), session.id, name)
        if unknown is not None:
            raise unknown
        return origin

    def keeps(self, origin: Origin) -> bool:
        """Return whether a text from these projects, folders and this session is private.

        An unknown session is private. The client's settings and the session's folder decide about a
        known one. A bare project name matches every private project of that name.
        """
        origin = self.resolve(origin)
        client = self.clients.get(origin.client)
        of_client = client is None or client.config.local_only is True
        folders = with_targets(filter(None, (*origin.folders, *filter(is_place, origin.projects))))
        places = {*folders, *map(worktree_of, folders)}
        if (
            (of_client if origin.session else self._held_in(origin.folders))
            or self._projects.covers("", *places)
            or any(map(self._projects.covers, {*origin.projects, *places}))
            or any(map(self._in_private_folder, folders))
        ):
            return True
        placed = {form for place in places for form in all_forms_of(place, place)}
        names = {name for name in origin.projects if forms_of(name).isdisjoint(placed)}
        return any(map(self._projects.may_cover, names)) or self._is_of_private_session(names)

    def _in_private_folder(self, folder: str) -> bool:
        """Return whether a folder is a private folder of a vault."""
        return any(
            (path := source.relative(folder)) is not None
            and self.keeps_path(path, [source.config.name])
            for source in self._vaults
        )

    def _held_in(self, folders: Iterable[str]) -> bool:
        """Return whether a client with only private sessions has sessions in these folders."""
        wanted = with_targets(folders)
        clients = (client for client in self.clients.values() if client.config.local_only is True)
        return any(client.was_in(wanted) for client in clients)

    def _is_of_private_session(self, names: Iterable[str]) -> bool:
        """Return whether a private session belongs to a project of one of these names."""
        forms = {form for name in names for form in forms_of(name)}
        return any(
            forms & all_forms_of(session.project, session.directory) and client.keeps(session)
            for client in self.clients.values()
            if forms and client.config.local_only
            for session in client.sessions()
        )
