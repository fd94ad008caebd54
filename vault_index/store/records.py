"""What the index hands back: documents and chunks as stored, vector spaces, and what these lack."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from vault_index.models import FileStamp, Kind, Link, VectorSpace


@dataclass(frozen=True, slots=True)
class SpaceRow:
    id: int
    space: VectorSpace
    serving: bool
    renewed: bool


class DocumentState(NamedTuple):
    """A document as it was read: enough to tell whether it still is so, and whether its text may leave the machine.

    A named tuple: of all documents together they are made again and again.
    """

    id: int
    source: str
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    transcript: str
    """The frontmatter as JSON, where it names a directory as that of a session does; else empty."""

    @property
    def stamp(self) -> FileStamp:
        return FileStamp(self.size, self.mtime_ns, self.ctime_ns)


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk that still lacks its vector."""

    chunk_id: int
    document: DocumentState
    embed_key: bytes
    embed_text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk as stored, with what a hit says of its document."""

    chunk_id: int
    document_id: int
    uid: str
    kind: Kind
    source: str
    path: str
    title: str
    headings: tuple[str, ...]
    start_line: int
    end_line: int
    text: str
    tokens: int
    stamp: FileStamp
    type: str | None
    digest: str
    created: float
    updated: float
    entered_by: str | None
    project: str | None
    expires: float | None
    valid_until: float | None
    confidence: str | None


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as stored, for `list` and `get`."""

    id: int
    uid: str
    kind: Kind
    source: str
    path: str
    title: str
    stamp: FileStamp
    line_count: int
    tokens: int
    type: str | None
    digest: str
    created: float
    updated: float
    entered_by: str | None
    project: str | None
    expires: float | None
    valid_until: float | None
    confidence: str | None
    frontmatter: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ChunkRow:
    start_line: int
    end_line: int
    headings: tuple[str, ...]
    context: str
    """What is embedded before the text: `[tags] title > heading path`."""
    text: str
    tokens: int
    embed_key: bytes
    terms: tuple[str, str, str, str, str, str, str]
    """The columns of `chunk_fts`: title, aliases, headings, tags, fields, path, body."""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    uid: str
    source: str
    path: str
    name: str
    kind: Kind
    title: str
    content_hash: bytes
    stamp: FileStamp
    made_with: str
    line_count: int
    created: float
    updated: float
    type: str | None
    digest: str
    project: str | None
    entered_by: str | None
    expires: float | None
    valid_until: float | None
    confidence: str | None
    superseded_by: str | None
    frontmatter: Mapping[str, Any]
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    links: tuple[Link, ...]
    chunks: tuple[ChunkRow, ...]
    identity: bytes | None = None
    """Of a memory: equal for memories that say the same."""


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What the index remembers of a file: enough to tell whether it changed."""

    id: int
    path: str
    stamp: FileStamp
    content_hash: bytes
    made_with: str


@dataclass(frozen=True, slots=True)
class MirroredSession:
    """What is remembered of a session that was written into a vault as a file."""

    path: str
    """Empty: the file was deleted by its reader, and is not written again."""
    made_of: str = ""
    """What the session was then; another text means that it changed."""
    written: bytes = b""
    """SHA-256 of the file; empty for one that its reader has changed."""
    size: int = 0
    """Characters of the turns that are in the file, and their SHA-256."""
    turns: bytes = b""
    faults: tuple[tuple[str, str], ...] = ()
    """Code and message."""
