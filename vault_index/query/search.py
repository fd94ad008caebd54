"""Answering a query: what each channel names, ranked by passage, checked against the disk."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from vault_index.config.schema import RankingConfig
from vault_index.errors import VaultIndexError
from vault_index.models import Filters, Vector
from vault_index.query.highlight import SNIPPET_CHARACTERS, focus
from vault_index.query.hits import Disk, Source, explanation, reading, to_hit
from vault_index.query.language.parse import ParsedQuery, parse_query
from vault_index.query.ranking.confidence import confidence
from vault_index.query.ranking.passages import Spotter
from vault_index.query.ranking.rank import Factors, Ranked, Ranking, order, rank, weights, with_best_texts
from vault_index.query.ranking.retrieval import (
    Evidence,
    Needle,
    Question,
    candidates,
    ranking_expression,
    rarest,
    read_needles,
)
from vault_index.query.ranking.spelling import AS_TYPED, Spelling, mend
from vault_index.results import Hit, SearchResult
from vault_index.store.cache import Cache
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord, SpaceRow
from vault_index.terms import mostly_cjk

Mode = Literal["hybrid", "text", "vector"]

_DEPTHS = (60, 240, 960, 3840)  # chunks a channel names, at least; vec0 names 4096 at most
_BLOCK = 20  # chunks whose passages are compared with each other
_BESIDE = 2  # lines: with a blank one between
_DAY = 86_400.0
_NO_SUCH_PHRASE = "phrase: no text holds what stands in quotes; its words were looked for"
_AS_LISTED = RankingConfig(recency_memories=0.0, recency_sessions=0.0, outdated=0.0)  # what is in order stays so


@dataclass(frozen=True, slots=True)
class SearchOptions:
    limit: int = 10
    offset: int = 0
    mode: Mode = "hybrid"
    match: Literal["any", "all"] = "any"
    per_document: int = 3
    filters: Filters = field(default_factory=Filters)
    fuzzy: bool = True
    threshold: float = 0.7
    include_expired: bool = False
    include_superseded: bool = False
    as_of: float | None = None
    """The day (its beginning, in seconds) as of which is asked; None is now."""
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it was understood."""

    query: ParsedQuery
    needles: tuple[Needle, ...]
    spelling: Spelling
    question: Question
    degraded: tuple[str, ...]
    now: float


class Searcher:
    """Answers queries from one reader. `embed_query` gives the vector of a text in a space, or raises."""

    def __init__(
        self,
        reader: IndexReader,
        cache: Cache,
        sources: Mapping[str, Source],
        embed_query: Callable[[SpaceRow, str], Vector],
        ranking: RankingConfig,
    ) -> None:
        self._reader = reader
        self._cache = cache
        self._sources = sources
        self._embed_query = embed_query
        self._ranking = ranking

    def search(self, text: str, options: SearchOptions) -> SearchResult:
        """The passages that answer `text`. Raises UsageError for a filter that cannot be read."""
        started = time.perf_counter()
        with self._reader.snapshot():
            asked, answer = self.ask(text, options)
            results = self.present(asked, answer.ranking, answer.chosen, options)
            read = reading(self._reader, asked.query, asked.needles, asked.spelling) if options.explain else None
        return SearchResult(
            query=text,
            mode=options.mode,
            confidence=self.confidence(asked, answer),
            degraded=(*asked.degraded, *answer.disk.missing()),
            corrections=asked.spelling.corrections,
            took_ms=round((time.perf_counter() - started) * 1000, 1),
            results=results,
            reading=read,
        )

    def ask(self, text: str, options: SearchOptions) -> tuple[Asked, "Answer"]:
        """The query as it is understood, and its answer. Call it within a snapshot.

        Where a question quotes what no text holds as a phrase, the words of the quotation are looked for.
        """
        asked = self.understand(text, options)
        answer = self.answer(asked, options)
        if answer.ranking.hits or not asked.query.quotes:
            return asked, answer
        loose = self.understand(text, options, phrases=False)
        return replace(loose, degraded=(*loose.degraded, _NO_SUCH_PHRASE)), self.answer(loose, options)

    def answer(self, asked: Asked, options: SearchOptions) -> "Answer":
        """The hits that are shown. Call it within a snapshot."""
        disk = Disk(self._sources)
        wanted = options.offset + options.limit
        depth = next((depth for depth in _DEPTHS if depth >= 3 * wanted), _DEPTHS[-1])
        while True:
            evidence = self.found(asked, options, depth)
            answer = self._cut(asked, options, evidence, disk, wanted)
            if len(answer.chosen) >= options.limit or len(evidence) < depth or depth == _DEPTHS[-1]:
                return answer
            # A long document, files that are gone, or texts that are equal took the places: what stands behind them?
            depth = _DEPTHS[_DEPTHS.index(depth) + 1]

    def everything(self, asked: Asked, options: SearchOptions, answer: "Answer") -> "Answer":
        """`answer` with all that was found behind it. Call it within the same snapshot."""
        evidence = answer.ranking.evidence
        whole = replace(options, offset=0, limit=_DEPTHS[-1])
        return self._cut(asked, whole, evidence, answer.disk, _DEPTHS[-1])

    def _cut(
        self, asked: Asked, options: SearchOptions, evidence: Mapping[int, Evidence], disk: Disk, wanted: int
    ) -> "Answer":
        """The answer from what was found. Chunks are looked at a block at a time, as many as it takes: blocks do not
        depend on what is wanted, so that pages do not overlap."""
        text, vector = bool(asked.question.match), asked.question.vector is not None
        ordered = self._spread(order(evidence, weights(text=text, vector=vector)), options.per_document)
        ordered = with_best_texts(ordered, evidence, _BLOCK) if text else ordered
        spotter = Spotter(asked.needles, self._reader.stems)
        ranking = Ranking(evidence, (), 0.0)
        chosen: list[Chosen] = []
        for start in range(0, len(ordered), _BLOCK):
            records = self._reader.chunks(ordered[start : start + _BLOCK])
            chunks = [records[chunk_id] for chunk_id in ordered[start : start + _BLOCK]]
            ranking = rank(
                chunks,
                evidence,
                spotter,
                text=text,
                vector=vector,
                factors=self._factors(asked, chunks),
                behind=ranking if start else None,
            )
            chosen = self._choose(ranking.hits, options, disk)
            if len(chosen) >= wanted:
                break
        return Answer(ranking, chosen[options.offset : wanted], disk)

    def _spread(self, ordered: Sequence[int], per_document: int) -> list[int]:
        """`ordered` with the chunks behind that are more of one document than can be shown."""
        documents = self._reader.documents_of(ordered)
        taken: Counter[int] = Counter()
        first: list[int] = []
        rest: list[int] = []
        for chunk_id in ordered:
            taken[documents[chunk_id]] += 1
            (first if taken[documents[chunk_id]] <= per_document + 1 else rest).append(chunk_id)
        return [*first, *rest]

    def confidence(self, asked: Asked, answer: "Answer") -> Literal["high", "low", "none"]:
        """Whether the answer is one."""
        if not answer.chosen:
            return "none"
        return confidence(self._reader, asked.query, asked.question, asked.needles, answer.ranking.hits)

    def understand(self, text: str, options: SearchOptions, *, phrases: bool = True) -> Asked:
        """Read the query, mend its typing errors, embed it. Without `phrases` quotes are passed over."""
        filters = options.filters if options.as_of is None else as_of_day(options.filters, options.as_of)
        every = options.match == "all"
        query = parse_query(text, filters, every=every, phrases=phrases)
        spelling = mend(self._reader, query.terms, options.threshold) if options.fuzzy else AS_TYPED
        if spelling.corrections and (query.required or query.excluded):
            # What must be there is looked for as it was meant.
            meant = parse_query(spelling.corrected(text), filters, every=every, phrases=phrases)
            query = replace(query, required=meant.required, excluded=meant.excluded)
        needles = read_needles(self._reader, query.terms, spelling.forms) if query.terms else ()
        vector, space, degraded = self._query_vector(spelling.corrected(query.text), options.mode)
        by_words = options.mode != "vector" or vector is None
        # Where meaning finds candidates as well, a few words of a long question are enough to find the others.
        few = rarest(query.terms, needles) if vector is not None else ()
        question = Question(
            match=ranking_expression(query.terms, spelling.forms) if by_words else "",
            name=query.text,
            narrow=ranking_expression(few, spelling.forms) if by_words and few else "",
            space_id=space.id if space else None,
            vector=vector,
            required=query.required,
            excluded=query.excluded,
            filters=query.filters,
        )
        return Asked(query, needles, spelling, question, degraded, options.as_of or time.time())

    def found(self, asked: Asked, options: SearchOptions, depth: int) -> Mapping[int, Evidence]:
        """The chunks that the channels name, each at least `depth` if there are so many."""
        question = asked.question
        states = question.filters.states
        hidden = self._reader.hidden_chunks(
            asked.now,
            expired=not options.include_expired and "expired" not in states,
            superseded=not options.include_superseded and "superseded" not in states,
        )
        if question.match or question.vector:
            return candidates(self._reader, question, depth, hidden)
        return self._newest(question, depth + len(hidden), hidden)

    def _newest(self, question: Question, limit: int, hidden: set[int]) -> dict[int, Evidence]:
        """A query of filters alone asks for everything they let through: the newest documents first."""
        if not question.excluded and question.filters == Filters():
            return {}
        found = self._reader.newest_chunks(question.filters, limit, excluded=question.excluded)
        shown = [chunk_id for chunk_id in found if chunk_id not in hidden]
        return {chunk_id: Evidence(cosine=1.0 - place / (10 * limit)) for place, chunk_id in enumerate(shown)}

    def _factors(self, asked: Asked, chunks: Sequence[ChunkRecord]) -> Factors:
        if not (asked.question.match or asked.question.vector):
            return Factors(_AS_LISTED, asked.now, {}, {})
        config = self._ranking
        return Factors(
            config,
            asked.now,
            self._cache.accesses([chunk.uid for chunk in chunks]) if config.usage else {},
            self._reader.backlink_counts({chunk.document_id for chunk in chunks}) if config.backlinks else {},
        )

    def _query_vector(self, text: str, mode: Mode) -> tuple[Vector | None, SpaceRow | None, tuple[str, ...]]:
        """Vectors of two models are never mixed: the query is embedded for the space that serves, or not at all."""
        if mode == "text" or not text:
            return None, None, ()
        space = self._reader.serving_space()
        if space is None:
            return None, None, ("vector: there are no vectors",)
        if not self._reader.vectors_work():
            return None, None, ("vector: sqlite-vec cannot be loaded",)
        if mode == "hybrid" and space.space.provider == "local" and mostly_cjk(text):
            return None, None, ()  # the model that ships with the package is English: to it such text is noise
        try:
            return self._embed_query(space, text), space, ()
        except VaultIndexError as error:
            return None, None, (f"vector: {error.message}",)

    def _choose(self, hits: Sequence[Ranked], options: SearchOptions, disk: Disk) -> list["Chosen"]:
        """The hits that are shown, from the first: of files that are there, a few of each document, each text and each
        line once, and none whose snippet a better one shows already."""
        chosen: list[Chosen] = []
        by_text: dict[tuple[str, int], Chosen] = {}
        lines: set[tuple[int, int]] = set()
        of_chunk: dict[int, list[Chosen]] = {}
        per_document: Counter[int] = Counter()
        for hit in hits:
            changed = disk.changed(hit.chunk)
            if changed is None:
                continue
            same = by_text.get((hit.chunk.text, hit.passage.first))
            if same is not None:
                same.also.append(hit.chunk.path)
                continue
            line = (hit.chunk.document_id, hit.chunk.start_line + hit.passage.first)
            part = hit.chunk.start_line == hit.chunk.end_line  # of a line that is longer than a chunk
            if (line in lines and not part) or per_document[hit.chunk.document_id] >= options.per_document:
                continue
            others = of_chunk.setdefault(hit.chunk.chunk_id, [])
            if any(other.shows(hit) for other in others):
                continue
            lines.add(line)
            per_document[hit.chunk.document_id] += 1
            chosen.append(Chosen(hit, changed, []))
            others.append(chosen[-1])
            by_text[hit.chunk.text, hit.passage.first] = chosen[-1]
        return chosen

    def present(
        self, asked: Asked, ranking: Ranking, chosen: Sequence["Chosen"], options: SearchOptions
    ) -> tuple[Hit, ...]:
        """Hits as they are answered."""
        if not chosen:
            return ()
        records = [one.hit.chunk for one in chosen]
        tags = self._reader.tags_of([record.document_id for record in records])
        accesses = self._cache.accesses([record.uid for record in records])
        spotter = Spotter(asked.needles, self._reader.stems)
        pointed_at: dict[int, set[int]] = {}
        hits: list[Hit] = []
        for one, record in zip(chosen, records, strict=True):
            lines = pointed_at.setdefault(record.document_id, set())
            hit = to_hit(
                one.hit,
                focus(record.text, one.hit.passage, spotter),
                better=lines,
                tags=tags.get(record.document_id, ()),
                link=source.link(record.path) if (source := self._sources.get(record.source)) else "",
                accesses=accesses.get(record.uid, 0),
                changed=one.changed,
                also=tuple(dict.fromkeys(path for path in one.also if path != record.path)),
                explain=explanation(one.hit, asked.needles, ranking) if options.explain else None,
            )
            lines.update(range(hit.focus[0], hit.focus[1] + 1))
            hits.append(hit)
        return tuple(hits)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A hit that is shown."""

    hit: Ranked
    changed: bool
    """Whether its file changed since it was indexed."""
    also: list[str]
    """Paths of other documents that say the same."""

    def same_text(self, other: Ranked) -> bool:
        return (self.hit.chunk.text, self.hit.passage.first) == (other.chunk.text, other.passage.first)

    def shows(self, other: Ranked) -> bool:
        """Whether `other` stands beside this passage in a section so short that its snippet shows all of it."""
        chunk, passage = self.hit.chunk, self.hit.passage
        gap = max(other.passage.first - passage.last, passage.first - other.passage.last)
        return other.chunk.chunk_id == chunk.chunk_id and gap <= _BESIDE and len(chunk.text) <= SNIPPET_CHARACTERS


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits that are shown, and what they were chosen from."""

    ranking: Ranking
    chosen: Sequence[Chosen]
    disk: Disk


def as_of_day(filters: Filters, day: float) -> Filters:
    """`filters` as they were: nothing that was created after that day."""
    end = day + _DAY
    return replace(filters, before=min(filters.before or end, end), now=day)
