"""Read the block structure of markdown, by the scanner, by markdown-it, or line by line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from vault_index.markdown.inline import plain_words
from vault_index.models import Block, Fault

if TYPE_CHECKING:  # takes 50 ms, and most notes do not need it
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

# The beginning of a paragraph and of nothing else. Linear: the first characters decide, and the
# rest of the line is read once.
_DELIMITER = r"(?=[^-]*-)[-:|][-:| \t]*$"  # below a table's head
_TEXT = (
    r"(?:[^\s#`~><=|:\-+*_0-9]|#[^\s#]|`{1,2}[^`\s]|~{1,2}[^~\s]|\+\S|[*_]{1,3}[^\s*_]"
    rf"|(?!{_DELIMITER})(?:[|:]|-[^\s-])|=+[^\s=]|[0-9]+(?:[^0-9.)]|$|[.)]\S))"
)
_CONTENT = rf" {{1,4}}(?={_TEXT})"
_ITEM = rf"(?:[-+*]|[0-9]{{1,9}}[.)]){_CONTENT}"
_HEADING_MARK = r"#{1,6}(?=[ \t]|$)"
_FENCE_MARK = r"`{3,}(?=[^`]*$)|~{3,}"
_RULE = r"(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$"
_DASHES = r"(?:-[ \t]*){3,}$"  # a rule, or below text the underline of a heading

_START = re.compile(
    rf"(?P<text>{_TEXT})|(?P<heading>{_HEADING_MARK})|(?P<fence>{_FENCE_MARK})|(?P<rule>{_RULE}|{_DASHES})"
    rf"|(?P<list>{_ITEM})|(?P<quote>>)"
)
_DELIMITER_LINE = re.compile(_DELIMITER)
_BELOW_HEAD = re.compile(rf" {{0,3}}{_DELIMITER}")
_TEXT_GOES_ON = re.compile(rf" {{4}}| {{0,3}}\t| {{0,3}}{_TEXT}")
_TEXT_ENDS = re.compile(
    rf"{_HEADING_MARK}|{_FENCE_MARK}|{_RULE}|>|(?:[-+*]|0{{0,8}}1[.)]){_CONTENT}"
)
_NEXT_ITEM = re.compile(rf" {{0,3}}{_ITEM}")
_IN_ITEM = re.compile(rf"(?:(?:[-+*]|[0-9]{{1,9}}[.)])(?: {{1,4}}|\t))?{_TEXT}")
_LIST_ENDS = re.compile(rf"{_HEADING_MARK}|{_FENCE_MARK}|{_RULE}|{_DASHES}|>")
_QUOTED = re.compile(rf">(?: {{0,4}}(?:{_ITEM})?(?:{_TEXT}|{_HEADING_MARK})|[ \t]*$)")
_QUOTE_ENDS = re.compile(rf"{_HEADING_MARK}|{_FENCE_MARK}|{_RULE}|{_DASHES}|{_ITEM}")

_DEFINITION = "]:"
_MARKERS = "-+*0123456789"
_CODE_INDENT = 4
_DEEPEST_INDENT = 16
"""Deepest indentation, because markdown-it drops what follows if lists nest too deeply."""
_MOST_CELLS = 0x10000
"""Maximum number of missing cells, after which a table ends in markdown-it."""
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
MATH = "math_block"
VERBATIM = frozenset({"fence", "code_block", MATH})
DOLLARS = "$$"
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_DEEPEST = 18
"""Token level just above the depth at which markdown-it drops the rest of the document."""
MAX_LINES = 150_000
"""Maximum number of lines to parse (about 10 MB), to limit the memory of the tokens."""

_MAX_HEADINGS = 20_000
"""Maximum number of headings, because each makes a chunk."""


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
    """Return the blocks of a document without `$$` and NUL.

    It takes less than half of markdown-it's time. It handles a block only if it is unambiguous in
    CommonMark. Ambiguous are HTML, underlined headings, link definitions, lazy continuation lines
    of lists and quotations, code in these, and unneeded indentation. Such a part goes to `parse`
    (markdown-it), up to the next unindented line below a blank one, which always begins a new
    block. A table need not be distinguished from a paragraph if both have the same lines.
    """
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
    width, below_blank = _DEEPEST_INDENT, False
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
        elif indent >= (
            width + _CODE_INDENT if below_blank else _DEEPEST_INDENT
        ) or not _IN_ITEM.match(bare):
            return items, ~at
        if _DEFINITION in line:
            return items, ~at
        below_blank = False
    return items, len(lines)


@dataclass(frozen=True, slots=True)
class Structure:
    """The blocks of a document."""

    blocks: tuple[Block, ...]
    first_h1: str
    code_lines: frozenset[int]
    """Numbers of code and formula lines, which contain no comments, tags or links."""
    faults: tuple[Fault, ...] = ()


def read_structure(lines: Sequence[str]) -> Structure:
    """Read the blocks of a document, in which the caller blanked out the frontmatter.

    A text too long or nested too deeply for markdown-it is read by a plain splitter, with a fault.
    """
    if len(lines) > MAX_LINES:
        return read_lines(lines, f"more than {MAX_LINES:,} lines")
    text = "\n".join(lines)
    try:
        if DOLLARS in text or "\0" in text:
            tokens = _parser(with_math=True).parse(text)
            spans, code = list(_spans(tokens, lines)), _code(tokens)
        else:
            spans, code = scan(lines, partial(parsed, lines))
    except RecursionError:
        return read_lines(lines, "nested too deeply")
    return _structure(spans, lines, frozenset(number for block in code for number in block))


def parsed(lines: Sequence[str], start: int, end: int) -> Spans | None:
    """Parse a slice of the lines by markdown-it; None if its last block may continue after it."""
    tokens = _parser(with_math=False).parse("\n".join((*lines[start:end], "")))
    if end < len(lines) and tokens:
        last = tokens[-1]
        open_end = last.type in ("fence", "html_block") and last.map and last.map[1] >= end - start
        if open_end or any(token.level >= _DEEPEST for token in tokens):
            return None
    return list(_spans(tokens, lines, start)), _code(tokens, start)


def _code(tokens: Iterable[Token], before: int = 0) -> list[range]:
    maps = (token.map for token in tokens if token.map and token.type in VERBATIM)
    return [range(before + first + 1, before + last + 1) for first, last in maps]


def read_lines(lines: Sequence[str], reason: str = "") -> Structure:
    """Read only headings, code and paragraphs, in a tenth of the time; `reason` adds a fault."""
    spans, code_lines = plain_spans(lines)
    fault = Fault("markdown", f"{reason}: read only headings, code and paragraphs", line=1)
    return _structure(spans, lines, code_lines, (fault,) if reason else ())


@cache
def _parser(with_math: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    if with_math:
        interrupts = ["paragraph", "reference", "blockquote", "list"]
        parser.block.ruler.before("fence", MATH, math_block, {"alt": interrupts})
    return parser


def math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse `$$ … $$` from the start of a line to the end of a line; unclosed `$$` is text."""
    position = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith(DOLLARS, position) or state.is_code_block(start):
        return False
    # After a failed search down to `end`, a later start cannot succeed.
    failed = f"{MATH} {end}"
    if start >= state.env.get(failed, end):
        return False
    last = start
    rest = state.src[position + len(DOLLARS) : state.eMarks[start]]
    while not rest.rstrip().endswith(DOLLARS):
        last += 1
        if last >= end or (state.sCount[last] < state.blkIndent and not state.isEmpty(last)):
            state.env[failed] = start
            return False
        rest = state.src[state.bMarks[last] : state.eMarks[last]]
    if not silent:
        state.line = last + 1
        token = state.push(MATH, "math", 0)
        token.map = [start, last + 1]
        token.content = state.getLines(start, last + 1, state.blkIndent, False)
    return True


def _structure(
    spans: Sequence[BlockSpan],
    lines: Sequence[str],
    code_lines: frozenset[int],
    faults: tuple[Fault, ...] = (),
) -> Structure:
    blocks: list[Block] = []
    path: list[tuple[int, str]] = []
    headings: tuple[str, ...] = ()
    first_h1 = ""
    count = 0
    for span in _with_gaps(spans, lines):
        count += span.level > 0
        is_heading = span.level > 0 and count <= _MAX_HEADINGS
        if is_heading:
            words = plain_words(span.title)
            first_h1 = first_h1 or (words if span.level == 1 else "")
            while path and path[-1][0] >= span.level:
                path.pop()
            path.append((span.level, words))
            headings = tuple(title for _, title in path if title)
        text = "\n".join(lines[span.start - 1 : span.end])
        blocks.append(Block(span.start, span.end, text, headings, is_heading))
    if count > _MAX_HEADINGS:
        faults = (*faults, Fault("markdown", f"ignored headings after {_MAX_HEADINGS:,}", line=1))
    return Structure(tuple(blocks), first_h1, code_lines, faults)


def _spans(tokens: Sequence[Token], lines: Sequence[str], before: int = 0) -> Iterator[BlockSpan]:
    """Yield top-level blocks and items of top-level lists; `before` lines precede the text."""
    in_list = False
    for at, token in enumerate(tokens):
        is_top = token.level == 0 and token.nesting >= 0
        if is_top:
            in_list = token.type in _LISTS
        is_item = in_list and token.level == 1 and token.type == "list_item_open"
        if token.map and (is_item or (is_top and not in_list)):
            # Without the blank lines that markdown-it includes in list items.
            numbers = range(before + token.map[0] + 1, min(before + token.map[1], len(lines)) + 1)
            filled = [number for number in numbers if lines[number - 1].strip()]
            level = int(token.tag[1:]) if token.type == "heading_open" else 0
            if filled:
                yield BlockSpan(
                    filled[0], filled[-1], level, tokens[at + 1].content if level else ""
                )


def _with_gaps(spans: Iterable[BlockSpan], lines: Sequence[str]) -> Iterator[BlockSpan]:
    """Yield the spans, and spans for lines without a token (link definitions)."""
    position = 0
    for span in (*spans, BlockSpan(len(lines) + 1, len(lines))):
        gap = range(position + 1, span.start)
        for is_filled, run in groupby(gap, key=lambda number: bool(lines[number - 1].strip())):
            if is_filled:
                numbers = list(run)
                yield BlockSpan(numbers[0], numbers[-1])
        if position < span.start <= span.end:
            yield span
        position = max(position, span.end)


def plain_spans(lines: Sequence[str]) -> tuple[list[BlockSpan], frozenset[int]]:
    """Return the blocks, and the numbers (from 1) of code lines."""
    spans: list[BlockSpan] = []
    code_lines: set[int] = set()
    start: int | None = None
    fence = ""

    def close(end: int) -> None:
        nonlocal start
        if start is not None:
            spans.append(BlockSpan(start, end))
            start = None

    for number, line in enumerate(lines, start=1):
        if fence:
            code_lines.add(number)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
                close(number)
        elif mark := _FENCE.match(line):
            close(number - 1)
            fence, start = mark[1], number
            code_lines.add(number)
        elif not line.strip():
            close(number - 1)
        elif "#" in line[:4] and len(line) < 10_000 and (heading := _HEADING.match(line)):
            close(number - 1)
            spans.append(
                BlockSpan(number, number, len(heading[1]), heading_title(line[heading.end() :]))
            )
        elif start is None:
            start = number
    close(len(lines))
    return spans, frozenset(code_lines)
