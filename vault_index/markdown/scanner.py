"""Block structure of usual notes, line by line, in a tenth of markdown-it's time; what is unusual is left to it.

A block is read here only where CommonMark leaves no doubt. In doubt is whatever means something else by what stands
around it: HTML, headings underlined, definitions of links, text that goes on lazily below a list or a quotation, code
in either, indentation without need. A stretch with such a line goes to markdown-it, up to a line that begins something
new whatever it is: one at the margin below a blank one. Whether a block is a table or a paragraph need not be known
where both take the same lines.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

# What begins a text and nothing else. Linear: what a part begins with decides, and only the rest of the line is looked
# at, once.
_DELIMITER = r"(?=[^-]*-)[-:|][-:| \t]*$"  # of the head of a table
_TEXT = (
    r"(?:[^\s#`~><=|:\-+*_0-9]|#[^\s#]|`{1,2}[^`\s]|~{1,2}[^~\s]|\+\S|[*_]{1,3}[^\s*_]"
    rf"|(?!{_DELIMITER})(?:[|:]|-[^\s-])|=+[^\s=]|[0-9]+(?:[^0-9.)]|$|[.)]\S))"
)
_CONTENT = rf" {{1,4}}(?={_TEXT})"
_ITEM = rf"(?:[-+*]|[0-9]{{1,9}}[.)]){_CONTENT}"
_HEADING = r"#{1,6}(?=[ \t]|$)"
_FENCE = r"`{3,}(?=[^`]*$)|~{3,}"
_RULE = r"(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$"
_DASHES = r"(?:-[ \t]*){3,}$"  # a rule, and below a text the mark of a heading

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
"""Deeper lists may be more than markdown-it nests, which then passes over the rest of the document."""
_MOST_CELLS = 0x10000
"""A table ends where its rows lack more cells than these."""


class BlockSpan(NamedTuple):
    """Lines `start` to `end` (1-based, inclusive); of a heading also its level and its title as written."""

    start: int
    end: int
    level: int = 0
    title: str = ""


Spans = tuple[list[BlockSpan], list[range]]
"""Blocks, and the numbers of the lines that are code."""
Parse = Callable[[int, int], Spans | None]
"""What a full parser makes of the lines from a position up to another one (from 0, as in slices); None where it takes
more of them for a decision."""


def scan(lines: Sequence[str], parse: Parse) -> Spans:
    """The blocks of a document, of whose lines none holds `$$` or NUL."""
    spans: list[BlockSpan] = []
    code: list[range] = []
    at = 0
    while at < len(lines):
        line, mark = lines[at], _START.match(lines[at])
        kind = mark.lastgroup if mark else ""
        items, end = [at], at + 1
        if mark is None or (kind != "text" and _is_head(lines, at)):  # whatever it looks like, that comes first
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
            spans += [BlockSpan(one + 1, _last(lines, one, following)) for one, following in pairwise((*items, end))]
        at = end
    return spans, code


def heading_title(text: str) -> str:
    """What follows the marks of a heading, without the marks that may close it."""
    words = text.rstrip(" \t")
    bare = words.rstrip("#")
    return (bare if bare.endswith((" ", "\t")) else words).strip()


def _last(lines: Sequence[str], start: int, end: int) -> int:
    """The end of a block without the blank lines behind it."""
    while end > start and not lines[end - 1].strip():
        end -= 1
    return end


def _parsed(lines: Sequence[str], start: int, reached: int, parse: Parse) -> tuple[int, Spans]:
    """What a full parser makes of the stretch that begins at `start`, with something unusual at `reached`; and where it
    ends."""
    end, size = start, 0
    while True:
        end = max(end, reached) + 1
        while end < len(lines) and (end < start + size or not _is_new(lines, end)):
            end += 1
        if found := parse(start, min(end, len(lines))):
            return end, found
        size = 2 * (end - start)


def _is_new(lines: Sequence[str], at: int) -> bool:
    """Whether a line begins a block of its own whatever stands above, but for code and HTML that is open. What looks
    like an item is one below a list, and elsewhere may be the head of a table."""
    first = lines[at][:1]
    at_margin = first not in ("", " ", "\t") and not lines[at - 1].strip(" \t")
    return at_margin and not (first in _MARKERS and _is_head(lines, at))


def _is_head(lines: Sequence[str], at: int) -> bool:
    """Whether a line may be the head of a table, which comes before all else that it may be."""
    return "|" in lines[at] and at + 1 < len(lines) and _BELOW_HEAD.match(lines[at + 1]) is not None


# --- where a block ends: before the line that is returned; ~n where line n is unusual -------------------------------


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
            table = end == start + 1 and lines[start][0] == line[0] == "|" and _DELIMITER_LINE.match(line)
            return _table_end(lines, start) if table else ~end
        end += 1
    if lines[start][0] == "[" and any(_DEFINITION in line for line in lines[start:end]):
        return ~start
    return end


def _table_end(lines: Sequence[str], start: int) -> int:
    """Of a table whose rows all begin with a bar; if it should be none, it is a text of the same lines."""
    end = start + 2
    while end < len(lines) and (line := lines[end]).strip(" \t"):
        if line[0] != "|" or _DELIMITER_LINE.match(line) or len(lines[start]) * (end - start) > _MOST_CELLS:
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
    """With the lines where its items begin; lists that follow each other are one."""
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
        elif indent >= (width + _CODE_INDENT if below_blank else _DEEPEST) or not _IN_ITEM.match(bare):
            return items, ~at
        if _DEFINITION in line:
            return items, ~at
        below_blank = False
    return items, len(lines)
