"""Placeholders in place of a credential: `<your key>`, `${TOKEN}`, `****`, `changeme`, the name of a variable."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

Found = tuple[str, int, int]
"""Kind, start and end of a credential."""

# No placeholder is longer, and no long text shall be searched again and again.
_LONGEST = 100
_SIGNS = r"[xX*.…•0_#?-]+"
_SHORTENED = r"\.\.\.|\.\.\Z|…|\*\*\*|@@|[xX]{6}|0{12}"
_TEMPLATE = r"(?i)[<\[{(]|\$[A-Za-z_({]|%\w+%|@@?\w+|.*(?:\$\{|\{\{|\$\(|\[redacted)|\\u003c"
_SAYS_SO = (
    r"(?i)change.?me|change.?this|replace.?(?:me|with|this)|placeholder|redacted"
    r"|\byour(?:[-_ .]|[a-z]*$)|[-_.]here\b|^my[-_]"
    r"|^(?:pass(?:word|wd)?|pwd|secret|token|api[-_]?key|null|none|nil|true|false|undefined|string|example|dummy)\d?$"
)
_WORD = r"(?:[a-z]{0,15}(?:[A-Z][a-z]{1,14}){0,6}|[A-Z]{1,15}|[A-Z]{1,8}\d{1,2}(?:[A-Z][a-z]{1,14}){1,6})\d{0,2}"
_WORD_OR_NUMBER = rf"{_WORD}|v?\d{{1,10}}"
# Dates, numbers with a unit, and types.
_TYPE = (
    r"(?i)\d{1,4}[-./:]\d{1,2}(?:[-./:T].*)?"
    r"|(?:base|sha|utf|md|u?int|float|string|varchar|aes|hs|rs|es|ed|oauth|pkcs|http|python|rfc|iso)-?\d{1,5}"
)
WORDS = r"[a-z]{3,12}(?:[ -][a-z]{3,12}){3,11}"
_CHOSEN = r"[A-Za-z]{3,}(?:[-_.][A-Za-z]{3,}){0,4}[-_.]?\d{2,4}[!*+?#]?"
# Words of what people write about a credential, which are no part of one that somebody chose.
_PLAIN = (
    r"(?i)(?<![^\W\d_])(?:my|the|your|our|an?|is|of|or|to|for|in|with|must|not|enter|new|old|this|that|app|db|database"
    r"|user|pass\w*|secret|token|key|name|value|prod\w*|dev|test\w*|step|page|version|service|client|server)(?![^\W\d_])"
)
_FREQUENT = ("key", "pass", "token", "secret")
_BETWEEN = r"[-_ .:/]"


def stands_for_another(value: str) -> bool:
    """Whether a value is a template, shortened, a row of signs, or says that it is to be replaced."""
    head = value[:_LONGEST]
    return bool(
        compiled(_TEMPLATE).match(head)
        or compiled(_SIGNS).fullmatch(head)
        or compiled(_SHORTENED).search(head)
        or compiled(_SAYS_SO).search(head)
        or compiled(_TYPE).fullmatch(head)
    )


def is_words(value: str) -> bool:
    """Whether a value consists of words, as `my-app-secret-2` and `config.dbPassword`: a name rather than a secret."""
    # Cut first: as one expression, whose words may be empty, a row of dashes could be read in any number of ways.
    first, *others = compiled(_BETWEEN).split(value[:_LONGEST])
    return bool(compiled(_WORD).fullmatch(first)) and all(map(compiled(_WORD_OR_NUMBER).fullmatch, others))


def is_random(value: str) -> bool:
    """Whether a value looks as if a program had drawn it: it is long, and mixes letters with digits."""
    mixed = compiled("[a-z]").search(value) and compiled("[A-Z]").search(value)
    long = len(value) >= (8 if mixed else 12)
    return bool(long and compiled("[0-9]").search(value) and compiled(r"[^\W\d_]").search(value)) and not is_words(
        value
    )


def is_chosen(value: str) -> bool:
    """Whether a value is of words and a number as people put together for a password: `maple-Lobster-16`."""
    return len(value) >= 6 and bool(compiled(_CHOSEN).fullmatch(value)) and not compiled(_PLAIN).search(value)


def is_passphrase(value: str) -> bool:
    """Whether a value is four words or more, and no sentence."""
    return bool(compiled(WORDS).fullmatch(value)) and not compiled(_PLAIN).search(value)


def is_jumbled(value: str) -> bool:
    """Whether letters of both cases follow each other as in no name: `kTrUvgiX`."""
    return len(compiled(r"[a-z][A-Z](?![a-z]{2})").findall(value)) > 1


def occurrences(literals: tuple[str, ...], text: str) -> Iterator[tuple[str, int]]:
    """Each literal and its position; in order for each literal. Of those that overlap, often only the first.

    A search of RE2 for many literals costs as much as three of `str.find`; what it finds costs more.
    """
    for literal in _FREQUENT:
        if literal in literals:
            for position in positions(literal, text):
                yield literal, position
    data, done, position = text.encode("utf-8", "replace"), 0, 0
    for match in _alternation(tuple(literal for literal in literals if literal not in _FREQUENT)).finditer(data):
        start, end = match.span()
        position += start - done if len(data) == len(text) else len(data[done:start].decode("utf-8", "replace"))
        done = start
        yield data[start:end].decode(), position


@cache
def _alternation(literals: tuple[str, ...]) -> Any:
    import re2  # 6 ms, and commands that read no text need none

    return re2.compile("|".join(map(re2.escape, sorted(literals, key=len, reverse=True))))


def positions(literal: str, text: str) -> Iterator[int]:
    """Where a literal stands, without overlaps."""
    position = text.find(literal)
    while position >= 0:
        yield position
        position = text.find(literal, position + len(literal))


@cache
def compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
