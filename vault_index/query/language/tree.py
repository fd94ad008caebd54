"""Splits a query into tokens and parses them into a tree."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from vault_index.query.language.filters import ALTERNATIVE_KEYS, QUERY_KEYS
from vault_index.terms import analysed, is_stopword
from vault_index.unicode import same_form

TermKind = Literal["word", "phrase", "prefix"]
TokenKind = TermKind | Literal["filter", "AND", "OR", "NOT", "(", ")"]

_OPERATORS: dict[str, TokenKind] = {"AND": "AND", "OR": "OR", "NOT": "NOT"}
_SIGNS: dict[str, TokenKind] = {"(": "(", ")": ")", "|": "OR"}
_CURLY_QUOTES = str.maketrans("“”„", '"""')
# A letter or digit. As in SQLite, punctuation and `_` alone do not make a word.
_ALPHANUMERIC = re.compile(r"[^\W_]")
_NO_WORD = re.compile(r"[^\w\s']+")
_MINUS = re.compile(r'-(?=[\w"(\[]|[^\x00-\x7f])')
_PHRASE = re.compile(r'"([^"]*)"')
# `title::x` is an inline field and `file://x` a URL; neither is a filter.
_FILTER = re.compile(r'([A-Za-z_]+):(?!:|//)(?:"([^"]*)"|(?=[^\s"()]))')
_BRACKETS = re.compile(r"\[((?:[^\[\]\n]|\[\[[^\[\]\n]*\]\]){1,200})\](?=[,;.?!]*(?:[\s)]|$))")
_PROPERTY = re.compile(
    r'(?:"([^":]+)"|([^\W\d][\w.-]*))\s*(?::(?!:|//)\s*(?!\s)(?:"([^"]+)"|([^"]*[^"\s])))?'
)
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_MOST_KEYWORDS = 6
_REQUESTS = frozenset(
    re.findall(
        r"\w+",
        """
        add build change check clone compare compress configure connect convert copy count create
        delete describe disable display download enable execute explain extract find fix generate
        get give install kill list locate make merge mount move open print read remove rename
        replace restart run save search send set show sort split start stop store summarize tell
        test unzip update upload use wait write
        """,
    )
)
"""Verbs that begin a request."""
# `opencode/build` is two words; `I/O`, `src/app/main.py` and `v1/users` are names.
_PAIR = re.compile(r"[^\W\d_]{3,}/[^\W\d_]{3,}[?!.,;:]*")
_PREFIX = re.compile(r"[^*]*[^\W_]\*")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a query."""

    kind: TokenKind
    text: str
    """A word, phrase or prefix without quotes and `*`, or the value of a filter."""
    key: str = ""
    """Key of a filter: one of `QUERY_KEYS`, or `property`."""
    start: int = 0
    """Offset of a filter in the query, from 0."""
    written: str = ""
    """A filter as typed."""

    @property
    def is_typed_operator(self) -> bool:
        """Whether the token is a deliberate operator: a filter, or an operator in capitals."""
        return self.kind == "filter" or (self.kind in _OPERATORS and self.kind == self.text)


def tokenize(query: str) -> Iterator[Token]:
    """Yield the tokens of `query`.

    Skips marks without a word (`?!`, `*`, an unbalanced quote). `-x` gives NOT and x, `|` gives OR.
    AND, OR and NOT are operators only in capitals; the grammar checks their operands.
    """
    query = query.translate(_CURLY_QUOTES)
    at = 0
    while at < len(query):
        if query[at].isspace():
            at += 1
            continue
        starts = at == 0 or query[at - 1].isspace() or query[at - 1] == "("
        minus = _MINUS.match(query, at) if starts else None
        token, at = _operand(query, at + bool(minus))
        if token and minus:
            yield Token("NOT", "-")
        elif token and token.kind == "word":
            pair = _PAIR.fullmatch(token.text)
            *first, word = token.text.split("/") if pair else [token.text]
            yield from (Token("word", one) for one in first)
            token = Token(_OPERATORS.get(word, "word"), word)
        if token:
            yield token


def only_words(text: str) -> str:
    """Return `text` without query syntax."""
    return " ".join(word for word in _NO_WORD.sub(" ", text).split() if word not in _OPERATORS)


def is_sentence(tokens: Sequence[Token], text: str) -> bool:
    """Return whether a query is a question, a request or another sentence.

    A sentence has a stopword, a final question mark, an initial verb, or more words than people
    join with operators. In a sentence quotation marks enclose names, and a dash is punctuation.
    """
    negated = {number + 1 for number, token in enumerate(tokens) if token.kind == "NOT"}
    words = [
        one.text
        for number, one in enumerate(tokens)
        if one.kind == "word" and number not in negated
    ]
    asks = (
        text.rstrip().endswith(_QUESTION_MARKS)
        or any(map(is_stopword, words))
        or len(words) > _MOST_KEYWORDS
    )
    return asks or (len(words) > 1 and words[0].casefold().removesuffix("s") in _REQUESTS)


def words_of(tokens: Iterable[Token]) -> list[Token]:
    """Return the words of a sentence without operators; quoted phrases become words."""
    found: list[Token] = []
    for token in tokens:
        if token.kind == "phrase":
            found += filter(None, (_term("word", word) for word in token.text.split()))
        elif token.kind in ("word", "prefix"):
            found.append(token)
    return found


def _operand(query: str, start: int) -> tuple[Token | None, int]:
    """Return the word, phrase, filter or parenthesis at `start`, if any, and the end position."""
    if kind := _SIGNS.get(query[start]):
        return Token(kind, query[start]), start + 1
    if query[start] == '"':
        phrase = _PHRASE.match(query, start)
        found = _term("phrase", phrase[1]) if phrase else None
        return found, phrase.end() if phrase else start + 1
    if query[start] == "[":
        brackets = _BRACKETS.match(query, start)
        if brackets and (value := _property(brackets[1].strip())):
            return Token("filter", value, "property", start, brackets[0]), brackets.end()
    named = _FILTER.match(query, start)
    if named and named[1].lower() in QUERY_KEYS:
        end = named.end() if named[2] is not None else _word_end(query, named.end())
        value = named[2] if named[2] is not None else query[named.end() : end].rstrip(",;")
        if value.strip():
            return Token("filter", value, named[1].lower(), start, query[start:end]), end
    end = _word_end(query, start, "" if query.startswith("[[", start) else "|")
    word = query[start:end]
    if _PREFIX.fullmatch(word):
        return Token("prefix", word[:-1]), end
    return _term("word", word), end


def _term(kind: TokenKind, text: str) -> Token | None:
    return Token(kind, text) if _ALPHANUMERIC.search(analysed(text)) else None


def _word_end(query: str, start: int, marks: str = "") -> int:
    """Return the end of a word.

    A word ends at a space, at one of `marks`, or at an unopened closing parenthesis (`f(x)` is one
    word).
    """
    depth = 0
    for at in range(start, len(query)):
        depth += (query[at] == "(") - (query[at] == ")")
        if depth < 0 or query[at].isspace() or query[at] in marks:
            return at
    return len(query)


def _property(inside: str) -> str | None:
    """Return the content of brackets as `key:value` or `key`, or None if it is not a property."""
    found = _PROPERTY.fullmatch(inside)
    if found is None:
        return None
    key, value = found[1] or found[2], found[3] or found[4]
    if value:
        return f"{key}:{value}"
    # `[x]` is a checkbox and `[ERROR]` a log level.
    return None if len(key) == 1 or key.isupper() else key


_DEEPEST = 8
"""Maximum nesting of parentheses. FTS5 has a parser stack of 100, and each level takes up to
nine."""


@dataclass(frozen=True, slots=True)
class Term:
    """A word, phrase or prefix to search for."""

    text: str
    """As typed, without quotes or `*`."""
    kind: TermKind
    stop: bool = False
    """Whether the term is a stopword, which is not required to match."""
    words: tuple[str, ...] = ()
    """Words to search for instead of a prefix that too many texts match."""


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """A filter, or alternative filters with the same key."""

    choices: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """A negated node."""

    child: "Node"


@dataclass(frozen=True, slots=True)
class Group:
    """Two or more nodes that an operator joins or that are adjacent."""

    join: Literal["AND", "OR", "adjacent"]
    children: tuple["Node", ...]


Node = Term | FilterTerm | Not | Group


def read_tree(tokens: Iterable[Token]) -> Node | None:
    """Parse tokens into a tree; None for an empty query.

    A query that contains only operators searches for these words.
    """
    found = list(tokens)
    tree = _Grammar(_balanced(found)).query()
    if tree is None:
        words = [
            replace(token, kind="word") for token in found if token.text in ("AND", "OR", "NOT")
        ]
        tree = _Grammar(words).query()
    return tree


def group(join: Literal["AND", "OR", "adjacent"], nodes: Iterable[Node | None]) -> Node | None:
    """Join the nodes that are not None into one node; flatten groups of adjacent nodes."""
    children: list[Node] = []
    for node in nodes:
        if isinstance(node, Group) and node.join == join == "adjacent":
            children += node.children
        elif node is not None:
            children.append(node)
    if len(children) > 1:
        return Group(join, tuple(children))
    return children[0] if children else None


class _Grammar:
    """A recursive descent parser: each method parses one rule, or returns None."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._all_caps = not any(
            token.text != token.text.upper() for token in tokens if token.kind == "word"
        )

    def query(self) -> Node | None:
        """Parse a whole query or the content of parentheses."""
        return group("OR", self._joined_by("OR"))

    def _joined_by(self, operator: Literal["AND", "OR"]) -> Iterator[Node | None]:
        while True:
            if operator == "OR":
                yield group("AND", self._joined_by("AND"))
            else:
                yield group("adjacent", self._adjacent())
            if not self._take(operator):
                return

    def _adjacent(self) -> Iterator[Node | None]:
        while (token := self._peek()) and token.kind not in ("AND", "OR", ")"):
            negated = False
            while self._take("NOT"):
                negated = not negated
            node = self._operand()
            yield Not(node) if negated and node else node

    def _operand(self) -> Node | None:
        token = self._peek()
        if token is None or token.kind in ("AND", "OR", ")"):
            return None
        self._at += 1
        if token.kind == "(":
            inside = self.query()
            self._take(")")
            return inside
        if token.kind == "filter":
            return self._alternatives(token)
        stop = token.kind == "word" and is_stopword(token.text, all_caps=self._all_caps)
        return Term(token.text, cast(TermKind, token.kind), stop)

    def _alternatives(self, first: Token) -> Node:
        """Parse the filters with the same key that follow, each after an OR."""
        choices = [first]
        negated = self._at > 1 and self._tokens[self._at - 2].kind == "NOT"
        while not negated and first.key in ALTERNATIVE_KEYS:
            following = self._tokens[self._at : self._at + 2]
            kinds = [token.kind for token in following]
            if kinds != ["OR", "filter"] or _field(following[1]) != _field(first):
                break
            choices.append(following[1])
            self._at += 2
        return FilterTerm(tuple(choices))

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, kind: str) -> bool:
        token = self._peek()
        taken = token is not None and token.kind == kind
        self._at += taken
        return taken


def _field(token: Token) -> tuple[str, str]:
    """Return the key of a filter; for a property also its name."""
    return token.key, same_form(token.text.partition(":")[0]) if token.key == "property" else ""


def _balanced(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without parentheses that are unbalanced or nested too deeply."""
    opened: list[int] = []
    pairs: set[int] = set()
    for number, token in enumerate(tokens):
        if token.kind == "(":
            opened.append(number)
        elif token.kind == ")" and opened:
            pair = {opened.pop(), number}
            pairs |= pair if len(opened) < _DEEPEST else set()
    return [
        token
        for number, token in enumerate(tokens)
        if token.kind not in ("(", ")") or number in pairs
    ]
