"""Reading a query: what to look for, what a hit must and must not match as FTS5 expressions, and the filters.

docs/query-language.md describes the language; `tree` reads its grammar. Every word a user typed is quoted in an FTS5
expression: none of it is syntax.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from vault_index.errors import UsageError
from vault_index.models import Filters
from vault_index.query.language.filters import add_filter
from vault_index.query.language.tree import FilterTerm, Group, Node, Not, Term, Token, group, read_tree, tokens
from vault_index.terms import is_prefix, query_parts, query_phrase

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


# Endings that Porter's stemmer takes off: of `security` the index holds `secur`, which `securit*` would not find.
# With these, prefixes of the fixtures' words miss 1.4 % of what they begin, instead of 4.1 %.
_ENDINGS = ("able", "ation", "ence", "ing", "ion", "ity", "ive", "ment")
_LONGEST_ENDING = 5
_SHORTEST_STEM = 4


def match_expression(terms: Sequence[Term]) -> str:
    """Any of `terms`, to rank by; words without a topic only where there is nothing else. Empty without terms."""
    telling = [term for term in terms if not term.stop] or terms
    return _joined("OR", dict.fromkeys(term_expression(term) for term in telling), bare=True)


def term_expression(term: Term) -> str:
    """One term; a word is found by any of its parts."""
    if term.kind == "phrase":
        return _exact(term)
    parts = dict.fromkeys(query_parts(term.text))
    if term.kind == "prefix":
        return _joined("OR", _beginning(parts, term.text))
    return _joined("OR", [_quoted(part) + "*" * is_prefix(part) for part in parts])


def conditions(tree: Node, *, every: bool) -> tuple[str, str]:
    """What a hit must match, and what it must not; empty where there is no such condition.

    Phrases must match; words only where they are joined by AND or OR, or where `every` one is wanted.
    """
    strict = every or _is_boolean(tree)
    parts = [part for part in _beside(tree) if strict or not isinstance(part, Term) or part.kind == "phrase"]
    wanted, unwanted = _split(parts, negated=False)
    return _joined("AND", wanted, bare=True), _joined("OR", unwanted, bare=True)


def positive_terms(node: Node, *, negated: bool = False) -> list[Term]:
    """The terms that are looked for, in their order."""
    if isinstance(node, Term):
        return [] if negated else [node]
    if isinstance(node, Not):
        return positive_terms(node.child, negated=not negated)
    if isinstance(node, Group):
        return [term for child in node.children for term in positive_terms(child, negated=negated)]
    return []


def _is_boolean(node: Node) -> bool:
    if isinstance(node, Not):
        return _is_boolean(node.child)
    return isinstance(node, Group) and (node.join != "beside" or any(map(_is_boolean, node.children)))


def _beside(node: Node) -> Sequence[Node]:
    """What must hold together, without the words that do not count beside others."""
    if not isinstance(node, Group) or node.join == "OR":
        return [node]
    if node.join == "AND":
        return [part for child in node.children for part in _beside(child)]
    return [child for child in node.children if not (isinstance(child, Term) and child.stop)] or node.children


def _signed(node: Node, *, negated: bool) -> tuple[bool, str]:
    """An expression, and whether it must match or must not.

    FTS5 knows NOT only between two expressions, so a set is given by itself or by what it leaves out. By De Morgan
    that is enough for every tree: `a OR NOT b` is all but what matches `b NOT a`.
    """
    if isinstance(node, Not):
        return _signed(node.child, negated=not negated)
    if not isinstance(node, Group):
        assert isinstance(node, Term)
        return not negated, _exact(node)
    # Things beside each other all hold: wanted, each of them is there; unwanted, none is.
    if node.join == "beside" or (node.join == "AND") != negated:
        wanted, unwanted = _split(_beside(node) if node.join == "beside" else node.children, negated=negated)
        if wanted:
            return True, _without(_joined("AND", wanted), unwanted)
        return False, _joined("OR", unwanted)
    wanted, unwanted = _split(node.children, negated=negated)
    if unwanted:
        return False, _without(_joined("AND", unwanted), wanted)
    return True, _joined("OR", wanted)


def _split(nodes: Iterable[Node], *, negated: bool) -> tuple[list[str], list[str]]:
    signed = [_signed(node, negated=negated) for node in nodes]
    return [sql for wanted, sql in signed if wanted], [sql for wanted, sql in signed if not wanted]


def _without(expression: str, unwanted: Sequence[str]) -> str:
    return f"({expression} NOT {_joined('OR', unwanted)})" if unwanted else expression


def _exact(term: Term) -> str:
    """A term as a condition: of a Chinese, Japanese or Korean word all characters in a row, not any part of it."""
    phrase = query_phrase(term.text).strip()
    compounds = query_parts(term.text)[1:] if term.kind != "phrase" and phrase == term.text else []
    parts = dict.fromkeys([phrase, *compounds])
    if term.kind == "prefix":
        return _joined("OR", _beginning(parts, term.text))
    star = "*" * is_prefix(phrase[-2:].strip())
    return _joined("OR", [_quoted(part) + star for part in parts])


def _beginning(parts: Iterable[str], prefix: str) -> list[str]:
    """Words that begin with one of `parts`, and those whose stem is shorter than `prefix`, as far as that can be
    told: where it stops within an ending."""
    shorter = [
        prefix[:-size]
        for size in range(1, min(_LONGEST_ENDING, len(prefix) - _SHORTEST_STEM) + 1)
        if any(ending.startswith(prefix[-size:].lower()) for ending in _ENDINGS)
    ]
    undoubled = [stem[:-1] for stem in (prefix, *shorter) if stem[-1] == stem[-2:-1] and len(stem) > _SHORTEST_STEM]
    stems = dict.fromkeys([*shorter, *undoubled]) if prefix.isascii() and prefix.isalpha() else ()
    return [*(_quoted(part) + "*" for part in parts), *map(_quoted, stems)]


def _joined(operator: str, expressions: Iterable[str], *, bare: bool = False) -> str:
    parts = list(expressions)
    joined = f" {operator} ".join(parts)
    return joined if bare or len(parts) < 2 else f"({joined})"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
