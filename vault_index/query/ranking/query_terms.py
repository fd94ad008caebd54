"""What a question looks for, word by word: how rare each word is, and which words of a text agree with it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vault_index.query.language.match import match_expression, term_expression
from vault_index.query.language.tree import Term
from vault_index.store.reader import IndexReader
from vault_index.terms import holds_cjk, index_words

_MOST_TERMS = 6
"""A question of thirty words finds its candidates by the rarest ones; looking for all costs several times as much."""
_COMMON = 3.2
"""The rarity of a word that one text in twenty-five holds: it need not find candidates where `_ENOUGH` rarer ones
do."""
_ENOUGH = 2


@dataclass(frozen=True, slots=True)
class Needle:
    """One word of a question."""

    text: str
    """As it was typed."""
    stems: Mapping[str, float]
    """The stems (of CJK text: the 2-grams) that agree with it, and how much: 1.0 as typed, less where corrected."""
    prefix: bool
    """Whether a text agrees that begins so."""
    weight: float
    """Its rarity: the inverse document frequency of BM25."""
    known: bool
    """Whether any text holds it."""


def read_needles(
    reader: IndexReader, terms: Sequence[Term], corrections: Mapping[str, Mapping[str, float]]
) -> tuple[Needle, ...]:
    """The words of `terms` without stopwords, each once. `corrections`: for a word as typed, what it may have meant and
    how much that counts."""
    telling = [term for term in terms if not term.stop] or terms
    pieces = {(word, term.kind == "prefix"): term for term in telling for word in index_words(term.text)}
    spelled = {word: {word: 1.0} | _parts(corrections.get(word, {})) for word, _ in pieces}
    stems = reader.stems({form for forms in spelled.values() for form in forms})
    frequencies = _frequencies(reader, spelled)
    chunks = reader.count("chunk")
    needles = []
    for word, prefix in pieces:
        texts = max(frequencies.get(form, 0) for form in spelled[word])
        agreeing = {stems.get(form, form): weight for form, weight in reversed(spelled[word].items())}
        half = len(word) == 1 and holds_cjk(word)
        needles.append(Needle(word, agreeing, prefix or half, _rarity(texts, chunks), known=texts > 0))
    return tuple(needles)


def _parts(meant: Mapping[str, float]) -> dict[str, float]:
    """Words that were meant, by themselves: two that were written as one count half each."""
    return {part: weight / len(parts) for text, weight in meant.items() for parts in [text.split()] for part in parts}


def rarest(terms: Sequence[Term], needles: Iterable[Needle]) -> tuple[Term, ...]:
    """The terms that find the candidates of a long or common question, in their order; nothing where all do."""
    telling = [term for term in terms if not term.stop]
    weights = {needle.text: needle.weight for needle in needles if needle.known}
    rarity = {term: max((weights.get(word, 0.0) for word in index_words(term.text)), default=0.0) for term in telling}
    known = sorted((term for term in telling if rarity[term]), key=lambda term: (-rarity[term], term.start))
    rare = [term for term in known if rarity[term] > _COMMON]
    chosen = rare[:_MOST_TERMS] if len(rare) >= _ENOUGH else known[:_MOST_TERMS]
    return tuple(term for term in telling if term in chosen) if len(chosen) < len(known) else ()


def ranking_expression(terms: Sequence[Term], corrections: Mapping[str, Mapping[str, float]]) -> str:
    """The FTS5 expression that finds any of `terms` as typed, or as corrected."""
    typed = match_expression(terms)
    meant = [Term(form, "phrase" if " " in form else "word", 0) for forms in corrections.values() for form in forms]
    return " OR ".join(part for part in (typed, *map(term_expression, meant)) if part)


def _frequencies(reader: IndexReader, spelled: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """How many texts hold each form; the index itself is asked about what its vocabulary does not count."""
    forms = {form for forms in spelled.values() for form in forms}
    known = reader.document_frequencies(forms)
    others = {form: reader.count_matches(term_expression(Term(form, "word", 0))) for form in forms - known.keys()}
    return known | others


def _rarity(documents: int, total: int) -> float:
    return math.log(1.0 + (max(total - documents, 0) + 0.5) / (documents + 0.5))
