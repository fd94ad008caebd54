"""Placeholders in place of a credential: `<your key>`, `${TOKEN}`, `****`, `changeme`, the name of a variable."""

import re
from collections.abc import Iterator
from functools import cache

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
_BETWEEN = r"[-_ .:/]"


def stands_for_another(value: str) -> bool:
    """Whether a value is a template, shortened, a row of signs, or says that it is to be replaced."""
    head = value[:_LONGEST]
    return bool(
        compiled(_TEMPLATE).match(head)
        or compiled(_SIGNS).fullmatch(head)
        or compiled(_SHORTENED).search(head)
        or compiled(_SAYS_SO).search(head)
    )


def is_words(value: str) -> bool:
    """Whether a value consists of words, as `my-app-secret-2` and `config.dbPassword`: a name rather than a secret."""
    # Cut first: as one expression, whose words may be empty, a row of dashes could be read in any number of ways.
    first, *others = compiled(_BETWEEN).split(value[:_LONGEST])
    return bool(compiled(_WORD).fullmatch(first)) and all(map(compiled(_WORD_OR_NUMBER).fullmatch, others))


def positions(literal: str, text: str) -> Iterator[int]:
    """Where a literal stands, without overlaps."""
    position = text.find(literal)
    while position >= 0:
        yield position
        position = text.find(literal, position + len(literal))


@cache
def compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
