"""What the settings keep on this machine, as one value that judges every origin."""

from collections.abc import Collection, Iterable
from itertools import chain

from vault_index.config import Config
from vault_index.disk import is_under, worktree_of
from vault_index.errors import VaultIndexError
from vault_index.models import Origin
from vault_index.sources.sessions.model import Session
from vault_index.sources.sessions.projects import Projects, forms_of, is_place, with_targets
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import Source

_ANY_NOTE = "-.md"
"""The name of a note that might lie in a folder."""


class PrivateScope:
    """Folders of vaults, whole sources, projects, and sessions of clients. Every method raises VaultIndexError where it
    cannot tell.

    A project is private whichever client names it. Every client counts, also one whose sessions are not indexed:
    memories may have been written in them. If neither `init` nor a section named a client, its sessions are private.
    """

    def __init__(self, config: Config, sources: Iterable[Source] = ()) -> None:
        self.sources = {source.config.name: source for source in sources}
        self.clients = {name: SessionSource(config, name) for name in config.clients}
        self._vaults = [source for name, source in self.sources.items() if name not in self.clients]
        limited = [one.config.local_only for one in self.clients.values() if one.told]
        self.every = True in limited
        """Whether all sessions of a client that the settings name are private."""
        self._projects = Projects([*chain.from_iterable(one for one in limited if isinstance(one, tuple))])
        vaults = any(source.config.local_only for source in self._vaults)
        self.untold = {name for name, one in self.clients.items() if not one.told}
        found = any(not self.clients[name].missing() for name in self.untold)
        self.empty = not (self.every or self._projects or vaults or found)
        """Whether nothing is private."""

    def is_private_source(self, name: str) -> bool:
        """Whether a source is private as a whole; one that is not set up counts as such."""
        return name not in self.sources or self.sources[name].config.local_only is True

    def keeps_path(self, path: str, sources: Collection[str] = ()) -> bool:
        """Whether a path is a private document, or a folder in which every note is private."""
        return any(
            source.stays_home(path) or source.stays_home(f"{path}/{_ANY_NOTE}".lstrip("/"))
            for source in self._vaults
            if not sources or source.config.name in sources
        )

    def knows(self, session: str) -> bool:
        """Whether a session is there."""
        return self._owner(session) is not None

    def keeps(self, origin: Origin) -> bool:
        """Whether a text from these projects, these folders or this session is private.

        A session is judged by the settings of its client, and by where it was held."""
        owner = self._owner(origin.session)
        session = owner.session(origin.session) if owner else None
        if owner is not None and session is not None and owner.keeps(session):
            return True
        unowned = owner is None and self.every and bool(origin.projects or origin.session)
        return unowned or (owner is None and self._held_in(origin.folders)) or self.names(origin, session)

    def names(self, origin: Origin, session: Session | None = None) -> bool:
        """Whether a private project or folder is named, or one that the session was held in.

        A project of which only the name is known may be any that is called so. An unknown session is private, unless a
        project or folder tells."""
        held = (session.directory, session.worktree) if session is not None else ()
        named = (*origin.projects, session.project) if session is not None else origin.projects
        folders = with_targets(filter(None, (*origin.folders, *held, *filter(is_place, named))))
        places = {*folders, *map(worktree_of, folders), *([session.project] if session else ())}
        covered = self._projects.covers("", *folders) or any(map(self._projects.covers, {*named, *places}))
        if covered or any(map(self._in_private_folder, folders)):
            return True
        placed = {form for place in places for form in forms_of(place)}
        names = {name for name in named if forms_of(name).isdisjoint(placed)}
        known = bool(places) or origin.session == "" or (bool(names) and self._projects.by_name)
        return not known or any(map(self._projects.may_cover, names)) or self._is_of_private_session(names)

    def _in_private_folder(self, folder: str) -> bool:
        """Whether a folder is a private one of a vault."""
        return any(
            (path := source.relative(folder)) is not None and self.keeps_path(path, [source.config.name])
            for source in self._vaults
        )

    def _held_in(self, folders: Iterable[str]) -> bool:
        """Whether sessions were held in these folders, of a client all of whose sessions are private."""
        wanted = with_targets(folders)
        return any(
            is_under(place, folder)
            for client in self.clients.values()
            if wanted and client.config.local_only is True
            for session in client.sessions()
            for place in (session.directory, session.worktree)
            if place not in ("", "/")
            for folder in wanted
        )

    def _is_of_private_session(self, names: Iterable[str]) -> bool:
        """Whether a project has one of these names in which a private session was held."""
        forms = {form for name in names for form in forms_of(name)}
        return any(
            forms & forms_of(session.project) and client.keeps(session)
            for client in self.clients.values()
            if forms and client.config.local_only
            for session in client.sessions()
        )

    def _owner(self, session: str) -> SessionSource | None:
        """The first client that has a session. What one cannot tell is raised where no other has it."""
        unknown: VaultIndexError | None = None
        for one in self.clients.values():
            try:
                if session and one.knows(session):
                    return one
            except VaultIndexError as error:
                unknown = unknown or error
        if unknown is not None:
            raise unknown
        return None
