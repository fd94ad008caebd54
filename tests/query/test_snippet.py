from hypothesis import given, strategies as st

from vault_index.query.ranking.passages import snippet


def test_a_snippet_is_centred_and_bounded() -> None:
    long = "\n".join(f"line {number} of a long text about bread and water" for number in range(100))
    text = snippet(long, 50)
    assert "line 50" in text
    assert len(text) <= 240
    assert "line 49" in text
    assert "line 51" in text


@given(st.text(max_size=600), st.integers(0, 50))
def test_any_chunk_has_a_snippet(text: str, line: int) -> None:
    assert len(snippet(text, min(line, text.count("\n")))) <= 400


def test_a_line_that_answers_is_whole_up_to_400_characters() -> None:
    before, long, longer = "a before", "word " * 79, "word " * 81
    assert snippet(f"{before}\n{long}\nafter", 1) == long.strip()
    assert len(snippet(f"{before}\n{longer}\nafter", 1)) <= 241


def test_a_snippet_ends_before_what_better_hits_show() -> None:
    text = "# Notes\none\ntwo\nthree\nfour"
    assert snippet(text, 2, others={1}) == "two three four"
    assert snippet(text, 2, others={3}) == "one two"
    assert snippet(text, 2, others={1, 3}) == "two"
