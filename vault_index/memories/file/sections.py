"""Changes what stands under one heading of a memory."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vault_index.errors import UsageError
from vault_index.markdown.normalize import split_lines
from vault_index.markdown.parse import read_body
from vault_index.markdown.words import plain_words
from vault_index.memories.file.file_parts import (
    BOM,
    ended,
    lay_out,
    lines_with_ends,
    with_line_ends,
    without_blank_edges,
)

_ATX = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]|$)")
_SHOWN_HEADINGS = 12


@dataclass(frozen=True, slots=True)
class Heading:
    """`first` and `last` are its lines in the file, 1-based; `path` the headings it stands under and itself."""

    level: int
    path: tuple[str, ...]
    first: int
    last: int


def with_section(text: str, heading: str, new: str, *, append: bool) -> str:
    """The file with other text under a heading, down to the next heading of its level or above, or with more of it.

    `heading` is its words, with `#` marks where the level matters, or `Parent#Heading`. UsageError when there is no
    such heading, or more than one.
    """
    layout = lay_out(text)
    lines = lines_with_ends(text)
    headings = _headings(split_lines(text.removeprefix(BOM)), len(lines) - len(lines_with_ends(layout.body)))
    found = _named(headings, heading)
    following = (other.first - 1 for other in headings if other.first > found.last and other.level <= found.level)
    start, end = _filled(lines, found.last, next(following, len(lines)))
    before, old, after = ("".join(part) for part in (lines[:start], lines[start:end], lines[end:]))
    section = with_line_ends(without_blank_edges(new), layout.newline)
    if append:
        if not section:
            return text
        section = ended(old, layout.newline) + (layout.newline if old else "") + section
    if not old and section:
        before, after = _with_gaps(ended(before, layout.newline), after, layout.newline)
    last_line_ends = bool(after) or text.endswith(("\n", "\r"))
    return before + (ended(section, layout.newline) if last_line_ends else section) + after


def _filled(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """The lines between two positions without the blank ones around them."""
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _with_gaps(before: str, after: str, newline: str) -> tuple[str, str]:
    """With a blank line on both sides, for what comes between."""
    if split_lines(before)[-1].strip():
        before += newline
    return before, newline + after if after and split_lines(after)[0].strip() else after


def _headings(lines: Sequence[str], head_lines: int) -> list[Heading]:
    """The headings of a document whose first lines are frontmatter; `#` in code and in comments is none."""
    structure, _ = read_body([""] * head_lines + list(lines[head_lines:]))
    return [
        Heading(
            _level(lines[block.start_line - 1], lines[block.end_line - 1]),
            block.headings,
            block.start_line,
            block.end_line,
        )
        for block in structure.blocks
        if block.is_heading and block.headings
    ]


def _level(first: str, last: str) -> int:
    marks = _ATX.match(first)
    if marks:
        return len(marks[1])
    return 1 if last.strip().startswith("=") else 2


def _named(headings: Sequence[Heading], name: str) -> Heading:
    marks = _ATX.match(name.strip())
    words = name.strip()[marks.end() :] if marks else name
    of_level = [one for one in headings if not marks or one.level == len(marks[1])]
    wanted = _folded(words)
    found = [one for one in of_level if _folded(one.path[-1]) == wanted]
    if not found and "#" in words:
        path = tuple(_folded(part) for part in words.split("#"))
        found = [one for one in of_level if tuple(map(_folded, one.path[-len(path) :])) == path]
    if len(found) == 1:
        return found[0]
    if found:
        lines = ", ".join(str(one.first) for one in found)
        raise UsageError(
            f"The heading {name.strip()!r} stands there {len(found)} times: lines {lines}.",
            "Say which one with the heading above it, as Parent#Heading, or edit the file.",
        )
    there = ", ".join(f"{'#' * one.level} {one.path[-1]}" for one in headings[:_SHOWN_HEADINGS])
    more = f" and {len(headings) - _SHOWN_HEADINGS} more" if len(headings) > _SHOWN_HEADINGS else ""
    raise UsageError(
        f"There is no heading {name.strip()!r}.", f"There are: {there}{more}." if there else "The file has no headings."
    )


def _folded(words: str) -> str:
    return plain_words(words).casefold()
