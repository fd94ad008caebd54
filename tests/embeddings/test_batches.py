import pytest
from hypothesis import given, strategies as st

from vault_index.embeddings import batches


@pytest.mark.parametrize(
    ("counts", "max_tokens", "max_texts", "expected"),
    [
        ([], 10, 10, []),
        ([5], 10, 10, [range(1)]),
        ([5, 5, 1], 10, 10, [range(2), range(2, 3)]),
        ([1, 1, 1, 1, 1], 10, 2, [range(2), range(2, 4), range(4, 5)]),
        ([1, 99, 1], 10, 10, [range(1), range(1, 2), range(2, 3)]),
        ([0, 0, 0], 10, 10, [range(3)]),
    ],
)
def test_batches(counts: list[int], max_tokens: int, max_texts: int, expected: list[range]) -> None:
    assert batches(counts, max_tokens, max_texts) == expected


@given(st.lists(st.integers(0, 100)), st.integers(1, 150), st.integers(1, 10))
def test_every_text_is_in_one_batch_and_every_batch_within_bounds(
    counts: list[int], max_tokens: int, max_texts: int
) -> None:
    found = batches(counts, max_tokens, max_texts)
    assert [index for span in found for index in span] == list(range(len(counts)))
    for span in found:
        assert 1 <= len(span) <= max_texts
        assert len(span) == 1 or sum(counts[i] for i in span) <= max_tokens


@given(st.lists(st.integers(0, 100)), st.integers(1, 150), st.integers(1, 10))
def test_no_batch_could_have_taken_the_next_text(counts: list[int], max_tokens: int, max_texts: int) -> None:
    found = batches(counts, max_tokens, max_texts)
    for span in found[:-1]:
        assert len(span) == max_texts or sum(counts[i] for i in span) + counts[span.stop] > max_tokens
