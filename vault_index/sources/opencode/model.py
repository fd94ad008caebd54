"""What OpenCode stores beyond what any client says of a session.

row or file -> RawMessage -> Message -> markdown
"""

import zlib
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from vault_index.models import FileStamp
from vault_index.sources.sessions.model import Session


@dataclass(frozen=True, slots=True)
class Revert:
    """Where a session was taken back to: what begins here is not wanted, and goes at the next prompt."""

    message: str
    part: str = ""


RawPart = tuple[str, bytes]
"""The id of a part, and its JSON as stored."""


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message as stored: JSON that nobody has read yet."""

    id: str
    created: int
    data: bytes
    parts: Iterable[RawPart] = ()
    kind: str = ""
    """The type of a row of the v2 API, which carries its parts inside."""


class Store(Protocol):
    """A database or a tree."""

    def messages(self, session: str, problems: list[str]) -> Generator[RawMessage]: ...

    def times(self, session: str) -> list[int]: ...


class Held(NamedTuple):
    """Where a session is read from, and up to where."""

    store: Store
    revert: Revert | None


def stamp_of(session: Session, revert: Revert | None, changed: int, messages: int, parts: int) -> FileStamp:
    """What tells whether a session changed: the last change of it, or of any of its messages and parts, in
    milliseconds, their numbers, its title, and where it was taken back to."""
    rest = zlib.crc32(repr((parts, session.title, revert)).encode())
    return FileStamp(messages, changed * 1_000_000, rest)
