"""Prefixes, passages and figures."""

import pytest
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


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("why do readers wait", ("readers", "wait")),
        ('"write ahead" -log tag:sqlite [status:done] path:"a b"', ("write", "ahead")),
        ("wal OR NOT journal", ("wal", "journal")),
        ("数据库", ("数据库",)),
        ("to be", ()),
        ("use-effect", ("use", "effect")),
    ],
)
def test_query_words(query: str, words: tuple[str, ...]) -> None:
    assert short.query_words(query) == words


def test_corrections_are_looked_for_too() -> None:
    assert short.query_words("dokcer", {"dokcer": "docker"}) == ("dokcer", "docker")


@pytest.mark.parametrize(
    ("text", "words", "marked"),
    [
        ("It runs; running, a runner.", ("run",), ["runs", "running", "runner"]),
        ("Readers wait", ("reader",), ["Readers"]),
        ("snake_case_name", ("case",), ["case"]),
        ("关于数据库的笔记", ("数据库",), ["数据库"]),
        ("nothing here", ("absent",), []),
    ],
)
def test_matches(text: str, words: tuple[str, ...], marked: list[str]) -> None:
    assert [text[start:end] for start, end in short.matches(text, words)] == marked


@given(st.text(max_size=300), st.lists(st.text("abcdef数据", min_size=1, max_size=6), max_size=3), st.integers(5, 60))
def test_a_passage_is_a_piece_of_the_text_within_its_budget(text: str, words: list[str], budget: int) -> None:
    piece = short.passage(text, words, budget)
    inner = piece.removeprefix("…").removesuffix("…") if piece != text else piece
    assert inner in text
    assert short.cost(inner) <= budget + 1
    for start, end in short.matches(text, words):
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (34_567_890, "34.6 MB"), (2.5e12, "2500 GB")]
)
def test_size(count: float, shown: str) -> None:
    assert short.size(int(count)) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(0.0081, "8 ms"), (1.44, "1.4 s"), (185.0, "3 min 5 s")])
def test_duration(seconds: float, shown: str) -> None:
    assert short.duration(seconds) == shown


@pytest.mark.parametrize(("span", "shown"), [([10, 42], "a.md:10-42"), ([7, 7], "a.md:7"), (None, "a.md")])
def test_place(span: list[int] | None, shown: str) -> None:
    assert short.place({"path": "a.md", "lines": span}) == shown


def test_metadata_is_flat_and_without_what_is_empty() -> None:
    link = {"target": "Note", "heading": "Part", "text": "", "line": 3, "embed": False}
    plain = {"target": "Note", "heading": "", "text": "x", "line": 4, "embed": False}
    values = {"links": [link, plain, plain], "frontmatter": {"a": [1, 2], "b": True}, "expires": None, "tags": []}
    assert short.metadata(values) == [("links", "Note#Part, Note"), ("frontmatter", "a: 1, 2; b: true")]


def test_words_are_marked_whatever_their_accents() -> None:
    assert short.matches("Cafés were closed.", short.query_words("cafe")) == [(0, 5)]
    assert short.matches("a cafe", short.query_words("Café")) == [(2, 6)]
