"""A query as tokens, each with its place: words, phrases, prefixes, filters, operators and parentheses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from vault_index.query.filters import QUERY_KEYS

TermKind = Literal["word", "phrase", "prefix"]
TokenKind = TermKind | Literal["filter", "AND", "OR", "NOT", "(", ")"]

_OPERATORS: dict[str, TokenKind] = {"AND": "AND", "OR": "OR", "NOT": "NOT"}
_CURLY_QUOTES = str.maketrans("“”„", '"""')
# A letter or digit: what makes a word to SQLite, too; punctuation and `_` alone do not.
_SAYS_SOMETHING = re.compile(r"[^\W_]")
_MINUS = re.compile(r'-(?=[\w"(\[])')
_PHRASE = re.compile(r'"([^"]*)"')
# `title::x` is an inline field and `file://x` an address: neither is a filter.
_FILTER = re.compile(r'([A-Za-z]+):(?!:|//)(?:"([^"]*)"|(?=[^\s"()]))')
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,200})\](?=[\s)]|$)")
_PROPERTY = re.compile(r'(?:"([^":]+)"|([^\W\d][\w.-]*))\s*(?::(?!:|//)\s*(?:"([^"]+)"|([^"]*[^"\s])))?')
_PREFIX = re.compile(r"[^*]*[^\W_]\*")


@dataclass(frozen=True, slots=True)
class Token:
    kind: TokenKind
    text: str
    """A word, phrase or prefix without its marks, or the value of a filter."""
    start: int
    """Where a word, phrase or prefix begins in the query, or the whole of a filter; from 0."""
    key: str = ""
    """The key of a filter: one of `QUERY_KEYS`, or `property`."""
    written: str = ""
    """A filter as it was typed."""


def tokens(query: str) -> Iterator[Token]:
    """The tokens of `query`; what says nothing (`?!`, `*`, a quote without its partner) is left out.

    `-x` comes as NOT and x. Operators are told from words by their capitals alone; whether they have something to
    join is for the grammar to see.
    """
    query = query.translate(_CURLY_QUOTES)
    at = 0
    while at < len(query):
        if query[at].isspace():
            at += 1
            continue
        minus = _MINUS.match(query, at)
        at += bool(minus)
        if query[at] in "()":
            if minus:
                yield Token("NOT", "-", at - 1)
            yield Token("(" if query[at] == "(" else ")", query[at], at)
            at += 1
            continue
        start = at
        token, at = _operand(query, start)
        if token is None:
            continue
        if minus:
            yield Token("NOT", "-", start - 1)
        elif token.kind == "word":
            token = replace(token, kind=_OPERATORS.get(token.text, "word"))
        yield token


def _operand(query: str, start: int) -> tuple[Token | None, int]:
    """The word, phrase or filter at `start`, if it says something, and where the rest begins."""
    if query[start] == '"':
        phrase = _PHRASE.match(query, start)
        if phrase is None:
            return None, start + 1
        return (_said("phrase", phrase[1], start + 1), phrase.end())
    if query[start] == "[":
        brackets = _BRACKETS.match(query, start)
        value = _property(brackets[1].strip()) if brackets else None
        if brackets and value:
            return Token("filter", value, start, "property", brackets[0]), brackets.end()
    named = _FILTER.match(query, start)
    if named and named[1].lower() in QUERY_KEYS:
        end = named.end() if named[2] is not None else _word_end(query, named.end())
        value = named[2] if named[2] is not None else query[named.end() : end].rstrip(",;")
        if value.strip():
            return Token("filter", value, start, named[1].lower(), query[start:end]), end
    end = _word_end(query, start)
    word = query[start:end]
    if _PREFIX.fullmatch(word):
        return Token("prefix", word[:-1], start), end
    return _said("word", word, start), end


def _said(kind: TokenKind, text: str, start: int) -> Token | None:
    return Token(kind, text, start) if _SAYS_SOMETHING.search(text) else None


def _word_end(query: str, start: int) -> int:
    """The end of a word: a space, or a closing parenthesis that the word did not open (`f(x)` is one word)."""
    depth = 0
    for at in range(start, len(query)):
        depth += (query[at] == "(") - (query[at] == ")")
        if depth < 0 or query[at].isspace():
            return at
    return len(query)


def _property(inside: str) -> str | None:
    """What stands in brackets as `key:value` or `key`, if it is a property."""
    found = _PROPERTY.fullmatch(inside)
    if found is None:
        return None
    key, value = found[1] or found[2], found[3] or found[4]
    if value:
        return f"{key}:{value}"
    # `[x]` is a ticked box and `[ERROR]` a line of a log.
    return None if len(key) == 1 or key.isupper() else key
