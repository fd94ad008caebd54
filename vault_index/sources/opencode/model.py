"""Types of OpenCode's data that other clients lack.

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
    """The message or part that the user rewound to; it and all later ones no longer count."""

    message: str
    part: str = ""


RawPart = tuple[str, bytes]
"""Id and stored JSON."""


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message as stored: unparsed JSON."""

    id: str
    created: int
    data: bytes
    parts: Iterable[RawPart] = ()
    kind: str = ""
    """Type of a v2 row, in which `data` contains the parts; empty for v1."""


class Store(Protocol):
    """The interface of a database or a tree."""

    def messages(self, session: str, problems: list[str]) -> Generator[RawMessage]:
        """Yield the messages of a session in order; add unreadable ones to `problems`."""

    def times(self, session: str) -> list[int]:
        """Return the times of the messages in ms; empty if that requires reading all of them."""


class Held(NamedTuple):
    """The store that holds a session, and the point where reading ends."""

    store: Store
    revert: Revert | None


def stamp_of(
    session: Session, revert: Revert | None, changed: int, messages: int, parts: int
) -> FileStamp:
    """Return a stamp of the last change (ms), message and part counts, title and revert."""
    rest = zlib.crc32(repr((parts, session.title, revert)).encode())
    return FileStamp(messages, changed * 1_000_000, rest)
