"""The parts of a query: ranking terms, conditions, filters, and the embedded words."""

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index.errors import UsageError
from vault_index.models import Filters
from vault_index.query.language.parse import match_expression, parse_query
from vault_index.terms import index_text

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "expression"), CASES["match_expression_quotes_the_terms_that_rank"])
def test_match_expression_quotes_the_terms_that_rank(text: str, expression: str) -> None:
    assert match_expression(parse_query(text).terms) == expression


@pytest.mark.parametrize(("text", "same"), CASES["parse_query_reads_a_bar_as_or"])
def test_parse_query_reads_a_bar_as_or(text: str, same: str) -> None:
    bar, plain = parse_query(text), parse_query(same)
    assert [term.text for term in bar.terms] == [term.text for term in plain.terms]
    assert bar.filters == plain.filters
    if "[[" not in text:
        assert (bar.required, bar.excluded) == (plain.required, plain.excluded)


@pytest.mark.parametrize(("text", "words"), CASES["parse_query_reads_invalid_syntax_as_plain_words"])
def test_parse_query_reads_invalid_syntax_as_plain_words(text: str, words: list[str]) -> None:
    query = parse_query(text)
    assert [term.text for term in query.terms] == words
    assert {term.kind for term in query.terms} == {"word"}
    assert (query.required, query.excluded, query.filters) == ("", "", Filters())
    assert query.text == " ".join(words)


@pytest.mark.parametrize(("text", "required", "excluded"), CASES["parse_query_separates_required_and_excluded_terms"])
def test_parse_query_separates_required_and_excluded_terms(text: str, required: str, excluded: str) -> None:
    query = parse_query(text)
    assert (query.required, query.excluded) == (required, excluded)


@pytest.mark.parametrize(
    ("text", "terms", "has_conditions"), CASES["parse_query_finds_conditions_only_in_operator_style"]
)
def test_parse_query_finds_conditions_only_in_operator_style(text: str, terms: str, has_conditions: bool) -> None:
    query = parse_query(text)
    assert " ".join(term.text for term in query.terms) == terms
    assert bool(query.all_of or query.none_of) == has_conditions


@pytest.mark.parametrize(("text", "required"), CASES["parse_query_every_requires_every_content_word"])
def test_parse_query_every_requires_every_content_word(text: str, required: str) -> None:
    assert parse_query(text, every=True).required == required


def test_parse_query_embeds_only_the_words_to_find() -> None:
    assert parse_query('How AND "wal mode" -java tag:x dock* NOT go').text == "How wal mode dock"


@pytest.fixture(scope="module")
def fts() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE chunk_fts USING fts5 (title, body, content = '', contentless_delete = 1,"
        " tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    words = ("a", "b", "c")
    for number in range(8):
        body = " ".join(word for bit, word in enumerate(words) if number & 1 << bit)
        connection.execute("INSERT INTO chunk_fts (rowid, title, body) VALUES (?, '', ?)", (number, body))
    yield connection
    connection.close()


@pytest.mark.parametrize("word", ["configuration", "security", "planning", "stopped", "useEffect", "libraries", "网络"])
def test_prefix_finds_the_word_whatever_its_stem(word: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE chunk_fts USING fts5 (x, tokenize = 'porter unicode61')")
    connection.execute("INSERT INTO chunk_fts (rowid, x) VALUES (1, ?)", (index_text(word),))
    for size in range(1, len(word) + 1):
        query = parse_query(f"{word[:size]}*", every=True)
        assert matching(connection, match_expression(query.terms)) == {1}, word[:size]
        assert matching(connection, query.required) == {1}, word[:size]
    connection.close()


def matching(fts: apsw.Connection, expression: str) -> set[int]:
    return {row for (row,) in fts.execute("SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?", (expression,))}


def chosen(fts: apsw.Connection, text: str) -> set[int]:
    query = parse_query(text)
    rows = matching(fts, query.required) if query.required else set(range(8))
    return rows - matching(fts, query.excluded) if query.excluded else rows


_BOOLEAN = st.recursive(
    st.sampled_from(["a", "b", "c"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | inner.map(lambda text: f"NOT {text}")
        | inner.map(lambda text: f"-{text}" if text[0] in "(abc" else text)
    ),
    max_leaves=8,
)


@given(_BOOLEAN, _BOOLEAN)
def test_parse_query_boolean_equals_python_operators(fts: apsw.Connection, left: str, right: str) -> None:
    """Every tree of AND, OR and NOT chooses the rows that Python's own operators choose."""
    text = f"{left} AND {right}"
    code = text.replace("-", " not ").replace("AND", "and").replace("OR", "or").replace("NOT", " not ")
    expected = {n for n in range(8) if eval(code, {}, {"a": n & 1, "b": n & 2, "c": n & 4})}
    assert chosen(fts, text) == expected


_QUERYISH = st.lists(
    st.sampled_from(
        ["AND", "OR", "NOT", "(", ")", '"', "-", "*", "[", "]", ":", " ", "tag:a", "[k:v]", "the", "wal",
         "x*", "_", "索", "全文", "useEffect", "'", "after:2026", "is:expired", "kind:", "\0",
         "\ud800", "{", "}", "^", "+", "NEAR", ","]
    ),
    max_size=25,
).flatmap(lambda parts: st.sampled_from([" ".join(parts), "".join(parts)]))  # fmt: skip


@given(st.text(max_size=80) | _QUERYISH, st.booleans())
def test_parse_query_accepts_any_text(fts: apsw.Connection, text: str, every: bool) -> None:
    try:
        query = parse_query(text, every=every)
    except UsageError as error:  # an invalid filter, or one for a part of the query
        assert " at column " in error.message  # noqa: PT017
        assert error.hint  # noqa: PT017
        return
    for expression in (match_expression(query.terms), query.required, query.excluded):
        if expression:
            matching(fts, expression)


@pytest.mark.parametrize("start", ["-(", "a OR b NOT (c AND d* -(", '"a b" (useEffect OR -('])
def test_parse_query_accepts_deep_nesting(fts: apsw.Connection, start: str) -> None:
    text = start * 400 + "a" + ")" * 400 * start.count("(")
    chosen(fts, text)
    matching(fts, match_expression(parse_query(f"{text} b").terms))
