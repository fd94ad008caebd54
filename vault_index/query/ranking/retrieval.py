"""Retrieval: the terms of a query with their rarity, and the chunks that each channel (text, vector, name) finds."""

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
from vault_index.store.counts import count_rows
from vault_index.store.document_names import names_of
from vault_index.store.documents import documents_of, first_chunks
from vault_index.store.reader import Bounded, IndexReader
from vault_index.store.spaces import cosines
from vault_index.store.ties import Candidates
from vault_index.terms import STOPWORDS, index_words, is_plain, is_prefix
from vault_index.unicode import same_form

_MAX_RARE_TERMS = 6
"""Terms that find the candidates of a long query: looking for all thirty words of one costs several times as much."""
_COMMON_IDF = 3.2
"""The inverse document frequency of a word that one text in 25 holds. More common words find no candidates where at
least `_ENOUGH_RARE` rarer ones do."""
_ENOUGH_RARE = 2
_NARROW_DEPTH = 2  # times as many candidates where only the rare terms are looked for
_MAX_NAMED_DOCUMENTS = 50
_PASSED_OVER = 3
"""So many hidden chunks are passed over for each that is wanted, before more are asked for."""
_MOST_NAMES = 8192
"""Names whose words are kept: about 2 MB."""
_WORD = re.compile(r"[^\W_]+")
_NAME_BY_TEXT = 0.3
"""Names are measured by the best of them, or by 0.3 of the best text: one common word in a title is no best name."""
MOST_TEXTS = 20_000
"""So many texts are scored whatever they hold, those with the rarest words: each takes half a microsecond."""
MOST_READ = 2_000_000
"""So many places of words are read, at most: each takes a tenth of that, and the commonest words tell the least."""
MOST_SCORED_BY = 200_000
"""The same for the words by which what other words and vectors found is scored."""
_MOST_GROUPS = 3
_FEW_WORDS = 6
"""Of so many words the rarest are groups by themselves; of more each has a share of the rare ones."""
_WHOLE, _TOGETHER = 1.6, 5
"""A text scores at most so many times the inverse frequencies of its words, of so many as are found together."""
_COUNTED = 2_000
_SAMPLE = 8
"""Phrases of words that more texts hold are counted among an eighth of the texts, the newest."""
_MOST_COMPLETIONS = 8
"""Words that are looked for instead of a prefix that too many texts hold."""
_FEW = 3
"""So many documents at most stand first for being called as the query is: of more it tells nothing."""


class QueryTerm(NamedTuple):
    """One word of a query."""

    text: str
    """As it was typed."""
    stems: Mapping[str, float]
    """The stems (of CJK text: the 2-grams) that match it, with their weights: 1.0 as typed, less where corrected."""
    prefix: bool
    """Whether any word matches that begins with `text`."""
    weight: float
    """Its rarity: the inverse document frequency of BM25."""
    known: bool
    """Whether any indexed text holds it."""
    texts: Mapping[str, int] = {}
    """How many texts hold it, as it was typed and as it was corrected."""


class TermsByStem:
    """The terms of a query by what matches them."""

    def __init__(self, terms: Sequence[QueryTerm]) -> None:
        self._prefixes = [(number, term.text) for number, term in enumerate(terms) if term.prefix]
        self._by_stem: dict[str, list[tuple[int, float]]] = {}
        for number, term in enumerate(terms):
            for stem, weight in term.stems.items():
                self._by_stem.setdefault(stem, []).append((number, weight))

    def matching(self, words: Mapping[str, str]) -> dict[str, list[tuple[int, float]]]:
        """For each word, given with its stem, the numbers of the terms that it matches, with their weights."""
        return {
            word: [
                *self._by_stem.get(stem, ()),
                *((number, 1.0) for number, prefix in self._prefixes if word.startswith(prefix)),
            ]
            for word, stem in words.items()
        }


@dataclass(frozen=True, slots=True)
class Query:
    """A query as it was understood: parsed, corrected, embedded."""

    parsed: ParsedQuery
    terms: tuple[QueryTerm, ...]
    spelling: Spelling
    match: str
    """The FTS5 expression of the text channel; empty where it is not asked."""
    narrow_match: str
    """The rare terms of a long `match`, which find its candidates; empty for a short one."""
    bounded: Bounded | None
    """What finds the candidates where too many texts match to score them all: `bounded_expressions`."""
    scoring: str
    """What scores the candidates of a `narrow_match` where not all of `match` can: `scoring_expression`."""
    now: float
    """The moment of the answer, in seconds since the epoch."""
    vector: Vector | None = None
    """None where the vector channel is not asked."""
    space_id: int | None = None
    known: float = 0.0
    """How far its model knows the language of the query, as it says itself: so far its cosines are believed."""
    crossing: bool = False
    """Whether its model brings a question to texts in other languages."""
    degraded: tuple[str, ...] = ()

    @property
    def asks_in_words(self) -> bool:
        """Whether it asks for what a text says; who names a phrase asks for where it stands."""
        phrases = [term for term in self.parsed.terms if term.kind == "phrase"]
        return bool(self.terms) and not (phrases and self.parsed.required)

    @property
    def corrected(self) -> str:
        """What is asked for, as text, with its corrections."""
        return self.spelling.corrected(self.parsed.text)


class Evidence(
    NamedTuple
):  # made by the hundred for each answer: a dataclass takes three times as long
    """The scores of one chunk by channel; None where the channel was not asked or did not find it."""

    bm25: float | None = None
    cosine: float | None = None
    name: float | None = None
    """How far the best name of its document says the query, from 0 to 1."""
    called: bool = False
    """Whether the query is a name of its document, and of few others."""


def read_query_terms(
    reader: IndexReader, terms: Sequence[Term], corrections: Mapping[str, Mapping[str, float]]
) -> tuple[QueryTerm, ...]:
    """The words of `terms` without stopwords, each once. `corrections` has for a word as typed the words it may have
    meant, with their weights."""
    content = [term for term in terms if not term.stop] or terms
    words = dict.fromkeys(
        (word, term.kind == "prefix") for term in content for word in index_words(term.text)
    )
    forms = {word: {word: 1.0} | _single_words(corrections.get(word, {})) for word, _ in words}
    all_forms = {form for weights in forms.values() for form in weights}
    stems = reader.stems(all_forms)
    frequencies = reader.vocabulary().frequencies(all_forms)
    # The full-text index is asked about forms that the vocabulary does not count.
    for form in all_forms - frequencies.keys():
        frequencies[form] = reader.count_matches(term_expression(Term(form, "word", 0)))
    chunks = count_rows(reader, "chunk")
    texts_of = {word: {form: frequencies.get(form, 0) for form in forms[word]} for word, _ in words}
    # A word that no text holds says nothing about the texts: it weighs at most as much as the rarest known word.
    rarest = min((most for texts in texts_of.values() if (most := max(texts.values()))), default=0)
    found = []
    for word, prefix in words:
        texts = texts_of[word]
        weights = {stems.get(form, form): weight for form, weight in reversed(forms[word].items())}
        idf = _idf(max(*texts.values(), rarest), chunks)
        found.append(
            QueryTerm(word, weights, prefix or is_prefix(word), idf, any(texts.values()), texts)
        )
    return tuple(found)


def _single_words(corrections: Mapping[str, float]) -> dict[str, float]:
    """The words of each correction: two that were written as one have half of its weight each."""
    return {
        word: weight / len(words)
        for text, weight in corrections.items()
        for words in [text.split()]
        for word in words
    }


def _idf(documents: int, total: int) -> float:
    return math.log(1.0 + (max(total - documents, 0) + 0.5) / (documents + 0.5))


def rare_terms(terms: Sequence[Term], query_terms: Iterable[QueryTerm]) -> tuple[Term, ...]:
    """The terms that find the candidates of a long or common query, in their order; empty where all terms do."""
    content = [term for term in terms if not term.stop]
    weights = {term.text: term.weight for term in query_terms if term.known}
    idf = {
        term: max((weights.get(word, 0.0) for word in index_words(term.text)), default=0.0)
        for term in content
    }
    known = sorted(
        (term for term in content if idf[term]), key=lambda term: (-idf[term], term.start)
    )
    rare = [term for term in known if idf[term] > _COMMON_IDF]
    chosen = (rare if len(rare) >= _ENOUGH_RARE else known)[:_MAX_RARE_TERMS]
    return tuple(term for term in content if term in chosen) if len(chosen) < len(known) else ()


def with_completions(reader: IndexReader, terms: Iterable[Term]) -> tuple[Term, ...]:
    """`terms`, of which each prefix that too many texts hold to score them all has the commonest words that begin so:
    whoever types goes on to one of them. (SQLite stems a prefix, too: `ins*` finds whatever begins with `in`.)"""
    return tuple(
        replace(term, words=_completions(reader, term)) if term.kind == "prefix" else term
        for term in terms
    )


def _completions(reader: IndexReader, term: Term) -> tuple[str, ...]:
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
    """`terms` as typed and as corrected; stopwords only where there are no other words."""
    forms = (form for meant in corrections.values() for form in meant)
    return [
        *content_terms(terms),
        *(Term(form, "phrase" if " " in form else "word", 0) for form in forms),
    ]


def rarity(
    reader: IndexReader, meant: Iterable[Term], terms: Iterable[QueryTerm]
) -> dict[str, int]:
    """The FTS5 phrases any of which matches a term of `meant`, with about how many texts do, the rarest first; without
    those that none does. `terms` has the frequencies of the words."""
    texts = {form: number for term in terms for form, number in term.texts.items()}
    phrases = [phrase for term in meant for phrase in term_phrases(term)]
    if (
        shorter := {*_WORD.findall(" ".join(phrases).lower())} - texts.keys()
    ):  # than a prefix that was typed
        texts |= reader.vocabulary().frequencies(shorter)
    held = {
        phrase: number for phrase in phrases if (number := _texts_holding(reader, phrase, texts))
    }
    return dict(sorted(held.items(), key=lambda one: one[1]))


def bounded_expressions(held: Mapping[str, int], total: int) -> Bounded | None:
    """FTS5 expressions that together find the best of the texts that match any of the phrases, where too many do to
    score them all, as far as words tell which those are; else None. Each with about the most that a text scores which
    no earlier one finds. `held` is what `rarity` found, `total` the number of texts.

    The rarest words find by themselves, and with any of the others: a text gets its whole score by one of the
    expressions, and at most that by the others. A text with one common word of several is seldom among the best: of
    groups that the common ones are dealt into, it must have a word of each.
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


def scoring_expression(held: Mapping[str, int]) -> str:
    """The FTS5 expression that scores what a few words found where not all words can: without the commonest of them;
    empty where all can."""
    rarest = max(bisect_right(list(accumulate(held.values())), MOST_SCORED_BY), 1)
    return _in_each([list(held)[:rarest]]) if rarest < len(held) else ""


def _groups(words: Sequence[str], held: Mapping[str, int], total: int) -> Sequence[Sequence[str]]:
    """The first way to group words that leaves not too many texts, if words came independently; or else that which
    leaves the fewest. Of a few words the rarest are groups by themselves."""
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


def _texts_holding(reader: IndexReader, phrase: str, texts: Mapping[str, int]) -> int:
    """About how many texts match an FTS5 phrase: not more than hold its rarest word."""
    if phrase.startswith("("):  # any of some words
        return sum(texts.get(word, 0) for word in _WORD.findall(phrase.replace(" OR ", " ")))
    *words, last = _WORD.findall(phrase.lower()) or [""]
    count = (
        reader.vocabulary().count_beginning(last) if phrase.endswith("*") else texts.get(last, 0)
    )
    most = min(count, *(texts.get(word, 0) for word in words)) if words else count
    if (
        not words or most <= _COUNTED or count > MOST_SCORED_BY
    ):  # the places of a short beginning take long to read
        return most
    return min(most, reader.count_matches(phrase, _SAMPLE) * _SAMPLE + 1)


def retrieve(
    reader: IndexReader, query: Query, depth: int, hidden: Collection[int]
) -> dict[int, Evidence]:
    """The evidence of each chunk that a channel finds, by chunk id; each channel finds about `depth` chunks, and none
    in `hidden`. A query of filters alone finds the newest documents."""
    parsed, filters = query.parsed, query.parsed.filters
    if not query.match and query.vector is None:
        return _newest(reader, parsed, depth, hidden)
    conditions: dict[str, Any] = {"required": parsed.required, "excluded": parsed.excluded}
    bm25: dict[int, float] = {}
    cosine: dict[int, float] = {}
    if match := query.narrow_match or query.match:
        by_text = partial(
            reader.text_candidates, match, filters=filters, **conditions, bounded=query.bounded
        )
        bm25 = _shown(by_text, depth * _NARROW_DEPTH if query.narrow_match else depth, hidden)
    if query.vector is not None and query.space_id is not None:
        near = partial(
            reader.vector_candidates, query.space_id, query.vector, filters=filters, **conditions
        )
        cosine = _shown(near, depth, hidden)
        others = [chunk_id for chunk_id in bm25 if chunk_id not in cosine]
        cosine |= cosines(reader, query.space_id, query.vector, others)
    if query.narrow_match:
        bm25 = dict(reader.bm25(query.scoring or query.match, {*bm25, *cosine}))
    found = {*bm25, *cosine}
    name = (
        _name_scores(reader, query, found, max(bm25.values(), default=0.0)) if query.match else {}
    )
    return {
        chunk_id: Evidence(bm25.get(chunk_id), cosine.get(chunk_id), *name.get(chunk_id, ()))
        for chunk_id in {*found, *name}.difference(hidden)
    }


def _shown(
    find: Callable[[int], Candidates], depth: int, hidden: Collection[int]
) -> dict[int, float]:
    """The best `depth` that `find` finds, given how many, and those as good as the last of them; without what is
    `hidden`, which may be much more than is asked for."""
    asked = depth + min(len(hidden), _PASSED_OVER * depth)
    found = find(asked)
    while (
        len(shown := [one for one in found if one[0] not in hidden]) < depth and len(found) == asked
    ):
        asked *= 1 + _PASSED_OVER
        found = find(asked)
    return {chunk_id: score for chunk_id, score in shown if score >= shown[:depth][-1][1]}


def _newest(
    reader: IndexReader, parsed: ParsedQuery, depth: int, hidden: Collection[int]
) -> dict[int, Evidence]:
    """The first chunks of the newest documents, with falling scores; nothing for a query that asks for nothing."""
    if not parsed.excluded and parsed.filters == Filters():
        return {}
    found = reader.newest_chunks(parsed.filters, depth + len(hidden), excluded=parsed.excluded)
    shown = [chunk_id for chunk_id in found if chunk_id not in hidden][:depth]
    return {
        chunk_id: Evidence(cosine=1.0 - rank / (10 * depth)) for rank, chunk_id in enumerate(shown)
    }


def _name_scores(
    reader: IndexReader, query: Query, found: Collection[int], best_text: float
) -> dict[int, tuple[float, bool]]:
    """`name` and `called` of `Evidence`, by chunk id, as far as a document's name matches; a document of which no chunk
    is in `found` comes with its first chunk."""
    bm25 = dict(reader.name_candidates(query.match, _MAX_NAMED_DOCUMENTS, query.parsed.filters))
    if not bm25:
        return {}
    best = max(*bm25.values(), _NAME_BY_TEXT * best_text, 1e-9)
    names = names_of(reader, bm25)
    said = _names_said(reader, query.terms, {name for those in names.values() for name in those})
    asked = {" ".join(same_form(text).split()) for text in (query.parsed.text, query.corrected)}
    in_full = {
        id_ for id_, those in names.items() if any(_read_name(name)[0] in asked for name in those)
    }
    scores = {
        # BM25 prefers short names. Of a name in full nothing is missing, however many others its document has.
        id_: (1.0, len(in_full) <= _FEW)
        if id_ in in_full
        else (
            max(score, 0.0)
            / best
            * max((said.get(name, 0.0) for name in names.get(id_, ())), default=0.0),
            False,
        )
        for id_, score in bm25.items()
    }
    if unsaid := [id_ for id_, (name, _) in scores.items() if not name]:
        for id_ in {*unsaid} - reader.own_names(query.match, unsaid):
            del scores[id_]
    documents = documents_of(reader, sorted(found))
    by_chunk = {
        chunk_id: scores[document] for chunk_id, document in documents.items() if document in scores
    }
    # The first chunk need not meet the conditions on words: such documents are left out.
    if not query.parsed.required and not query.parsed.excluded:
        firsts = first_chunks(reader, sorted(scores.keys() - set(documents.values())))
        by_chunk |= {chunk_id: scores[document] for document, chunk_id in firsts.items()}
    return by_chunk


def _names_said(
    reader: IndexReader, terms: Sequence[QueryTerm], names: Iterable[str]
) -> dict[str, float]:
    """How far each name says the query, of those that have a word of it: the geometric mean of the share of the query
    that the name says, by rarity, and the share of its own words that the query holds (Fowlkes and Mallows). Two words
    that a long title shares with a long question are little of both."""
    words = {name: _read_name(name)[1] for name in names}
    every = {*chain.from_iterable(words.values())}
    matches = TermsByStem(terms).matching(
        dict(zip(every, every, strict=True)) | reader.stems(every)
    )
    total = sum(term.weight for term in terms) or 1.0
    said = {}
    for name, those in words.items():
        if held := [matches[word] for word in those if matches[word]]:
            matched = dict(sorted(chain.from_iterable(held)))  # of several weights the highest
            share = sum(terms[number].weight * weight for number, weight in matched.items()) / total
            said[name] = math.sqrt(share * len(held) / len(those))
    return said


@lru_cache(_MOST_NAMES)  # there may be hundreds for each query, and most are the same again
def _read_name(name: str) -> tuple[str, tuple[str, ...]]:
    """A name as it is compared as a whole, and its words without stopwords."""
    words = _WORD.findall(name.lower()) if is_plain(name) else index_words(name)
    return " ".join(same_form(name).split()), tuple(word for word in words if word not in STOPWORDS)
