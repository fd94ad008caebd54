from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from tests.tables import tables
from vault_index import tokens
from vault_index.markdown.chunk import chunk
from vault_index.markdown.normalize import split_lines
from vault_index.markdown.parse import parse
from vault_index.models import Chunk

CASES = tables(__file__)


def cut(text: str, budget: int = 400, overlap: int = 80) -> tuple[Chunk, ...]:
    return chunk(parse(text, "note"), budget, overlap)


def places(chunks: Sequence[Chunk]) -> list[tuple[int, int, tuple[str, ...]]]:
    return [(piece.start_line, piece.end_line, piece.headings) for piece in chunks]


@pytest.mark.parametrize(("text", "expected"), CASES["chunk_follows_headings"])
def test_chunk_follows_headings(text: str, expected: list[tuple[int, int, list[str]]]) -> None:
    assert places(cut(text)) == [(first, last, tuple(headings)) for first, last, headings in expected]


def test_chunk_cuts_only_blocks_that_are_too_large() -> None:
    item = "- an item of a list with some words in it\n  - and a nested one\n"
    for piece in cut(item * 12, 60, 0):
        assert piece.text.startswith("- an item")
        assert piece.text.endswith("nested one")
    fence = "```\n" + "\n\n\n".join(f"line {number} of a long program" for number in range(40)) + "\n```"
    chunks = cut(fence, 60, 0)
    assert len(chunks) > 3
    assert chunks[0].text.startswith("```\nline 0")
    lines = fence.split("\n")
    for piece in chunks:
        assert piece.text == "\n".join(lines[piece.start_line - 1 : piece.end_line])


def test_chunk_overlap_repeats_whole_blocks_of_the_previous_chunk() -> None:
    text = "\n\n".join(f"paragraph {number} says a few words" for number in range(40)) + "\n"
    plain, overlapping = cut(text, 60, 0), cut(text, 60, 20)
    assert all(before.end_line < after.start_line for before, after in pairwise(plain))
    repeated = [
        before.end_line - after.start_line + 1
        for before, after in pairwise(overlapping)
        if before.end_line >= after.start_line
    ]
    assert len(repeated) > 3
    lines = text.split("\n")
    for piece in overlapping:
        assert piece.text == "\n".join(lines[piece.start_line - 1 : piece.end_line])
        assert piece.tokens <= 60
    assert all(before.start_line < after.start_line for before, after in pairwise(overlapping))


def test_chunk_omits_a_heading_that_does_not_fit_its_text() -> None:
    text = "# A long heading of a section\n\n" + "word " * 45 + "\n"
    assert places(cut(text, 50, 0)) == [(3, 3, ("A long heading of a section",))]


WORDS = ["sqlite", "readers", "never", "block", "the", "writer", "journal", "a", "café", "数据库", "🎉", "x_y"]
PARAGRAPH = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)
BLOCK = st.one_of(
    PARAGRAPH,
    PARAGRAPH.map(lambda text: "# " + text[:20].strip()),
    PARAGRAPH.map(lambda text: "## " + text[:20].strip()),
    st.lists(PARAGRAPH.map(lambda text: "- " + text), min_size=1, max_size=6).map("\n".join),
    st.lists(PARAGRAPH, min_size=1, max_size=6).map(lambda lines: "\n".join(["```", *lines, "```"])),
    st.lists(PARAGRAPH.map(lambda text: "> " + text), min_size=1, max_size=4).map("\n".join),
    st.just("---"),
    PARAGRAPH.map(lambda text: text + ". " + text + "。" + text),
)
# A rule in the first line could open a frontmatter.
NOTE = st.lists(BLOCK, max_size=15).map("\n\n".join).filter(lambda text: not text.startswith("---"))
BUDGET = st.sampled_from([(30, 0), (30, 10), (60, 20), (400, 80), (20, 100)])


@given(NOTE, BUDGET)
def test_chunk_is_a_range_of_lines_within_its_budget(text: str, limits: tuple[int, int]) -> None:
    lines = split_lines(text)
    for piece in cut(text, *limits):
        run = "\n".join(lines[piece.start_line - 1 : piece.end_line])
        assert piece.tokens <= limits[0]
        assert piece.text == run or (piece.text in run and max(map(tokens.count, run.split("\n"))) >= limits[0] - 1)


@given(NOTE, BUDGET)
def test_chunk_loses_no_text(text: str, limits: tuple[int, int]) -> None:
    chunks = cut(text, *limits)
    covered = {number for piece in chunks for number in range(piece.start_line, piece.end_line + 1)}
    heading_words = {word for piece in chunks for title in piece.headings for word in title.split()}
    for number, line in enumerate(split_lines(text), start=1):
        if line.strip("-# ") and number not in covered:
            assert line.startswith("#")
            assert set(line.strip("# ").split()) <= heading_words
    assert bool(chunks) == bool(text.strip())


@given(st.text(alphabet="#-*+>|`~$%[]()!<= \t\n\r1.a\\^_\0&。汉\ud800"), BUDGET)
def test_chunk_accepts_any_text_and_makes_none_only_of_blank_text(text: str, limits: tuple[int, int]) -> None:
    assert bool(cut(text, *limits)) == bool(text.strip())


def new_texts(before: str, after: str, limits: tuple[int, int]) -> int:
    old = {(piece.headings, piece.text) for piece in cut(before, *limits)}
    return sum((piece.headings, piece.text) not in old for piece in cut(after, *limits))


@given(NOTE, PARAGRAPH, BUDGET, st.sampled_from(["", "---\ntags: [a]\n---\n"]))
def test_chunk_prepend_makes_one_new_text(text: str, paragraph: str, limits: tuple[int, int], front: str) -> None:
    if tokens.count(paragraph + "\n") <= limits[0] // 2:
        assert new_texts(front + text, f"{front}{paragraph}\n\n{text}", limits) <= 1


ENTRIES = [f"2026-01-{n % 28 + 1:02} {n}: the {n}th entry of a log that goes on and on" for n in range(800)]


def test_chunk_of_an_append_to_a_long_log_keeps_most_chunks() -> None:
    total = len(cut("\n\n".join(ENTRIES)))
    assert total > 30
    appends = [
        new_texts("\n\n".join(ENTRIES[:end]), "\n\n".join(ENTRIES[: end + 1]), (400, 80)) for end in range(750, 800, 10)
    ]
    assert sum(appends) / len(appends) < 8
    assert max(appends) < total / 3
