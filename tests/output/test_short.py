"""Prefixes, passages and figures."""

import re

from hypothesis import given, strategies as st

from vault_index.output import short


@given(st.lists(st.text("0123456789abcdef", min_size=32, max_size=32), min_size=1, max_size=30))
def test_short_ids_are_unique_prefixes_of_eight_or_more(ids: list[str]) -> None:
    found = short.short_ids(ids)
    assert set(found) == set(ids)
    for whole, prefix in found.items():
        assert whole.startswith(prefix)
        assert len(prefix) >= 8
        assert [other for other in set(ids) if other.startswith(prefix)] == [whole]


WORDS = st.text("ab数 \t\n", max_size=200)


@given(WORDS, st.integers(5, 60))
def test_short_passage_marks_words_wherever_it_is_cut(text: str, budget: int) -> None:
    spans = [found.span() for found in re.finditer(r"\S*a\S*", text)]
    piece, marks = short.passage(text, spans, budget)
    assert {piece[start:end] for start, end in marks} <= {text[start:end] for start, end in spans}
    if spans and short.cost(text[slice(*spans[0])]) <= budget / 3:
        assert marks
    if short.cost(short.one_line(text)) <= budget:
        assert len(marks) == len(spans)


def test_short_figures_have_few_digits() -> None:
    sizes = {0: "0 B", 999: "999 B", 1500: "1.5 kB", 34_567_890: "34.6 MB", 2_500_000_000_000: "2500 GB"}
    assert {count: short.size(count) for count in sizes} == sizes
    durations = {0.0081: "8 ms", 1.44: "1.4 s", 185.0: "3 min 5 s"}
    assert {seconds: short.duration(seconds) for seconds in durations} == durations
    places = [short.place({"path": "a.md", "lines": span}) for span in ([10, 42], [7, 7], None)]
    assert places == ["a.md:10-42", "a.md:7", "a.md"]


def test_short_metadata_is_flat_without_empty_values() -> None:
    link = {"target": "Note", "heading": "Part", "text": "", "line": 3, "embed": False}
    plain = {"target": "Note", "heading": "", "text": "x", "line": 4, "embed": False}
    values = {"links": [link, plain, plain], "frontmatter": {"a": [1, 2], "b": True}, "expires": None, "tags": []}
    assert short.metadata(values) == [("links", "Note#Part, Note"), ("frontmatter", "a: 1, 2; b: true")]
