"""What the index hands back: documents and chunks as stored, vector spaces, and what these lack."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from vault_index.models import FileStamp, Kind, VectorSpace


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
