"""What status asks of the index: counts, faults, the state in which files were read, and what the last sync left."""

from sys import intern

from vault_index.models import Fault, FileStamp, Filters
from vault_index.store.connection import Database
from vault_index.store.filters import document_condition

EMBED_PROBLEM = "embed_problem"
"""The key of the code, message and hint of what keeps vectors from being made, as JSON; empty while nothing does."""

KEPT_HOME = "kept_home"
"""The key of how many chunks had no vector when all others had theirs: what may not leave for a server."""

SYNCED_AT = "synced_at"
"""The key of the time of the last sync, in seconds since the epoch."""

UNCLEAN = "unclean"
"""The key that stands while words of deleted documents are still in the file (`IndexWriter.clean`)."""

NUMBERING = "numbering"
"""With the name of a source, the key of what named the mounts whose inodes its rows know; empty where inodes last."""


def count_rows(db: Database, what: str) -> int:
    """The number of documents, or of chunks: `document`, `chunk`."""
    return int(db.value(f"SELECT count(*) FROM {db.tables[what]}"))


def tag_counts(db: Database, filters: Filters) -> list[tuple[str, int]]:
    """Tags with the number of documents that carry them, most frequent first."""
    condition, values = document_condition(filters)
    where = f" WHERE document_id IN (SELECT document.id FROM document WHERE {condition})" if condition else ""
    return db.execute(f"SELECT tag, count(*) AS n FROM tag{where} GROUP BY tag ORDER BY n DESC, tag", values)


def value_counts(db: Database, column: str, filters: Filters | None = None) -> list[tuple[str, int]]:
    """The values of a column of `document`, each with the number of its documents, most frequent first."""
    condition, values = document_condition(filters or Filters())
    return db.execute(
        f"SELECT {column}, count(*) AS n FROM document WHERE {column} IS NOT NULL AND {condition or 'true'}"
        f" GROUP BY {column} ORDER BY n DESC, {column}",
        values,
    )


def source_counts(db: Database) -> dict[str, tuple[int, int]]:
    """Documents and chunks by source."""
    rows = db.execute(
        "SELECT document.source, count(DISTINCT document.id), count(chunk.id) FROM document"
        " LEFT JOIN chunk ON chunk.document_id = document.id GROUP BY document.source"
    )
    return {source: (documents, chunks) for source, documents, chunks in rows}


def stamps(db: Database, source: str) -> dict[str, FileStamp]:
    """The state in which each document of a source was read, by path; without those that will be read again."""
    rows = db.execute(
        "SELECT path, size, mtime_ns, ctime_ns, inode FROM document WHERE source = ? AND made_with <> ''", (source,)
    )
    return {path: FileStamp(*stamp) for path, *stamp in rows}


def faults(db: Database) -> list[tuple[str, Fault]]:
    """Source and fault of every file that has something wrong, by place."""
    rows = db.execute("SELECT source, code, message, path, line FROM fault ORDER BY source, path, line")
    return [(source, Fault(*fault)) for source, *fault in rows]


def faults_of(db: Database, source: str, path: str) -> list[Fault]:
    """What is wrong with one file."""
    return [fault for name, fault in faults(db) if (name, fault.path) == (source, path)]


def read_meta(db: Database, key: str) -> str | None:
    """The text that was left under a key; None where none was."""
    found: str | None = db.value("SELECT value FROM meta WHERE key = ?", (key,))
    return found


def write_meta(db: Database, key: str, value: str) -> None:
    with db.transaction():
        db.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )


def contents(db: Database) -> dict[tuple[str, str], tuple[str, str, bytes]]:
    """Id, kind and the beginning of the hash of what it says, of every document by source and path."""
    rows = db.execute("SELECT source, path, uid, kind, substr(content_hash, 1, 8) FROM document")
    # Half of the memory would be the same two words.
    return {(intern(source), path): (uid, intern(kind), digest) for source, path, uid, kind, digest in rows}
