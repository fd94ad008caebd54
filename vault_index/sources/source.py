"""The interface of a source, whether it is a folder of notes or the sessions of OpenCode, and what a scan returns."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from vault_index.config import SourceConfig
from vault_index.disk import is_under
from vault_index.models import DocumentRef, Fault, FileStamp, RawDocument
from vault_index.results.base import Problem

YET = "yet"
"""How it ends where nothing was there before, and what comes is found."""
EMPTY = "is empty"
"""How the reason ends why a source counts as gone whose folder is there: one that never had documents is not gone."""


class Scan(NamedTuple):
    """The documents of a source, or of some places in it, at one moment."""

    refs: tuple[DocumentRef, ...] = ()
    """By path, in the order of plain strings."""
    faults: tuple[Fault, ...] = ()
    vanished: bool = False
    """The whole source is gone (unmounted, empty folder): what is indexed of it must be kept."""
    unreadable: tuple[str, ...] = ()
    """Folders and files that exist but cannot be read: what is indexed of them must be kept."""
    drafts: tuple[str, ...] = ()
    """Files that have the names of our drafts, as absolute paths: some may be left from a crash."""
    reason: str = ""
    """Why it counts as vanished."""
    problems: tuple[Problem, ...] = ()
    """Problems that keep a whole part of the source from being read; they are reported at once."""
    kept: frozenset[str] = frozenset()
    """The paths of documents that are read from what was kept of them: what had them has them no more."""
    unkept: frozenset[str] = frozenset()
    """Those that are to be kept, and are not (any more): they are read again."""

    def knows(self, path: str) -> bool:
        """Whether a path that is not among the refs is really gone."""
        return not self.vanished and not any(is_under(folder, path) for folder in self.unreadable)


class Source(Protocol):
    """Paths are relative to the source, with `/`; in one that is no folder they are only names."""

    @property
    def config(self) -> SourceConfig:
        """Its name and kind, where it lies, and what of it stays on this machine."""

    @property
    def shape(self) -> str:
        """Fingerprint of the settings that affect the text; a change forces re-reading."""

    def scan_places(self, places: Iterable[str]) -> Scan:
        """What there is at these paths, whether documents, folders or nothing; everything at the empty one."""

    def look(self, path: str) -> DocumentRef | None:
        """One path as `scan_places` would see it. VaultIndexError when it exists but cannot be read."""

    def read(self, ref: DocumentRef) -> RawDocument:
        """The text and the state it was read in. NotFoundError when it is gone, VaultIndexError when unreadable."""

    def stamp(self, path: str) -> FileStamp | None:
        """The present stamp of a document, without reading it; None where it is gone."""

    def born(self, path: str) -> float | None:
        """When a document came to be, where its source knows better than the time of its file."""

    def relative(self, absolute_path: str) -> str | None:
        """An absolute path as a path of the source; None for one outside of it."""

    def stays_home(self, path: str) -> bool:
        """Whether the text of a document must not leave the machine. VaultIndexError where that is not known."""

    def link(self, path: str) -> str:
        """An address that opens a document, or nothing."""

    def missing(self) -> str:
        """Why the whole source counts as gone (unmounted, empty folder); empty while it is there."""

    @property
    def remedy(self) -> str:
        """What to do when it is gone."""
