from hypothesis import given
from hypothesis import strategies as st

from vault_index.query.fuse import fuse

_SCORES = st.dictionaries(st.integers(1, 50), st.floats(0.001, 100), max_size=20)
_COSINES = st.dictionaries(st.integers(1, 50), st.floats(-1, 1), max_size=20)


def test_what_both_channels_name_comes_first() -> None:
    fused = fuse({1: 10.0, 2: 9.0}, {2: 0.8, 3: 0.9}, {}, 0.5)
    assert [hit.chunk_id for hit in fused] == [2, 1, 3]
    assert fused[0].score == 0.5 * 0.9 + 0.5 * 0.8
    assert (fused[2].bm25, fused[2].cosine) == (None, 0.9)


def test_a_name_decides_between_equals_and_brings_its_own() -> None:
    fused = fuse({1: 10.0, 2: 10.0}, {}, {2: 3.0, 4: 1.5}, 0.0)
    assert [(hit.chunk_id, hit.name) for hit in fused] == [(2, 3.0), (1, None), (4, 1.5)]
    assert fused[0].score == 1.0


@given(_SCORES, _COSINES, _SCORES, st.floats(0, 1))
def test_scores_are_ordered_and_bounded(
    bm25: dict[int, float], cosine: dict[int, float], name: dict[int, float], weight: float
) -> None:
    fused = fuse(bm25, cosine, name, weight)
    scores = [hit.score for hit in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    assert {hit.chunk_id for hit in fused} == set(bm25) | set(cosine) | set(name)
