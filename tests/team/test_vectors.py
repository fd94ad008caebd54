import json
import random
from pathlib import Path

import pytest

from tests.store.rows import SPACE, document_row, vector
from vault_index.models import Filters
from vault_index.team import vectors
from vault_index.team.connections import PoolConnections
from vault_index.team.database import connect
from vault_index.team.rows import put_documents, put_vectors
from vault_index.team.shared_vectors import as_vector
from vault_index.team.vectors import index_vectors, to_halfvec


def test_index_of_vectors_finds_the_nearest_and_is_renewed(
    pool_dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "LEAST_INDEXED", 100)
    monkeypatch.setattr(vectors, "LEAST_FOUND", 1)
    chance = random.Random(1)
    rows = [document_row(f"f{number % 4}/n{number}.md", [f"text {number}"]) for number in range(200)]
    points = {row.chunks[0].embed_key: [chance.gauss(0, 1) for _ in range(4)] for row in rows}
    query = vector(1.0, 0.2, 0.1, 0.0)
    connections = PoolConnections(pool_dsn, tmp_path / "state.db")

    def found(filters: Filters) -> list[int]:
        with connections.lend(None) as lent:
            return [id_ for id_, _ in lent.reader.vector_candidates(1, query, 10, filters)]

    with connect(pool_dsn) as pool:
        pool.execute("INSERT INTO source (name) VALUES ('vault')")
        pool.execute(
            "INSERT INTO vector_space (provider, model, dimensions, endpoint, state)"
            " VALUES (%s, %s, %s, %s, 'serving')",
            SPACE,
        )
        put_documents(pool, [(row, b"") for row in rows], 10.0)
        put_vectors(pool, 1, "vault", {key: unit(point) for key, point in points.items()})
        pool.execute("ANALYZE")
        wanted = [Filters(), Filters(paths=("f1",)), Filters(paths=("f1/n1.md",))]
        exact = [found(one) for one in wanted]
        assert [len(one) for one in exact] == [10, 10, 1]
        assert (index_vectors(pool), index_vectors(pool)) == ([1], [])
        assert [found(one) for one in wanted] == exact
        pool.execute("DELETE FROM embedding WHERE ctid IN (SELECT ctid FROM embedding LIMIT 40)")
        pool.execute("SELECT pg_stat_force_next_flush()")
        assert index_vectors(pool) == [1]
    connections.close()


def unit(point: list[float]) -> list[float]:
    length = sum(part * part for part in point) ** 0.5
    return [part / length for part in point]


def test_halfvec_restores_a_vector() -> None:
    stored = vector(0.5, 0.5, 0.5, 0.5)
    assert as_vector(SPACE, json.loads(to_halfvec(SPACE, stored))) == stored
