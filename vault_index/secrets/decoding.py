r"""Decode the escapes of a text: colours, `%3D`, `=3D`, `\u003d`, `\x3d`, `&quot;`, `\/`.

An escape hides the beginning of a word or the sign of an assignment. The detector therefore reads
the lines with escapes a second time, decoded, and maps what it finds back to the original text.
"""

import html
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import NamedTuple

from vault_index.secrets.placeholders import pattern, positions


class Escape(NamedTuple):
    """A form of escapes, and how to decode it."""

    first: str
    """The first character, for a quick search."""
    marks: tuple[str, ...]
    """A text with none of these strings holds no such escape."""
    expression: str
    """The pattern; its group is the argument of `read`."""
    read: Callable[[str], str]
    """Return the decoded text."""


def _of_hex(digits: str) -> str:
    return chr(int(digits, 16))


_HEX = "([2-7][0-9a-fA-F])"
ESCAPES = (
    Escape("\x1b", (), r"\x1b[\[()][0-?]{0,40}[ -/]{0,4}([@-~])", lambda _: ""),
    Escape("\x9b", (), r"\x9b[0-?]{0,40}[ -/]{0,4}([@-~])", lambda _: ""),
    Escape("\\", (), r"\\{1,4}(?:u001[bB]|x1[bB]|033|e)\[[0-?]{0,40}([@-~])", lambda _: ""),
    # Colours without their escape character.
    Escape("[", ("[0m", "[m[K"), r"\[\d{0,3}(?:;\d{1,3}){0,9}(m)(?:\[K)?", lambda _: ""),
    Escape("%", (), "%(?:25){0,3}" + _HEX, _of_hex),
    # Mail (quoted-printable) wraps long lines.
    Escape("=", ("=3D", "=20"), "=" + _HEX, _of_hex),
    Escape("=", ("=3D", "=20"), r"(?<=[^\s=]{16})=\r?(\n)", lambda _: ""),
    Escape("\\", (), r"\\{1,8}u00" + _HEX, _of_hex),
    Escape("\\", (), r"\\{1,8}x" + _HEX, _of_hex),
    Escape("\\", (), r"\\{1,8}0?((?:0[4-7]|1[0-7])[0-7])", lambda digits: chr(int(digits, 8))),
    Escape("\\", (), r"\\{1,8}(/)", str),
    # Properties of Java.
    Escape("\\", (), r"(?<=\w)\\{1,2}([:=#!])(?=\w)", str),
    Escape("\\", (), r"\\{2,8}([\"'])", str),
    # A line continued on the next one.
    Escape("\\", ("\\\n",), r"(?<=[\w+/=-]{12})\\(\n)[ \t]{0,8}(?=[\w+/=]{12})", lambda _: ""),
    Escape("'", ("'\\''",), r"'\\'(')", str),
    # HTML forms write a blank as `+`.
    Escape(
        "+",
        ("%",),
        r"((?:(?<=%[2-7][0-9A-F])|(?<=[Bb]asic)|(?<=[Bb]earer))\+|\+(?=%[2-7]))",
        lambda _: " ",
    ),
    Escape("\xa0", (), "(\xa0)", lambda _: ""),
    Escape(
        "&",
        (),
        r"&(?:amp;){0,3}(#x?[0-9a-fA-F]{2,5}|[a-z]{2,6});",
        lambda name: html.unescape(f"&{name};"),
    ),
)
_BY_FIRST = [
    (first, [row for row in ESCAPES if row.first == first])
    for first in dict.fromkeys(row.first for row in ESCAPES)
]
_GAP = "\n\0\n"
"""Replaces lines without escapes. No credential spans it."""


class Decoded(NamedTuple):
    """The decoded lines of a text, and where they come from."""

    text: str
    places: list[int]
    """Start of each piece in `text`, in order."""
    spans: list[tuple[int, int]]
    """Start of each piece in the original text, and its end if it is an escape, else -1."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return start and end in the original text."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, at: int) -> tuple[int, int]:
        piece = bisect_right(self.places, at) - 1
        start, end = self.spans[piece]
        return (
            (start, end)
            if end >= 0
            else (start + at - self.places[piece], start + at - self.places[piece] + 1)
        )


def decoded(text: str) -> Decoded | None:
    """Return the lines with escapes, decoded, or None if there are none."""
    pieces: list[str] = []
    places: list[int] = []
    spans: list[tuple[int, int]] = []
    length = done = until = 0  # of the decoded text, of the read text, and the end of the line

    def add(piece: str, start: int, end: int = -1) -> None:
        nonlocal length
        pieces.append(piece)
        places.append(length)
        spans.append((start, end))
        length += len(piece)

    for start, end, said in sorted(_escapes(text)):
        if start >= until:
            add(text[done:until], done)
            line = text.rfind("\n", until, start) + 1
            if line > until + 1:
                add(_GAP, until, line)
            done = line if line > until + 1 else until
        add(text[done:start], done)
        add(said, start, end)
        done = end
        if done > until:
            until = text.find("\n", done)
            until = len(text) if until < 0 else until
    add(text[done:until], done)
    return Decoded("".join(pieces), places, spans) if done else None


def _escapes(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and decoded text of each escape, in the order of the table."""
    for wrapped in pattern("<WRAPPED>").finditer("\n" + text):
        yield wrapped.end(1) - 1, wrapped.end(1), ""
    for first, rows in _BY_FIRST:
        here = first in text and [
            row for row in rows if not row.marks or any(mark in text for mark in row.marks)
        ]
        if not here:
            continue
        expression, done = pattern("|".join(row.expression for row in here)), 0
        for place in positions(first, text):
            match = expression.match(text, place) if place >= done else None
            if match and match.lastindex:
                done = match.end()
                yield place, done, here[match.lastindex - 1].read(match[match.lastindex])
