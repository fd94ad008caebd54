"""Read the block structure of markdown, by the scanner, by markdown-it, or line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING

from vault_index.markdown.inline import plain_words
from vault_index.markdown.scanner import BlockSpan, Spans, heading_title, scan
from vault_index.models import Block, Fault

if TYPE_CHECKING:  # takes 50 ms, and most notes do not need it
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

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
                title = tokens[at + 1].content if level else ""
                yield BlockSpan(filled[0], filled[-1], level, title)


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
