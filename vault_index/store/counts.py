"""Counts, faults, and what is still to do."""

from vault_index.models import Fault, FileStamp, Filters
from vault_index.store import spaces
from vault_index.store.connection import translated
from vault_index.store.filters import document_condition
from vault_index.store.reading import Reading
from vault_index.store.records import DocumentState, PendingChunk


class CountReader(Reading):
    """Counts what there is."""

    def tag_counts(self, filters: Filters) -> list[tuple[str, int]]:
        """Tags with the number of documents that carry them, most frequent first."""
        condition, values = document_condition(filters)
        where = f" WHERE document_id IN (SELECT document.id FROM document WHERE {condition})" if condition else ""
        return self._all(f"SELECT tag, count(*) AS n FROM tag{where} GROUP BY tag ORDER BY n DESC, tag", values)

    def author_counts(self) -> list[tuple[str, int]]:
        return self._all(
            "SELECT entered_by, count(*) AS n FROM document WHERE entered_by IS NOT NULL"
            " GROUP BY entered_by ORDER BY n DESC, entered_by"
        )

    def kind_counts(self) -> dict[str, int]:
        return dict(self._all("SELECT kind, count(*) FROM document GROUP BY kind"))

    def count(self, what: str) -> int:
        """`chunk`, `tag` (different ones), `author`, `document`."""
        sql = {
            "document": "SELECT count(*) FROM document",
            "chunk": "SELECT count(*) FROM chunk",
            "tag": "SELECT count(DISTINCT tag) FROM tag",
            "author": "SELECT count(DISTINCT entered_by) FROM document",
        }[what]
        return int(self._all(sql)[0][0])

    def count_pending(self, space_id: int) -> int:
        with translated(self._path):
            return spaces.count_pending(self._connection, space_id)

    def lacking(self, space_id: int | None) -> dict[DocumentState, int]:
        """The documents with chunks that lack a vector, and how many; all for a space that does not exist yet."""
        with translated(self._path):
            return spaces.lacking(self._connection, space_id)

    def pending(self, space_id: int | None) -> list[PendingChunk]:
        """Every chunk that lacks a vector in a space; all chunks for a space that does not exist yet."""
        with translated(self._path):
            if space_id is None:
                return spaces.pending_in_new_space(self._connection)
            return spaces.pending(self._connection, space_id, 0, -1, ())

    def source_counts(self) -> dict[str, tuple[int, int]]:
        """Documents and chunks by source."""
        rows = self._all(
            "SELECT document.source, count(DISTINCT document.id), count(chunk.id) FROM document"
            " LEFT JOIN chunk ON chunk.document_id = document.id GROUP BY document.source"
        )
        return {source: (documents, chunks) for source, documents, chunks in rows}

    def stamps(self, source: str) -> dict[str, FileStamp]:
        """The state in which each document of a source was read, by path; without those that will be read again."""
        rows = self._all(
            "SELECT path, size, mtime_ns, ctime_ns FROM document WHERE source = ? AND made_with <> ''", (source,)
        )
        return {path: FileStamp(*stamp) for path, *stamp in rows}

    def faults_of(self, source: str, path: str) -> list[Fault]:
        """What is wrong with one file."""
        return [fault for name, fault in self.faults() if (name, fault.path) == (source, path)]

    def count_lacking(self, space_id: int, document_id: int) -> int:
        """How many chunks of a document lack a vector."""
        sql = (
            "SELECT count(*) FROM pending JOIN chunk ON chunk.id = pending.chunk_id"
            " WHERE pending.space_id = ? AND chunk.document_id = ?"
        )
        return int(self._all(sql, (space_id, document_id))[0][0])

    def faults(self) -> list[tuple[str, Fault]]:
        """Source and fault of every file that has something wrong, by place."""
        rows = self._all("SELECT source, code, message, path, line FROM fault ORDER BY source, path, line")
        return [(source, Fault(code, message, path, line)) for source, code, message, path, line in rows]

    def meta(self, key: str) -> str | None:
        rows = self._all("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None
