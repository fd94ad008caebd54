from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from tests.query.readers import query_terms, reader_of
from vault_index.query.ranking.passages import TermMatcher, focus, snippet, split_passages
from vault_index.query.ranking.retrieval import QueryTerm
from vault_index.store.reader import IndexReader

FILES = {
    "a.md": "He was running to the café, then to Docker and useEffect.\n",
    "b.md": "数据库迁移失败了。東京タワー。한국어 문서.\n",
    "c.md": "Новый край, λόγος and stability, a probability of reliability. A heron.\n",
    "d.md": "A heron and a stable of happy horses, hoping, µmeter.\n",
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexReader]:
    with reader_of(tmp_path_factory.mktemp("passages"), FILES) as opened:
        yield opened


def places(text: str) -> list[tuple[int, int]]:
    return [(passage.first, passage.last) for passage in split_passages(text)]


# --- boundaries of passages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one\n\ntwo\n\n\nthree", [(0, 0), (2, 2), (5, 5)]), ("", [(0, 0)]), ("\n \n", [(0, 0)]),
        ("a paragraph that is\nwrapped over\nthree lines\n\nnext", [(0, 2), (4, 4)]),
        ("- one\n- two\n  goes on\n* three\n1. four\n2) five", [(0, 0), (1, 2), (3, 3), (4, 4), (5, 5)]),
        ("Intro:\n- one\n  - nested", [(0, 0), (1, 1), (2, 2)]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [(0, 0), (1, 1), (2, 2)]), ("```\ncode\nmore\n```", [(0, 3)]),
        ("# Title\n\nText\n## More\nlines", [(2, 2), (4, 4)]), ("第一行\n第二行\n\n第三行", [(0, 1), (3, 3)]),
        ("one\r\n\r\ntwo\r\nlines\r\n", [(0, 0), (2, 3)]), ("one\n \t\ntwo\n\u3000\nthree", [(0, 0), (2, 2), (4, 4)]),
    ],
)  # fmt: skip
def test_split_passages_keeps_related_lines_together(text: str, expected: list[tuple[int, int]]) -> None:
    assert places(text) == expected


LINE = st.sampled_from(["", "  ", "text", "- item", "1. item", "| a |", "# one", "## 題", "    code", "```", "終"])


@given(st.lists(LINE | st.text(max_size=12), max_size=25).map("\n".join) | st.text(max_size=80))
def test_split_passages_is_disjoint_in_order_and_without_headings(text: str) -> None:
    lines = text.split("\n")
    found = places(text)
    covered = [line for first, last in found for line in range(first, last + 1)]
    assert covered == sorted(set(covered))
    assert covered[0] >= 0
    assert covered[-1] < len(lines)
    said = {number for number, line in enumerate(lines) if line.strip()}
    headings = {number for number in said if lines[number].startswith(("# ", "## "))}
    if said - headings:
        assert said - headings <= set(covered)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Where is it?", True), ("**Where is it?**", True), ("Ana: where is it? ^block-1", True),
        ("そこですか？", True), ("Where is it?\nIn the shed.", False), ("Is it? Yes.", False), ("It is.", False),
        ("", False),
    ],
)  # fmt: skip
def test_passage_is_a_question_by_its_end(text: str, asks: bool) -> None:
    assert split_passages(text)[0].is_question is asks


# --- matching words --------------------------------------------------------------------------------------------------


def said(reader: IndexReader, question: str, text: str) -> list[set[str]]:
    """The query words on each line."""
    looked_for = query_terms(reader, question)
    return [
        {looked_for[number].text for number in line}
        for line in TermMatcher(looked_for, reader.stems).match_lines([text])[0]
    ]


def test_match_lines_finds_a_word_in_all_its_forms(reader: IndexReader) -> None:
    forms = [
        ("run", "He was running."), ("running", "They run; he RUNS"), ("cafe", "Zwei Cafés"),
        ("café", "two cafe\u0301s"), ("happy", "happiness, happily"), ("stability", "stability"),
        ("probability", "probably"), ("reliable", "of some reliability"), ("effect", "call useEffect here"),
        ("useEffect", "the effect of it"), ("useeffect", "useEffect(() => {})"), ("path", "a snake_path_name"),
        ("data*", "the database"), ("数据", "数据库"), ("数据库", "一个数据库"), ("数", "有数据"), ("了", "失败了"),
        ("タワー", "東京タワーに行く"), ("한국", "한국어 문서"), ("어", "한국어"), ("край", "Новый край"),
        ("НОВЫЙ", "новый"), ("λόγος", "Ο ΛΌΓΟΣ"), ("μmeter", "µmeter"), ("docker", "`docker`, not podman"),
    ]  # fmt: skip
    missed = [
        (word, text) for word, text in forms if [*map(bool, said(reader, word, f"{text}\nnothing"))] != [True, False]
    ]
    assert missed == []


def test_match_lines_finds_no_other_word(reader: IndexReader) -> None:
    others = [("run", "a rune"), ("docker", "undocker"), ("край", "краи"), ("data", "databases"), ("数据", "据数")]
    assert [text for word, text in others if said(reader, word, text) != [set()]] == []


def test_match_lines_finds_every_word_of_the_index_by_itself(reader: IndexReader) -> None:
    words = [word for words in reader.vocabulary().of_lengths(2, 40) for word in words]
    assert len(words) > 20
    assert [word for word in words if not said(reader, f'"{word}"', word)[0]] == []


def test_match_lines_assigns_a_word_to_its_line(reader: IndexReader) -> None:
    text = "\n".join(["useEffect 数据库", "", "heron\r", "the heron useEffect", "東京\u2028docker"])
    assert said(reader, "effect heron docker", text) == [{"effect"}, set(), {"heron"}, {"effect", "heron"}, {"docker"}]


# --- coverage --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def matcher(reader: IndexReader) -> TermMatcher:
    return TermMatcher(query_terms(reader, "docker heron"), reader.stems)


def test_coverage_falls_with_the_distance(matcher: TermMatcher) -> None:
    shares = matcher.coverage([{}, {}, {}, {0: 1.0, 1: 1.0}, {}, {}, {}], [{}] * 7, [False] * 7)
    assert shares[3] == pytest.approx(1.0)
    assert shares[3] > shares[2] == shares[4] > shares[1] == shares[5] > shares[0] == shares[6] == 0


def test_coverage_after_a_question_exceeds_that_before_it(matcher: TermMatcher) -> None:
    before, question, answer = matcher.coverage([{}, {0: 1.0, 1: 1.0}, {}], [{}] * 3, [False, True, False])
    assert question > answer > before > 0


def test_coverage_of_a_title_is_less_than_that_of_the_passage(matcher: TermMatcher) -> None:
    above = matcher.coverage([{}] * 5, [{0: 1.0, 1: 1.0}] * 5, [False] * 5)
    assert len(set(above)) == 1
    assert 0.9 < above[0] < 1  # a title with every word: the passage is its content
    assert 0 < matcher.coverage([{}], [{0: 1.0}], [False])[0] < matcher.coverage([{0: 1.0}], [{}], [False])[0]


# --- spans -----------------------------------------------------------------------------------------------------------


def test_spans_mark_words_as_the_search_matched_them(reader: IndexReader) -> None:
    marked = [
        ("run", "It runs; running, a runner.", ["runs", "running"]), ("cafés", "Two cafés, a Cafe.", ["cafés", "Cafe"]),
        ("case", "snake_case_name", ["case"]), ("effect", "call useEffect here", ["Effect"]),
        ("useEffect", "call useEffect here", ["useEffect"]), ("dock*", "Docker docks", ["Docker", "docks"]),
        ("dokcer", "the Docker socket", ["Docker"]), ("数据库", "关于数据库的笔记", ["数据库"]),
        ("库", "关于数据库的笔记", ["库"]), ("sqlite", "用SQLite做的", ["SQLite"]), ("heron", "nothing here", []),
        ("-heron stable", "a heron, stable", ["stable"]), ("the", "no word of the kind", ["the"]),
        ("first", "the ﬁrst", ["ﬁrst"]), ("한", "쓴 \u1112\u1161\u11ab글", ["\u1112\u1161\u11ab"]),
        ("müller", "M&uuml;ller&#8217;s Mu\u0308ller", ["M&uuml;ller", "Mu\u0308ller"]), ("1", "½ cup", ["½"]),
        ("izmir", "İzmir", ["İzmir"]), ("inform", "in\u00adform", ["in\u00adform"]), ("👍", "a👍🏽!", ["👍🏽"]),
    ]  # fmt: skip
    for query, text, words in marked:
        found = TermMatcher(query_terms(reader, query), reader.stems).spans(text)
        assert [text[start:end] for start, end in found] == words, query


@given(st.text(max_size=80))
def test_spans_lie_in_the_text_without_overlap(text: str) -> None:
    term = QueryTerm("a", {"a": 1.0}, True, 1.0, known=True)
    spans = TermMatcher([term], lambda words: {word: word for word in words}).spans(text)
    assert [end for span in spans for end in span] == sorted({end for span in spans for end in span})
    assert all(0 <= start < end <= len(text) for start, end in spans)


# --- focus and snippet -----------------------------------------------------------------------------------------------


def as_typed(*words: str) -> TermMatcher:
    terms = [QueryTerm(word, {word: 1.0}, False, 1.0, known=True) for word in words]
    return TermMatcher(terms, lambda asked: {word: word for word in asked})


def test_focus_is_on_the_matching_lines_of_a_long_block() -> None:
    text = "\n".join(["```sh", *(f"step {number}" for number in range(20)), "pump the boiler", "up to one bar", "```"])
    found = focus(text, split_passages(text)[0], as_typed("boiler", "bar"))
    assert (found.first, found.last) == (21, 22)
    long = f"{'a line of the log ' * 12}\nThe boiler burst.\nNobody was there."
    assert focus(long, split_passages(long)[0], as_typed("boiler"))[:2] == (1, 1)


@pytest.mark.parametrize("after", ["", " It is Tuesday." * 90])
def test_snippet_of_a_long_line_shows_the_matching_sentence(after: str) -> None:
    text = "It is about the weather. " * 40 + f"Pump the boiler up to one bar.{after}"
    found = focus(text, split_passages(text)[0], as_typed("boiler", "bar"))
    shown = snippet(text, found.first, found.column)
    assert "Pump the boiler up to one bar." in shown
    assert shown.startswith("…Pump") == bool(after)
    assert 200 < len(shown) <= 242


def test_snippet_is_centred_and_ends_before_better_hits() -> None:
    text = "\n".join(f"line {number} of a long text about bread and water" for number in range(100))
    assert all(f"line {number}" in snippet(text, 50) for number in (49, 50, 51))
    text = "# Notes\none\ntwo\nthree\nfour"
    assert snippet(text, 2, others={1}) == "two three four"
    assert snippet(text, 2, others={3}) == "one two"
    assert snippet(text, 2, others={1, 3}) == "two"


def test_snippet_shows_a_line_whole_up_to_400_characters() -> None:
    long, longer = "word " * 79, "word " * 81
    assert snippet(f"a before\n{long}\nafter", 1) == long.strip()
    assert len(snippet(f"a before\n{longer}\nafter", 1)) <= 241


@given(st.text(max_size=900), st.integers(0, 20))
def test_focus_and_snippet_exist_for_any_passage(text: str, number: int) -> None:
    passages = split_passages(text)
    passage = passages[number % len(passages)]
    found = focus(text, passage, as_typed("a", "b"))
    assert passage.first <= found.first <= found.last <= passage.last
    assert len(snippet(text, found.first, found.column)) <= 400
