import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.query.hits import snippet
from vault_index.query.language.parse import parse_query
from vault_index.query.ranking.passages import Focus, TermMatcher, focus, split_passages
from vault_index.query.ranking.retrieval import QueryTerm, read_query_terms
from vault_index.query.ranking.spelling import correct
from vault_index.store.reader import IndexReader

CASES = tables(__file__)

NOTES = {
    "a.md": "He was running to the café, then to Docker and useEffect.\n",
    "b.md": "数据库迁移失败了。東京タワー。한국어 문서.\n",
    "c.md": "Новый край, λόγος and stability, a probability of reliability. A heron.\n",
    "d.md": "A heron and a stable of happy horses, hoping, µmeter.\n",
}


def query_terms(reader: IndexReader, question: str) -> tuple[QueryTerm, ...]:
    """The terms of a query, with typing errors corrected."""
    terms = parse_query(question).terms
    return read_query_terms(reader, terms, correct(reader, terms, 0.7).forms)


def places(text: str) -> list[tuple[int, int]]:
    return [(passage.first, passage.last) for passage in split_passages(text)]


@pytest.mark.parametrize(("text", "expected"), CASES["split_passages_keeps_related_lines_together"])
def test_split_passages_keeps_related_lines_together(text: str, expected: list[list[int]]) -> None:
    assert [*map(list, places(text))] == expected


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


@pytest.mark.parametrize(("text", "asks"), CASES["passage_is_a_question_by_its_end"])
def test_passage_is_a_question_by_its_end(text: str, asks: bool) -> None:
    assert split_passages(text)[0].is_question is asks


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
    shown = snippet(text, found)
    assert "Pump the boiler up to one bar." in shown
    assert shown.startswith("…Pump") == bool(after)
    assert 200 < len(shown) <= 242


def test_snippet_is_centred_and_ends_before_better_hits() -> None:
    text = "\n".join(f"line {number} of a long text about bread and water" for number in range(100))
    assert all(f"line {number}" in snippet(text, Focus(50, 50, 0)) for number in (49, 50, 51))
    text = "# Notes\none\ntwo\nthree\nfour"
    assert snippet(text, Focus(2, 2, 0), others={1}) == "two three four"
    assert snippet(text, Focus(2, 2, 0), others={3}) == "one two"
    assert snippet(text, Focus(2, 2, 0), others={1, 3}) == "two"
