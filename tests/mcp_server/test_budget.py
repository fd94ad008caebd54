"""The size check of an answer uses its bytes if they decide, and the tokenizer otherwise."""

from hypothesis import given, settings, strategies as st

from vault_index.mcp_server.budget import Page, cost, fits


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=40), st.integers(1, 60))
def test_fits_agrees_with_the_token_count(text: str, budget: int) -> None:
    shown = Page(text, {"results": [text]})
    assert fits(shown, budget) == (cost(shown) <= budget)
