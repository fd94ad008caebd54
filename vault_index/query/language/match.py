"""From the tree of a query to FTS5 expressions. Every word a user typed is quoted: none of it is syntax."""

from collections.abc import Iterable, Sequence

from vault_index import terms as index_terms
from vault_index.query.language.tree import Group, Node, Not, Term

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
    parts = dict.fromkeys(index_terms.query_parts(term.text))
    if term.kind == "prefix":
        return _joined("OR", _beginning(parts, term.text))
    return _joined("OR", [_quoted(part) + "*" * index_terms.is_prefix(part) for part in parts])


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
    phrase = index_terms.query_phrase(term.text).strip()
    compounds = index_terms.query_parts(term.text)[1:] if term.kind != "phrase" and phrase == term.text else []
    parts = dict.fromkeys([phrase, *compounds])
    if term.kind == "prefix":
        return _joined("OR", _beginning(parts, term.text))
    star = "*" * index_terms.is_prefix(phrase[-2:].strip())
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
