import re

from hypothesis import given, strategies as st

from vault_index.terms import (
    index_text,
    index_text_in_place,
    index_words,
    is_prefix,
    is_word,
    mostly_cjk,
    placed_words,
    query_parts,
    query_phrase,
)  # fmt: skip

INDEXED = {
    "plain words": "plain words", "全文検索": " 全文 文検 検索 索 ",
    "用Docker的网络": " 用 用 Docker 的网 网络 络 ", "김치볶음밥 맛": " 김치 치볶 볶음 음밥 밥   맛 맛 ",
    "ภาษาไทย": " ภาษ าษา ษาไ าไท ไทย ย ทย ",
    "ນ້ຳ ខ្មែរ မြန်မာ": " ນຳ ຳ   ខមរ រ មរ   မနမ မ နမ ",
    "Книгами ёжик Йод": "Книгами ежик Йод\nКнигаˑ",
    "Αθήνα ΠΊΤΣΜΠΕΡΓΚ": "Αθηνα ΠΙΤΣΜΠΕΡΓΚ\nΠΙΤΣΜˑ",
    "والكِتَاب أن": "والكتاب ان\nوالكˑ الكتˑ لكتاˑ كتابˑ",
    "useEffect and HTTPServer2": "useEffect and HTTPServer2\nuse Effect HTTP Server 2",
    "snake_case kebab-case GitHub": "snake_case kebab-case GitHub\nGit Hub",
    "NASA and iPhone": "NASA and iPhone\ni Phone", "some VMs, parseURLs": "some VMs, parseURLs\nVMs parse URLs",
    "पानी क्या। भाषाओं": "पआनई कयआ। भआषआओ", "ভাষা தமிழ்": "ভআষআ தமஇழ",
}  # fmt: skip


def test_texts_are_indexed_with_pieces_and_parts() -> None:
    assert {text: index_text(text) for text in INDEXED} == INDEXED


PARTS = {
    "word": ["word"], "café": ["café"], "useEffect": ["useEffect", "use Effect"],
    "全文検索": ["全文", "文検", "検索"], "索": ["索"], "Docker网络": ["网络", "Docker"],
    "山の高さは": ["山の", "の高", "高さ", "さは", "山", "高"], "ไทย": ["ไทย"], "น้ำใจ": ["นำใ", "ำใจ"],
    "Словами": ["Словами", "Словаˑ"], "بالكتب": ["بالكتب", "بالكˑ", "الكتˑ", "لكتبˑ"],
}  # fmt: skip


def test_words_are_looked_for_by_their_parts() -> None:
    assert {text: query_parts(text) for text in PARTS} == PARTS


def test_a_single_character_is_looked_for_as_a_beginning() -> None:
    assert [word for word in ("索", "a", "全文", "ไท", "ไทย", "к") if is_prefix(word)] == ["索", "ไท"]


def test_forms_of_a_word_have_a_piece_in_common() -> None:
    forms = {"Комиссией": "комиссиях", "παραδείγματα": "ΠΑΡΑΔΕΙΓΜΑ", "والمدرسة": "مدرسه", "בספריות": "ספריות"}
    for one, other in forms.items():
        assert set(index_words(one)) & set(index_words(other)), one


def test_pieces_and_n_grams_are_no_words() -> None:
    assert [word for word in index_words("Книгами 全文検 ไทยๆ पानी caféß") if is_word(word)] == ["книгами", "caféß"]


def test_words_are_placed_with_their_marks() -> None:
    text = "ที่ดิน كِتَاب"
    places = {word: text[start:end] for start, end, word in placed_words(text)}
    assert places["ทดน"] == "ที่ดิน"
    assert places["ทด"] == "ที่ดิ"
    assert places["كتاب"] == places["كتابˑ"] == "كِتَاب"


@given(st.text(alphabet="全文検索 ab네", max_size=12), st.integers(0, 11), st.integers(1, 4))
def test_any_part_of_a_text_is_a_phrase_of_the_index(text: str, start: int, size: int) -> None:
    """What the index holds in a row contains what is asked for in a row, for every excerpt of whole words."""
    excerpt = text[start : start + size]
    asked = query_phrase(excerpt).split()
    if len(excerpt) < 2 or not excerpt.strip() or excerpt.isascii() or any(c in excerpt for c in " ab"):
        return
    held = index_text(text).split()
    assert any(held[i : i + len(asked)] == asked for i in range(len(held)))


def test_whether_a_text_is_mostly_cjk() -> None:
    assert mostly_cjk("全文検索 fts")
    assert mostly_cjk("FTS5 の全文検索は速い")
    assert not mostly_cjk("what is 検索 here")


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str) -> None:
    assert isinstance(index_text(text), str)
    assert isinstance(index_words(text), list)
    assert all(query_parts(word) for word in text.split())


@given(st.text(alphabet="aB1Zz S3.\n数库-_éÉ", max_size=14) | st.text(max_size=20))
def test_the_words_of_the_index_stand_on_their_lines(text: str) -> None:
    word = re.compile(r"[^\W_]+")
    for line, in_place in zip(text.split("\n"), index_text_in_place(text).split("\n"), strict=True):
        assert set(word.findall(index_text(line))) <= set(word.findall(in_place))
