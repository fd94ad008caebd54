import runpy
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.embeddings.multilingual import Unigram

CASES = tables(__file__)

ROOT = Path(__file__).resolve().parent.parent.parent
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
SCORES = {
    "▁": -3.0, "▁new": -5.0, "▁ne": -5.5, "west": -6.0, "w": -7.0, "est": -6.5, "▁<": -8.0, "<": -8.0, "s": -4.0,
    ">": -8.0, "é": -9.0, "ガ": -9.0, "한": -9.0, "x": -9.0, "رَّ": -9.0, "a": -9.0, "ab": -9.0, "b": -9.0,
}  # fmt: skip
FOLDS = {0x3000: " ", 0x09: " ", 0x0A: " ", 0x200B: "", 0xFF76: "カ", 0xFF9E: "\u3099", 0xFF58: "x", 0x2122: "xs"}
PIECES = [*SPECIAL, *SCORES, "<mask>"]


@pytest.fixture(scope="module")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Unigram:
    pack = runpy.run_path(str(ROOT / "tools" / "pack_vocabulary.py"))["pack"]
    path = tmp_path_factory.mktemp("unigram") / "vocabulary.bin"
    special = {0, 1, 2, 3, len(PIECES) - 1}
    path.write_bytes(pack(PIECES, [0.0] * 4 + [*SCORES.values(), 0.0], special, 3, FOLDS))
    return Unigram(path)


UNPAIRED = ("\ud83d", "▁ <unk>")  # TOML has no lone surrogates


@pytest.mark.parametrize(
    ("text", "expected"), [*CASES["unigram_cuts_words_into_the_pieces_of_the_best_score"], UNPAIRED]
)
def test_unigram_cuts_words_into_the_pieces_of_the_best_score(unigram: Unigram, text: str, expected: str) -> None:
    assert [PIECES[number] for number in unigram.ids(text)] == expected.split()
    assert unigram.ids(text) == unigram.ids(text)


@given(st.text(max_size=40), st.text(max_size=40))
def test_unigram_cuts_a_word_independently_of_its_neighbours(unigram: Unigram, left: str, right: str) -> None:
    assert unigram.ids(f"{left} {right}") == unigram.ids(left) + unigram.ids(right)


def test_unigram_refuses_another_file(tmp_path: Path) -> None:
    (tmp_path / "vocabulary.bin").write_bytes(b"[UNK]\n" * 10)
    with pytest.raises(ValueError, match="not a vocabulary"):
        Unigram(tmp_path / "vocabulary.bin")
