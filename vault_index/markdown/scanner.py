"""Scan the blocks of usual notes in a tenth of markdown-it's time, and leave unusual parts to it.

The scanner handles a block only if it is unambiguous in CommonMark. Ambiguous are HTML, underlined
headings, link definitions, lazy continuation lines of lists and quotations, code in these, and
unneeded indentation. Such a part goes to markdown-it, up to the next unindented line below a blank
one, which always begins a new block. A table need not be distinguished from a paragraph if both
have the same lines.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

# The beginning of a paragraph and of nothing else. Linear: the first characters decide, and the
# rest of the line is read once.
_DELIMITER = r"(?=[^-]*-)[-:|][-:| \t]*$"  # below a table's head
_TEXT = (
    r"(?:[^\s#`~><=|:\-+*_0-9]|#[^\s#]|`{1,2}[^`\s]|~{1,2}[^~\s]|\+\S|[*_]{1,3}[^\s*_]"
    rf"|(?!{_DELIMITER})(?:[|:]|-[^\s-])|=+[^\s=]|[0-9]+(?:[^0-9.)]|$|[.)]\S))"
)
_CONTENT = rf" {{1,4}}(?={_TEXT})"
_ITEM = rf"(?:[-+*]|[0-9]{{1,9}}[.)]){_CONTENT}"
_HEADING = r"#{1,6}(?=[ \t]|$)"
_FENCE = r"`{3,}(?=[^`]*$)|~{3,}"
_RULE = r"(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$"
_DASHES = r"(?:-[ \t]*){3,}$"  # a rule, or below text the underline of a heading

_START = re.compile(
    rf"(?P<text>{_TEXT})|(?P<heading>{_HEADING})|(?P<fence>{_FENCE})|(?P<rule>{_RULE}|{_DASHES})"
    rf"|(?P<list>{_ITEM})|(?P<quote>>)"
)
_DELIMITER_LINE = re.compile(_DELIMITER)
_BELOW_HEAD = re.compile(rf" {{0,3}}{_DELIMITER}")
_TEXT_GOES_ON = re.compile(rf" {{4}}| {{0,3}}\t| {{0,3}}{_TEXT}")
_TEXT_ENDS = re.compile(rf"{_HEADING}|{_FENCE}|{_RULE}|>|(?:[-+*]|0{{0,8}}1[.)]){_CONTENT}")
_NEXT_ITEM = re.compile(rf" {{0,3}}{_ITEM}")
_IN_ITEM = re.compile(rf"(?:(?:[-+*]|[0-9]{{1,9}}[.)])(?: {{1,4}}|\t))?{_TEXT}")
_LIST_ENDS = re.compile(rf"{_HEADING}|{_FENCE}|{_RULE}|{_DASHES}|>")
_QUOTED = re.compile(rf">(?: {{0,4}}(?:{_ITEM})?(?:{_TEXT}|{_HEADING})|[ \t]*$)")
_QUOTE_ENDS = re.compile(rf"{_HEADING}|{_FENCE}|{_RULE}|{_DASHES}|{_ITEM}")

_DEFINITION = "]:"
_MARKERS = "-+*0123456789"
_CODE_INDENT = 4
_DEEPEST = 16
"""Deepest indentation, because markdown-it drops what follows if lists nest too deeply."""
_MOST_CELLS = 0x10000
"""Maximum number of missing cells, after which a table ends in markdown-it."""


class BlockSpan(NamedTuple):
    """Lines `start` to `end` (from 1, inclusive); for a heading, also its level and raw title."""

    start: int
    end: int
    level: int = 0
    title: str = ""


Spans = tuple[list[BlockSpan], list[range]]
"""Blocks, and the line numbers of code."""
Parse = Callable[[int, int], Spans | None]
"""Parses a slice of the lines (from 0); returns None if it needs more lines to decide."""


def scan(lines: Sequence[str], parse: Parse) -> Spans:
    """Return the blocks of a document without `$$` and NUL."""
    spans: list[BlockSpan] = []
    code: list[range] = []
    at = 0
    while at < len(lines):
        line, mark = lines[at], _START.match(lines[at])
        kind = mark.lastgroup if mark else ""
        items, end = [at], at + 1
        if mark is None or (kind != "text" and _is_head(lines, at)):  # a table has precedence
            end = ~at if line.strip(" \t") else end
        elif kind == "text":
            end = _text_end(lines, at)
        elif kind == "list":
            items, end = _list_end(lines, at)
        elif kind == "quote":
            end = _quote_end(lines, at)
        elif kind == "fence":
            end = _fence_end(lines, at, mark[0])
            code.append(range(at + 1, end + 1))
        if end < 0:
            end, found = _parsed(lines, at, ~end, parse)
            spans += found[0]
            code += found[1]
        elif kind == "heading":
            spans.append(BlockSpan(end, end, len(mark[0]), heading_title(line[len(mark[0]) :])))  # type: ignore[index]
        elif kind:
            spans += [
                BlockSpan(one + 1, _last(lines, one, following))
                for one, following in pairwise((*items, end))
            ]
        at = end
    return spans, code


def heading_title(text: str) -> str:
    """Return the title after the marks of a heading, without closing marks."""
    words = text.rstrip(" \t")
    bare = words.rstrip("#")
    return (bare if bare.endswith((" ", "\t")) else words).strip()


def _last(lines: Sequence[str], start: int, end: int) -> int:
    """Return the end of a block without its trailing blank lines."""
    while end > start and not lines[end - 1].strip():
        end -= 1
    return end


def _parsed(lines: Sequence[str], start: int, reached: int, parse: Parse) -> tuple[int, Spans]:
    """Parse the part from `start`, with an unusual line at `reached`; return its end and blocks."""
    end, size = start, 0
    while True:
        end = max(end, reached) + 1
        while end < len(lines) and (end < start + size or not _is_new(lines, end)):
            end += 1
        if found := parse(start, min(end, len(lines))):
            return end, found
        size = 2 * (end - start)


def _is_new(lines: Sequence[str], at: int) -> bool:
    """Return whether a line begins a new block, unless code or HTML is open.

    A line like a list item may be the head of a table.
    """
    first = lines[at][:1]
    at_margin = first not in ("", " ", "\t") and not lines[at - 1].strip(" \t")
    return at_margin and not (first in _MARKERS and _is_head(lines, at))


def _is_head(lines: Sequence[str], at: int) -> bool:
    """Return whether a line may be the head of a table, which has precedence."""
    return "|" in lines[at] and at + 1 < len(lines) and _BELOW_HEAD.match(lines[at + 1]) is not None


# --- block ends: each function returns the exclusive end, or ~n if line n is unusual --------------


def _fence_end(lines: Sequence[str], start: int, fence: str) -> int:
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if fence in line:
            bare = line.lstrip(" ")
            if (
                bare.startswith(fence)
                and len(line) - len(bare) < _CODE_INDENT
                and not bare.lstrip(fence[0]).strip(" \t")
            ):
                return at + 1
    return len(lines)


def _text_end(lines: Sequence[str], start: int) -> int:
    end = start + 1
    while end < len(lines) and (line := lines[end]):
        if not line.strip():
            if line.strip(" \t"):
                return ~end
            break
        if not _TEXT_GOES_ON.match(line):
            if _TEXT_ENDS.match(line):
                break
            table = (
                end == start + 1
                and lines[start][0] == line[0] == "|"
                and _DELIMITER_LINE.match(line)
            )
            return _table_end(lines, start) if table else ~end
        end += 1
    if lines[start][0] == "[" and any(_DEFINITION in line for line in lines[start:end]):
        return ~start
    return end


def _table_end(lines: Sequence[str], start: int) -> int:
    """Return the end of a table with a bar before each row; as a paragraph it ends there, too."""
    end = start + 2
    while end < len(lines) and (line := lines[end]).strip(" \t"):
        if (
            line[0] != "|"
            or _DELIMITER_LINE.match(line)
            or len(lines[start]) * (end - start) > _MOST_CELLS
        ):
            return ~end
        end += 1
    return end


def _quote_end(lines: Sequence[str], start: int) -> int:
    end = start
    while end < len(lines) and (line := lines[end]).strip(" \t"):
        if not _QUOTED.match(line):
            return end if _QUOTE_ENDS.match(line) else ~end
        end += 1
    return end


def _list_end(lines: Sequence[str], start: int) -> tuple[list[int], int]:
    """Return the first lines of the items, and the end; consecutive lists count as one."""
    items: list[int] = []
    width, below_blank = _DEEPEST, False
    for at in range(start, len(lines)):
        line = lines[at]
        if not line.strip():
            if line.strip(" \t"):
                return items, ~at
            below_blank = True
            continue
        bare = line.lstrip(" \t")
        indent = len(line) - len(bare)
        if "\t" in line[:indent]:
            indent = len(line[:indent].expandtabs(4))
        if indent < width and (item := _NEXT_ITEM.match(line)):
            items.append(at)
            width = item.end()
        elif indent < width:
            over = not indent and (_is_new(lines, at) or _LIST_ENDS.match(line))
            return items, at if over else ~at
        elif indent >= (width + _CODE_INDENT if below_blank else _DEEPEST) or not _IN_ITEM.match(
            bare
        ):
            return items, ~at
        if _DEFINITION in line:
            return items, ~at
        below_blank = False
    return items, len(lines)
