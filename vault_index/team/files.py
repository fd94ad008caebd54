"""Memories of the pool: markdown files of its shared source, with their rows for search.

The database keeps every version (`file_version`) and the author, which is the login role.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_index import disk
from vault_index.config import ChunkConfig
from vault_index.errors import ConflictError, PoolError, UsageError
from vault_index.indexer.reading import describe
from vault_index.models import DocumentRef, FileStamp, RawDocument
from vault_index.secrets.find import find_secrets
from vault_index.sources.files import is_document_name, is_folder_name, is_readable_name
from vault_index.store.writer import DocumentRow
from vault_index.team.rows import replace_documents

if TYPE_CHECKING:
    import psycopg

    Pool = psycopg.Connection[Any]

SHARED = "team"
"""The source of these files."""
_LONGEST = 1_048_576
_LONGEST_NAME = 200
_NOT_IN_NAMES = frozenset('\\:*?"<>|')


class PoolFile(NamedTuple):
    """A file as this member sees it."""

    path: str
    """Relative to the mirror of each member."""
    text: str
    digest: bytes
    """SHA-256 of the text, for compare-and-swap."""
    author: str


def digests(pool: Pool) -> dict[str, bytes]:
    """Return the digest of each file that this member sees, by path."""
    rows = pool.execute("SELECT path, digest FROM file WHERE source = %s ORDER BY path", (SHARED,))
    return dict(rows.fetchall())


def read_file(pool: Pool, path: str) -> PoolFile | None:
    """Return a file; None if there is none that this member sees."""
    row = pool.execute(
        "SELECT path, text, digest, author::text FROM file WHERE source = %s AND path = %s",
        (SHARED, path),
    ).fetchone()
    return PoolFile(*row) if row else None


def put_file(
    pool: Pool,
    path: str,
    text: str,
    seen: bytes | None,
    chunks: ChunkConfig,
    *,
    force: bool = False,
) -> bytes:
    """Write a file if the pool still has the version `seen` (None: no file); return its digest.

    Raises UsageError for a bad path and, unless `force` is set, for credentials, ConflictError for
    another version, and PoolError if this member may not write there.
    """
    check_path(path)
    if "\0" in text or len(data := text.encode("utf-8", "replace")) > _LONGEST:
        raise UsageError(f"{path} is too long, or is not text", f"keep it under {_LONGEST:,} bytes")
    secret = next((one for one in find_secrets(text) if not one.weak), None)
    if secret is not None and not force:
        raise UsageError(
            f"line {secret.line} of {path} contains what looks like {secret.kind}:"
            " nothing was stored",
            "remove it; the pool is no place for credentials",
        )
    row, digest = row_of_file(path, text, chunks), hashlib.sha256(data).digest()
    place = (SHARED, path.rpartition("/")[0], row.project or "")
    with pool.transaction():
        values = {
            "source": SHARED,
            "path": path,
            "text": text,
            "seen": seen,
            "zone": pool.execute("SELECT zone_of(%s, %s, %s)", place).fetchall()[0][0],
        }
        insert = (
            "INSERT INTO file (source, path, zone_id, text)"
            " VALUES (%(source)s, %(path)s, %(zone)s, %(text)s) ON CONFLICT DO NOTHING"
        )
        update = (
            "UPDATE file SET zone_id = %(zone)s, text = %(text)s"
            " WHERE source = %(source)s AND path = %(path)s AND digest = %(seen)s"
        )
        if not pool.execute(insert if seen is None else update, values).rowcount:
            raise _conflict(path)
        replace_documents(pool, SHARED, [path], [(row, digest[:16])])
    return digest


def check_writes(pool: Pool) -> None:
    """Raise PoolError if this member may only read."""
    sql = "SELECT FROM member WHERE role = current_user AND NOT writes"
    if pool.execute(sql).rowcount:
        hint = "undo your change, or ask the owner of the pool for the right to write"
        raise PoolError("you may only read the memories of the pool", hint)


def delete_file(pool: Pool, path: str, seen: bytes) -> None:
    """Delete a file if the pool still has the version `seen`; its history stays.

    Raises ConflictError.
    """
    with pool.transaction():
        deleted = pool.execute(
            "DELETE FROM file WHERE source = %s AND path = %s AND digest = %s", (SHARED, path, seen)
        )
        if not deleted.rowcount:
            raise _conflict(path)
        replace_documents(pool, SHARED, [path], ())


def export(pool: Pool, folder: str) -> int:
    """Write every file that this member sees below a folder, and return their number."""
    paths = digests(pool)
    for path in paths:
        check_path(path)
        file = read_file(pool, path)
        with disk.os_errors_as(f"{folder}/{path} cannot be written", "check its permissions"):
            disk.make_folder(os.path.dirname(f"{folder}/{path}"))
            disk.replace(f"{folder}/{path}", file.text.encode() if file else b"")
    return len(paths)


def check_path(path: str) -> None:
    """Raise UsageError if a path cannot be a markdown file in a folder of every member."""
    *folders, name = path.split("/")
    readable = all(
        part == part.strip()
        and is_readable_name(part)
        and part.isprintable()
        and _NOT_IN_NAMES.isdisjoint(part)
        and len(part.encode()) <= _LONGEST_NAME
        for part in (*folders, name)
    )
    named = all(part and is_folder_name(part) for part in folders) and is_document_name(name)
    if not readable or not named or not name.endswith(".md"):
        raise UsageError(
            f"{path!r} cannot be the path of a memory in the pool",
            "use names such as work/deploy.md",
        )


def row_of_file(path: str, text: str, chunks: ChunkConfig) -> DocumentRow:
    """Return the rows of a file, as the indexer makes those of a memory."""
    # Imported here because parsing is slow to import.
    from vault_index.markdown.chunk import chunk, chunk_fields
    from vault_index.markdown.parse import parse

    data, now = text.encode("utf-8", "replace"), time.time_ns()
    text = text.removeprefix("\ufeff")
    parsed = parse(text, path.rpartition("/")[2].removesuffix(".md"), memory=True)
    ref = DocumentRef(SHARED, path, FileStamp(len(data), now, now))
    return describe(
        RawDocument(ref, text, hashlib.sha256(data).digest(), kind="memory", data=data),
        parsed,
        chunk(parsed, chunks.tokens, chunks.overlap),
        chunk_fields(parsed, chunks.tokens),
        made_with="",
    )


def _conflict(path: str) -> ConflictError:
    return ConflictError(
        f"{path} changed in the pool since it was read", "read it again, and repeat the change"
    )
