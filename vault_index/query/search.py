"""The search pipeline: read a query, retrieve and rank passages, and select the hits."""

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
from vault_index.query.hits import (
    DiskState,
    SelectedHit,
    also_searched,
    excluded_hits,
    explanation,
    query_reading,
    select_hits,
    text_key,
    to_hit,
)
from vault_index.query.language.filters import unmet_filters
from vault_index.query.language.parse import ParsedQuery, match_expression, parse_query
from vault_index.query.ranking.confidence import Confidence, confidence, weak
from vault_index.query.ranking.echoes import RecentQuestions, with_replies
from vault_index.query.ranking.passages import RankedPassage, TermMatcher, focus
from vault_index.query.ranking.rank import Boosts, Scorer, order, rank
from vault_index.query.ranking.retrieval import (
    Evidence,
    Query,
    bounded_expressions,
    rarity,
    read_query_terms,
    retrieve,
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

_DEPTHS = (60, 240, 960, 3840)  # chunks per channel, tried in order; vec0 finds at most 4096
# Share of known letters at which the cosines of a query count fully; English queries have .71 or
# more.
_KNOWN = 0.8
_UNKNOWN = 0.1
_NOTICEABLE = 0.01
"""Share of passages without a vector from which every answer reports it. An answer whose
confidence is not high reports any."""
_BLOCK = 20  # chunks that are ranked together
_DAY = 86_400.0
CURRENT = "current"
"""Stands for sessions that were active in `folders` in the last 10 minutes."""
_CURRENT_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Options of a search."""

    limit: int = 10
    offset: int = 0
    mode: Mode = "hybrid"
    match: Match = "any"
    per_document: int = 3
    filters: Filters = field(default_factory=Filters)
    fuzzy: bool = True
    """Whether to correct words that no text contains."""
    threshold: float = 0.7
    """Minimum similarity of a correction, from 0.5 to 1."""
    shown: tuple[str, ...] = ()
    """States of memories to show that are hidden by default."""
    as_of: float | None = None
    """Search as of this day (its start, in seconds since the epoch); None is now."""
    explain: bool = False
    all: bool = False
    """Whether text output shows weak hits; the hits include them in any case."""
    origins: QueryOrigins = tuple
    """Where the query was typed (used by the privacy gate)."""
    asking: tuple[str, ...] = ()
    """Ids of the calling sessions, which are excluded from the answer. `CURRENT` stands for
    sessions whose client gave no id."""
    folders: tuple[str, ...] = ()
    left_out: tuple[int, ...] = ()
    """Documents to exclude, by row key."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The selected hits of a query and the ranking behind them."""

    query: Query
    evidence: Mapping[int, Evidence]
    ranked: Sequence[RankedPassage]
    """All hits in order, from which the answer is selected."""
    selected: Sequence[SelectedHit]
    disk: DiskState
    hidden: Collection[int] = ()
    """Ids of hidden chunks."""

    @property
    def degraded(self) -> tuple[str, ...]:
        """Reasons why the answer may be incomplete."""
        return (*self.query.degraded, *self.disk.missing())


class Searcher:
    """Answers queries with one reader.

    `embed_query` returns the vector of a text in a vector space, or raises. It gets the origins and
    the filters of the query, because they decide whether the text may leave the machine. `pending`
    counts chunks that wait for a vector, if the total count is not the right one for the caller.
    """

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

    def search(self, text: str, options: SearchOptions) -> SearchResult:
        """Return the passages that answer `text`.

        Raises UsageError for a query without a search term or with an invalid filter.
        """
        started = time.perf_counter()
        with self._reader.snapshot():
            answer = self.ask(text, options)
            nothing = () if answer.selected else self._unanswerable(answer.query.parsed)
            hits = self.to_hits(answer, answer.selected, explain=options.explain)
            reading = query_reading(self._reader, answer.query) if options.explain else None
            sure, space_id = self.confidence(answer), answer.query.space_id
            hits = self._mark_weak(answer, hits, sure)
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
        """Return reasons for `degraded` if the index is empty.

        Raises UsageError for a query without a search term.
        """
        if not parsed.terms and not parsed.all_of and parsed.filters == Filters():
            problem = "only excludes words" if parsed.none_of else "has no word to search for"
            raise UsageError(
                f"the query {problem}", "add a word to search for: compose, or compose -docker"
            )
        if count_rows(self._reader, "document"):
            return ()
        reasons = {name: source.missing() for name, source in self._sources.items()}
        gone = [
            f"source {name}: {one}"
            for name, one in reasons.items()
            if one and not one.endswith(YET)
        ]
        return (*gone, "index: nothing is indexed yet; run `vault-index sync`")

    def ask(self, text: str, options: SearchOptions) -> Answer:
        """Return the answer to `text`. Call it within a snapshot."""
        return self.answer(self.understand(text, options), options)

    def understand(self, text: str, options: SearchOptions) -> Query:
        """Parse the query, correct its typing errors, and embed it."""
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
        meant = terms_meant(parsed.terms, spelling.forms)
        held = rarity(self._reader, meant, terms) if by_text else {}
        return Query(
            parsed=parsed,
            terms=terms,
            spelling=spelling,
            match=match_expression(meant) if by_text else "",
            bounded=bounded_expressions(held, count_rows(self._reader, "chunk")),
            now=options.as_of or time.time(),
            **embedded,
        )

    def _embed(
        self, typed: str, corrected: str, options: SearchOptions, filters: Filters
    ) -> dict[str, Any]:
        """Return the vector fields of `Query`, or `degraded` if there is no vector.

        The query is embedded for the serving vector space, because vectors of two models cannot be
        mixed. Only a local model gets the corrected query: corrections are words of the index,
        which may occur only in private notes.
        """
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
            return {}  # the model cannot read this text
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
        """Report passages without a vector, if they are at least this share of all."""
        lacking = count_pending(self._reader, space_id)
        if not lacking:
            return ()
        waiting = (
            self._pending()
            if self._pending
            else lacking - int(read_meta(self._reader, KEPT_HOME) or 0)
        )
        chunks = count_rows(self._reader, "chunk")
        reason = f"vector: pending for {waiting:,} of {chunks:,} passages"
        return (reason,) if waiting > 0 and waiting >= least * chunks else ()

    def answer(self, query: Query, options: SearchOptions) -> Answer:
        """Return the answer to a parsed query. Call it within a snapshot."""
        shown = (*options.shown, *query.parsed.filters.states)
        # Superseded memories stay candidates, because they lead to their successors.
        hidden = self._reader.hidden_chunks(query.now, shown=(*shown, "superseded"))
        if options.asking or options.left_out:
            hidden |= chunks_in(self._reader, self.asking(options).union(options.left_out))
        disk = DiskState(self._sources)
        wanted = options.offset + options.limit
        # Retrieve more chunks if a long document, deleted files or equal texts leave too few hits.
        for depth in [depth for depth in _DEPTHS if depth >= 3 * wanted] or _DEPTHS[-1:]:
            evidence = retrieve(self._reader, query, depth, hidden)
            answer = self._select(query, options, evidence, disk, hidden)
            count = sum(not one.hit.echo for one in answer.selected)
            if count >= options.limit or len(evidence) < depth:
                break
        return answer

    def asking(self, options: SearchOptions) -> set[int]:
        """Return the row keys of the calling sessions, their parents and their children."""
        asking = {*options.asking} - {CURRENT}
        if CURRENT in options.asking and options.folders:
            written = sessions_written_in(
                self._reader, options.folders, time.time() - _CURRENT_SECONDS
            )
            asking.update(str(one.frontmatter.get("session")) for one in written)
        return session_tree(self._reader, asking)

    def everything(self, answer: Answer, options: SearchOptions) -> Answer:
        """Return `answer` with all hits. Call it within the same snapshot."""
        unlimited = replace(options, offset=0, limit=_DEPTHS[-1])
        return self._select(answer.query, unlimited, answer.evidence, answer.disk, answer.hidden)

    def _select(
        self,
        query: Query,
        options: SearchOptions,
        evidence: Mapping[int, Evidence],
        disk: DiskState,
        hidden: Collection[int],
    ) -> Answer:
        """Rank chunks block by block until there are enough hits.

        Block boundaries do not depend on `limit`, so that pages do not overlap.
        """
        wanted = options.offset + options.limit
        by_channel = bool(query.match) or query.vector is not None
        scorer = Scorer(
            evidence, text=bool(query.match), vector=query.known, crossing=query.crossing
        )
        by_channels = order(evidence, scorer, partial(chunks_in_order, self._reader))
        ordered = self._spread(by_channels, options.per_document)
        matcher = TermMatcher(query.terms, self._reader.stems)
        questions = RecentQuestions(query, self._reader.stems) if query.asks_in_words else None
        replaces = "superseded" not in {*options.shown, *query.parsed.filters.states}
        ranked: list[RankedPassage] = []
        echoes: list[RankedPassage] = []
        selected: list[SelectedHit] = []
        for start in range(0, len(ordered), _BLOCK):
            records = self._reader.chunks(ordered[start : start + _BLOCK])
            chunks = [records[chunk_id] for chunk_id in ordered[start : start + _BLOCK]]
            own = {chunk.chunk_id: evidence[chunk.chunk_id] for chunk in chunks}
            if questions:
                own = {id_: questions.evidence_of(records[id_], one) for id_, one in own.items()}
            hits = rank(
                chunks,
                own,
                matcher,
                scorer,
                boosts=self._boosts(query, chunks) if by_channel else None,
                highest=ranked[-1].score if ranked else None,
                questions=questions,
            )
            if questions:
                hits, unanswered = with_replies(self._reader, questions, matcher, hits)
                echoes += unanswered
            if replaces and any(hit.chunk.document.superseded_by for hit in hits):
                hits = with_successors(
                    self._reader, hits, matcher, query.parsed.filters, hidden, query.now
                )
            if len({chunk.document.id for chunk in chunks if chunk.document.kind == "memory"}) > 1:
                # Late: most answers do not need it.
                from vault_index.query.ranking.comparison import newest_first

                hits = newest_first(self._reader, hits)
            ranked += hits
            selected = select_hits(ranked, options.per_document, disk)
            if len(selected) >= wanted:
                break
        else:  # echoes without a reply come last, or are dropped if another echo has a reply
            lowest = ranked[-1].score if ranked else 1.0
            last = [replace(hit, score=min(hit.score, lowest)) for hit in echoes]
            shown = ranked if any(hit.answers for hit in ranked) else [*ranked, *last]
            selected = select_hits(shown, options.per_document, disk)
            ranked = [*ranked, *last]
        return Answer(query, evidence, ranked, selected[options.offset : wanted], disk, hidden)

    def _spread(self, ordered: Sequence[int], per_document: int) -> list[int]:
        """Move chunks to the end that exceed the number of passages shown per document."""
        documents = documents_of(self._reader, ordered)
        counts: Counter[int] = Counter()
        surplus: set[int] = set()
        for chunk_id in ordered:
            if counts[documents[chunk_id]] > per_document:
                surplus.add(chunk_id)
            counts[documents[chunk_id]] += 1
        return sorted(ordered, key=surplus.__contains__)

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
        """Return the confidence in an answer, ignoring echoes and memories moved by age."""
        rated = [hit for hit in answer.ranked if not (hit.echo or "newer" in hit.boosts)]
        return confidence(self._reader, answer.query, rated) if answer.selected else "none"

    def _mark_weak(
        self, answer: Answer, hits: Sequence[Hit], certainty: Confidence
    ) -> tuple[Hit, ...]:
        """Mark the weak hits; all hits are weak if the confidence is `none`."""
        shown = [one.hit for one in answer.selected]
        found = (
            weak(self._reader, answer.query, shown, answer.ranked[0].score)
            if certainty != "none"
            else [True] * len(hits)
        )
        return tuple(
            replace(hit, weak=True) if one else hit for hit, one in zip(hits, found, strict=True)
        )

    def to_hits(
        self, answer: Answer, selected: Sequence[SelectedHit], *, explain: bool
    ) -> tuple[Hit, ...]:
        """Convert selected hits of an answer to the public form."""
        if not selected:
            return ()
        records = [one.hit.chunk for one in selected]
        tags = tags_of(self._reader, [record.document.id for record in records])
        accesses = self._state.accesses([record.document.uid for record in records])
        terms, evidence = answer.query.terms, answer.evidence
        copies: dict[tuple[str, str], dict[int, StoredDocument]] = {}
        for copy in self._reader.same_texts(evidence, {record.text for record in records}):
            if answer.disk.changed(copy.document) is not None:
                copies.setdefault(text_key(copy), {})[copy.document.id] = copy.document
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
                    for id_, other in copies.get(text_key(record), {}).items()
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
    """Return `filters` as of the end of a day, excluding documents created later."""
    end = day + _DAY
    return filters._replace(before=min(filters.before or end, end), now=day)
