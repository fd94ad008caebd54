"""Decide which documents to read, and turn a document into rows."""

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from vault_index.models import UNTRUSTED, DocumentRef, Fault, FileStamp, RawDocument
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import Source
from vault_index.store.revisions import packed
from vault_index.store.writer import DocumentRow, KnownDocument

ROWS_VERSION = 14
"""Increase it when the same file would give other rows; then every document is read again."""

# A file changed within one clock tick of its stamp may change again with the same stamp.
_RACY_NS = 20_000_000
_COARSE_NS = 2_020_000_000
"""The clock tick of file systems with whole seconds, or even seconds (FAT)."""


class RowSettings(NamedTuple):
    """The settings that affect the rows."""

    chunk_tokens: int
    chunk_overlap: int
    memory_dir: str
    deleted: tuple[bytes, frozenset[int]] = (b"", frozenset())
    """Salt and fingerprints of deleted memories; quotes of them are omitted from sessions."""

    def made_with(self, source: Source) -> str:
        """Return a fingerprint of the settings; rows with another one are outdated."""
        return (
            f"{ROWS_VERSION}/{self.chunk_tokens}/{self.chunk_overlap}"
            f"/{self.memory_dir}/{source.shape}"
        )


class Plan(NamedTuple):
    """The work of a sync: the difference between the files and the index.

    `changed` pairs a file with its previous row. A removed row may later match an added file, which
    is then a move.
    """

    added: tuple[DocumentRef, ...]
    changed: tuple[tuple[DocumentRef, KnownDocument], ...]
    removed: tuple[KnownDocument, ...]
    unchanged: int


Job = tuple[DocumentRef, KnownDocument | None]
"""A document to be read, with its indexed state."""
Work = Sequence[Job]


def diff(refs: Iterable[DocumentRef], known: Mapping[str, KnownDocument], made_with: str) -> Plan:
    """Compare by path and stamp; a row made with other settings counts as changed."""
    added: list[DocumentRef] = []
    changed: list[tuple[DocumentRef, KnownDocument]] = []
    unchanged = 0
    gone = dict(known)
    for ref in refs:
        row = gone.pop(ref.path, None)
        if row is None:
            added.append(ref)
        elif row.stamp != ref.stamp or row.made_with != made_with:
            changed.append((ref, row))
        else:
            unchanged += 1
    return Plan(tuple(added), tuple(changed), tuple(gone.values()), unchanged)


class Read(NamedTuple):
    """The rows of a document, and its faults."""

    row: DocumentRow
    faults: tuple[Fault, ...]
    version: bytes = b""
    """For memories: the file, compressed by `packed`."""


def read_document(
    source: Source, ref: DocumentRef, settings: RowSettings, known: KnownDocument | None = None
) -> Read | FileStamp:
    """Return the rows of a document, or only its new stamp if the rows are unchanged.

    Raises the errors of `Source.read`.
    """
    # Imported here because parsing is slow to import, and most syncs find nothing to parse.
    from vault_index.indexer.describe import describe
    from vault_index.markdown.canvas import parse_canvas
    from vault_index.markdown.chunk import chunk, chunk_fields
    from vault_index.markdown.memory import unreviewed_in
    from vault_index.markdown.parse import parse, parse_transcript, without_quotes

    began = time.time_ns()
    raw = source.read(ref)
    stamp, made_with = _believed(raw.ref.stamp, began), settings.made_with(source)
    if known is not None and raw.kind is None and _is_same(raw, known, made_with):
        return stamp
    path = ref.path
    memory = path.startswith(f"{settings.memory_dir}/") and path.endswith(".md")
    raw = raw._replace(
        ref=raw.ref._replace(stamp=stamp), kind=raw.kind or ("memory" if memory else "note")
    )
    quotable = raw.kind == "session" and settings.deleted[1]
    text, omitted = without_quotes(raw.text, *settings.deleted) if quotable else (raw.text, None)
    ordinary = partial(parse, memory=raw.kind == "memory")
    read = (
        parse_canvas
        if path.endswith(".canvas")
        else parse_transcript
        if raw.kind == "session"
        else ordinary
    )
    parsed = read(text, path.rpartition("/")[2].rpartition(".")[0])
    chunks = chunk(parsed, settings.chunk_tokens, settings.chunk_overlap)
    fields = chunk_fields(parsed, settings.chunk_tokens)
    unreviewed = unreviewed_in(path, settings.memory_dir) if raw.kind == "memory" else 0
    row = describe(
        raw,
        parsed,
        chunks,
        fields,
        made_with=made_with,
        born=source.born,
        omitted=omitted,
        unreviewed=unreviewed,
    )
    kept = source.keep(raw, text, row.updated) if isinstance(source, SessionSource) else ()
    return Read(
        row, (*raw.faults, *parsed.faults, *kept), packed(raw.data) if row.kind == "memory" else b""
    )


def _believed(stamp: FileStamp, read_at: int) -> FileStamp:
    """Return the stamp to store; `UNTRUSTED` if the file changed just before it was read."""
    tick = _RACY_NS if stamp.ctime_ns % 1_000_000_000 else _COARSE_NS
    fresh = read_at - max(stamp.mtime_ns, stamp.ctime_ns) < tick
    return stamp._replace(ctime_ns=UNTRUSTED) if fresh else stamp


def _is_same(raw: RawDocument, known: KnownDocument, made_with: str) -> bool:
    """Return whether the rows would be unchanged. Dates can depend on the file time."""
    was, now = known.stamp, raw.ref.stamp
    rest = (was.size, was.mtime_ns, known.made_with) == (now.size, now.mtime_ns, made_with)
    return rest and raw.content_hash == known.content_hash
