"""Random markdown, and the comparison of the line scanner's blocks with those of markdown-it."""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from vault_index.markdown.blocks import DOLLARS, Spans, parsed, scan
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.normalize import split_lines

_INDENTS = [
    "", "", "", " ", "  ", "   ", "    ", "     ", "      ", "\t", " \t", "  \t", "\t\t",
    "        ", "                  ",
]  # fmt: skip
_MARKS = [
    "", "", "", "- ", "* ", "+ ", "-", "*", "1. ", "2. ", "1) ", "01. ", "10. ", "123456789. ",
    "1234567890. ", "-\t", "-  ", "-     ", "-    ", "1.", "- - ", "- 1. ", "> ", ">", ">> ",
    ">     ", ">\t", "# ", "## ", "#", "#######", "#### ", "- [ ] ", "- [x] ",
]  # fmt: skip
_TEXTS = [
    "text", "a b c", "[a]: b", "[a]:", "[foo", "]: url", "b]: c 'd", "[x](y)", "[[w]]", "# h",
    "## h ##", "#tag", "```", "````", "```py", "``` a`b", "~~~", "~~~~ x", "~~", "`code`", "``x``",
    "---", "***", "___", "- - -", "* * *", "_ _ _", "--", "===", "=", "== x ==", "==hl==",
    "| a | b |", "|---|---|", "| - | - |", "|-|", "--|--", ":--|--:", "|", "| |", "a | b", "<div>",
    "</div>", "<br>", "<!-- c -->", "<!--", "-->", "<pre>", "</pre>", "<script>", "</script>",
    "<b>x</b>", "<https://a.b>", "<?", "?>", "<!X", ">", "<![CDATA[", "]]>", "\\", "\\# x",
    "**b** c", "*i* c", "_i_", "*", "**", "+", "+x", "-x", "--x", "1", "12", "1.5 x", "1.) x",
    "2024-01-01", "3) x", "\u00a0", "\u00a0x", "\x0c", "\u2028x", ":", "::: note", ":smile:", "$x$",
    "!", "![i](j)", "(x)", '"q"', "'t'", "[^1]: note", "'title'", '"title', 'end"', "\u4e00\u4e8c",
    "\ud800", "x\\", "&amp;", "text  ", "text\t", "  ",
]  # fmt: skip
_ENDS = [
    "", "", " ", "  ", "\t", " x", " #", "|",
]  # fmt: skip
_USUAL = [
    "```", "~~~", "- a", "- b", "  c", "text", "", "", "", "", "# h", "1. a", "2. b", "> q",
    "| a | b |", "|---|---|", "    code", "<div>", "---", "   - x", "\t- y",
]  # fmt: skip


def random_lines(source: random.Random) -> list[str]:
    """A document of at most forty lines."""
    return [_line(source) for _ in range(source.choice([2, 3, 4, 6, 10, 20, 40]))]


def _line(source: random.Random) -> str:
    kind = source.random()
    if kind < 0.45:
        return source.choice(_USUAL) if kind > 0.22 else ""
    twice = source.choice(_MARKS) if kind > 0.92 else ""
    return "".join((*map(source.choice, (_INDENTS, _MARKS)), twice, *map(source.choice, (_TEXTS, _ENDS))))


def difference(lines: Sequence[str]) -> str:
    """Return the first difference; empty if there is none. Blank lines count as code in neither."""
    if any(DOLLARS in line or "\0" in line for line in lines):
        return ""  # the scanner is not asked
    try:
        expected = whole(lines)
    except RecursionError:
        return ""
    found = scan(lines, partial(parsed, lines))
    for ours, theirs in zip(_said(found, lines), _said(expected, lines), strict=True):
        if wrong := sorted(set(ours) ^ set(theirs), key=str):
            return f"{wrong[0]}: {'scanner' if wrong[0] in ours else 'markdown-it'} alone"
    return ""


def whole(lines: Sequence[str]) -> Spans:
    """What markdown-it makes of a document."""
    found = parsed(lines, 0, len(lines))
    assert found is not None
    return found


def _said(spans: Spans, lines: Sequence[str]) -> tuple[Sequence[tuple[object, ...]], Sequence[tuple[int]]]:
    code = (number for block in spans[1] for number in block if number <= len(lines))
    return spans[0], [(number,) for number in code if lines[number - 1].strip()]


def documents(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Markdown files with their lines, the frontmatter blanked out."""
    for file in sorted(folder.rglob("*.md")):
        lines = split_lines(file.read_text("utf-8", "replace").removeprefix("\ufeff"))
        front = read_frontmatter(lines).lines
        yield str(file), [""] * front + lines[front:]
