"""An embeddings server with random answers: no crash, no endless loop, and no wrong vector."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tests.api.vaults import opened, rows, write
from tests.embeddings.failures import changed, says
from tests.embeddings.replies import Failure
from tests.embeddings.server import EmbeddingServer
from tests.indexer.test_vectors import NOTES, codes, use
from tests.seeds import TIMES
from vault_index import VaultIndex

BODIES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("data", "error", "message", "code", "index", "embedding")), inner)
    ),
    max_leaves=6,
)
WRONG: dict[str, list[object]] = {
    "embedding": [None, {}, [], "", "AAAA", [math.nan] * 64, [0.0] * 64, [1e300] * 64, ["x"] * 64, [1.0] * 63],
    "index": [None, [], "", "x", "NaN", -1, 0.5, 1e400, 10**30, False],
}


def edited(place: int, key: str, value: object) -> Failure:
    return changed(lambda items, sent: items[place:] and items[place].update({key: value}))


ANSWERS: st.SearchStrategy[Failure] = st.one_of(
    st.just(lambda request, reply: reply),
    st.builds(says, st.integers(200, 599), BODIES),
    st.integers(0, 500).map(lambda end: lambda request, reply: replace(reply, body=reply.body[:end])),
    st.integers(0, 5).map(lambda start: changed(lambda items, sent: items[start:])),
    *(st.builds(edited, st.integers(0, 4), st.just(key), st.sampled_from(WRONG[key])) for key in WRONG),
    st.permutations(range(5)).map(
        lambda order: changed(lambda items, sent: [items[n] for n in order if n < len(items)])
    ),
)


def vectors(index: VaultIndex) -> set[tuple[str, int, bytes]]:
    found = rows(index.home.index_db)
    return {row for table in found if table.startswith("vectors") for row in found[table]}


def test_embed_stores_no_wrong_vector_from_random_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with EmbeddingServer(dimensions=64) as server, opened(tmp_path) as index:
        write(tmp_path / "vault", NOTES)
        use(index, server)
        index.sync()
        right = vectors(index)
        assert len(right) == len(NOTES)

        @given(st.lists(ANSWERS, max_size=12), st.none() | ANSWERS)
        @settings(max_examples=15 * TIMES)
        def attack(answers: list[Failure], last: Failure | None) -> None:
            server.stop_failing()
            server.fail_next(*answers)
            server.fail_always(last)
            server.requests.clear()
            assert set(codes(index.embed(rebuild=True).problems)) <= {"embedder"}
            assert len(server.requests) <= 4 * len(NOTES)
            assert vectors(index) <= right

        attack()
        server.stop_failing()
        index.embed(rebuild=True)
        assert vectors(index) == right
