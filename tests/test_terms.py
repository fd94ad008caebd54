import re

from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index import terms

CASES = tables(__file__)

INDEXED = CASES["indexed"]


def test_terms_index_texts_with_pieces_and_parts() -> None:
    assert {text: terms.index_text(text) for text in INDEXED} == INDEXED


PARTS = {
    "word": ["word"], "café": ["café"], "useEffect": ["useEffect", "use Effect"],
    "全文検索": ["全文", "文検", "検索"], "索": ["索"], "Docker网络": ["网络", "Docker"],
    "山の高さは": ["山の", "の高", "高さ", "さは", "山", "高"], "ไทย": ["ไทย"], "น้ำใจ": ["นำใ", "ำใจ"],
    "Словами": ["Словами", "Словаˑ"], "بالكتب": ["بالكتب", "بالكˑ", "الكتˑ", "لكتبˑ"],
}  # fmt: skip


def test_query_parts_splits_words() -> None:
    assert {text: terms.query_parts(text) for text in PARTS} == PARTS


def test_is_prefix_accepts_a_single_character_of_some_scripts() -> None:
    assert [word for word in ("索", "a", "全文", "ไท", "ไทย", "к") if terms.is_prefix(word)] == ["索", "ไท"]


def test_terms_of_word_forms_share_a_piece() -> None:
    forms = {"Комиссией": "комиссиях", "παραδείγματα": "ΠΑΡΑΔΕΙΓΜΑ", "والمدرسة": "مدرسه", "בספריות": "ספריות"}
    for one, other in forms.items():
        assert set(terms.index_words(one)) & set(terms.index_words(other)), one


SAME = CASES["same"]


def test_terms_of_all_spellings_are_equal() -> None:
    words = {one: (set(terms.index_words(one)), set(terms.index_words(other))) for one, other in SAME.items()}
    assert {one: both for one, both in words.items() if both[0] != both[1]} == {}


def test_terms_of_different_texts_differ() -> None:
    for one, other in (("мой", "мои"), ("が", "か"), ("✅", "❌"), ("🇩🇪", "🇪🇩"), ("&foo;", "&"), ("&notit;", "¬it;")):
        assert terms.query_phrase(one).split() != terms.query_phrase(other).split()


def test_is_word_refuses_pieces_and_n_grams() -> None:
    words = terms.index_words("Книгами 全文検 ไทยๆ पानी ✅ caféß")
    assert list(filter(terms.is_word, words)) == ["книгами", "caféss"]


def test_placed_words_include_their_marks() -> None:
    text = "ที่ดิน كِتَاب"
    places = {word: text[start:end] for start, end, word in terms.placed_words(text)}
    assert places["ทดน"] == "ที่ดิน"
    assert places["ทด"] == "ที่ดิ"
    assert places["كتاب"] == places["كتابˑ"] == "كِتَاب"


UNITS = (
    *"aB1éß½ﬁ²İıの한\n -क👩🏽🇩🇪✅ｶﾞ™Ａйِكﬄ&\u200d", "u\u0308", "&uuml;", "&shy;", "&#769;", "&#1;", "ที่", "นำ",
    "\u1112\u1161\u11ab",
)  # fmt: skip


@given(st.lists(st.sampled_from(UNITS), max_size=9).map("".join) | st.text(max_size=20))
def test_placed_words_stand_at_their_place(text: str) -> None:
    placed = terms.placed_words(text)
    for start, end, word in placed:
        assert terms.folded(word) in {terms.folded(other) for _, _, other in terms.placed_words(text[start:end])}
    assert [word for _, _, word in placed] == [word for _, _, word in terms.placed_words(terms.analysed(text))]
    assert all(terms.query_parts(word) for word in text.split())


@given(st.text(alphabet="全文検索 ab네", max_size=12), st.integers(0, 11), st.integers(1, 4))
def test_query_phrase_of_an_excerpt_is_found_in_the_index(text: str, start: int, size: int) -> None:
    """For every excerpt of whole words, the index holds the searched terms in a row."""
    excerpt = text[start : start + size]
    asked = terms.query_phrase(excerpt).split()
    if len(excerpt) < 2 or not excerpt.strip() or excerpt.isascii() or any(c in excerpt for c in " ab"):
        return
    held = terms.index_text(text).split()
    assert any(held[i : i + len(asked)] == asked for i in range(len(held)))


def test_mostly_cjk_detects_a_text_mostly_in_cjk() -> None:
    texts = ("全文検索 fts", "FTS5 の全文検索は速い", "what is 検索 here")
    assert list(map(terms.mostly_cjk, texts)) == [True, True, False]


@given(st.text(alphabet="aB1Zz S3.\n数库-_éÉ", max_size=14) | st.text(max_size=20))
def test_index_text_in_place_keeps_words_on_their_lines(text: str) -> None:
    word = re.compile(r"[^\W_]+")
    for line, in_place in zip(text.split("\n"), terms.index_text_in_place(text).split("\n"), strict=True):
        assert set(word.findall(terms.index_text(line))) <= set(word.findall(in_place))
