"""Prefixes, passages, figures and harmless text."""

import re
from typing import get_args

import pytest
from hypothesis import given, strategies as st

from tests.output import answers
from vault_index.output import Format, render
from vault_index.output.text import (
    clean,
    clean_line,
    cost,
    duration,
    metadata,
    one_line,
    passage,
    place,
    short_ids,
    short_path,
    size,
    visible,
)


@given(st.lists(st.text("0123456789abcdef", min_size=32, max_size=32), min_size=1, max_size=30))
def test_short_ids_are_unique_prefixes_of_eight_or_more(ids: list[str]) -> None:
    found = short_ids(ids)
    assert set(found) == set(ids)
    for whole, prefix in found.items():
        assert whole.startswith(prefix)
        assert len(prefix) >= 8
        assert [other for other in set(ids) if other.startswith(prefix)] == [whole]


WORDS = st.text("ab数 \t\n", max_size=200)


@given(WORDS, st.integers(5, 60))
def test_short_passage_marks_words_wherever_it_is_cut(text: str, budget: int) -> None:
    spans = [found.span() for found in re.finditer(r"\S*a\S*", text)]
    piece, marks = passage(text, spans, budget)
    assert {piece[start:end] for start, end in marks} <= {text[start:end] for start, end in spans}
    if spans and cost(text[slice(*spans[0])]) <= budget / 3:
        assert marks
    if cost(one_line(text)) <= budget:
        assert len(marks) == len(spans)


@pytest.mark.parametrize("width", [20, 33, 100])
def test_short_path_fits_and_keeps_both_ends(width: int) -> None:
    for path in ("a.md:7", "80-memory/x/b.md", f"80-memory/warning/{'the-cellar-' * 9}floods.md:7"):
        shown = short_path(path, width)
        assert len(shown) <= width
        assert shown.endswith(path[-8:])


def test_short_figures_have_few_digits() -> None:
    sizes = {0: "0 B", 999: "999 B", 1500: "1.5 kB", 34_567_890: "34.6 MB", 2_500_000_000_000: "2500 GB"}
    assert {count: size(count) for count in sizes} == sizes
    durations = {0.0081: "8 ms", 1.44: "1.4 s", 185.0: "3 min 5 s"}
    assert {seconds: duration(seconds) for seconds in durations} == durations
    places = [place({"path": "a.md", "lines": span}) for span in ([10, 42], [7, 7], None)]
    assert places == ["a.md:10-42", "a.md:7", "a.md"]


def test_short_metadata_is_flat_without_empty_values() -> None:
    link = {"target": "Note", "heading": "Part", "text": "", "line": 3, "embed": False}
    plain = {"target": "Note", "heading": "", "text": "x", "line": 4, "embed": False}
    values = {"links": [link, plain, plain], "frontmatter": {"a": [1, 2], "b": True}, "expires": None, "tags": []}
    assert metadata(values) == [("links", "Note#Part, Note"), ("frontmatter", "a: 1, 2; b: true")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, déjà vu, 数据库, 🧑‍🍳", "plain, déjà vu, 数据库, 🧑‍🍳"),
        ("two\nlines\r\nthree\rfour", "two\nlines\nthree\nfour"), ("\x1b]0;title\x07", "␛]0;title␇"),
        ("\x9b31m", "\ufffd31m"), ("evil \u202egnp.exe", "evil \ufffdgnp.exe"),
        ("\u2066isolate\u2069", "\ufffdisolate\ufffd"), ("del\x7f", "del\ufffd"), ("half \udc80", "half \ufffd"),
        ("a\tb", "a    b"),
    ],
)  # fmt: skip
def test_clean_replaces_control_characters(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_visible_removes_hidden_characters_for_agents() -> None:
    hidden = "".join(chr(0xE0000 + ord(one)) for one in "send it")
    text = f"a{hidden}\u200b\u202eb\ufe0f 👩\u200d👧"
    assert visible(text) == "ab 👩\u200d👧"
    for form in get_args(Format)[2:4]:
        shown = render("get", answers.texts(answers.text(content=text, title=text)), form)
        assert "ab 👩\u200d👧" in shown, form
        assert hidden not in shown, form


def test_clean_line_returns_one_line() -> None:
    assert clean_line("a\r\nb\u2028c\x85d\te\x1b f\rg") == "a b c d e␛ f g"


@given(st.text())
def test_clean_leaves_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = clean(text)
    assert not any((ord(c) < 32 and c != "\n") or 0x7F <= ord(c) < 0xA0 or 0x202A <= ord(c) <= 0x202E for c in shown)
    shown.encode()
    assert clean(shown) == shown
