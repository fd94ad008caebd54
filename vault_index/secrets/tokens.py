"""Credentials that are known by their form: the keys of services, passwords in URLs, private keys."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from vault_index.secrets.forms import ADDRESSES, FORMS, LONGEST_BEFORE, Form
from vault_index.secrets.placeholders import Found, pattern, positions, stands_for_another

_LITERALS = tuple((form, literal) for form in FORMS for literal in form.literals or ("",))

# The other half of an AWS key, which has no mark of its own, stands near the first.
_AWS_SECRET = r"(?<![A-Za-z0-9+/])(?=[^A-Z]{0,39}[A-Z])(?=[^a-z]{0,39}[a-z])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])"
_NEAR = 200
_SHORTEST = 20
_LONG = b"a" * _SHORTEST
# A sign of a word, or not; `?` stands for what was not ASCII.
_KINDS = bytes(
    ord("a" if 32 < byte < 127 and chr(byte) not in "?\"'`<>()[]{},;" else " ")
    for byte in range(256)
)
# What nobody chose has digits; or, where chance has left them out, letters that no camel has.
_RANDOM = r"\d|[a-z][A-Z]{2}|A[BCKS][CI]A[A-Z]{16}"
_KEY_MARK = "BEGIN "
_KEY_BEGIN = r"(?:(?<=-----)|(?<=---- ))BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?:-----| ----)"
_KEY_END = r"-----?[ -]END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?:-----| ----)"
_DASHES = "-----"
_LONGEST_KEY = 100_000
_KEY_BODY = r"[A-Za-z0-9+/=]{12}"
# A key whose end is missing: lines of base64, also quoted, indented, or with their breaks written as `\n`. Nothing
# follows the lines, and `+` before one is a mark of a diff: so a long text is read in one way only.
_BEFORE_KEY_LINE = r"[\s>|#*\"'`,+]*(?:\\[nrt][\s>|#*\"'`,+]*)*"
_KEY_LINES = rf"(?:{_BEFORE_KEY_LINE}[A-Za-z0-9/=][A-Za-z0-9+/=]{{11,}})+"
_PUTTY_MARK = "Private-Lines: "
_PUTTY = rf"{_PUTTY_MARK}\d{{1,3}}{_KEY_LINES}"
_PUTTY_END = "Private-MAC: "
_LONGEST_PUTTY = 10_000


def tokens(text: str) -> Iterator[Found]:
    """Each credential with a known form; not in order. The text is ASCII, as they all are."""
    places, starts, words = _long_words(text)
    # Most texts hold no literal at all, so nothing is called for those that are not there.
    for form, literal in (
        [(form, literal) for form, literal in _LITERALS if literal in words] if words else ()
    ):
        for start, end in _matches(form, literal, words):
            word = bisect_right(starts, start) - 1
            shift = places[word] - starts[word]
            yield form.kind, start + shift, end + shift
            if form.kind == "an AWS access key":
                other = pattern(_AWS_SECRET).search(text, end + shift, end + shift + _NEAR)
                yield from [("an AWS secret key", *other.span())] if other else []
    for form in ADDRESSES:
        for start, end in _matches(form, form.literals[0], text):
            yield form.kind, start, end


def _long_words(text: str) -> tuple[list[int], list[int], str]:
    """The words that may hold a credential, which few do; and where each begins in the text, and here."""
    # Bytes of two kinds are several times faster to search than words.
    kinds = text.encode("ascii").translate(_KINDS)
    places, starts, words, length = [], [], [], 0
    random = pattern(_RANDOM)
    place = kinds.find(_LONG)
    while place >= 0:
        end = kinds.find(b" ", place)
        end = len(text) if end < 0 else end
        if random.search(text, place, end):
            places.append(place)
            starts.append(length)
            words.append(text[place:end])
            length += end - place + 1
        place = kinds.find(_LONG, end)
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
    """Each private key. A mark without a key behind it, as in prose, is none."""
    starts = [*positions(_KEY_MARK, text), len(text)]
    for start, following in pairwise(starts):
        if begin := pattern(_KEY_BEGIN).match(text, start):
            limit = min(following, start + _LONGEST_KEY)
            if end := pattern(_KEY_END).search(text, begin.end(), limit):
                if pattern(_KEY_BODY).search(text, begin.end(), end.start()):
                    yield "a private key", start - len(_DASHES), end.end()
            elif lines := pattern(_KEY_LINES).match(text, begin.end()):
                yield "a private key", start - len(_DASHES), lines.end()
    for start in positions(_PUTTY_MARK, text):
        lines = pattern(_PUTTY).match(text, start)
        until = max(
            text.find(_PUTTY_END, start, start + _LONGEST_PUTTY), lines.end() if lines else 0
        )
        if until > 0:
            yield "a private key", start + len(_PUTTY_MARK), until
