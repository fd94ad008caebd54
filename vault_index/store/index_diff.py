"""Compares an index with one that was built anew from the same files."""

from collections.abc import Sequence
from pathlib import Path

from vault_index.store.connection import connect, fetch_all, translated

_ROWS = {
    "document": "SELECT source, path, name, uid, kind, title, made_with, line_count, tokens, type, digest, project,"
    " entered_by, expires, valid_until, confidence, superseded_by, frontmatter, called, identity"
    " FROM {db}.document",
    "chunk": "SELECT source, path, ordinal, start_line, end_line, headings, context, text, c.tokens, embed_key,"
    " terms_hash"
    " FROM {db}.chunk AS c JOIN {db}.document AS d ON d.id = document_id",
    "tag": "SELECT source, path, tag FROM {db}.tag JOIN {db}.document AS d ON d.id = document_id",
    "alias": "SELECT source, path, alias, folded FROM {db}.alias JOIN {db}.document AS d ON d.id = document_id",
    "link": "SELECT source, path, line, target, target_name, heading, text, embed"
    " FROM {db}.link JOIN {db}.document AS d ON d.id = document_id",
    "fault": "SELECT source, path, code, line, message FROM {db}.fault",
}
_WORDS = {
    "chunk_fts": "SELECT term, col, doc, cnt FROM temp.{db}_chunk_fts",
    "name_fts": "SELECT term, col, doc, cnt FROM temp.{db}_name_fts",
    "term": "SELECT stem, word, chunks FROM {db}.term",
}


class Comparison:
    """An index beside a fresh one of the same files, ids and times aside; of these sources alone."""

    def __init__(self, path: Path, fresh: Path, sources: Sequence[str]) -> None:
        self._path = path
        self._connection = connect(path, "index", writable=False)
        self._connection.pragma("query_only", False)  # which forbids temporary tables, too
        with translated(fresh):
            self._connection.execute("ATTACH ? AS fresh", (str(fresh),))
            for db in ("main", "fresh"):
                for table in ("chunk_fts", "name_fts"):
                    self._connection.execute(
                        f"CREATE VIRTUAL TABLE temp.{db}_{table} USING fts5vocab ({db}, {table}, 'col')"
                    )
        self._known = f"source IN ({', '.join('?' * len(sources))})"
        self._sources = tuple(sources)

    def close(self) -> None:
        self._connection.close()

    def behind(self) -> list[tuple[str, str]]:
        """Source and path of documents that one has and the other has not, or has of another content."""
        return self._lone("SELECT source, path, content_hash FROM {db}.document")

    def differing(self) -> list[tuple[str, str]]:
        """Those whose rows differ."""
        return sorted({place for sql in _ROWS.values() for place in self._lone(sql)})

    def words(self) -> list[str]:
        """Where the words as a whole differ; this says nothing unless both have the same documents."""
        return [name for name, sql in _WORDS.items() if self._any(sql)]

    def _lone(self, sql: str) -> list[tuple[str, str]]:
        one, other = (f"SELECT * FROM ({sql.format(db=db)}) WHERE {self._known}" for db in ("main", "fresh"))
        with translated(self._path):
            return fetch_all(
                self._connection,
                f"SELECT DISTINCT source, path FROM (SELECT * FROM ({one} EXCEPT {other})"
                f" UNION ALL SELECT * FROM ({other} EXCEPT {one})) ORDER BY 1, 2",
                self._sources * 4,
            )

    def _any(self, sql: str) -> bool:
        one, other = (sql.format(db=db) for db in ("main", "fresh"))
        with translated(self._path):
            found = fetch_all(
                self._connection,
                f"SELECT 1 FROM (SELECT * FROM ({one} EXCEPT {other}) UNION ALL SELECT * FROM ({other} EXCEPT {one}))"
                " LIMIT 1",
            )
        return bool(found)
