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
    kept: dict[int, list[str]] = {}  # of a line that holds a mark: the parts outside comments
    done: dict[int, int] = {}
    for (first, start), (last, end) in _comments(prose_lines):
        kept.setdefault(first, []).append(lines[first][done.get(first, 0) : start])
        result[first + 1 : last] = [""] * max(last - first - 1, 0)
        kept.setdefault(last, [])
        done[last] = end
        if first != last:
            done[first] = len(lines[first])
    for number, parts in kept.items():
        result[number] = "".join(parts) + lines[number][done[number] :]
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
