import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index import tokens
from vault_index.markdown.chunk import pieces

CASES = tables(__file__)


@pytest.mark.parametrize(("line", "budget", "expected"), CASES["pieces_cuts_lines_at_sentences"])
def test_pieces_cuts_lines_at_sentences(line: str, budget: int, expected: list[str]) -> None:
    assert [piece for piece, _ in pieces(line, budget)] == expected


def test_pieces_cuts_a_long_sentence_between_words() -> None:
    line = "word " * 200 + "end"
    parts = [piece for piece, _ in pieces(line, 20)]
    assert "".join(parts) == line
    assert {word for part in parts for word in part.split()} == {"word", "end"}


def test_pieces_cuts_a_long_word_between_characters() -> None:
    family = "👩\u200d👩\u200d👧"
    for character in (family, "e\u0301", "✈\ufe0f"):
        parts = [piece for piece, _ in pieces(character * 60, 25)]
        assert len(parts) > 1
        assert all(part == character * (len(part) // len(character)) for part in parts)


@given(st.text(alphabet="ab .!?。」 é\u0301\u200d👩汉\ud800", max_size=400), st.integers(1, 20))
def test_pieces_join_to_the_line_and_fit(line: str, budget: int) -> None:
    parts = list(pieces(line, budget))
    assert "".join(piece for piece, _ in parts) == line
    for piece, size in parts:
        assert size == tokens.count(piece)
        assert size <= budget or len(piece) == 1
