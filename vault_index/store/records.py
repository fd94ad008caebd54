"""Values read from the index: their columns, and the compressed blocks that hold the texts."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import accumulate, groupby
from typing import Any, NamedTuple, cast

import apsw

from vault_index.fields import STATES
from vault_index.models import FileStamp, Kind, VectorSpace
from vault_index.times import iso_time_or_none

UNREADABLE = (zlib.error, ValueError, LookupError, TypeError)
"""Exceptions for a damaged block."""
_BLOCK_BYTES = 8192
_LEVEL = 6  # compression level of zlib
BODY = "(SELECT body FROM text_block WHERE text_block.id = chunk.block_id)"
"""SQL for the block of a chunk, which holds its headings and text at its `place`."""
HEADINGS = f"in_block({BODY}, chunk.place, 1)"
CONTEXT = f"in_block({BODY}, chunk.place, 0)"
TEXT = f"in_block({BODY}, chunk.place, 2)"


def in_blocks(texts: Sequence[tuple[str, str, str]]) -> Iterator[tuple[bytes, list[int]]]:
    """Yield the compressed blocks of a document, each with the byte lengths of its texts.

    A few hundred bytes compress to half their size alone, but to a third in a block of about 8,000.
    A hit reads one block: a JSON array of context, headings (JSON again) and text of each chunk.
    The division depends only on the texts, so equal files give equal rows.

    `texts` are context, headings (as JSON) and text of each chunk.
    """
    sizes = [len(text.encode()) for *_, text in texts]
    starts = accumulate(sizes, initial=0)
    for _, those in groupby(
        zip(starts, sizes, texts, strict=False), key=lambda one: one[0] // _BLOCK_BYTES
    ):
        block = list(those)
        body = pack(json.dumps([text for *_, one in block for text in one], ensure_ascii=False))
        yield body, [size for _, size, _ in block]


def headings_and_text(body: bytes, place: int) -> tuple[tuple[str, ...], str]:
    """Return the headings and the text of a chunk from its block and place."""
    _, headings, text = _unpack(body)[place * 3 : place * 3 + 3]
    return _headings(headings), text


@lru_cache(maxsize=16)  # the parts of a long section share their headings
def _headings(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def pack(text: str) -> bytes:
    """Compress a text."""
    return zlib.compress(text.encode(), _LEVEL)


@lru_cache(maxsize=16)  # the chunks of a document are read in order
def _unpack(body: bytes) -> list[str]:
    found: list[str] = json.loads(zlib.decompress(body))
    return found


def add_functions(connection: apsw.Connection) -> None:
    """Add the SQL function `in_block(body, place, part)`."""
    connection.create_scalar_function("in_block", _in_block, 3, deterministic=True)


def _in_block(*values: "apsw.SQLiteValue") -> str:
    body, place, part = values
    return _unpack(cast("bytes", body))[cast("int", place) * 3 + cast("int", part)]


def column_names(row_type: type, *left_out: str) -> list[str]:
    """Return the column names of a dataclass, in the order of its fields."""
    return [field.name for field in fields(row_type) if field.name not in left_out]


@dataclass(frozen=True, slots=True)
class DocumentColumns:
    """The columns of a document that are written and read. Times are seconds since the epoch."""

    uid: str
    kind: Kind
    source: str
    path: str
    title: str
    line_count: int
    type: str | None
    digest: str
    created: float
    updated: float
    entered_by: str | None
    project: str | None
    expires: float | None
    valid_until: float | None
    confidence: str | None
    superseded_by: str | None
    """The id of the memory that replaced it, as written in the file."""
    archived: float | None
    unreviewed: int
    """1 for a memory in the inbox, 2 for one that search hides until its review, else 0."""
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @property
    def stamp(self) -> FileStamp:
        """The stamp of the indexed file."""
        return FileStamp(self.size, self.mtime_ns, self.ctime_ns, self.inode)


@dataclass(frozen=True, slots=True)
class StoredDocument(DocumentColumns):
    """A document as read from the index."""

    id: int
    tokens: int
    frontmatter_json: str

    def states(self, now: float) -> dict[str, Any]:
        """Return the fields of `DocumentName` that describe the states of a memory at `now`."""
        ends = {"expired": self.expires, "outdated": self.valid_until, "archived": self.archived}
        found = {state for state, end in ends.items() if end is not None and end <= now}
        found |= {"superseded"} if self.superseded_by else set()
        found |= {"unreviewed"} if self.unreviewed else set()
        return {
            "states": tuple(state for state in STATES if state in found),
            "superseded_by": self.superseded_by,
            "archived": iso_time_or_none(self.archived if "archived" in found else None),
            "unreviewed": "unreviewed" in found,
        }

    @property
    def frontmatter(self) -> Mapping[str, Any]:
        """The parsed frontmatter; JSON values only.

        Parsed at each access, because few callers need it.
        """
        found: Mapping[str, Any] = json.loads(self.frontmatter_json)
        return found


class ChunkRecord(NamedTuple):
    """A chunk as read from the index."""

    chunk_id: int
    ordinal: int
    """Its position in the document; the first chunk below the frontmatter is 0."""
    headings: tuple[str, ...]
    text: str
    start_line: int
    end_line: int
    tokens: int
    document: StoredDocument


DOCUMENT = ", ".join(
    f"document.{name}" for name in [*column_names(DocumentColumns), "id", "tokens", "frontmatter"]
)
"""The columns of a `StoredDocument`, in the order of its fields."""
CHUNK = (
    f"chunk.id, chunk.ordinal, {BODY}, chunk.place, chunk.start_line, chunk.end_line,"
    f" chunk.tokens, {DOCUMENT}"
)
"""The columns for `chunk_records`."""


def chunk_records(rows: Iterable[Sequence[Any]]) -> list[ChunkRecord]:
    """Convert rows with the columns `CHUNK` to records."""
    return [
        ChunkRecord(
            id_,
            ordinal,
            *headings_and_text(body, place),
            first,
            last,
            tokens,
            StoredDocument(*document),
        )
        for id_, ordinal, body, place, first, last, tokens, *document in rows
    ]


class DocumentState(NamedTuple):
    """The state of an indexed document, to detect changes and to check its privacy.

    A named tuple, because the states of all documents are often created.
    """

    id: int
    uid: str
    source: str
    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    origin: str
    """The frontmatter as JSON if it names an id, project, directory or session, else empty."""
    tags: str = ""
    """The tags that begin with `project/`, separated by spaces."""

    @property
    def stamp(self) -> FileStamp:
        """The stamp of the indexed file."""
        return FileStamp(self.size, self.mtime_ns, self.ctime_ns, self.inode)


class PendingChunk(NamedTuple):
    """A chunk without a vector."""

    chunk_id: int
    document: DocumentState
    embed_key: bytes
    embed_text: str
    tokens: int


class SpaceRow(NamedTuple):
    """A vector space of the index, which serves queries or is being built."""

    id: int
    space: VectorSpace
    serving: bool
    renewed: bool
    """Whether every vector is computed again, without the cache."""


class MirroredSession(NamedTuple):
    """The stored state of a session that was mirrored into a vault."""

    path: str
    """Empty: the user deleted the file, and it is not written again."""
    made_of: str = ""
    """The state of the session when it was written; a different text means that it changed."""
    written: bytes = b""
    """SHA-256 of the file; empty for a file that the user has changed."""
    size: int = 0
    """Number of characters of the turns in the file."""
    turns: bytes = b""
    """SHA-256 of these turns."""
    faults: tuple[tuple[str, str], ...] = ()
    """Code and message of each fault."""
