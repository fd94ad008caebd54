"""Validate the fields of a memory, split its file into frontmatter and body, and edit the body."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from itertools import takewhile
from typing import Any

from vault_index.dates import read_date
from vault_index.errors import UsageError
from vault_index.fields import (
    CONFIDENCES as CONFIDENCES,
    FIELDS,
    TYPES as TYPES,
    Field,
)
from vault_index.markdown.frontmatter import (
    document_uid,
    first_time,
    last_moment,
    memory_identity,
    read_frontmatter,
    string_list,
)
from vault_index.markdown.inline import plain_words
from vault_index.markdown.normalize import normalize_tag, split_lines
from vault_index.markdown.parse import normal_tags, parse, read_body
from vault_index.models import Block, Fault, ParsedDocument

BOM = "\ufeff"
OLD_ID = "imported_id"
"""The frontmatter key for the id that a memory had in another program; `get '#12'` finds it."""
_LINE = re.compile(r"(?!\Z)[^\r\n]*(?:\r\n|\r|\n|\Z)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_OTHER_NAMES = {"by": "entered_by", "bead": "bead_id"}
_BULLET = re.compile(r"^\s*[-*+]\s+")


@dataclass(frozen=True)
class MemoryFile:
    """The parts of a memory file, or of a text that becomes one; parsed once, on first use.

    `opening + inside + closing + body` is the whole text. Without frontmatter, `opening` is empty
    or a byte order mark, and `inside` and `closing` are empty.
    """

    opening: str
    inside: str
    closing: str
    body: str
    newline: str
    """The line ending of the first line."""
    front: Mapping[str, Any]
    """The parsed frontmatter."""
    faults: tuple[Fault, ...] = ()
    """Errors in the frontmatter."""
    source: str = ""
    path: str = ""
    """Relative to the source. For a text that is not written yet: the requested name, or empty."""
    digest: bytes = b""
    """SHA-256 of the bytes on disk."""
    status: os.stat_result | None = None
    data: bytes = b""
    """The bytes on disk."""

    @property
    def text(self) -> str:
        """The whole text."""
        return self.opening + self.inside + self.closing + self.body

    @cached_property
    def parsed(self) -> ParsedDocument:
        """The parsed text."""
        return parse(self.text, "", memory=True)

    @property
    def title(self) -> str:
        """The title in the frontmatter, or the one derived from the text."""
        return self.parsed.title

    @property
    def tags(self) -> list[str]:
        """The tags in the frontmatter, as written."""
        return string_list(self.front.get("tags", self.front.get("tag")), split_spaces=True)

    @cached_property
    def identity(self) -> bytes:
        """The hash of the content, by which duplicates are found."""
        title = self.parsed.title if self.parsed.title_given else ""
        return memory_identity(self.text.removeprefix(BOM), self.front, title)

    @property
    def uid(self) -> str:
        """The id in the frontmatter, or the one derived from source and path."""
        return document_uid(self.front.get("id"), self.source, self.path)


def is_over(front: Mapping[str, Any], now: float) -> bool:
    """Return whether a memory is expired, archived or superseded at `now` (epoch seconds)."""
    ends = (last_moment(front.get("expires")), first_time(front.get("archived")))
    return any(end is not None and end <= now for end in ends) or bool(front.get("superseded_by"))


def read_text(text: str, path: str = "") -> MemoryFile:
    """Split the text of a memory file into its parts."""
    mark = BOM if text.startswith(BOM) else ""
    rest = text.removeprefix(BOM)
    front = read_frontmatter(split_lines(rest))
    found = _LINE_END.search(rest)
    newline = found[0] if found else "\n"
    if not front.lines:
        return MemoryFile(mark, "", "", rest, newline, front.values, path=path)
    lines = lines_with_ends(rest)
    head, body = lines[: front.lines], "".join(lines[front.lines :])
    inside = "".join(head[1:-1])
    return MemoryFile(
        mark + head[0], inside, head[-1], body, newline, front.values, front.faults, path=path
    )


def with_more_tags(tags: Sequence[str], more: Sequence[str]) -> list[str]:
    """Return tags as written, and the normalized tags of `more` that they lack."""
    has = normal_tags(tags)
    return [*tags, *(tag for tag in normal_tags(more) if tag not in has)]


def lines_with_ends(text: str) -> list[str]:
    """Split a text into the same lines as `split_lines`, but keep the line endings."""
    return _LINE.findall(text)


def with_line_ends(text: str, newline: str) -> str:
    """Replace every line ending with `newline`."""
    return _LINE_END.sub(lambda _: newline, text)


def with_last_line_end(text: str, newline: str) -> str:
    """Add a line ending to the last line, if it has none."""
    return text if not text or text.endswith(("\n", "\r")) else text + newline


def without_blank_edges(text: str) -> str:
    """Remove blank lines at both ends; the first line keeps its indentation."""
    return re.sub(r"\A(?:[ \t]*(?:\r\n|\r|\n))+", "", text.removeprefix(BOM)).rstrip()


def body_of(text: str) -> str:
    """Return the body without blank lines at both ends, with LF as line ending."""
    return without_blank_edges("\n".join(split_lines(read_text(text).body)))


def with_body(text: str, body: str) -> str:
    """Replace the body of a file.

    Blank lines below the frontmatter stay. If the last line has no line ending, it still has none.
    """
    file = read_text(text)
    head = file.opening + with_last_line_end(file.inside + file.closing, file.newline)
    new = with_line_ends(without_blank_edges(body), file.newline)
    if not file.body.strip():
        return head + file.body + with_last_line_end(new, file.newline)
    gap = "".join(takewhile(str.isspace, lines_with_ends(file.body))) if new else ""
    return (
        head
        + gap
        + (new if _lacks_last_newline(file.body) else with_last_line_end(new, file.newline))
    )


def with_paragraph(text: str, addition: str) -> str:
    """Append a paragraph after a blank line; the existing text does not change."""
    file = read_text(text)
    if not (new := with_line_ends(without_blank_edges(addition), file.newline)):
        return text
    whole = with_last_line_end(text, file.newline)
    lines = lines_with_ends(file.body)
    gap = file.newline if file.body.strip() and lines[-1].strip() else ""
    return whole + gap + (new if _lacks_last_newline(file.body) else new + file.newline)


def _lacks_last_newline(body: str) -> bool:
    """Return whether the last line has no line ending; some editors leave it out."""
    return bool(body.strip()) and not body.endswith(("\n", "\r"))


_ATX = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]|$)")
_SHOWN_HEADINGS = 12


def with_section(text: str, heading: str, new: str, *, append: bool) -> str:
    """Replace the text below a heading, or append to it.

    The section ends before the next heading of the same or a higher level. `heading` is the text of
    the heading, optionally with `#` marks for its level, or `Parent#Heading`. Raises UsageError if
    no heading or more than one matches.
    """
    file = read_text(text)
    lines = lines_with_ends(text)
    headings = _headings(
        split_lines(text.removeprefix(BOM)), len(lines) - len(lines_with_ends(file.body))
    )
    level, found = _find_heading(headings, heading)
    below = (one.start_line - 1 for rank, one in headings if rank <= level)
    end = next((line for line in below if line >= found.end_line), len(lines))
    start, end = _without_blank_lines(lines, found.end_line, end)
    before, old, after = map("".join, (lines[:start], lines[start:end], lines[end:]))
    section = with_line_ends(without_blank_edges(new), file.newline)
    if append:
        if not section:
            return text
        section = with_last_line_end(old, file.newline) + (file.newline if old else "") + section
    if not old and section:
        before = with_last_line_end(before, file.newline)
        before += file.newline if split_lines(before)[-1].strip() else ""
        after = file.newline + after if after and split_lines(after)[0].strip() else after
    last_line_ends = bool(after) or text.endswith(("\n", "\r"))
    return (
        before + (with_last_line_end(section, file.newline) if last_line_ends else section) + after
    )


def _without_blank_lines(lines: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Shrink a range of lines by the blank lines at both ends."""
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return start, end


def _headings(lines: Sequence[str], head_lines: int) -> list[tuple[int, Block]]:
    """Return level and block of each heading in the body, except in code and comments."""
    structure, _ = read_body([""] * head_lines + list(lines[head_lines:]))
    return [
        (_level(lines[block.start_line - 1], lines[block.end_line - 1]), block)
        for block in structure.blocks
        if block.is_heading and block.headings
    ]


def _level(first: str, last: str) -> int:
    marks = _ATX.match(first)
    underlined = 1 if last.strip().startswith("=") else 2
    return len(marks[1]) if marks else underlined


def _find_heading(headings: Sequence[tuple[int, Block]], name: str) -> tuple[int, Block]:
    found = _matching(headings, name)
    if len(found) == 1:
        return found[0]
    if found:
        lines = ", ".join(str(one.start_line) for _, one in found)
        raise UsageError(
            f"the heading {name.strip()!r} occurs {len(found)} times: lines {lines}",
            "add the heading above it, as Parent#Heading, or edit the file",
        )
    names = [f"{'#' * level} {one.headings[-1]}" for level, one in headings]
    raise UsageError(
        f"no heading {name.strip()!r} in the file",
        f"the headings are: {', '.join(names[:_SHOWN_HEADINGS])}"
        if names
        else "the file has no headings",
    )


def _matching(headings: Sequence[tuple[int, Block]], name: str) -> list[tuple[int, Block]]:
    """Return the headings with this text, and this level if it begins with `#` marks."""
    marks = _ATX.match(name.strip())
    words = name.strip()[marks.end() :] if marks else name
    of_level = [(level, one) for level, one in headings if not marks or level == len(marks[1])]
    wanted = _folded(words)
    found = [(level, one) for level, one in of_level if _folded(one.headings[-1]) == wanted]
    if not found and "#" in words:
        path = tuple(_folded(part) for part in words.split("#"))
        found = [
            (level, one)
            for level, one in of_level
            if tuple(map(_folded, one.headings[-len(path) :])) == path
        ]
    return found


def _folded(words: str) -> str:
    return plain_words(words).casefold()


def read_fields(given: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Validate and normalize the fields that a caller gave.

    A field that is None was not given; an empty string or list removes the key. Dates become ISO
    8601 (`2027-02-01`, or with a time if one was given). Tags get the form that search uses
    (`project/x`, without `#`). A list may be one string: `facts` are separated by lines, other
    lists by commas. References in `supersedes` are not resolved, because that needs the index.
    Raises UsageError for unknown fields and invalid values.
    """
    read: dict[str, Any] = {}
    for option, value in given.items():
        name = _OTHER_NAMES.get(option, option)
        if name not in FIELDS:
            raise UsageError(f"unknown field {option!r}", f"the fields are: {', '.join(FIELDS)}")
        if value is not None:
            read[name] = _read(FIELDS[name], value, now)
    expires = read.get("expires")
    if expires and (last_moment(expires) or 0.0) < now.timestamp():
        raise UsageError(
            f"expires: {expires} is in the past",
            "give a future date, or leave it out: most memories never expire",
        )
    return read


def given_fields(front: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields in a frontmatter, as input for `read_fields`.

    A space separates two tags, as in notes.
    """
    fields = {name: front[name] for name in FIELDS if name in front}
    tags = front.get("tags", front.get("tag"))
    return fields if tags is None else {**fields, "tags": string_list(tags, split_spaces=True)}


def changes_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the frontmatter keys to set; None removes a key."""
    return {
        name: (list(value) if isinstance(value, tuple) else value) or None
        for name, value in fields.items()
    }


def _read(field: Field, value: Any, now: datetime) -> Any:
    name = field.name
    match field.kind:
        case "text":
            return _line(name, value)
        case "date":
            text = value.isoformat() if isinstance(value, date) else _line(name, value)
            return read_date(text, now, option=name) if text else ""
        case "choice":
            return _choice(field, value)
        case "tags":
            # Tags contain no comma: a comma in an item separates two tags.
            parts = [part for item in _items(name, value) for part in item.split(",")]
            return tuple(dict.fromkeys(tag for part in parts if (tag := normalize_tag(part))))
        case "lines" if isinstance(value, str):
            value = [_BULLET.sub("", line) for line in split_lines(value)]
    return tuple(dict.fromkeys(_items(name, value)))


def _line(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{name} must be text, not {value!r}", "give one line of text")
    return " ".join(str(value).split())


def _items(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [text for part in value.split(",") if (text := part.strip())]
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise UsageError(
            f"{name} must be a list, not {value!r}", "give a list, or a text with commas"
        )
    return [text for item in value if (text := _line(name, item))]


def _choice(field: Field, value: Any) -> str:
    text = _line(field.name, value).lower()
    if text and text not in field.choices:
        raise UsageError(
            f"{text!r} is not a valid {field.name}", f"choose one of: {', '.join(field.choices)}"
        )
    return text
