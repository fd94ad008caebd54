"""The interface that each client implements to find, list and read its sessions.

Implementations never write to the client's files, lock them or block the client. They do not trust
the data: an unreadable item becomes a problem that names it, and reading continues.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vault_index.config.schema import CLIENTS
from vault_index.results.base import Problem
from vault_index.sources.sessions.model import Listed, Message, Session

ALL_BRANCHES = "taken back"
"""Value of `include` in `read` that adds abandoned branches, which a fork may have copied."""


@dataclass
class Conversation:
    """A session with its messages, as `Client.read` returns it."""

    session: Session
    """With its final title and time."""
    messages: list[Message]
    """In order, without abandoned branches and the client's own messages."""
    problems: list[str]
    """Unreadable items, and counts of omitted messages."""


@dataclass(frozen=True, slots=True)
class Listing:
    """All sessions of a client, by id."""

    sessions: dict[str, Listed]
    faults: tuple[Problem, ...] = ()
    """Unreadable stores. While there are any, a missing session does not count as removed."""
    problems: tuple[str, ...] = ()
    """Faults of single sessions, and unknown line types or format versions."""
    by_beginning: dict[int, list[Listed]] = field(default_factory=dict)

    def began_at(self, first: int) -> list[Listed]:
        """Return the sessions that begin with a message of this time: a fork and its original."""
        if not self.by_beginning:
            for listed in self.sessions.values():
                self.by_beginning.setdefault(listed.first, []).append(listed)
        return self.by_beginning.get(first, [])

    def without_remnants(self, kept: Collection[str]) -> dict[str, Listed]:
        """Return the sessions by id, without remnants of kept ones, whose copies hold more."""
        return {id_: one for id_, one in self.sessions.items() if not (one.partial and id_ in kept)}


class Client(ABC):
    """One client on this machine. Thread-safe."""

    name: str
    """Source name, such as `claude-code`."""
    in_projects: Callable[..., Sequence[Path]] = staticmethod(lambda look=False: ())
    """Returns the client's files in projects of other clients (`clients.InProjects.files`)."""
    deep = True
    """Whether session files lie in subfolders of the watched folders."""

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        self.title = CLIENTS[self.name]
        """Product name, such as `Claude Code`."""
        self.folders = folders
        """Data folders, such as one per profile. The first that has a session wins."""
        self._cache = cache
        """File that may store listings between runs."""

    @abstractmethod
    def present(self) -> bool:
        """Return whether there are data to read."""

    @abstractmethod
    def listing(self) -> Listing:
        """List all sessions; unchanged files are not read again."""

    @abstractmethod
    def session(self, id_: str) -> Listed | None:
        """Return the current state of a session, or None for an unknown id.

        Raises VaultIndexError if the client's data cannot be read.
        """

    @abstractmethod
    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a session.

        `include` may name `reasoning`, `output`, `diffs`, and ALL_BRANCHES for the original of a
        fork. `earlier` is the last result for this session and `include`: if the file has only
        grown since, the client may update and return it, instead of parsing the whole file again.
        """

    @abstractmethod
    def version(self) -> object:
        """Return a value that changes whenever the client may have written."""

    @abstractmethod
    def watched(self) -> Sequence[Path]:
        """Return the folders to watch for changes."""

    @abstractmethod
    def concerns(self, path: str) -> bool:
        """Return whether a path in a watched folder belongs to a session."""

    def times(self, listed: Listed) -> Sequence[int]:
        """Return the times of the messages in ms; empty if that requires reading all of them."""
        return ()

    def session_of_file(self, path: str) -> Session | None:
        """Return the only session that a file holds; None if unknown or shared."""
        return None

    def resumable(self, session: str) -> str:
        """Return the session that the client's command resumes in place of this one."""
        return session

    def deleted(self, listed: Listed) -> bool:
        """Return whether the client's data show that the user deleted this missing session.

        `listed` is the kept copy. By default False: the client, a cleaner or a script may have
        removed the file.
        """
        return False

    def forget(self, sessions: Collection[str]) -> None:  # noqa: B027
        """Drop cached titles and folders of these sessions; by default there are none."""
