"""Finds candidate chunks for a query in each channel: text, vector and name."""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import accumulate, chain, islice
from typing import Any, NamedTuple

from vault_index.models import Filters, Vector
from vault_index.query.language.parse import (
    ParsedQuery,
    content_terms,
    term_expression,
    term_phrases,
)
from vault_index.query.language.tree import Term
from vault_index.query.ranking.spelling import Spelling
from vault_index.query.reader import Reader
from vault_index.store.documents import documents_of, first_chunks, names_of
from vault_index.store.filters import Candidates
from vault_index.store.reader import Bounded
from vault_index.terms import STOPWORDS, index_words, is_plain, is_prefix
from vault_index.unicode import same_form

_MAX_NAMED_DOCUMENTS = 50
_MAX_SKIPPED = 3
"""Fetch up to 3 extra chunks per wanted chunk before asking the database again, because hidden
chunks are skipped."""
_MOST_NAMES = 8192
"""Size of the cache of names split into words: about 2 MB."""
_WORD = re.compile(r"[^\W_]+")
_NAME_BY_TEXT = 0.3
"""Name scores are divided by the best name score, or by 0.3 of the best text score if that is
higher. So one common word in a title does not make a best name."""
MOST_TEXTS = 20_000
"""Texts that are scored without further conditions, those with the rarest words. Each takes 0.5
µs."""
MOST_READ = 2_000_000
"""Maximum number of word positions to read; the commonest words are dropped. Each takes 0.05 µs."""
MOST_SCORED_BY = 200_000
"""The same limit for the words that score the candidates of other words and of vectors."""
_MOST_GROUPS = 3
_FEW_WORDS = 6
"""Up to this number of words, the rarest words are groups of their own. Above it, each group
gets a share of the rare words."""
_WHOLE, _TOGETHER = 1.6, 5
"""The maximum score of a text is 1.6 times the sum of the inverse frequencies of its 5 rarest
words."""
_COUNTED = 2_000
_SAMPLE = 8
"""Phrases whose words are in more than `_COUNTED` texts are counted in the newest eighth of the
texts."""
_MOST_COMPLETIONS = 8
"""Words to search for instead of a prefix that too many texts match."""
_FEW = 3
"""Up to this number of documents rank first if their name equals the query. If more have the
name, it does not identify a document."""


class QueryTerm(NamedTuple):
    """One word of a query."""

    text: str
    """As typed."""
    stems: Mapping[str, float]
    """Stems (2-grams for CJK text) that match it, with their weights: 1.0 as typed, less if
    corrected."""
    prefix: bool
    """Whether it matches any word that begins with `text`."""
    weight: float
    """Its rarity: the inverse document frequency of BM25."""
    known: bool
    """Whether any indexed text contains it."""
    texts: Mapping[str, int] = {}
    """Number of texts that contain it, as typed and as corrected."""


class TermsByStem:
    """Looks up the terms of a query by stem."""

    def __init__(self, terms: Sequence[QueryTerm]) -> None:
        self._prefixes = [(number, term.text) for number, term in enumerate(terms) if term.prefix]
        self._by_stem: dict[str, list[tuple[int, float]]] = {}
        for number, term in enumerate(terms):
            for stem, weight in term.stems.items():
                self._by_stem.setdefault(stem, []).append((number, weight))

    def matching(self, words: Mapping[str, str]) -> dict[str, list[tuple[int, float]]]:
        """Return for each word the numbers and weights of the terms that it matches.

        `words` maps each word to its stem.
        """
        return {
            word: [
                *self._by_stem.get(stem, ()),
                *((number, 1.0) for number, prefix in self._prefixes if word.startswith(prefix)),
            ]
            for word, stem in words.items()
        }


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed, corrected and embedded query."""

    parsed: ParsedQuery
    terms: tuple[QueryTerm, ...]
    spelling: Spelling
    match: str
    """FTS5 expression of the text channel; empty if that channel is not searched."""
    bounded: Bounded | None
    """Expressions that find candidates if too many texts match to score them all; see
    `bounded_expressions`."""
    now: float
    """Time of the answer, in seconds since the epoch."""
    vector: Vector | None = None
    """None if the vector channel is not searched."""
    space_id: int | None = None
    known: float = 0.0
    """How well the embedding model knows the language of the query, from 0 to 1. Cosines count
    accordingly."""
    crossing: bool = False
    """Whether the embedding model matches texts across languages."""
    stretch: float = 1.0
    """Factor of the cosines (`confidence.scale_of`)."""
    degraded: tuple[str, ...] = ()

    @property
    def asks_in_words(self) -> bool:
        """Whether the query is a question; a required phrase only locates a text."""
        phrases = [term for term in self.parsed.terms if term.kind == "phrase"]
        return bool(self.terms) and not (phrases and self.parsed.required)

    @property
    def corrected(self) -> str:
        """The query text with its corrections."""
        return self.spelling.corrected(self.parsed.text)


# A named tuple, because each answer creates hundreds and a dataclass takes three times as long.
class Evidence(NamedTuple):
    """The scores of one chunk by channel; None if the channel did not search or find it."""

    bm25: float | None = None
    cosine: float | None = None
    name: float | None = None
    """Similarity of the query and the best name of its document, from 0 to 1."""
    called: bool = False
    """Whether the query is a name of its document, and of few others."""


def read_query_terms(
    reader: Reader, terms: Sequence[Term], corrections: Mapping[str, Mapping[str, float]]
) -> tuple[QueryTerm, ...]:
    """Return the distinct words of `terms` without stopwords.

    `corrections` maps a typed word to the possible corrections with their weights.
    """
    content = [term for term in terms if not term.stop] or terms
    words = dict.fromkeys(
        (word, term.kind == "prefix") for term in content for word in index_words(term.text)
    )
    forms = {word: {word: 1.0} | _single_words(corrections.get(word, {})) for word, _ in words}
    all_forms = set[str]().union(*forms.values())
    stems = reader.stems(all_forms)
    frequencies = reader.vocabulary().frequencies(all_forms)
    # The full-text index counts forms that the vocabulary lacks.
    for form in all_forms - frequencies.keys():
        frequencies[form] = reader.count_matches(term_expression(Term(form, "word")))
    chunks = reader.count("chunk")
    texts_of = {word: {form: frequencies.get(form, 0) for form in forms[word]} for word, _ in words}
    # An unknown word does not distinguish texts. It weighs at most as much as the rarest known one.
    rarest = min((most for texts in texts_of.values() if (most := max(texts.values()))), default=0)
    found = []
    for word, prefix in words:
        texts = texts_of[word]
        weights = {stems.get(form, form): weight for form, weight in reversed(forms[word].items())}
        held = max(*texts.values(), rarest)
        idf = math.log(1.0 + (max(chunks - held, 0) + 0.5) / (held + 0.5))
        found.append(
            QueryTerm(word, weights, prefix or is_prefix(word), idf, any(texts.values()), texts)
        )
    return tuple(found)


def _single_words(corrections: Mapping[str, float]) -> dict[str, float]:
    """Return the words of each correction; each word of a split pair gets half of the weight."""
    return {
        word: weight / len(words)
        for text, weight in corrections.items()
        for words in [text.split()]
        for word in words
    }


def with_completions(reader: Reader, terms: Iterable[Term]) -> tuple[Term, ...]:
    """Replace each prefix that too many texts match by its most frequent completions.

    SQLite also stems a prefix, so that `ins*` matches every word that begins with `in`.
    """
    return tuple(
        replace(term, words=_completions(reader, term)) if term.kind == "prefix" else term
        for term in terms
    )


def _completions(reader: Reader, term: Term) -> tuple[str, ...]:
    word, vocabulary = term.text.lower(), reader.vocabulary()
    stem = reader.stems([word]).get(word, "")
    if not stem or vocabulary.count_beginning(stem) <= MOST_TEXTS:
        return ()
    words = dict.fromkeys(
        [word, *vocabulary.completions(word, stem, _MOST_COMPLETIONS + len(STOPWORDS))]
    )
    return tuple(one for one in words if one not in STOPWORDS)[:_MOST_COMPLETIONS]


def terms_meant(
    terms: Sequence[Term], corrections: Mapping[str, Mapping[str, float]]
) -> list[Term]:
    """Return `terms` as typed and as corrected; stopwords only if there are no other words."""
    forms = (form for meant in corrections.values() for form in meant)
    return [
        *content_terms(terms),
        *(Term(form, "phrase" if " " in form else "word") for form in forms),
    ]


def rarity(reader: Reader, meant: Iterable[Term], terms: Iterable[QueryTerm]) -> dict[str, int]:
    """Return the FTS5 phrases of `meant` with the estimated number of matching texts, rarest first.

    Phrases without a match are omitted. `terms` has the frequencies of the words.
    """
    texts = {form: number for term in terms for form, number in term.texts.items()}
    phrases = [phrase for term in meant for phrase in term_phrases(term)]
    # A typed prefix also gives shorter stems, which `texts` lacks.
    if shorter := {*_WORD.findall(" ".join(phrases).lower())} - texts.keys():
        texts |= reader.vocabulary().frequencies(shorter)
    held = {
        phrase: number for phrase in phrases if (number := _texts_holding(reader, phrase, texts))
    }
    return dict(sorted(held.items(), key=lambda one: one[1]))


def bounded_expressions(held: Mapping[str, int], total: int) -> Bounded | None:
    """Return FTS5 expressions that find the best matches without scoring all of them.

    Returns None if few enough texts match to score them all. Each expression comes with an estimate
    of the maximum score of a text that no earlier one finds. `held` is the result of `rarity`,
    `total` the number of texts.

    The rarest words are searched alone and in combination with any of the others. A text gets its
    full score from one of the expressions and at most that from the others. A text with only one
    common word is seldom among the best. The common words are therefore split into groups, and a
    text must contain a word of each group.
    """
    words, read = list(held), list(accumulate(held.values()))
    if not read or read[-1] <= MOST_TEXTS:
        return None
    rarest, most = bisect_right(read, MOST_TEXTS), bisect_right(read, MOST_READ)
    rare, rest = words[:rarest], words[rarest : max(most, 1)]
    found = [
        (_in_each(groups), math.inf) for groups in ([rare], [rare, rest]) if rare and groups[-1]
    ]
    if len(rest) > 1:
        inverse = (
            math.log((max(total - held[word], 0) + 0.5) / (held[word] + 0.5))
            for word in words[rarest:]
        )
        ceiling = _WHOLE * sum(max(one, 0.0) for one in islice(inverse, _TOGETHER))
        found.append((_in_each(_groups(rest, held, total)), ceiling))
    return tuple(found)


def _groups(words: Sequence[str], held: Mapping[str, int], total: int) -> Sequence[Sequence[str]]:
    """Return the first grouping that matches few enough texts, or else the one with the fewest.

    The estimate assumes that words occur independently. If there are few words, the rarest are also
    tried as groups of their own.
    """
    counts = range(2, min(len(words), _MOST_GROUPS) + 1)
    dealt = [[words[start::count] for start in range(count)] for count in counts]
    apart = [[*([word] for word in words[: count - 1]), words[count - 1 :]] for count in counts]
    ways = [*chain(*zip(apart, dealt, strict=True))] if len(words) <= _FEW_WORDS else dealt
    left = [
        total * math.prod(min(sum(map(held.__getitem__, one)) / total, 1.0) for one in way)
        for way in ways
    ]
    return next(
        way for way, texts in zip(ways, left, strict=True) if texts <= max(MOST_TEXTS, min(left))
    )


def _in_each(groups: Iterable[Sequence[str]]) -> str:
    return " AND ".join(f"({' OR '.join(group)})" for group in groups)


def _texts_holding(reader: Reader, phrase: str, texts: Mapping[str, int]) -> int:
    """Estimate how many texts match an FTS5 phrase; at most as many as contain its rarest word."""
    if phrase.startswith("("):  # alternative words
        return sum(texts.get(word, 0) for word in _WORD.findall(phrase.replace(" OR ", " ")))
    *words, last = _WORD.findall(phrase.lower()) or [""]
    count = (
        reader.vocabulary().count_beginning(last) if phrase.endswith("*") else texts.get(last, 0)
    )
    most = min(count, *(texts.get(word, 0) for word in words)) if words else count
    # The positions of a short prefix take long to read.
    if not words or most <= _COUNTED or count > MOST_SCORED_BY:
        return most
    return min(most, reader.count_matches(phrase, _SAMPLE) * _SAMPLE + 1)


def retrieve(
    reader: Reader, query: Query, depth: int, hidden: Collection[int]
) -> dict[int, Evidence]:
    """Return the evidence of each chunk that a channel finds, by chunk id.

    Each channel finds about `depth` chunks, without those in `hidden`. A query of filters alone
    finds the newest documents.
    """
    parsed, filters = query.parsed, query.parsed.filters
    if not query.match and query.vector is None:
        return _newest(reader, parsed, depth, hidden)
    conditions: dict[str, Any] = {"required": parsed.required, "excluded": parsed.excluded}
    bm25: dict[int, float] = {}
    cosine: dict[int, float] = {}
    if query.match:
        by_text = partial(
            reader.text_candidates,
            query.match,
            filters=filters,
            **conditions,
            bounded=query.bounded,
        )
        bm25 = _visible(by_text, depth, hidden)
    if query.vector is not None and query.space_id is not None:
        near = partial(
            reader.vector_candidates, query.space_id, query.vector, filters=filters, **conditions
        )
        cosine = _visible(near, depth, hidden)
        cosine |= reader.cosines(query.space_id, query.vector, bm25.keys() - cosine.keys())
        cosine = {chunk_id: query.stretch * one for chunk_id, one in cosine.items()}
    found = {*bm25, *cosine}
    name = (
        _name_scores(reader, query, found, max(bm25.values(), default=0.0)) if query.match else {}
    )
    return {
        chunk_id: Evidence(bm25.get(chunk_id), cosine.get(chunk_id), *name.get(chunk_id, ()))
        for chunk_id in {*found, *name}.difference(hidden)
    }


def _visible(
    find: Callable[[int], Candidates], depth: int, hidden: Collection[int]
) -> dict[int, float]:
    """Return the best `depth` visible results of `find`, and those tied with the last of them.

    `find` takes a limit. The number of hidden chunks may be much larger than `depth`.
    """
    limit = depth + min(len(hidden), _MAX_SKIPPED * depth)
    found = find(limit)
    while (
        len(shown := [one for one in found if one[0] not in hidden]) < depth and len(found) == limit
    ):
        limit *= 1 + _MAX_SKIPPED
        found = find(limit)
    return {chunk_id: score for chunk_id, score in shown if score >= shown[:depth][-1][1]}


def _newest(
    reader: Reader, parsed: ParsedQuery, depth: int, hidden: Collection[int]
) -> dict[int, Evidence]:
    """Return the first chunks of the newest documents with decreasing scores.

    Empty if the query has neither filters nor exclusions.
    """
    if not parsed.excluded and parsed.filters == Filters():
        return {}
    found = reader.newest_chunks(parsed.filters, depth + len(hidden), excluded=parsed.excluded)
    shown = [chunk_id for chunk_id in found if chunk_id not in hidden][:depth]
    return {
        chunk_id: Evidence(cosine=1.0 - rank / (10 * depth)) for rank, chunk_id in enumerate(shown)
    }


def _name_scores(
    reader: Reader, query: Query, found: Collection[int], best_text: float
) -> dict[int, tuple[float, bool]]:
    """Return `name` and `called` of `Evidence` by chunk id, for documents with a matching name.

    A document without a chunk in `found` is represented by its first chunk.
    """
    bm25 = dict(reader.name_candidates(query.match, _MAX_NAMED_DOCUMENTS, query.parsed.filters))
    scores = _document_scores(reader, query, bm25, best_text)
    documents = documents_of(reader, sorted(found))
    by_chunk = {
        chunk_id: scores[document] for chunk_id, document in documents.items() if document in scores
    }
    # The first chunk may not meet required or excluded words, so such documents are omitted.
    if not query.parsed.required and not query.parsed.excluded:
        firsts = first_chunks(reader, sorted(scores.keys() - set(documents.values())))
        by_chunk |= {chunk_id: scores[document] for document, chunk_id in firsts.items()}
    return by_chunk


def _document_scores(
    reader: Reader, query: Query, bm25: Mapping[int, float], best_text: float
) -> dict[int, tuple[float, bool]]:
    """Return `name` and `called` of `Evidence` by document id; `bm25` is that of their names."""
    names = names_of(reader, bm25)
    similarity = _name_similarity(reader, query.terms, {*chain.from_iterable(names.values())})
    typed = {" ".join(same_form(text).split()) for text in (query.parsed.text, query.corrected)}
    in_full = {id_ for id_, own in names.items() if any(_read_name(one)[0] in typed for one in own)}
    # BM25 prefers short names, so a document whose full name is the query gets the best score.
    scores = dict.fromkeys(in_full, (1.0, len(in_full) <= _FEW))
    best = max(*bm25.values(), _NAME_BY_TEXT * best_text, 1e-9)
    for id_ in bm25.keys() - in_full:
        likest = max((similarity.get(name, 0.0) for name in names.get(id_, ())), default=0.0)
        scores[id_] = (max(bm25[id_], 0.0) / best * likest, False)
    # Names that the caller may not know find no document.
    unmatched = {id_ for id_, (name, _) in scores.items() if not name}
    for id_ in unmatched - reader.own_names(query.match, unmatched):
        del scores[id_]
    return scores


def _name_similarity(
    reader: Reader, terms: Sequence[QueryTerm], names: Iterable[str]
) -> dict[str, float]:
    """Return the similarity of the query and each name that has a word of it.

    It is the Fowlkes-Mallows index: the geometric mean of the share of the query in the name,
    weighted by rarity, and the share of the name's words in the query. So two words that a long
    title shares with a long query count little.
    """
    words = {name: _read_name(name)[1] for name in names}
    every = {*chain.from_iterable(words.values())}
    matches = TermsByStem(terms).matching(
        dict(zip(every, every, strict=True)) | reader.stems(every)
    )
    total = sum(term.weight for term in terms) or 1.0
    similarity = {}
    for name, own in words.items():
        if held := [matches[word] for word in own if matches[word]]:
            matched = dict(sorted(chain.from_iterable(held)))  # keeps the highest weight of a term
            share = sum(terms[number].weight * weight for number, weight in matched.items()) / total
            similarity[name] = math.sqrt(share * len(held) / len(own))
    return similarity


@lru_cache(_MOST_NAMES)  # a query may read hundreds of names, and most repeat
def _read_name(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a name in its compared form, and its words without stopwords."""
    words = _WORD.findall(name.lower()) if is_plain(name) else index_words(name)
    return " ".join(same_form(name).split()), tuple(word for word in words if word not in STOPWORDS)
