from hypothesis import given, strategies as st

from vault_index.indexer.vectors import batches


@given(st.lists(st.integers(0, 100)), st.integers(1, 150), st.integers(1, 10))
def test_batches_hold_every_text_once_and_as_many_as_fit(counts: list[int], max_tokens: int, max_texts: int) -> None:
    found = batches(counts, max_tokens, max_texts)
    assert [index for span in found for index in span] == list(range(len(counts)))
    for span in found:
        tokens = sum(counts[index] for index in span)
        assert 1 <= len(span) <= max_texts
        assert len(span) == 1 or tokens <= max_tokens
        if span.stop < len(counts):
            assert len(span) == max_texts or tokens + counts[span.stop] > max_tokens
