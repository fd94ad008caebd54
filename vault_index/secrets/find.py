"""Find and redact credentials.

The table is our own, because maintained rules find less. The 221 patterns of gitleaks (July 2026)
with RE2 and its allowlists missed 104 of 150 samples at 3.4 MB/s; detect-secrets 1.5 reads 2 MB/s.
docs/privacy.md lists what is found, docs/reliability.md the error rates.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from vault_index.secrets.assignments import WEAK, assignments, placed
from vault_index.secrets.forms import ADDRESSES, FORMS, LONGEST_BEFORE, Form
from vault_index.secrets.placeholders import (
    Found,
    is_random,
    occurrences,
    pattern,
    positions,
    stands_for_another,
)

# A mark with an attribute begins a private part even if the mark does not end, because a missed
# mark would publish it. Pages and tools write `<` as an entity or an escape.
_LESS, _MORE = (
    rf"(?:{sign}|&(?:amp;)?(?:{name}|#0*{ord(sign)}|#x0*{ord(sign):x});"
    rf"|\\u00{ord(sign):x}|%{ord(sign):x})"
    for sign, name in (("<", "lt"), (">", "gt"))
)
_PRIVATE = re.compile(
    rf"(?P<close>{_LESS}\s{{0,9}}/\s{{0,9}}private(?:\s(?:(?!{_LESS})[^>]){{0,999}}?)?{_MORE})"
    rf"|{_LESS}\s{{0,9}}private(?:{_MORE}|\s(?:(?!{_LESS})[^>]){{0,999}}?{_MORE}"
    r"|\s{1,99}[\w:-]{1,99}\s{0,99}=)",
    re.IGNORECASE,
)
_LONG = 16
"""Minimum length of the first line of a wrapped token, in characters."""
_LITERALS = tuple((form, literal) for form in FORMS for literal in form.literals or ("",))

_LONG_RUN = b"a" * 20
# Maps a byte to `a` if it can be part of a token, else to a blank; `?` replaced what is not ASCII.
_KINDS = bytes(
    ord("a" if 32 < byte < 127 and chr(byte) not in "?\"'`<>()[]{},;" else " ")
    for byte in range(256)
)
_LONGEST_KEY = 100_000


@dataclass(frozen=True, slots=True)
class Secret:
    """The position of a credential, without the credential itself."""

    kind: str
    """Plain words with an article: `an AWS access key`."""
    line: int
    """Line number, from 1."""
    start: int
    end: int

    @property
    def weak(self) -> bool:
        """Whether only its name shows that it is a credential."""
        return self.kind.startswith(WEAK)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the credentials of a text, in order and without overlaps.

    A position covers the value behind a name, and the password in a URL.
    """
    found = _found(text)
    if other := decoded(text):
        found += [(kind, *other.span(start, end)) for kind, start, end in _found(other.text)]
    secrets: list[Secret] = []
    line, counted = 1, 0
    for _, kind, start, end in _united(found):
        line += text.count("\n", counted, start)
        counted = start
        secrets.append(Secret(kind, line, start, end))
    return tuple(secrets)


def _found(text: str) -> list[Found]:
    # Tokens are ASCII, which is fastest to search. Each character keeps its position: only `İ` has
    # two characters in lower case.
    plain = text.encode("ascii", "replace").decode("ascii")
    # A kind that `redact` wrote is no name.
    folded = re.sub(
        r"\[redacted: an? [a-z ]+\]",
        lambda mark: "*" * len(mark[0]),
        text.replace("İ", "i").lower(),
    )
    hits = [*occurrences(folded)]
    found = [
        *private_keys(plain),
        *tokens(plain),
        *assignments(text, folded, hits),
        *placed(text, hits),
    ]
    return [*found, *_continued(text, found)]


def _continued(text: str, found: list[Found]) -> Iterator[Found]:
    """Yield each token that a terminal or mail program wrapped, with its other lines."""
    for kind, start, end in found:
        ends_line = end - start >= _LONG and text[end : end + 1] in ("\r", "\n")
        rest = (
            pattern("<CONTINUED>").match(text, end)
            if ends_line and is_random(text[start:end])
            else None
        )
        if rest and is_random("".join(rest[0].split())):
            yield kind, start, rest.end()


def _united(found: list[Found]) -> list[tuple[int, str, int, int]]:
    """Join overlapping credentials. The first found, a form before a name, gives the kind."""
    united: list[tuple[int, str, int, int]] = []
    for order, (kind, start, end) in sorted(enumerate(found), key=lambda item: item[1][1]):
        if united and start < united[-1][3]:
            rank, known, start, until = united.pop()
            end = max(end, until)
            (_, order), kind = min(
                ((one[1].startswith(WEAK), one[0]), one[1])
                for one in ((order, kind), (rank, known))
            )
        united.append((order, kind, start, end))
    return united


def redact(text: str) -> tuple[str, int]:
    """Replace each credential by `[redacted: KIND]`, keep all lines, and count them."""
    secrets = find_secrets(text)
    pieces, end = [], 0
    for secret in secrets:
        breaks = pattern(r"[^\r\n]+").sub("", text[secret.start : secret.end])
        pieces += [text[end : secret.start], f"[redacted: {secret.kind}]", breaks]
        end = secret.end
    return "".join((*pieces, text[end:])), len(secrets)


def drop_private(text: str) -> str:
    """Drop `<private>…</private>`, also nested. A mark without an end drops the rest."""
    pieces, end, depth = [], 0, 0
    for mark in _PRIVATE.finditer(text):
        if not mark["close"]:
            if depth == 0:
                pieces.append(text[end : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
            end = mark.end()
    return "".join((*pieces, text[end:] if depth == 0 else ""))


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
    r"""Return the lines with escapes, decoded, or None if there are none.

    Escapes are colours, `%3D`, `=3D`, `\u003d`, `\x3d`, `&quot;`, `\/`. An escape hides the
    beginning of a word or the sign of an assignment. The detector therefore reads these lines a
    second time, decoded, and maps what it finds back to the original text.
    """
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


def tokens(text: str) -> Iterator[Found]:
    """Yield each credential with a known form, in no order. The text is ASCII."""
    places, starts, words = _long_words(text)
    # Most texts hold none of the literals, so check them before any call.
    for form, literal in (
        [(form, literal) for form, literal in _LITERALS if literal in words] if words else ()
    ):
        for start, end in _matches(form, literal, words):
            word = bisect_right(starts, start) - 1
            shift = places[word] - starts[word]
            yield form.kind, start + shift, end + shift
    for form in ADDRESSES:
        for start, end in _matches(form, form.literals[0], text):
            yield form.kind, start, end


def _long_words(text: str) -> tuple[list[int], list[int], str]:
    """Return the words that may hold a token: starts in the text, starts in the result, result."""
    # A search in bytes of two kinds is several times faster than one for words.
    kinds = text.encode("ascii").translate(_KINDS)
    places, starts, words, length = [], [], [], 0
    random = pattern("<RANDOM>")
    place = kinds.find(_LONG_RUN)
    while place >= 0:
        end = kinds.find(b" ", place)
        end = len(text) if end < 0 else end
        if random.search(text, place, end):
            places.append(place)
            starts.append(length)
            words.append(text[place:end])
            length += end - place + 1
        place = kinds.find(_LONG_RUN, end)
    return places, starts, " ".join(words)


def _matches(form: Form, literal: str, text: str) -> Iterator[tuple[int, int]]:
    expression = pattern(form.expression)
    places = (
        positions(literal, text)
        if literal
        else (match.start() for match in expression.finditer(text))
    )
    done = 0
    for place in places:
        match = expression.match(text, place) if place >= done else None
        if not match:
            continue
        start, end = match.span(match.lastindex or 0)
        if form.before:
            head = pattern(form.before + r"\Z").search(text, max(start - LONGEST_BEFORE, 0), start)
            start = head.start() if head else -1
        if start >= 0 and not stands_for_another(text[start:end]):
            yield start, end
        done = end


def private_keys(text: str) -> Iterator[Found]:
    """Yield each private key. A mark without a key, as in prose, is none."""
    starts = [*positions("BEGIN ", text), len(text)]
    for start, following in pairwise(starts):
        if begin := pattern("<KEY_BEGIN>").match(text, start):
            limit = min(following, start + _LONGEST_KEY)
            if end := pattern("<KEY_END>").search(text, begin.end(), limit):
                if pattern("[A-Za-z0-9+/=]{16}").search(text, begin.end(), end.start()):
                    yield "a private key", start - len("-----"), end.end()
            elif lines := pattern("<KEY_LINES>").match(text, begin.end()):
                yield "a private key", start - len("-----"), lines.end()
