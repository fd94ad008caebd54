from importlib.resources import files

import pytest
from hypothesis import given, strategies as st

from vault_index.embeddings.wordpiece import WordPiece


@pytest.fixture(scope="module")
def pieces() -> WordPiece:
    vocabulary = (files("vault_index.embeddings") / "model" / "vocab.txt").read_text("utf-8").splitlines()
    return WordPiece(vocabulary)


# Recorded from the `tokenizers` package 0.23.3 with the model's own tokenizer.json.
RECORDED = [
    ("", ""),
    ("   \n\t ", ""),
    ("The daemon watches a folder.", "1996 12828 12197 1037 19622 1012"),
    ("Running, ran; runs!", "2770 1010 2743 1025 3216 999"),
    ("don't stop-me_now (3.14159, $5 + 10%)",
     "2123 1005 1056 2644 1011 2033 1035 2085 1006 1017 1012 15471 28154 1010 1002 1019 1009 2184 1003 1007"),
    ("useEffect snake_case path/to/file.py", "2224 12879 25969 7488 1035 2553 4130 1013 2000 1013 5371 1012 1052 2100"),
    ("v2.10.3-rc1", "1058 2475 1012 2184 1012 1017 1011 22110 2487"),
    ("Café naïve Ångström Zoë İstanbul STRASSE straße ﬁne",
     "7668 15743 17076 15687 11199 9960 2358 8180 3366 2358 27807 1984 2638"),
    ("ΣΊΣΥΦΟΣ ὀδυσσεύς", "1173 18199 29733 29735 29736 29730 29733 1169 29722 29735 29733 29733 29723 29735 19579"),
    ("Привет, Мир! Ёлка", "1194 16856 10325 25529 15290 22919 1010 1191 10325 16856 999 1185 29436 28598"),
    ("東京都に住んでいます。カタカナと漢字",
     "1879 1755 1961 1668 100 1691 30191 30173 30203 30184 1636 1700 30235 30226 30241 30192 1904 100"),
    ("数据库索引，很快！", "100 100 100 100 100 1989 100 100 1986"),
    ("안녕하세요 세계", "1463 30006 30021 29992 30010 30025 30005 30006 29997 30009 29999 30013 100"),
    ("שָׁלוֹם عَرَبِيّ हिन्दी ไทย", "1266 29799 29792 29800 1288 17149 29816 14498 1339 29877 29863 29861 29878 100"),
    ("emoji \U0001f642\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea ok",
     "7861 29147 2072 100 100 7929"),
    ("a\xa0b\u2003c\u200bd\ufeffe\xadf", "1037 1038 3729 12879"),
    ("tab\tnew\r\nline\x0bvt\x0cff\x85nel\x00nul\x7fdel", "21628 2047 2240 2615 24475 2546 11877 11231 17920 2140"),
    ("\ufffd\ufffe\ue000x", "100"),
    ("[CLS] is [MASK]ed [SEP] text ##ing",
     "1031 18856 2015 1033 2003 1031 7308 1033 3968 1031 19802 1033 3793 1001 1001 13749"),
    ("supercalifragilisticexpialidocious", "3565 9289 10128 29181 24411 4588 10288 19312 21273 10085 6313"),
    ("x" * 100, "22038" + " 20348" * 49),
    ("x" * 101, "100"),
    ("“quotes” – dash — … «fr» ¿que? ¡sí! ‰ № ™ © €",
     "1523 16614 1524 1516 11454 1517 1529 1077 10424 1090 1094 10861 1029 1067 9033 999 1530 1578 1580 1075 1574"),
    ("𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𠀀𫝀 ﷺ", "100 100 100 100"),
    ("=> ~approx^2 `code` <tag> | a&b @me #tag",
     "1027 1028 1066 22480 1034 1016 1036 3642 1036 1026 6415 1028 1064 1037 1004 1038 1030 2033 1001 6415"),
    ("１２３ ①②③ ½ ²", "100 100 1092 1082"),
    ("é vs é; ö vs ö", "1041 5443 1041 1025 1051 5443 1051"),
]  # fmt: skip


def test_wordpiece_ids_match_the_reference(pieces: WordPiece) -> None:
    found = [(text, " ".join(map(str, pieces.ids(text)))) for text, _ in RECORDED]
    assert found == RECORDED


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


def test_wordpiece_ignores_a_full_cache(pieces: WordPiece, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_index.embeddings.wordpiece._MOST_CACHED_WORDS", 2)
    text = "one two three four one two three four"
    expected = pieces.ids(text)
    pieces._known.clear()
    assert pieces.ids(text) == expected


def test_wordpiece_accepts_a_lone_surrogate(pieces: WordPiece) -> None:
    assert pieces.ids("a \ud83d b") == pieces.ids("a b")


def test_wordpiece_known_share_measures_language_coverage(pieces: WordPiece) -> None:
    assert pieces.known_share("Where is the configuration of the daemon?") > 0.8
    assert 0.3 < pieces.known_share("Wo liegt die Konfiguration des Hintergrundprogramms?") < 0.9
    for text in ("Πού βρίσκονται οι ρυθμίσεις;", "การตั้งค่าอยู่ที่ไหน", "أين توجد الإعدادات؟", "設定はどこですか"):
        assert pieces.known_share(text) < 0.1
    assert pieces.known_share("2026-11-22") == pieces.known_share("") == 1.0
