"""A reading connection, and how its rows become chunks and documents."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vault_index.models import FileStamp
from vault_index.store.connection import connect, fetch_all, translated
from vault_index.store.records import ChunkRecord, StoredDocument

DOCUMENT = (
    "document.id, document.uid, document.kind, document.source, document.path, document.title, document.size,"
    " document.mtime_ns, document.ctime_ns, document.line_count, document.tokens, document.type, document.digest,"
    " document.created, document.updated, document.entered_by, document.project, document.expires,"
    " document.valid_until, document.confidence, document.frontmatter"
)
CHUNK = (
    "chunk.id, document.id, document.uid, document.kind, document.source, document.path, document.title,"
    " chunk.headings, chunk.start_line, chunk.end_line, chunk.text, chunk.tokens, document.size, document.mtime_ns,"
    " document.ctime_ns, document.type, document.digest, document.created, document.updated, document.entered_by,"
    " document.project, document.expires, document.valid_until, document.confidence"
)


class Reading:
    """One reading connection; use it from one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect(path, "index", writable=False)

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One state of the index over several calls."""
        with translated(self._path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def _all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with translated(self._path):
            return fetch_all(self._connection, sql, tuple(values))


def chunk_record(row: Sequence[Any]) -> ChunkRecord:
    (chunk_id, document_id, uid, kind, source, path, title, headings, start, end, text, tokens, size, mtime, ctime,
     type_, digest, created, updated, by, project, expires, valid_until, confidence) = row  # fmt: skip
    return ChunkRecord(
        chunk_id, document_id, uid, kind, source, path, title, tuple(json.loads(headings)), start, end, text, tokens,
        FileStamp(size, mtime, ctime), type_, digest, created, updated, by, project, expires, valid_until, confidence,
    )  # fmt: skip


def stored_document(row: Sequence[Any]) -> StoredDocument:
    (id_, uid, kind, source, path, title, size, mtime, ctime, line_count, tokens, type_, digest, created, updated, by,
     project, expires, valid_until, confidence, frontmatter) = row  # fmt: skip
    return StoredDocument(
        id_, uid, kind, source, path, title, FileStamp(size, mtime, ctime), line_count, tokens, type_, digest, created,
        updated, by, project, expires, valid_until, confidence, json.loads(frontmatter),
    )  # fmt: skip
