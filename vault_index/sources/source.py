"""The interface of a source (a vault, or a client's sessions), and the result of a scan."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from vault_index.config import SourceConfig
from vault_index.disk import is_under
from vault_index.models import DocumentRef, Fault, FileStamp, RawDocument
from vault_index.results.base import Problem

YET = "yet"
"""Ends the reason of a default source that has no data yet."""
EMPTY = "is empty"
"""Ends the reason of a source with an empty folder, which is normal if it never had documents."""


class Scan(NamedTuple):
    """The documents of a source, or of some of its paths."""

    refs: tuple[DocumentRef, ...] = ()
    """Sorted by path."""
    faults: tuple[Fault, ...] = ()
    vanished: bool = False
    """Whether the whole source is missing (unmounted, empty folder); its index must stay."""
    unreadable: tuple[str, ...] = ()
    """Folders and files that exist but cannot be read; their index must stay."""
    drafts: tuple[str, ...] = ()
    """Absolute paths of draft files, which a crash may have left."""
    reason: str = ""
    """Why the source vanished."""
    problems: tuple[Problem, ...] = ()
    """Problems that make a whole part unreadable; a sync reports them immediately."""
    kept: frozenset[str] = frozenset()
    """Paths of sessions that only exist as kept copies."""
    unkept: frozenset[str] = frozenset()
    """Paths of sessions without their kept copy; they are read again."""

    def knows(self, path: str) -> bool:
        """Return whether a path that is missing in `refs` is really deleted."""
        return not self.vanished and not any(is_under(folder, path) for folder in self.unreadable)


class Source(Protocol):
    """A source of documents. Paths are relative and use `/`; those of sessions are not files."""

    @property
    def config(self) -> SourceConfig:
        """The settings of the source."""

    @property
    def shape(self) -> str:
        """Fingerprint of the settings that affect the text; a change makes every document stale."""

    def scan_places(self, places: Iterable[str]) -> Scan:
        """Scan these documents or folders; the empty path means everything."""

    def look(self, path: str) -> DocumentRef | None:
        """Look up one document. Raises VaultIndexError if it exists but cannot be read."""

    def read(self, ref: DocumentRef) -> RawDocument:
        """Read a document and its stamp. Raises NotFoundError, VaultIndexError."""

    def stamp(self, path: str) -> FileStamp | None:
        """Return the current stamp of a document without reading it; None if deleted."""

    def born(self, path: str) -> float | None:
        """Return a creation time that is more reliable than the file's, in seconds, or None."""

    def relative(self, absolute_path: str) -> str | None:
        """Convert an absolute path to a path of the source; None if outside."""

    def stays_home(self, path: str) -> bool:
        """Return whether a document must stay on the machine. Raises VaultIndexError if unknown."""

    def link(self, path: str) -> str:
        """Return a URL that opens a document, or ""."""

    def missing(self) -> str:
        """Return why the whole source is missing (unmounted, empty folder), or ""."""

    @property
    def remedy(self) -> str:
        """The hint for a missing source."""
