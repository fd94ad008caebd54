"""The grammar of a query, from tokens to a tree.

    query   = all (OR all)*
    all     = beside (AND beside)*
    beside  = (NOT* operand)*
    operand = word | phrase | prefix | filter (OR filter)* | "(" query ")"

Nothing is a mistake here: an operator without something to join is passed over, and so is a parenthesis without its
partner. Filters of one key joined by OR are one operand, because filters bind before words do.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

from vault_index.query.filters import ALTERNATIVE_KEYS
from vault_index.query.lexer import TermKind, Token
from vault_index.query.stopwords import is_stopword

_DEEPEST = 8  # parentheses in each other; the parser of FTS5 has a stack of 100, and each takes up to nine of it


@dataclass(frozen=True, slots=True)
class Term:
    """Something to look for."""

    text: str
    """As it was typed, without quotes or `*`."""
    kind: TermKind
    start: int
    """Where it stands in the query, from 0."""
    stop: bool = False
    """A word that carries no topic: it matches, but does not decide."""


@dataclass(frozen=True, slots=True)
class FilterTerm:
    """A filter, or several of one key of which any may hold."""

    choices: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Not:
    child: "Node"


@dataclass(frozen=True, slots=True)
class Group:
    """Two or more nodes, joined by an operator or standing beside each other."""

    join: Literal["AND", "OR", "beside"]
    children: tuple["Node", ...]


Node = Term | FilterTerm | Not | Group


def read_tree(tokens: Iterable[Token]) -> Node | None:
    """The tree of a query; None where nothing was said. A query of nothing but operators asks for these words."""
    found = list(tokens)
    tree = _Grammar(_balanced(found)).query()
    if tree is None:
        words = [replace(token, kind="word") for token in found if token.text in ("AND", "OR", "NOT")]
        tree = _Grammar(words).query()
    return tree


def group(join: Literal["AND", "OR", "beside"], nodes: Iterable[Node | None]) -> Node | None:
    """What is there of `nodes` as one node. Groups of things beside each other dissolve in each other."""
    children: list[Node] = []
    for node in nodes:
        if isinstance(node, Group) and node.join == join == "beside":
            children += node.children
        elif node is not None:
            children.append(node)
    return Group(join, tuple(children)) if len(children) > 1 else children[0] if children else None


class _Grammar:
    """Recursive descent; each method reads one rule, and answers None where it finds nothing."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._shouted = not any(token.text != token.text.upper() for token in tokens if token.kind == "word")

    def query(self) -> Node | None:
        return group("OR", self._joined_by("OR"))

    def _joined_by(self, operator: Literal["AND", "OR"]) -> Iterator[Node | None]:
        while True:
            if operator == "OR":
                yield group("AND", self._joined_by("AND"))
            else:
                yield group("beside", self._beside())
            if not self._take(operator):
                return

    def _beside(self) -> Iterator[Node | None]:
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
        stop = token.kind == "word" and is_stopword(token.text, shouted=self._shouted)
        return Term(token.text, cast(TermKind, token.kind), token.start, stop)

    def _alternatives(self, first: Token) -> Node:
        choices = [first]
        negated = self._at > 1 and self._tokens[self._at - 2].kind == "NOT"
        while not negated and (other := self._same_filter(first)):
            choices.append(other)
            self._at += 2
        return FilterTerm(tuple(choices))

    def _same_filter(self, first: Token) -> Token | None:
        """The filter of the same key after an OR."""
        following = self._tokens[self._at : self._at + 2]
        if first.key not in ALTERNATIVE_KEYS or [token.kind for token in following] != ["OR", "filter"]:
            return None
        return following[1] if _field(following[1]) == _field(first) else None

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, kind: str) -> bool:
        token = self._peek()
        taken = token is not None and token.kind == kind
        self._at += taken
        return taken


def _field(token: Token) -> tuple[str, str]:
    """What a filter is about: its key, and of a property its name."""
    return token.key, token.text.partition(":")[0].casefold() if token.key == "property" else ""


def _balanced(tokens: Sequence[Token]) -> list[Token]:
    """Without parentheses that have no partner, or stand too deep."""
    opened: list[int] = []
    dropped: set[int] = set()
    for number, token in enumerate(tokens):
        if token.kind == "(":
            opened.append(number)
        elif token.kind == ")":
            if not opened:
                dropped.add(number)
            elif len(opened) > _DEEPEST:
                dropped |= {opened.pop(), number}
            else:
                opened.pop()
    dropped.update(opened)
    return [token for number, token in enumerate(tokens) if number not in dropped]
