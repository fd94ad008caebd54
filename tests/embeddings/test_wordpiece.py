from importlib.resources import files

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.embeddings.spaces import BOTH, ENGLISH
from vault_index.embeddings.wordpiece import WordPiece, known_share

CASES = tables(__file__)


@pytest.fixture(scope="module")
def pieces() -> WordPiece:
    vocabulary = (files("vault_index.embeddings") / "model" / "vocab.txt").read_text("utf-8").splitlines()
    return WordPiece(vocabulary)


# Recorded from the `tokenizers` package 0.23.3 with the model's own tokenizer.json.
def test_wordpiece_ids_match_the_reference(pieces: WordPiece) -> None:
    recorded = [*CASES["recorded"], ["x" * 100, "22038" + " 20348" * 49], ["x" * 101, "100"]]
    found = [[text, " ".join(map(str, pieces.ids(text)))] for text, _ in recorded]
    assert found == recorded


@given(st.text())
def test_wordpiece_ids_of_any_text_are_in_the_vocabulary(text: str) -> None:
    pieces = WordPiece(["[UNK]", "a", "##a", "b"])
    assert set(pieces.ids(text)) <= {0, 1, 2, 3}


@given(st.text(), st.text())
def test_wordpiece_separates_words_at_a_line_break(left: str, right: str) -> None:
    pieces = WordPiece(["[UNK]", "a", "##a", "b", "##b", "ab", "0", "##0"])
    assert pieces.ids(f"{left}\n{right}") == pieces.ids(left) + pieces.ids(right)


def test_wordpiece_prefers_the_longest_piece_and_marks_unknown_words() -> None:
    pieces = WordPiece(["[UNK]", "a", "ab", "##c", "##cd", "##d"])
    assert pieces.ids("abcd acd abx") == [2, 4, 1, 4, 0]


def test_wordpiece_accepts_a_lone_surrogate(pieces: WordPiece) -> None:
    assert pieces.ids("a \ud83d b") == pieces.ids("a b")


def test_known_share_measures_how_well_the_english_model_knows_a_language() -> None:
    assert known_share(ENGLISH, "Where is the configuration of the daemon?") == 1.0
    assert 0.1 < known_share(ENGLISH, "Wo liegt die Konfiguration des Hintergrundprogramms für Öl?") < 0.9
    for text in ("Πού βρίσκονται οι ρυθμίσεις;", "การตั้งค่าอยู่ที่ไหน", "أين توجد الإعدادات؟", "設定はどこですか"):
        assert known_share(ENGLISH, text) < 0.1
        assert known_share(BOTH, text) == 1.0
    assert known_share(ENGLISH, "2026-11-22") == known_share(ENGLISH, "") == 1.0
