"""The values that travel on the way in: frozen, without behaviour, without I/O. What is answered is in `results`.
Named tuples: every command makes these types, and a dataclass takes five times as long to make.

    path -> DocumentRef -> RawDocument -> ParsedDocument -> Chunk...      (indexer, now)
                                                 Chunk text -> Vector     (indexer, later)

Line numbers are 1-based and inclusive, and count the file as it stands on disk, frontmatter included.
Paths are relative to the root of their source, with `/`. Times are seconds since the epoch.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from vault_index.fields import Filters as Filters, Kind as Kind, State as State

Vector = bytes
"""A unit vector as it is kept: int8, or little-endian float32 (`vectors`)."""


# --- markdown in -----------------------------------------------------------------------------------------------


class Origin(NamedTuple):
    """Where a text is from: projects, folders and a session; all of them empty for one from nowhere in particular."""

    projects: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    session: str = ""
    client: str = ""
    """The client of the session, once it was found; projects and folders are then also those of the session."""


QueryOrigins = Callable[[], Sequence[Origin]]
"""Return where a query was typed; nothing if that is unknown, which the privacy gate treats as private. A function,
because only a query that may leave the machine needs it."""


class FileStamp(NamedTuple):
    """What `stat` says of a file; equal stamps mean an unchanged file."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int = 0
    """It tells files of one size and one moment apart, whose folders change places. Not shown: what is remembered of a
    mirrored session begins with the text of its stamp."""

    def __repr__(self) -> str:
        return f"FileStamp(size={self.size}, mtime_ns={self.mtime_ns}, ctime_ns={self.ctime_ns})"


UNTRUSTED = 0
"""The `ctime_ns` of a stamp that was so fresh that the file could change again without changing it."""
KEPT = -1
"""In the place of the time of a change, in the stamp of a session that its client deleted: what was kept of it."""


def as_indexed(was: FileStamp | None, now: FileStamp) -> bool:
    """Whether a document was read in its present state."""
    return (
        was is not None
        and (was.size, was.mtime_ns, was.inode) == (now.size, now.mtime_ns, now.inode)
        and was.ctime_ns in (UNTRUSTED, now.ctime_ns)
    )


class DocumentRef(NamedTuple):
    """A place markdown comes from, and the state it was seen in."""

    source: str
    path: str
    stamp: FileStamp


class Fault(NamedTuple):
    """Something wrong with one file that did not stop the rest: shown by `status`, never raised."""

    code: str
    message: str
    path: str = ""
    line: int | None = None


class RawDocument(NamedTuple):
    """The text of a document as read, without a byte order mark, line endings untouched."""

    ref: DocumentRef
    text: str
    content_hash: bytes
    """SHA-256 of the bytes on disk."""
    faults: tuple[Fault, ...] = ()
    kind: Kind | None = None
    """What it is, where the source knows; else its place tells."""
    data: bytes = b""
    """The bytes on disk, where it is a file."""
    whole: bool = True
    """False of what is left of a session that is gone."""


class Link(NamedTuple):
    """A wikilink, an embed or a relative markdown link, not yet resolved."""

    target: str
    """The linked note as written, without heading, alias and `.md`; empty for a link into the same note."""
    heading: str
    """What follows `#` (a heading, or `^block`), or empty."""
    text: str
    """The words shown instead of the target, or empty."""
    line: int
    embed: bool = False


class Block(NamedTuple):
    """A run of whole lines that belongs together: paragraph, list item, table, fence, callout, heading."""

    start_line: int
    end_line: int
    text: str
    """The lines joined by LF, comments blanked out."""
    headings: tuple[str, ...]
    """The headings it stands under, outermost first; a heading block counts itself."""
    is_heading: bool = False


class ParsedDocument(NamedTuple):
    """What markdown says about itself; nothing here depends on where the file lies but `title` as a last resort."""

    title: str
    title_in_text: bool
    """Whether the title stands in the document (frontmatter or first H1), or was taken from the file name."""
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    """Normalised: no `#`, lower case, `/` for nesting; each once, in order of appearance."""
    links: tuple[Link, ...]
    frontmatter: Mapping[str, Any]
    """JSON values only (dates as ISO strings)."""
    line_count: int
    blocks: tuple[Block, ...]
    faults: tuple[Fault, ...] = ()
    fields: tuple[tuple[Block, ...], ...] = ()
    """Texts of the frontmatter, a list item each, in the lines they have there; none that the blocks say."""
    title_given: bool = True
    """False for a title that is made of the text, because nobody gave one."""
    inline: Mapping[str, Sequence[str]] = {}
    """The fields that stand in the text, as `key:: value`."""


class Chunk(NamedTuple):
    """A run of whole lines of a document that is embedded, found and shown as one."""

    start_line: int
    end_line: int
    headings: tuple[str, ...]
    text: str
    tokens: int


# --- vectors ---------------------------------------------------------------------------------------------------


class VectorSpace(NamedTuple):
    """What makes two vectors comparable. Vectors of different spaces are never mixed."""

    provider: str
    model: str
    dimensions: int
    endpoint: str = ""
    """The base URL of a server, empty for the local model."""


# --- long work -------------------------------------------------------------------------------------------------

Progress = Callable[[str, int, int], None]
"""Told now and then by long work: its stage, how much is done, and of how much (0 where that is not known)."""


def no_progress(stage: str, done: int, total: int) -> None:
    """Report to nobody."""
