"""`stats`: what there is, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_index.results.counts import Stats
from vault_index.store.counts import SYNCED_AT, count_rows, kind_counts, read_meta
from vault_index.store.spaces import count_pending, read_spaces, serving_space
from vault_index.times import iso_time

if TYPE_CHECKING:  # `stats` is not to import what reads files
    from vault_index.config import Home
    from vault_index.runtime import Runtime
    from vault_index.store.reader import IndexReader


def index_stats(runtime: Runtime) -> Stats:
    with runtime.pool.lend() as connections, connections.reader.snapshot():
        reader = connections.reader
        kinds, synced, space = kind_counts(reader), read_meta(reader, SYNCED_AT), serving_space(reader)
        return Stats(
            documents=sum(kinds.values()),
            memories=kinds.get("memory", 0),
            sessions=kinds.get("session", 0),
            notes=kinds.get("note", 0),
            chunks=count_rows(reader, "chunk"),
            tags=count_rows(reader, "tag"),
            agents=count_rows(reader, "author"),
            indexed=iso_time(float(synced)) if synced else None,
            pending=pending(runtime, reader),
            model=space.space.model if space else "none",
            bytes=bytes_of(runtime.home),
        )


def pending(runtime: Runtime, reader: IndexReader) -> int:
    """Chunks that will get a vector: of the space being built where there is one."""
    row = min(read_spaces(reader), key=lambda row: row.serving, default=None)
    if row is None:
        return 0
    if row.space.provider == "local":
        return count_pending(reader, row.id)
    from vault_index.indexer.current_sources import waiting

    return waiting(reader, row, runtime.moments)[0]


def bytes_of(home: Home) -> int:
    """Both databases with their logs, in bytes on disk."""
    total = 0
    for database in (home.index_db, home.cache_db):
        for suffix in ("", "-wal"):
            try:
                total += database.with_name(database.name + suffix).stat().st_size
            except OSError:
                continue
    return total
