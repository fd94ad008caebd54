"""What everything above the sources asks of one, whether it is a folder of notes or the sessions of OpenCode."""

from collections.abc import Iterable
from typing import Protocol

from vault_index.config import SourceConfig
from vault_index.models import DocumentRef, FileStamp, RawDocument
from vault_index.sources.walk import Scan


class Source(Protocol):
    """Paths are relative to the source, with `/`; in one that is no folder they are only names."""

    @property
    def config(self) -> SourceConfig:
        """Its name and kind, where it lies, and what of it stays on this machine."""
        ...

    @property
    def shape(self) -> str:
        """What else of its settings shapes the texts: where it changes, every document is read again."""
        ...

    def scan_places(self, places: Iterable[str]) -> Scan:
        """What there is at these paths, whether documents, folders or nothing; everything at the empty one."""
        ...

    def look(self, path: str) -> DocumentRef | None:
        """One path as `scan_places` would see it. VaultIndexError when it is there and gives no answer."""
        ...

    def read(self, ref: DocumentRef) -> RawDocument:
        """The text and the state it was read in. NotFoundError when it is gone, VaultIndexError when unreadable."""
        ...

    def stamp(self, path: str) -> FileStamp | None:
        """The state of a document now, as cheaply as that can be told; None where it is gone."""
        ...

    def relative(self, absolute_path: str) -> str | None:
        """A path of the file system as a place of the source, None for what lies elsewhere."""
        ...

    def stays_home(self, path: str) -> bool:
        """Whether the text of a document must not leave the machine. VaultIndexError where that cannot be told."""
        ...

    def link(self, path: str) -> str:
        """An address that opens a document, or nothing."""
        ...

    def missing(self) -> str:
        """Why the source counts as gone as a whole; empty while it is there."""
        ...

    @property
    def remedy(self) -> str:
        """What to do when it is gone."""
        ...
