"""Read figures about the index: counts, faults, file stamps, and meta values."""

from collections import Counter

from vault_index.models import Fault, FileStamp, Filters
from vault_index.store.connection import Database
from vault_index.store.filters import document_condition

EMBED_PROBLEM = "embed_problem"
"""Meta key of the embedding problem: code, message and hint as JSON; empty without a problem."""

KEPT_HOME = "kept_home"
"""Meta key of the number of chunks that have no vector because their text may not be sent."""

ROWS_MADE_WITH = "rows_made_with"
"""Meta key of the row version; if it differs, a sync rereads all documents and recounts words."""

SYNCED_AT = "synced_at"
"""Meta key of the time of the last sync, in seconds since the epoch."""

UNCLEAN = "unclean"
"""Meta key that is set while the file holds words of deleted documents (`IndexWriter.clean`)."""

NUMBERING = "numbering"
"""Meta key, followed by a source name: the mounts that its inode numbers belong to.

The value is empty if inode numbers are stable.
"""


def count_rows(db: Database, what: str) -> int:
    """Return the number of rows of `document` or `chunk`."""
    return int(db.value(f"SELECT count(*) FROM {db.tables[what]}"))


def tag_counts(db: Database, filters: Filters) -> list[tuple[str, int]]:
    """Return the tags with their number of documents, most frequent first."""
    condition, values = document_condition(filters)
    ids = f"SELECT document.id FROM document WHERE {condition or 'true'}"
    return db.execute(
        f"SELECT tag, count(*) AS n FROM tag WHERE document_id IN ({ids})"
        " GROUP BY tag ORDER BY n DESC, tag",
        values,
    )


def value_counts(
    db: Database, column: str, filters: Filters | None = None
) -> list[tuple[str, int]]:
    """Return the values of a column of `document` with their counts, most frequent first."""
    condition, values = document_condition(filters or Filters())
    return db.execute(
        f"SELECT {column}, count(*) AS n FROM document WHERE {column} IS NOT NULL"
        f" AND {condition or 'true'}"
        f" GROUP BY {column} ORDER BY n DESC, {column}",
        values,
    )


def source_counts(db: Database) -> dict[str, tuple[int, int]]:
    """Return the number of documents and chunks by source."""
    rows = db.execute(
        "SELECT document.source, count(DISTINCT document.id), count(chunk.id) FROM document"
        " LEFT JOIN chunk ON chunk.document_id = document.id GROUP BY document.source"
    )
    return {source: (documents, chunks) for source, documents, chunks in rows}


def stamps(db: Database, source: str) -> dict[str, FileStamp]:
    """Return the stamps of the documents of a source by path, except those to be read again."""
    rows = db.execute(
        "SELECT path, size, mtime_ns, ctime_ns, inode FROM document WHERE source = ?"
        " AND made_with <> ''",
        (source,),
    )
    return {path: FileStamp(*stamp) for path, *stamp in rows}


def faults(db: Database) -> list[tuple[str, Fault]]:
    """Return source and fault of every file with a problem, by source and path."""
    rows = db.execute(
        "SELECT source, code, message, path, line FROM fault ORDER BY source, path, line"
    )
    return [(source, Fault(*fault)) for source, *fault in rows]


def faults_of(db: Database, source: str, path: str) -> list[Fault]:
    """Return the faults of one file."""
    return [fault for name, fault in faults(db) if (name, fault.path) == (source, path)]


def read_meta(db: Database, key: str) -> str | None:
    """Return the value of a meta key, or None."""
    found: str | None = db.value("SELECT value FROM meta WHERE key = ?", (key,))
    return found


def write_meta(db: Database, key: str, value: str) -> None:
    """Store the value of a meta key."""
    with db.transaction():
        db.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE"
            " SET value = excluded.value",
            (key, value),
        )


def fingerprint(db: Database) -> tuple[dict[str, int], int]:
    """Return the number of documents of each kind, and a hash of all documents.

    The hash is comparable within this process only.
    """
    rows = db.execute("SELECT kind, source, path, uid, substr(content_hash, 1, 8) FROM document")
    return dict(Counter(kind for kind, *_ in rows)), hash(frozenset(rows))
