"""What the files say at the moment of the answer: one `stat` a document."""

from collections.abc import Mapping
from typing import Protocol

from vault_index.models import FileStamp
from vault_index.store.records import ChunkRecord


class Source(Protocol):
    """What the freshness check needs of a source."""

    def stamp(self, path: str) -> FileStamp | None: ...

    def link(self, path: str) -> str: ...

    def missing(self) -> str: ...


class Disk:
    """The files behind the hits of one answer."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._missing: dict[str, str] = {}
        self._changed: dict[int, bool | None] = {}

    def changed(self, record: ChunkRecord) -> bool | None:
        """Whether the file changed since it was indexed; None where it is gone, and its vault is there."""
        if record.document_id not in self._changed:
            self._changed[record.document_id] = self._look(record)
        return self._changed[record.document_id]

    def _look(self, record: ChunkRecord) -> bool | None:
        source = self._sources.get(record.source)
        if source is None:
            return False
        stamp = source.stamp(record.path)
        if stamp is None:
            if record.source not in self._missing:
                self._missing[record.source] = source.missing()
            # Of a vault that is not mounted the index is all there is.
            return True if self._missing[record.source] else None
        return (stamp.size, stamp.mtime_ns) != (record.stamp.size, record.stamp.mtime_ns)

    def missing(self) -> tuple[str, ...]:
        """Sources that answered from the index alone, as reasons for `degraded`."""
        return tuple(f"source {name}: {reason}" for name, reason in self._missing.items() if reason)
