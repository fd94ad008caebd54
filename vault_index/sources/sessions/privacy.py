"""What was said in sessions, or written in them, and stays home, whichever client they are of."""

from collections.abc import Collection
from functools import cached_property

from vault_index.config import Config
from vault_index.errors import VaultIndexError
from vault_index.models import Origin
from vault_index.sources.sessions.source import SessionSource


class Privacy:
    """Every client counts, also one whose sessions are not indexed: memories may have been written in them."""

    def __init__(self, config: Config) -> None:
        self.sources = {name: SessionSource(config, name) for name in config.clients}
        # Of a client that nobody was told of, its own sessions stay, and what is asked in them.
        self._told = [one for one in self.sources.values() if one.told and one.config.local_only]
        self._untold = [one for one in self.sources.values() if not one.told]

    @property
    def untold(self) -> Collection[str]:
        return {one.config.name for one in self._untold}

    @property
    def every(self) -> bool:
        """Whether all sessions of some client are to stay."""
        return any(one.config.local_only is True for one in self._told)

    @cached_property
    def wanted(self) -> bool:
        """Whether anything of sessions is to stay."""
        return bool(self._told) or not all(one.missing() for one in self._untold)

    def knows(self, session: str) -> bool:
        """Whether a session is there. VaultIndexError where that is not known."""
        return self._owner(session) is not None

    def keeps(self, origin: Origin) -> bool:
        """Whether words of these projects, folders or this session stay home. VaultIndexError where that is not known.

        Of whom a session is known, that one's settings decide; the others have their say about project and folder.
        """
        owner = self._owner(origin.session)
        if owner is not None and not owner.told:
            return True
        elsewhere = origin._replace(session="")
        return any(
            one.keeps(origin)
            if owner in (None, one)
            else one.config.local_only is not True and elsewhere != Origin() and one.keeps(elsewhere)
            for one in self._told
        )

    def keeps_place(self, place: Origin) -> bool:
        """Whether what is asked in a folder stays home. VaultIndexError where that is not known."""
        return any(one.keeps_place(place) for one in self._told)

    def _owner(self, session: str) -> SessionSource | None:
        """The first that knows a session. What one cannot tell is raised where no other does."""
        unknown: VaultIndexError | None = None
        for one in self.sources.values():
            try:
                if session and one.knows(session):
                    return one
            except VaultIndexError as error:
                unknown = unknown or error
        if unknown is not None:
            raise unknown
        return None
