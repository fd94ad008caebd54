"""The interface of a client: how its sessions are found, listed, and read. The next client is one module that has it.

Nothing here writes, locks or blocks what the client writes. Nothing that was read is believed: what cannot be read
becomes a problem that names it, and the rest is read on.
"""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from vault_index.results.base import Problem
from vault_index.sources.sessions.model import Listed, Message, Session

TAKEN_BACK = "taken back"
"""Asked for beside the rest of what `read` may include: branches that were given up, which a fork may have copied."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Every session there is, each once, by id."""

    sessions: dict[str, Listed]
    faults: tuple[Problem, ...] = ()
    """Of stores that could not be read: nobody knows what they hold, and so nothing of the client counts as gone."""
    problems: tuple[str, ...] = ()
    """What is wrong with single sessions, or not known: another type of line, another version of the format."""
    by_beginning: dict[int, list[Listed]] = field(default_factory=dict)

    def began_at(self, first: int) -> list[Listed]:
        """The sessions whose first message was written then: a fork's is that of its original."""
        if not self.by_beginning:
            for listed in self.sessions.values():
                self.by_beginning.setdefault(listed.first, []).append(listed)
        return self.by_beginning.get(first, [])


class Client(Protocol):
    """One client on this machine. Several threads may ask it."""

    name: str
    """As a source is named: `claude-code`."""
    title: str
    """As people call it: `Claude Code`."""
    deep: bool
    """Whether the files lie in folders below those that are watched."""

    @property
    def folder(self) -> Path:
        """Where its data lie: as set, else where the client itself would look."""

    def present(self) -> bool:
        """Whether there is anything to read."""

    def listing(self) -> Listing:
        """All sessions, by folders and stamps; what was listed before is not read again while it is unchanged."""

    def session(self, id_: str) -> Listed | None:
        """One session as it is now; None for an id that is none of this client's. VaultIndexError when that is not
        known."""

    def read(
        self, listed: Listed, include: Collection[str], problems: list[str], offset: int = 0
    ) -> tuple[Session, Generator[Message]]:
        """The session as it is known once it is read (its title, its last change), and its messages in their order, one
        by one: a session may be larger than the memory that is meant for it. Those of branches that were given up are
        left out, and what the client wrote itself.

        `include` names what is wanted beside what was said: `reasoning`, `output`, `diffs`, and for the original of a
        fork TAKEN_BACK, which a client without such copies may pass over. What could not be read is added to
        `problems`. `offset` is the `end` of the last message that is known, 0 for all; RewoundError where what stands
        behind it does not go on from there.
        """

    def times(self, listed: Listed) -> Sequence[int]:
        """When its messages were written; empty where that would take reading all of them."""

    def version(self) -> object:
        """Another value whenever the client may have written since."""

    def watched(self) -> Sequence[Path]:
        """The folders whose events tell of a change."""

    def concerns(self, path: str) -> bool:
        """Whether a file in them is one of its sessions."""

    def held_by(self, path: str) -> Session | None:
        """The session whose file that is, and of no other: what changes there changes it alone. None where that is not
        known."""

    def resume(self, session: str) -> Sequence[str]:
        """The client's own command that goes on with a session; it is run in the folder the session was held in."""

    def deleted(self, listed: Listed) -> bool:
        """Whether the client recorded that its user deleted this session, which is gone from it. `listed` is what was
        kept of it."""

    def forget(self, sessions: Collection[str]) -> None:
        """Remember nothing of these sessions, beyond that they are there."""


class RewoundError(Exception):
    """A session does not go on from where it was read to: it was taken back, written anew or cut."""
