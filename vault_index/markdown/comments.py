"""Obsidian's `%%comments%%`, which are for nobody but the writer: taken out before anything else is read."""

from collections.abc import Container, Iterator, Sequence

from vault_index.markdown.code import code_spans, masked

_MARK = "%%"


def without_comments(lines: Sequence[str], code_lines: Container[int]) -> list[str]:
    """The lines with comments blanked out, as many as before. A `%%` that nothing closes is text.

    `code_lines` are the numbers (1-based) of lines that are code: what stands there is no comment.
    """
    prose = "\n".join("" if number in code_lines else line for number, line in enumerate(lines, start=1))
    prose_lines = masked(prose, code_spans(prose)).split("\n")
    result = list(lines)
    for (first, start), (last, end) in reversed(list(_comments(prose_lines))):
        tail = result[last][end:]
        if first == last:
            result[first] = result[first][:start] + tail
        else:
            result[first] = result[first][:start]
            result[first + 1 : last] = [""] * (last - first - 1)
            result[last] = tail
    return result


def _comments(lines: Sequence[str]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Line and column (0-based) where each comment begins and where it has ended."""
    opened: tuple[int, int] | None = None
    for number, line in enumerate(lines):
        position = line.find(_MARK)
        while position >= 0:
            if opened:
                yield opened, (number, position + 2)
            opened = None if opened else (number, position)
            position = line.find(_MARK, position + 2)
