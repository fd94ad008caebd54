"""A splitter for what markdown-it cannot take: headings, fences and runs of lines, in one pass over any text."""

import re
from collections.abc import Sequence

from vault_index.markdown.spans import BlockSpan

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")


def plain_spans(lines: Sequence[str]) -> tuple[list[BlockSpan], frozenset[int]]:
    """The blocks, and the numbers (1-based) of the lines that are code."""
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
            spans.append(BlockSpan(number, number, len(heading[1]), _words(line[heading.end() :])))
        elif start is None:
            start = number
    close(len(lines))
    return spans, frozenset(code_lines)


def _words(text: str) -> str:
    """Of a heading, without the marks that may close it."""
    words = text.rstrip(" \t")
    bare = words.rstrip("#")
    return (bare if bare.endswith((" ", "\t")) else words).strip()
