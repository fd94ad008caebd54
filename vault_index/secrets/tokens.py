"""Detect credentials by their form: tokens of services, passwords in URLs, private keys."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from vault_index.secrets.forms import ADDRESSES, FORMS, LONGEST_BEFORE, Form
from vault_index.secrets.placeholders import Found, pattern, positions, stands_for_another

_LITERALS = tuple((form, literal) for form in FORMS for literal in form.literals or ("",))

_LONG = b"a" * 20
# Maps a byte to `a` if it can be part of a token, else to a blank; `?` replaced what is not ASCII.
_KINDS = bytes(
    ord("a" if 32 < byte < 127 and chr(byte) not in "?\"'`<>()[]{},;" else " ")
    for byte in range(256)
)
_LONGEST_KEY = 100_000


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
