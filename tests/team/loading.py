"""Load an index into a pool, as a machine publishes it, but all of it and without rights."""

from hashlib import sha256
from typing import Any

import numpy as np
import psycopg

from vault_index import VaultIndex
from vault_index.indexer.reading import Read, RowSettings, read_document
from vault_index.models import INT8_SCALE
from vault_index.store.reader import IndexReader
from vault_index.store.spaces import is_int8, serving_space
from vault_index.store.writer import DocumentRow
from vault_index.team.database import connect
from vault_index.team.rows import put_documents, put_vectors

AVERAGE = 150.0


def rows_of(index: VaultIndex) -> list[DocumentRow]:
    """Read all documents of all vaults of an index."""
    runtime = index._runtime
    settings = RowSettings(runtime.config.chunk.tokens, runtime.config.chunk.overlap, runtime.config.memory.dir)
    rows = []
    for source in runtime.vaults.values():
        for ref in source.scan_places([""]).refs:
            read = read_document(source, ref, settings)
            assert isinstance(read, Read)
            rows.append(read.row)
    return rows


def load(index: VaultIndex, dsn: str, **source: Any) -> None:
    """Put all documents and vectors of `index` into the pool."""
    rows = rows_of(index)
    lengths = [len(" ".join(chunk.terms).split()) for row in rows for chunk in row.chunks]
    average = sum(lengths) / len(lengths)
    with connect(dsn) as pool, pool.transaction():
        for name in {row.source for row in rows}:
            pool.execute(
                "INSERT INTO source (name, private) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                (name, source.get("private", False)),
            )
        for start in range(0, len(rows), 200):
            some = rows[start : start + 200]
            put_documents(pool, [(row, sha256(row.content_hash).digest()) for row in some], average)
        load_vectors(index, pool)
    with connect(dsn) as pool:
        pool.execute("ANALYZE")


def load_vectors(index: VaultIndex, pool: "psycopg.Connection[Any]") -> None:
    reader = IndexReader(index.home.index_db)
    try:
        space = serving_space(reader) if reader.vectors_work else None
        if space is None:
            return
        (space_id,) = pool.execute(
            "INSERT INTO vector_space (provider, model, dimensions, endpoint, state)"
            " VALUES (%s, %s, %s, %s, 'serving') RETURNING id",
            space.space,
        ).fetchone() or (0,)
        kind = np.int8 if is_int8(space.space) else np.float32
        found: dict[str, dict[bytes, list[float]]] = {}
        for source, key, vector in reader.execute(
            f"SELECT document.source, embed_key, embedding FROM chunk JOIN document ON document.id = document_id"
            f" JOIN vector_{space.id} ON vector_{space.id}.rowid = chunk.id"
        ):
            numbers = np.frombuffer(vector, kind).astype(np.float32)
            found.setdefault(source, {})[key] = (numbers / (INT8_SCALE if kind is np.int8 else 1)).tolist()
        for source, vectors in found.items():
            put_vectors(pool, space_id, source, vectors)
    finally:
        reader.close()
