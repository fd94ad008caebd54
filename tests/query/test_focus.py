from hypothesis import given
from hypothesis import strategies as st

from vault_index.query.focus import focus_line, snippet

TEXT = "# Sourdough\n\nFlour and water.\nFeed the starter twice a day in winter.\nKeep it warm."


def test_the_focus_is_the_line_that_shares_most_words() -> None:
    assert focus_line(TEXT, ["feeding", "starter", "winters"]) == 3
    assert focus_line(TEXT, ["keeping", "warm"]) == 4


def test_without_shared_words_the_first_line_that_is_no_heading() -> None:
    assert focus_line(TEXT, ["zebra"]) == 2
    assert focus_line("# Only", ["zebra"]) == 0


def test_a_snippet_is_centred_and_bounded() -> None:
    long = "\n".join(f"line {number} of a long text about bread and water" for number in range(100))
    text = snippet(long, 50)
    assert "line 50" in text
    assert len(text) <= 240
    assert "line 49" in text
    assert "line 51" in text


@given(st.text(max_size=600), st.lists(st.text(max_size=10), max_size=5))
def test_any_chunk_has_a_focus_and_a_snippet(text: str, words: list[str]) -> None:
    line = focus_line(text, words)
    assert 0 <= line < len(text.split("\n"))
    assert len(snippet(text, line)) <= 241
