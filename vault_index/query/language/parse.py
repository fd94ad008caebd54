"""Reading a query: what to look for, what a hit must and must not match, and the filters.

docs/query-language.md describes the language; `lexer`, `tree` and `match` are its stages.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from vault_index.errors import UsageError
from vault_index.models import Filters
from vault_index.query.language.filters import add_filter
from vault_index.query.language.match import conditions, positive_terms
from vault_index.query.language.tree import FilterTerm, Group, Node, Not, Term, Token, group, read_tree, tokens

_SENTENCE = 3  # words around a phrase


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """What was asked."""

    text: str
    """Without filters, operators and what is excluded: what is embedded."""
    terms: tuple[Term, ...]
    """What is looked for, in order: it ranks."""
    required: str
    """An FTS5 expression every hit must match; empty if there is none."""
    excluded: str
    """An FTS5 expression no hit may match; empty if there is none."""
    filters: Filters
    quotes: bool = False
    """Whether it is a sentence of which a part stands in quotes: a title as often as a condition."""


def parse_query(text: str, filters: Filters | None = None, *, every: bool = False, phrases: bool = True) -> ParsedQuery:
    """Read `text`; its filters are added to `filters`. With `every` each word is required that carries a topic;
    without `phrases` what stands in quotes is words as others.

    Raises UsageError for a filter whose value cannot be read, and for filters that do not apply to the whole query;
    anything else can be read.
    """
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()  # SQLite takes neither NUL nor surrogates
    tree = read_tree(tokens(text) if phrases else _unquoted(tokens(text)))
    lifted: list[tuple[FilterTerm, bool]] = []
    words = _lift(tree, False, lifted) if tree else None
    filters = filters or Filters()
    for term, negated in lifted:
        filters = _with(filters, term, negated=negated)
    terms = tuple(positive_terms(words)) if words else ()
    required, excluded = conditions(words, every=every) if words else ("", "")
    quotes = words is not None and not every and _quotes(words)
    return ParsedQuery(" ".join(term.text for term in terms), terms, required, excluded, filters, quotes)


def _unquoted(found: Iterable[Token]) -> Iterator[Token]:
    for token in found:
        if token.kind == "phrase":
            yield from (replace(token, kind="word", text=word) for word in token.text.split())
        else:
            yield token


def _quotes(tree: Node) -> bool:
    """A sentence around a phrase: words that carry no topic among the others, as nobody types them beside a phrase that
    must be there."""
    if not isinstance(tree, Group) or tree.join != "beside":
        return False
    terms = [child for child in tree.children if isinstance(child, Term)]
    around = [term.stop for term in terms if term.kind == "word"]
    return len(tree.children) == len(terms) > len(around) >= _SENTENCE and any(around)


def _lift(node: Node, negated: bool, lifted: list[tuple[FilterTerm, bool]]) -> Node | None:
    """The tree without its filters, which are put into `lifted`, each with whether it is negated."""
    if isinstance(node, FilterTerm):
        lifted.append((node, negated))
        return None
    if isinstance(node, Not):
        child = _lift(node.child, not negated, lifted)
        return Not(child) if child else None
    if isinstance(node, Group):
        if node.join == ("AND" if negated else "OR") and (inside := _first_filter(node)):
            raise UsageError(
                f"{_place(inside)} would hold for a part of the query only",
                "filters apply to the whole query; only those of one key can be joined by OR",
            )
        return group(node.join, [_lift(child, negated, lifted) for child in node.children])
    return node


def _first_filter(node: Node) -> Token | None:
    if isinstance(node, FilterTerm):
        return node.choices[0]
    children = node.children if isinstance(node, Group) else (node.child,) if isinstance(node, Not) else ()
    return next((found for child in children if (found := _first_filter(child))), None)


def _with(filters: Filters, term: FilterTerm, *, negated: bool) -> Filters:
    """`filters` and one more."""
    target = Filters() if negated else filters
    first = term.choices[0]
    key = "anytag" if first.key == "tag" and len(term.choices) > 1 else first.key
    if key == "anytag" and target.any_tags:
        raise UsageError(
            f"{_place(first)} begins a second choice of tags",
            "only one group of tags can be joined by OR; tags that must all be there stand without it",
        )
    for choice in term.choices:
        try:
            target = add_filter(target, key, choice.text)
        except UsageError as error:
            raise UsageError(
                f"{error.message} ({_place(choice)})", f"{error.hint}; to look for the words themselves, quote them"
            ) from error
    return replace(filters, without=(*filters.without, target)) if negated else target


def _place(token: Token) -> str:
    """A filter as typed, and where; columns count from 1."""
    return f"{token.written} at column {token.start + 1}"
