"""Immutable values on the way into the index, without I/O. The values of answers are in `results`.

Named tuples, because every command creates these types and a dataclass takes five times as long.

    path -> DocumentRef -> RawDocument -> ParsedDocument -> Chunk...      (indexer, now)
                                                   Chunk text -> Vector     (indexer, later)

Line numbers are 1-based and inclusive, and count the lines of the file, frontmatter included. Paths
are relative to the root of their source, with `/`. Times are seconds since the epoch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from vault_index.fields import Filters as Filters, Kind as Kind, State as State

Vector = bytes
"""A stored unit vector: int8, or little-endian float32 (`vectors`)."""


# --- markdown in ----------------------------------------------------------------------------------


class Origin(NamedTuple):
    """The origin of a text: projects, folders and a session; all empty if unknown."""

    projects: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    session: str = ""
    client: str = ""
    """The client of the session, set once it was found; projects and folders then include those of
    the session.
    """


QueryOrigins = Callable[[], Sequence[Origin]]
"""Returns the places where a query was typed; empty if unknown, which counts as private.

A function, because only a query that may leave the machine needs them.
"""


class FileStamp(NamedTuple):
    """The state of a file by `stat`; equal stamps mean an unchanged file."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int = 0
    """Distinguishes files of equal size and time when their folders change places.

    Not in the repr: the stored state of a mirrored session begins with the text of its stamp.
    """

    def __repr__(self) -> str:
        return f"FileStamp(size={self.size}, mtime_ns={self.mtime_ns}, ctime_ns={self.ctime_ns})"


UNTRUSTED = 0
"""The `ctime_ns` of a stamp so recent that the file could change again within the same ctime."""
KEPT = -1
"""The `ctime_ns` in the stamp of a stored session that its client deleted."""


def as_indexed(was: FileStamp | None, now: FileStamp) -> bool:
    """Return whether a document was indexed in its present state."""
    return (
        was is not None
        and (was.size, was.mtime_ns, was.inode) == (now.size, now.mtime_ns, now.inode)
        and was.ctime_ns in (UNTRUSTED, now.ctime_ns)
    )


class DocumentRef(NamedTuple):
    """The place of a markdown document, with the state of its file."""

    source: str
    path: str
    stamp: FileStamp


class Fault(NamedTuple):
    """A problem with one file that did not stop the others: shown by `status`, never raised."""

    code: str
    message: str
    path: str = ""
    line: int | None = None


class RawDocument(NamedTuple):
    """The text of a document as read, without byte order mark, with its original line endings."""

    ref: DocumentRef
    text: str
    content_hash: bytes
    """SHA-256 of the bytes on disk."""
    faults: tuple[Fault, ...] = ()
    kind: Kind | None = None
    """The kind, if the source knows it; otherwise it follows from the path."""
    data: bytes = b""
    """The bytes on disk, if the document is a file."""
    whole: bool = True
    """False for the remaining part of a deleted session."""
    labels: tuple[tuple[str, str], ...] = ()
    """Frontmatter keys that the source knows and the text lacks."""


class Link(NamedTuple):
    """An unresolved wikilink, embed or relative markdown link."""

    target: str
    """The linked note as written, without heading, alias and `.md`; empty for a link into the same
    note.
    """
    heading: str
    """The part after `#` (a heading, or `^block`), or empty."""
    text: str
    """The words shown instead of the target, or empty."""
    line: int
    embed: bool = False


class Block(NamedTuple):
    """A block of whole lines: paragraph, list item, table, fence, callout or heading."""

    start_line: int
    end_line: int
    text: str
    """The lines joined by LF, with comments blanked out."""
    headings: tuple[str, ...]
    """Its headings, outermost first; a heading block includes itself."""
    is_heading: bool = False


class ParsedDocument(NamedTuple):
    """The contents of a markdown document; only a fallback `title` depends on the path."""

    title: str
    title_in_text: bool
    """Whether the title is in the document (frontmatter or first H1), not from the file name."""
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    """Normalised: no `#`, lower case, `/` for nesting; unique, in order of appearance."""
    links: tuple[Link, ...]
    frontmatter: Mapping[str, Any]
    """JSON values only (dates as ISO strings)."""
    line_count: int
    blocks: tuple[Block, ...]
    faults: tuple[Fault, ...] = ()
    fields: tuple[tuple[Block, ...], ...] = ()
    """Texts of the frontmatter, one block per list item, at their lines; without texts that are
    also in the blocks.
    """
    title_given: bool = True
    """False if the title was made from the text."""
    inline: Mapping[str, Sequence[str]] = {}
    """Inline fields of the text (`key:: value`)."""


class Chunk(NamedTuple):
    """A run of whole lines of a document: the unit that is embedded, found and shown."""

    start_line: int
    end_line: int
    headings: tuple[str, ...]
    text: str
    tokens: int


# --- vectors --------------------------------------------------------------------------------------


class VectorSpace(NamedTuple):
    """The identity of an embedding model.

    Vectors of different spaces are not comparable and never mixed.
    """

    provider: str
    model: str
    dimensions: int
    endpoint: str = ""
    """The base URL of the server; empty for the local model."""


INT8_SCALE = 381
"""int8 components are multiples of 1/381 of a unit vector, so 127 means one third.

Only vectors of the model in the package are int8, a quarter of the space of float32. With the
multilingual model it reduced recall measurably (benchmarks/README.md); vectors of servers cost
money. The largest measured component was .273 in 41,842 passages and .308 in 500 single words.
Larger components are clipped.
"""
INT8_LARGEST = 127
