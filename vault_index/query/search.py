"""Search: a query is parsed, corrected and embedded; what its channels find is ranked by passage and shown as hits."""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from vault_index.config.schema import RankingConfig
from vault_index.embeddings import known_share
from vault_index.embeddings.spaces import MULTILINGUAL
from vault_index.errors import UsageError, VaultIndexError
from vault_index.models import Filters, QueryOrigins, Vector
from vault_index.query.documents import unmet_filters
from vault_index.query.hits import (
    DiskState,
    SelectedHit,
    also_searched,
    excluded_hits,
    explanation,
    query_reading,
    said_by,
    select_hits,
    to_hit,
)
from vault_index.query.language.parse import ParsedQuery, match_expression, parse_query
from vault_index.query.ranking.confidence import Confidence, confidence, weak
from vault_index.query.ranking.echoes import Asked, answered
from vault_index.query.ranking.passages import TermMatcher, focus
from vault_index.query.ranking.rank import Boosts, RankedPassage, Ranking, order, rank, weights
from vault_index.query.ranking.retrieval import (
    Evidence,
    Query,
    bounded_expressions,
    rare_terms,
    rarity,
    read_query_terms,
    retrieve,
    scoring_expression,
    terms_meant,
    with_completions,
)
from vault_index.query.ranking.spelling import NO_CORRECTIONS, correct
from vault_index.query.ranking.successors import with_successors
from vault_index.results.search import Hit, SearchResult
from vault_index.sources.source import YET, Source
from vault_index.store.counts import KEPT_HOME, count_rows, read_meta
from vault_index.store.documents import (
    chunks_in,
    documents_of,
    session_tree,
    sessions_written_in,
    tags_of,
)
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord, SpaceRow, StoredDocument
from vault_index.store.spaces import count_pending, serving_space
from vault_index.store.state import State
from vault_index.store.ties import chunks_in_order

Mode = Literal["hybrid", "text", "vector"]
Match = Literal["any", "all"]

_DEPTHS = (60, 240, 960, 3840)  # chunks a channel finds, at least; vec0 finds 4096 at most
_KNOWN = 0.8  # of the letters of a query in a language that the model knows; English questions have .71 and more
_UNKNOWN = 0.1
_NOTICEABLE = 0.01
"""The share of passages without a vector that is told of every answer; of fewer, where an answer is not sure."""
_BLOCK = 20  # chunks whose passages are compared with each other
_DAY = 86_400.0
CURRENT = "current"
_CURRENT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class SearchOptions:
    limit: int = 10
    offset: int = 0
    mode: Mode = "hybrid"
    match: Match = "any"
    per_document: int = 3
    filters: Filters = field(default_factory=Filters)
    fuzzy: bool = True
    """Whether words that no text holds are corrected."""
    threshold: float = 0.7
    """The least share of letters that agree in a correction, from 0.5 to 1."""
    shown: tuple[str, ...] = ()
    """States of memories that are hidden otherwise."""
    as_of: float | None = None
    """Search as of this day (its beginning, in seconds since the epoch); None is now."""
    explain: bool = False
    all: bool = False
    """Whether weak hits are shown, too: they are among the hits in any case."""
    origins: QueryOrigins = tuple
    """Whose words the query is."""
    asking: tuple[str, ...] = ()
    """The ids of the sessions that ask: nothing of them is quoted. `CURRENT` is one that its client does not name: any
    that was written to in the last minutes in `folders`."""
    folders: tuple[str, ...] = ()
    left_out: tuple[int, ...] = ()
    """Documents that are not to be found, by the keys of their rows."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits that are shown for a query, and the ranking they were selected from."""

    query: Query
    ranking: Ranking
    selected: Sequence[SelectedHit]
    disk: DiskState
    hidden: Collection[int] = ()
    """Chunks that are not shown."""

    @property
    def degraded(self) -> tuple[str, ...]:
        return (*self.query.degraded, *self.disk.missing())


class Searcher:
    """Answers queries from one reader. `embed_query` gives the vector of a text in a space, or raises; who asks, and
    for what, is told for what may leave the machine."""

    def __init__(
        self,
        reader: IndexReader,
        state: State,
        sources: Mapping[str, Source],
        embed_query: Callable[[SpaceRow, str, QueryOrigins, Filters], Vector],
        ranking: RankingConfig,
        pending: Callable[[], int] | None = None,
    ) -> None:
        self._reader = reader
        self._state = state
        self._sources = sources
        self._embed_query = embed_query
        self._ranking = ranking
        self._pending = pending
        """Counts what waits for a vector, where what was counted of all does not tell it."""

    def search(self, text: str, options: SearchOptions) -> SearchResult:
        """The passages that answer `text`. Raises UsageError for one that asks nothing, or has a filter that cannot be
        read."""
        started = time.perf_counter()
        with self._reader.snapshot():
            answer = self.ask(text, options)
            nothing = () if answer.selected else self._unanswerable(answer.query.parsed)
            hits = self.to_hits(answer, answer.selected, explain=options.explain)
            reading = query_reading(self._reader, answer.query) if options.explain else None
            sure, space_id = self.confidence(answer), answer.query.space_id
            hits = self._marked(answer, hits, sure)
            waiting = (
                self._waiting(space_id, 0.0) if space_id is not None and sure != "high" else ()
            )
            hints = tuple(self._hints(answer, options))
        return SearchResult(
            query=text,
            mode=options.mode,
            confidence=sure,
            degraded=nothing or answer.degraded or waiting,
            corrections=answer.query.spelling.corrections,
            took_ms=round((time.perf_counter() - started) * 1000, 1),
            results=hits,
            all=options.all,
            hints=hints,
            offset=options.offset,
            reading=reading,
        )

    def _hints(self, answer: Answer, options: SearchOptions) -> Iterator[str]:
        yield from also_searched(answer.query)
        yield from excluded_hits(self._reader, answer.query, answer.hidden)
        if not answer.selected:
            yield from unmet_filters(self._reader, answer.query.parsed.filters)
            if options.offset and (total := len(self.everything(answer, options).selected)):
                yield f"offset {options.offset} is past the last of {total} hits"

    def _unanswerable(self, parsed: ParsedQuery) -> tuple[str, ...]:
        """Why there is nothing that could be found, whatever was asked, as reasons for `degraded`."""
        if not parsed.terms and not parsed.all_of and parsed.filters == Filters():
            left_out = (
                "only says what to leave out" if parsed.none_of else "has no word to look for"
            )
            raise UsageError(
                f"the query {left_out}", "say what to look for: compose, or compose -docker"
            )
        if count_rows(self._reader, "document"):
            return ()
        reasons = {name: source.missing() for name, source in self._sources.items()}
        gone = [
            f"source {name}: {one}"
            for name, one in reasons.items()
            if one and not one.endswith(YET)
        ]
        return (*gone, "index: nothing is indexed yet; bring it up to date: vault-index sync")

    def ask(self, text: str, options: SearchOptions) -> Answer:
        """The answer to `text`. Call it within a snapshot."""
        return self.answer(self.understand(text, options), options)

    def understand(self, text: str, options: SearchOptions) -> Query:
        """Parse the query, correct its typing errors, embed it."""
        filters = (
            options.filters if options.as_of is None else _as_of_day(options.filters, options.as_of)
        )
        all_words = options.match == "all"
        parsed = parse_query(text, filters, every=all_words)
        spelling = (
            correct(self._reader, parsed.terms, options.threshold)
            if options.fuzzy
            else NO_CORRECTIONS
        )
        if spelling.corrections and (parsed.required or parsed.excluded):
            corrected = parse_query(spelling.corrected(text), filters, every=all_words)
            parsed = replace(parsed, all_of=corrected.all_of, none_of=corrected.none_of)
        parsed = replace(parsed, terms=with_completions(self._reader, parsed.terms))
        terms = read_query_terms(self._reader, parsed.terms, spelling.forms) if parsed.terms else ()
        embedded = self._embed(
            parsed.text, spelling.corrected(parsed.text), options, parsed.filters
        )
        by_text = options.mode != "vector" or "vector" not in embedded
        # Where the vector channel finds candidates as well, a few terms of a long query are enough to find the others.
        rare = rare_terms(parsed.terms, terms) if by_text and "vector" in embedded else ()
        meant = terms_meant(parsed.terms, spelling.forms)
        finding = terms_meant(rare, spelling.forms) if rare else meant
        held = rarity(self._reader, finding, terms) if by_text else {}
        every = rarity(self._reader, meant, terms) if rare else {}
        return Query(
            parsed=parsed,
            terms=terms,
            spelling=spelling,
            match=match_expression(meant) if by_text else "",
            narrow_match=match_expression(finding) if rare else "",
            bounded=bounded_expressions(held, count_rows(self._reader, "chunk")),
            scoring=scoring_expression(every),
            now=options.as_of or time.time(),
            **embedded,
        )

    def _embed(
        self, typed: str, corrected: str, options: SearchOptions, filters: Filters
    ) -> dict[str, Any]:
        """Return what `Query` has of a vector: `vector` and what belongs to it, or `degraded`, why there is none.

        The query is embedded for the space that serves, because vectors of two models are never mixed. Only the local
        model gets the correction: its words come from the index, where they may stand in private notes alone."""
        if options.mode == "text" or not typed:
            return {}
        space = serving_space(self._reader)
        if space is None:
            return {"degraded": ("vector: there are no vectors",)}
        if not self._reader.vectors_work():
            return {"degraded": ("vector: sqlite-vec cannot be loaded",)}
        text = corrected if space.space.provider == "local" else typed
        known = (
            min(known_share(space.space, text) / _KNOWN, 1.0) if options.mode == "hybrid" else 1.0
        )
        if known < _UNKNOWN:
            return {}  # to the model such text is noise
        try:
            vector = self._embed_query(space, text, options.origins, filters)
        except VaultIndexError as error:
            return {"degraded": (f"vector: {error.message}",)}
        return {
            "vector": vector,
            "space_id": space.id,
            "known": known,
            "crossing": space.space == MULTILINGUAL,
            "degraded": self._waiting(space.id, _NOTICEABLE),
        }

    def _waiting(self, space_id: int, least: float) -> tuple[str, ...]:
        """That passages wait for their vectors, where they are at least this share of all."""
        lacking = count_pending(self._reader, space_id)
        if not lacking:
            return ()
        waiting = (
            self._pending()
            if self._pending
            else lacking - int(read_meta(self._reader, KEPT_HOME) or 0)
        )
        chunks = count_rows(self._reader, "chunk")
        told = f"vector: pending for {waiting:,} of {chunks:,} passages"
        return (told,) if waiting > 0 and waiting >= least * chunks else ()

    def answer(self, query: Query, options: SearchOptions) -> Answer:
        """The answer to a query. Call it within a snapshot."""
        shown = (*options.shown, *query.parsed.filters.states)
        hidden = self._reader.hidden_chunks(
            query.now, shown=(*shown, "superseded")
        )  # they lead to their successors
        if options.asking or options.left_out:
            hidden |= chunks_in(self._reader, self.asking(options).union(options.left_out))
        disk = DiskState(self._sources)
        wanted = options.offset + options.limit
        # A long document, files that are gone, or equal texts may take the places: then retrieval goes deeper.
        for depth in [depth for depth in _DEPTHS if depth >= 3 * wanted] or _DEPTHS[-1:]:
            evidence = retrieve(self._reader, query, depth, hidden)
            answer = self._select(query, options, evidence, disk, hidden)
            said = sum(not one.hit.echo for one in answer.selected)
            if said >= options.limit or len(evidence) < depth:
                break
        return answer

    def asking(self, options: SearchOptions) -> set[int]:
        """The documents of the sessions that ask, with those that began them and that they began: keys of rows."""
        asking = {*options.asking} - {CURRENT}
        if CURRENT in options.asking and options.folders:
            written = sessions_written_in(
                self._reader, options.folders, time.time() - _CURRENT_SECONDS
            )
            asking.update(str(one.frontmatter.get("session")) for one in written)
        return session_tree(self._reader, asking)

    def everything(self, answer: Answer, options: SearchOptions) -> Answer:
        """`answer` with all hits that were found. Call it within the same snapshot."""
        unlimited = replace(options, offset=0, limit=_DEPTHS[-1])
        return self._select(
            answer.query, unlimited, answer.ranking.evidence, answer.disk, answer.hidden
        )

    def _select(
        self,
        query: Query,
        options: SearchOptions,
        evidence: Mapping[int, Evidence],
        disk: DiskState,
        hidden: Collection[int],
    ) -> Answer:
        """Rank chunks a block at a time until there are enough hits. Blocks do not depend on how many are wanted, so
        that pages do not overlap."""
        text, power = bool(query.match), 2 if query.crossing else 1
        vector = query.known * power
        wanted = options.offset + options.limit
        in_order = partial(chunks_in_order, self._reader)
        by_channels = order(evidence, weights(text=text, vector=vector), in_order, power)
        ordered = self._spread(by_channels, options.per_document)
        ordered.sort(
            key=lambda chunk_id: not evidence[chunk_id].called
        )  # what the query is the name of
        matcher = TermMatcher(query.terms, self._reader.stems)
        asked: Asked | None = None
        ranking = Ranking(evidence, (), 0.0)
        echoes: list[RankedPassage] = []
        knows = False
        leads_on = "superseded" not in {*options.shown, *query.parsed.filters.states}
        selected: list[SelectedHit] = []
        for start in range(0, len(ordered), _BLOCK):
            block = ordered[start : start + _BLOCK]
            records = self._reader.chunks(block)
            chunks = [records[chunk_id] for chunk_id in block]
            if query.asks_in_words and any(chunk.document.kind == "session" for chunk in chunks):
                asked = asked or Asked(query, self._reader.stems)
                own = {
                    chunk.chunk_id: asked.evidence_of(chunk, evidence[chunk.chunk_id])
                    for chunk in chunks
                }
                evidence = {**evidence, **own}
            ranked = rank(
                chunks,
                evidence,
                matcher,
                text=text,
                vector=vector,
                power=power,
                boosts=self._boosts(query, chunks) if text or vector else None,
                better=ranking if start else None,
                asked=asked,
            )
            said = ranked.hits[len(ranking.hits) :]
            if asked:
                said, unanswered = answered(self._reader, query, asked, matcher, said)
                echoes += unanswered
                knows |= any(hit.answers for hit in said)
            if leads_on and any(hit.chunk.document.superseded_by for hit in said):
                said = with_successors(
                    self._reader, said, matcher, query.parsed.filters, hidden, query.now
                )
            if len({chunk.document.id for chunk in chunks if chunk.document.kind == "memory"}) > 1:
                from vault_index.query.ranking.comparison import (
                    newest_first,
                )  # late: most answers do not need it

                said = newest_first(self._reader, said)
            ranking = ranked._replace(hits=[*ranking.hits, *said])
            selected = select_hits(ranking.hits, options.per_document, disk)
            if len(selected) >= wanted:
                break
        else:  # who asked in vain comes last, and not at all where it was answered elsewhere
            lowest = ranking.hits[-1].score if ranking.hits else 1.0
            last = [replace(hit, score=min(hit.score, lowest)) for hit in echoes]
            selected = select_hits(
                [*ranking.hits, *(() if knows else last)], options.per_document, disk
            )
            ranking = ranking._replace(hits=[*ranking.hits, *last])
        return Answer(query, ranking, selected[options.offset : wanted], disk, hidden)

    def _spread(self, ordered: Sequence[int], per_document: int) -> list[int]:
        """`ordered` with the chunks last that are more of one document than can be shown."""
        documents = documents_of(self._reader, ordered)
        counts: Counter[int] = Counter()
        first: list[int] = []
        rest: list[int] = []
        for chunk_id in ordered:
            counts[documents[chunk_id]] += 1
            (first if counts[documents[chunk_id]] <= per_document + 1 else rest).append(chunk_id)
        return [*first, *rest]

    def _boosts(self, query: Query, chunks: Sequence[ChunkRecord]) -> Boosts:
        config = self._ranking
        return Boosts(
            config,
            query.now,
            self._state.accesses([chunk.document.uid for chunk in chunks]) if config.usage else {},
            self._reader.backlink_counts({chunk.document.id for chunk in chunks})
            if config.backlinks
            else {},
        )

    def confidence(self, answer: Answer) -> Confidence:
        said = [hit for hit in answer.ranking.hits if not (hit.echo or "newer" in hit.boosts)]
        return confidence(self._reader, answer.query, said) if answer.selected else "none"

    def _marked(
        self, answer: Answer, hits: Sequence[Hit], certainty: Confidence
    ) -> tuple[Hit, ...]:
        """`hits` with those marked that are weak: of an answer that is none, all."""
        ranked, shown = answer.ranking.hits, [one.hit for one in answer.selected]
        found = (
            weak(self._reader, answer.query, shown, ranked[0].score)
            if certainty != "none"
            else [True] * len(hits)
        )
        return tuple(
            replace(hit, weak=True) if one else hit for hit, one in zip(hits, found, strict=True)
        )

    def to_hits(
        self, answer: Answer, selected: Sequence[SelectedHit], *, explain: bool
    ) -> tuple[Hit, ...]:
        """Some of the hits of an answer as they are shown."""
        if not selected:
            return ()
        records = [one.hit.chunk for one in selected]
        tags = tags_of(self._reader, [record.document.id for record in records])
        accesses = self._state.accesses([record.document.uid for record in records])
        terms, evidence = answer.query.terms, answer.ranking.evidence
        copies: dict[tuple[str, str], dict[int, StoredDocument]] = {}
        for copy in self._reader.same_texts(evidence, {record.text for record in records}):
            if answer.disk.changed(copy.document) is not None:
                copies.setdefault(said_by(copy), {})[copy.document.id] = copy.document
        matcher = TermMatcher(terms, self._reader.stems)
        focused: dict[int, set[int]] = {}
        hits: list[Hit] = []
        for one, record in zip(selected, records, strict=True):
            lines = focused.setdefault(record.document.id, set())
            hit = to_hit(
                one,
                focus(record.text, one.hit.passage, matcher),
                better=lines,
                also=[
                    other
                    for id_, other in copies.get(said_by(record), {}).items()
                    if id_ != record.document.id
                ],
                tags=tags.get(record.document.id, ()),
                link=source.link(record.document.path)
                if (source := self._sources.get(record.document.source))
                else "",
                accesses=accesses.get(record.document.uid, 0),
                explain=explanation(one.hit, terms, evidence) if explain else None,
                matcher=matcher,
                now=answer.query.now,
            )
            lines.update(range(hit.focus[0], hit.focus[1] + 1))
            hits.append(hit)
        return tuple(hits)


def _as_of_day(filters: Filters, day: float) -> Filters:
    """`filters` as of the end of that day: nothing that was created later."""
    end = day + _DAY
    return filters._replace(before=min(filters.before or end, end), now=day)
