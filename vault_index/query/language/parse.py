"""Converts a query to terms, FTS5 expressions and filters.

docs/query-language.md describes the language; the module `tree` parses its grammar. Every typed
word is quoted in the FTS5 expressions, so that FTS5 never interprets it as syntax.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault_index.errors import UsageError
from vault_index.models import Filters
from vault_index.query.language.filters import add_filter
from vault_index.query.language.tree import (
    FilterTerm,
    Group,
    Node,
    Not,
    Term,
    Token,
    group,
    is_sentence,
    read_tree,
    tokenize,
    words_of,
)
from vault_index.terms import is_prefix, query_parts, query_phrase

# Endings that Porter's stemmer removes. The index has `secur` for `security`, which `securit*`
# would miss. With this list, prefixes of the fixtures' words miss 1.4 % of their matches instead
# of 4.1 %.
_ENDINGS = ("able", "ation", "ence", "ing", "ion", "ity", "ive", "ment")
_LONGEST_ENDING = 5
_SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query."""

    text: str
    """The terms as text, for the embedder."""
    terms: tuple[Term, ...]
    """Terms for ranking, in query order, without negated ones. The phrases of a sentence come
    last; their words are also terms."""
    all_of: tuple[str, ...]
    """FTS5 expressions that every hit must match."""
    none_of: tuple[str, ...]
    """FTS5 expressions that no hit may match."""
    filters: Filters

    @property
    def required(self) -> str:
        """`all_of` as one FTS5 expression; empty if nothing is required."""
        return " AND ".join(self.all_of)

    @property
    def excluded(self) -> str:
        """`none_of` as one FTS5 expression; empty if nothing is excluded."""
        return " OR ".join(self.none_of)


def parse_query(text: str, filters: Filters | None = None, *, every: bool = False) -> ParsedQuery:
    """Parse `text` and add its filters to `filters`.

    With `every`, all words except stopwords are required. Raises UsageError for an invalid filter
    value, and for a filter that applies to only part of the query. Any other text is valid.
    """
    # SQLite accepts neither NUL nor surrogates.
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    tokens, phrases = list(tokenize(text)), list[Term]()
    if is_sentence(tokens, text):
        tokens = [token for token in tokens if token.text != "|"]  # part of quoted code
        if not every and not any(token.is_typed_operator for token in tokens):
            phrases = [
                Term(token.text, "phrase")
                for token in tokens
                if token.kind == "phrase" and " " in token.text.strip()
            ]
            tokens = words_of(tokens)
    tree = read_tree(tokens)
    lifted: list[tuple[FilterTerm, bool]] = []
    words = _lift_filters(tree, False, lifted) if tree else None
    filters = filters or Filters()
    for term, negated in lifted:
        filters = _add(filters, term, negated=negated)
    if words is None:
        return ParsedQuery("", (), (), (), filters)
    terms = positive_terms(words)
    embedded = " ".join(term.text for term in terms)
    return ParsedQuery(embedded, (*terms, *phrases), *conditions(words, every=every), filters)


def _lift_filters(node: Node, negated: bool, lifted: list[tuple[FilterTerm, bool]]) -> Node | None:
    """Return the tree without filters; append them to `lifted` with whether they are negated."""
    if isinstance(node, FilterTerm):
        lifted.append((node, negated))
        return None
    if isinstance(node, Not):
        child = _lift_filters(node.child, not negated, lifted)
        return Not(child) if child else None
    if isinstance(node, Group):
        before = len(lifted)
        children = [_lift_filters(child, negated, lifted) for child in node.children]
        if node.join == ("AND" if negated else "OR") and len(lifted) > before:
            raise UsageError(
                f"{_position(lifted[before][0].choices[0])} applies to only part of the query",
                "filters apply to the whole query; OR can join only filters with the same key",
            )
        return group(node.join, children)
    return node


def _add(filters: Filters, term: FilterTerm, *, negated: bool) -> Filters:
    """Return `filters` with the filters of one more term."""
    target = Filters() if negated else filters
    first = term.choices[0]
    key = "anytag" if first.key == "tag" and len(term.choices) > 1 else first.key
    if key == "anytag" and target.any_tags:
        raise UsageError(
            f"{_position(first)} begins a second group of alternative tags",
            "only one group of tags can be joined by OR; write required tags without OR",
        )
    for choice in term.choices:
        try:
            target = add_filter(target, key, choice.text)
        except UsageError as error:
            raise UsageError(
                f"{error.message} ({_position(choice)})",
                f"{error.hint}; to search for the words themselves, quote them",
            ) from error
    return filters._replace(without=(*filters.without, target)) if negated else target


def _position(token: Token) -> str:
    """Return a filter as typed, with its column (from 1)."""
    return f"{token.written} at column {token.start + 1}"


def match_expression(terms: Sequence[Term]) -> str:
    """Return the FTS5 expression that matches any of `terms`; empty without terms.

    Includes stopwords only if there are no other words.
    """
    return " OR ".join(dict.fromkeys(map(term_expression, content_terms(terms))))


def content_terms(terms: Sequence[Term]) -> Sequence[Term]:
    """Return the terms without stopwords, or all terms if they are all stopwords."""
    return [term for term in terms if not term.stop] or terms


def term_expression(term: Term) -> str:
    """Return the FTS5 expression of one term; any part of a word matches it."""
    return _joined("OR", term_phrases(term))


def term_phrases(term: Term) -> list[str]:
    """Return FTS5 expressions, each of which matches a term."""
    if term.kind == "phrase":
        return [_condition(term)]
    if term.words:
        return [_joined("OR", [_quoted(word) for word in term.words])]
    parts = dict.fromkeys(query_parts(term.text, pieces=term.kind != "prefix"))
    if term.kind == "prefix":
        return _prefix_forms(parts, term.text)
    return [_quoted(part) + "*" * is_prefix(part) for part in parts]


def conditions(tree: Node, *, every: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the FTS5 expressions that every hit must match, and those that none may match.

    Phrases are always required. Words are required only if AND or OR joins them, or with `every`.
    """
    strict = every or _is_boolean(tree)
    parts = [
        part
        for part in _conjuncts(tree)
        if strict or not isinstance(part, Term) or part.kind == "phrase"
    ]
    wanted, unwanted = _split(parts, negated=False)
    return tuple(wanted), tuple(unwanted)


def positive_terms(node: Node, *, negated: bool = False) -> list[Term]:
    """Return the terms that are not negated, in query order."""
    if isinstance(node, Not):
        return positive_terms(node.child, negated=not negated)
    if isinstance(node, Group):
        return [term for child in node.children for term in positive_terms(child, negated=negated)]
    return [node] if isinstance(node, Term) and not negated else []


def _is_boolean(node: Node) -> bool:
    if isinstance(node, Not):
        return _is_boolean(node.child)
    return isinstance(node, Group) and (
        node.join != "adjacent" or any(map(_is_boolean, node.children))
    )


def _conjuncts(node: Node) -> Sequence[Node]:
    """Return the nodes that must all match, without stopwords next to other words."""
    if not isinstance(node, Group) or node.join == "OR":
        return [node]
    if node.join == "AND":
        return [part for child in node.children for part in _conjuncts(child)]
    return [
        child for child in node.children if not (isinstance(child, Term) and child.stop)
    ] or node.children


def _signed(node: Node, *, negated: bool) -> tuple[bool, str]:
    """Return an expression, and whether hits must match it or must not.

    FTS5 has only a binary NOT, so each set is represented directly or by its complement. By De
    Morgan's laws this covers every tree: `a OR NOT b` is the complement of `b NOT a`.
    """
    if isinstance(node, Not):
        return _signed(node.child, negated=not negated)
    if not isinstance(node, Group):
        assert isinstance(node, Term)
        return not negated, _condition(node)
    # Adjacent words are a conjunction: if wanted, all must match; if unwanted, none may match.
    conjunction = node.join == "adjacent" or (node.join == "AND") != negated
    wanted, unwanted = _split(
        _conjuncts(node) if node.join == "adjacent" else node.children, negated=negated
    )
    first, second = (wanted, unwanted) if conjunction else (unwanted, wanted)
    if not first:
        return not conjunction, _joined("OR", second)
    both = _joined("AND", first)
    return conjunction, f"({both} NOT {_joined('OR', second)})" if second else both


def _split(nodes: Iterable[Node], *, negated: bool) -> tuple[list[str], list[str]]:
    signed = [_signed(node, negated=negated) for node in nodes]
    return [sql for wanted, sql in signed if wanted], [sql for wanted, sql in signed if not wanted]


def _condition(term: Term) -> str:
    """Return a term as a condition; Chinese, Japanese or Korean words must match as a whole."""
    if term.words:
        return term_expression(term)
    phrase = query_phrase(term.text).strip()
    compounds = (
        query_parts(term.text, pieces=False)[1:]
        if term.kind != "phrase" and phrase == term.text
        else []
    )
    parts = dict.fromkeys([phrase, *compounds])
    if term.kind == "prefix":
        return _joined("OR", _prefix_forms(parts, term.text))
    star = "*" * is_prefix(phrase[-2:].strip())
    return _joined("OR", [_quoted(part) + star for part in parts])


def _prefix_forms(parts: Iterable[str], prefix: str) -> list[str]:
    """Return expressions for a prefix: words that begin with `parts`, and shorter stems.

    A stem can be shorter than `prefix` if the prefix ends inside a suffix that the stemmer removes.
    """
    shorter = [
        prefix[:-size]
        for size in range(1, min(_LONGEST_ENDING, len(prefix) - _SHORTEST_STEM) + 1)
        if any(ending.startswith(prefix[-size:].lower()) for ending in _ENDINGS)
    ]
    undoubled = [
        stem[:-1]
        for stem in (prefix, *shorter)
        if stem[-1] == stem[-2:-1] and len(stem) > _SHORTEST_STEM
    ]
    stems = dict.fromkeys([*shorter, *undoubled]) if prefix.isascii() and prefix.isalpha() else ()
    return [*(_quoted(part) + "*" for part in parts), *map(_quoted, stems)]


def _joined(operator: str, expressions: Sequence[str]) -> str:
    joined = f" {operator} ".join(expressions)
    return joined if len(expressions) < 2 else f"({joined})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
