"""Nest foreign markdown under a heading, so that it cannot affect other sections.

In a transcript each turn is a section. A heading in a turn would end the section, and an open
fence, formula, comment or HTML block would include the following turns. So headings are lowered,
and open constructs closed or escaped.
"""

import re
from collections.abc import Sequence

from vault_index.markdown.inline import code_spans, masked
from vault_index.markdown.normalize import split_lines

_HEADING = re.compile(r"( {0,3})(#{1,6})(?=[ \t]|$)")
_RULE = re.compile(r"( {0,3})-{3,}[ \t]*$")
_UNDERLINE = re.compile(r"^( {0,3})(?==+[ \t]*$|-{1,2}[ \t]*$)")
_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`]*$)|~{3,})")
_FENCE_IN_CONTAINER = re.compile(r"^(?: |\t|>|[-*+] |\d{1,9}[.)] )+(?:```|~~~)", re.MULTILINE)
_ENDLESS_HTML = re.compile(
    r"^( {0,3})(?=<(?:!|\?|(?:script|pre|style|textarea)(?:[\s>]|$)))", re.IGNORECASE
)
_MATH = re.compile(r"^( {0,3})(?=\$\$)")
_COMMENT = "%%"
_NEEDS_CARE = re.compile(
    r"^[ \t]*(?:#|```|~~~|=+[ \t]*$|-+[ \t]*$|<[!?A-Za-z]|\$\$|[-*+>\d][^\n]*(?:```|~~~))|%%|\r",
    re.MULTILINE,
)
_DEEPEST = 6


def nest(text: str, level: int) -> str:
    """Nest a text under a heading of `level`; adds a line only to close a fence."""
    if not _NEEDS_CARE.search(text):
        return text.strip("\n")
    result = _Nested(split_lines(text.strip("\r\n")), level).text()
    if _FENCE_IN_CONTAINER.search(result) and not _ends(result):
        # Only a parser can close a fence in a list, but a quotation always contains it.
        return "\n".join(f"> {line}".rstrip() for line in result.split("\n"))
    return result


class _Nested:
    """One pass over the lines."""

    def __init__(self, lines: Sequence[str], level: int) -> None:
        self._lines = lines
        highest = min(
            (len(found[2]) for line in lines if (found := _HEADING.match(line))), default=1
        )
        self._down = max(level + 1 - highest, 0)
        self._done: list[str] = []
        self._math_closes = True

    def text(self) -> str:
        fence: re.Match[str] | None = None
        math_until = -1
        for number, line in enumerate(self._lines):
            if fence is not None:
                fence = None if _closes(line, fence[2]) else fence
            elif number <= math_until or (fence := _FENCE.match(line)):
                pass
            elif _MATH.match(line) and (closing := self._end_of_math(number)) is not None:
                math_until = closing
            else:
                line = self._harmless(line)
            self._done.append(line)
        if fence is not None:
            self._done.append(fence[1] + fence[2])
        return "\n".join(self._done)

    def _harmless(self, line: str) -> str:
        if heading := _HEADING.match(line):
            marks = "#" * min(len(heading[2]) + self._down, _DEEPEST)
            return f"{heading[1]}{marks}{line[heading.end() :]}"
        if self._done and self._done[-1].strip():
            # The line would turn the paragraph above into a heading.
            if _RULE.match(line):
                return line.replace("-", "*")
            line = _UNDERLINE.sub(r"\1\\", line)
        if _COMMENT in line:
            line = _escaped_comments(line)
        return _MATH.sub(r"\1\\", _ENDLESS_HTML.sub(r"\1\\", line))

    def _end_of_math(self, start: int) -> int | None:
        """Return the line that closes a formula, or None; remember a failure for later lines."""
        first = self._lines[start].strip()
        if len(first) > len("$$") and first.endswith("$$"):
            return start
        below = range(start + 1, len(self._lines)) if self._math_closes else ()
        closing = next(
            (number for number in below if self._lines[number].rstrip().endswith("$$")), None
        )
        self._math_closes = closing is not None
        return closing


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return (
        bare.startswith(fence)
        and not bare.strip(fence[0])
        and len(line) - len(line.lstrip(" ")) <= 3
    )


def _escaped_comments(line: str) -> str:
    r"""Escape `%%` as `%\%` outside inline code, where the backslash would be visible."""
    plain = masked(line, code_spans(line))
    parts, position = [], 0
    while (found := plain.find(_COMMENT, position)) >= 0:
        parts.append(f"{line[position:found]}%\\%")
        position = found + len(_COMMENT)
    return "".join(parts) + line[position:]


def _ends(text: str) -> bool:
    """Return whether a heading after the text is parsed as a heading."""
    from vault_index.markdown.blocks import read_structure  # late: few texts need it

    return read_structure([*text.split("\n"), "", "# end"]).first_h1 == "end"
