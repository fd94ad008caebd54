"""The search pipeline: read a query, retrieve and rank passages, and select the hits."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, Literal

from vault_index.config.schema import RankingConfig
from vault_index.embeddings.spaces import BOTH, MULTILINGUAL, use_multilingual
from vault_index.embeddings.wordpiece import known_share
from vault_index.errors import UsageError, VaultIndexError
from vault_index.models import Filters, QueryOrigins, Vector
from vault_index.query.hits import (
    Answer,
    DiskState,
    also_searched,
    excluded_hits,
    query_reading,
    select_hits,
    to_hits,
)
from vault_index.query.language.filters import unmet_filters
from vault_index.query.language.parse import ParsedQuery, match_expression, parse_query
from vault_index.query.ranking.confidence import Confidence, confidence, scale_of, weak
from vault_index.query.ranking.echoes import RecentQuestions, with_replies
from vault_index.query.ranking.passages import RankedPassage, TermMatcher
from vault_index.query.ranking.rank import Scorer, boosts, order, rank
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
from vault_index.query.reader import Reader
from vault_index.results.search import Hit, SearchResult
from vault_index.sources.source import YET, Source
from vault_index.store.connection import KEPT_HOME, read_meta
from vault_index.store.documents import (
    chunks_in,
    documents_of,
    hidden_chunks,
    session_tree,
    sessions_written_in,
)
from vault_index.store.filters import chunks_in_order
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import count_pending, serving_space
from vault_index.store.state import State

Mode = Literal["hybrid", "text", "vector"]
Match = Literal["any", "all"]

_DEPTHS = (60, 240, 960, 3840)  # chunks per channel, tried in order; vec0 finds at most 4096
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


class Searcher:
    """Answers queries with one reader.

    `embed_query` returns the vector of a text in a vector space, or raises. It gets the origins and
    the filters of the query, because they decide whether the text may leave the machine. `pending`
    counts chunks that wait for a vector, if the total count is not the right one for the caller.
    `hinted` holds the names of hints that are given once.
    """

    def __init__(
        self,
        reader: Reader,
        state: State,
        sources: Mapping[str, Source],
        embed_query: Callable[[SpaceRow, str, QueryOrigins, Filters], Vector],
        ranking: RankingConfig,
        pending: Callable[[], int] | None = None,
        hinted: set[str] | None = None,
    ) -> None:
        self._reader = reader
        self._state = state
        self._sources = sources
        self._embed_query = embed_query
        self._ranking = ranking
        self._pending = pending
        self._hinted = set() if hinted is None else hinted

    def search(self, text: str, options: SearchOptions) -> SearchResult:
        """Return the passages that answer `text`.

        Raises UsageError for a query without a search term or with an invalid filter.
        """
        started = time.perf_counter()
        with self._reader.snapshot():
            answer = self.answer(self.understand(text, options), options)
            nothing = () if answer.selected else self._unanswerable(answer.query.parsed)
            sure, space_id = self.confidence(answer), answer.query.space_id
            marks, explain = self._weak(answer, sure), options.explain
            hits = self.to_hits(answer, answer.selected, marks, explain=explain)
            reading = query_reading(self._reader, answer.query) if options.explain else None
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
        query = answer.query
        yield from also_searched(query)
        unread = query.terms and query.vector is None and not query.degraded
        if unread and options.mode == "hybrid" and "model" not in self._hinted:
            self._hinted.add("model")
            yield (
                "only the words were searched, because the embedding model does not read this"
                f" language; run `{use_multilingual()}`"
            )
        yield from excluded_hits(self._reader, query, answer.hidden)
        if not answer.selected:
            yield from unmet_filters(self._reader, query.parsed.filters)
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
        if self._reader.count("document"):
            return ()
        gone = [
            f"source {name}: {reason}"
            for name, source in self._sources.items()
            if (reason := source.missing()) and not reason.endswith(YET)
        ]
        return (*gone, "index: nothing is indexed yet; run `vault-index sync`")

    def understand(self, text: str, options: SearchOptions) -> Query:
        """Parse the query, correct its typing errors, and embed it."""
        filters = options.filters
        if options.as_of is not None:  # documents created after the end of the day are excluded
            end = options.as_of + _DAY
            filters = filters._replace(before=min(filters.before or end, end), now=options.as_of)
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
            bounded=bounded_expressions(held, self._reader.count("chunk")),
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
        if not self._reader.vectors_work:
            return {"degraded": ("vector: sqlite-vec cannot be loaded",)}
        text = corrected if space.space.provider == "local" else typed
        known = known_share(space.space, text) if options.mode == "hybrid" else 1.0
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
            "crossing": space.space in (MULTILINGUAL, BOTH),
            "stretch": scale_of(space.space, vector)[0],
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
        chunks = self._reader.count("chunk")
        reason = f"vector: pending for {waiting:,} of {chunks:,} passages"
        return (reason,) if waiting > 0 and waiting >= least * chunks else ()

    def answer(self, query: Query, options: SearchOptions) -> Answer:
        """Return the answer to a parsed query. Call it within a snapshot."""
        shown = (*options.shown, *query.parsed.filters.states)
        # Superseded memories stay candidates, because they lead to their successors.
        hidden = hidden_chunks(self._reader, query.now, shown=(*shown, "superseded"))
        if options.asking or options.left_out:
            hidden |= chunks_in(self._reader, self.asking(options).union(options.left_out))
        disk = DiskState(self._sources)
        wanted = options.offset + options.limit
        # Retrieve more chunks if a long document, deleted files or equal texts leave too few hits.
        for depth in [depth for depth in _DEPTHS if depth >= 3 * wanted] or _DEPTHS[-1:]:
            evidence = retrieve(self._reader, query, depth, hidden)
            answer = self._select(query, options, evidence, disk, hidden)
            count = sum(not hit.echo for hit in answer.selected)
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
        return self._select(
            answer.query,
            replace(options, offset=0, limit=_DEPTHS[-1]),
            answer.evidence,
            answer.disk,
            answer.hidden,
        )

    def _select(
        self,
        query: Query,
        options: SearchOptions,
        evidence: Mapping[int, Evidence],
        disk: DiskState,
        hidden: Collection[int],
    ) -> Answer:
        """Rank chunks block by block until there are enough hits."""
        wanted = options.offset + options.limit
        ranked: list[RankedPassage] = []
        selected: list[RankedPassage] = []
        for hits in self._ranked_blocks(query, options, evidence, hidden):
            ranked += hits
            selected = select_hits(ranked, options.per_document, disk)
            if len(selected) >= wanted:
                break
        return Answer(query, evidence, ranked, selected[options.offset : wanted], disk, hidden)

    def _ranked_blocks(
        self,
        query: Query,
        options: SearchOptions,
        evidence: Mapping[int, Evidence],
        hidden: Collection[int],
    ) -> Iterator[list[RankedPassage]]:
        """Yield the ranked passages of one block of chunks after another, echoes last.

        Block boundaries do not depend on `limit`, so that pages do not overlap.
        """
        text, stems = bool(query.match), self._reader.stems
        scorer = Scorer(evidence, text=text, vector=query.known, crossing=query.crossing)
        ordered = order(evidence, scorer, partial(chunks_in_order, self._reader))
        ordered = self._spread(ordered, options.per_document)
        matcher = TermMatcher(query.terms, stems)
        questions = RecentQuestions(query, stems) if query.asks_in_words else None
        by_channel = text or query.vector is not None
        factors = partial(boosts, self._ranking, query.now) if by_channel else None
        echoes: list[RankedPassage] = []
        lowest: float | None = None
        for start in range(0, len(ordered), _BLOCK):
            records = self._reader.chunks(ordered[start : start + _BLOCK])
            chunks = [records[chunk_id] for chunk_id in ordered[start : start + _BLOCK]]
            hits = rank(chunks, evidence, matcher, scorer, factors, lowest, questions)
            if questions:
                hits, unanswered = with_replies(self._reader, questions, matcher, hits)
                echoes += unanswered
            hits = self._current(query, options, matcher, hidden, hits)
            if hits:
                lowest = hits[-1].score
                yield hits
        if echoes:
            limit = 1.0 if lowest is None else lowest
            yield [hit._replace(score=min(hit.score, limit)) for hit in echoes]

    def _current(
        self,
        query: Query,
        options: SearchOptions,
        matcher: TermMatcher,
        hidden: Collection[int],
        hits: list[RankedPassage],
    ) -> list[RankedPassage]:
        """Replace superseded memories by their successors, and move newer ones to the front."""
        documents = {hit.chunk.document.id: hit.chunk.document for hit in hits}
        memories = [document for document in documents.values() if document.kind == "memory"]
        replaces = "superseded" not in {*options.shown, *query.parsed.filters.states}
        if replaces and any(document.superseded_by for document in memories):
            filters = query.parsed.filters
            hits = with_successors(self._reader, hits, matcher, filters, hidden, query.now)
        if len(memories) > 1:
            # Late: most answers do not need it.
            from vault_index.query.ranking.comparison import newest_first

            hits = newest_first(self._reader, hits)
        return hits

    def _spread(self, ordered: Sequence[int], per_document: int) -> list[int]:
        """Move chunks to the end that exceed the number of passages shown per document."""
        documents = documents_of(self._reader, ordered)
        before: dict[int, Iterator[int]] = defaultdict(count)
        places = {chunk_id: next(before[documents[chunk_id]]) for chunk_id in ordered}
        return sorted(ordered, key=lambda chunk_id: places[chunk_id] > per_document)

    def confidence(self, answer: Answer) -> Confidence:
        """Return the confidence in an answer, ignoring echoes and memories moved by age."""
        rated = [hit for hit in answer.ranked if not (hit.echo or "newer" in hit.boosts)]
        return confidence(self._reader, answer.query, rated) if answer.selected else "none"

    def _weak(self, answer: Answer, sure: Confidence) -> list[bool]:
        """Return for each hit whether it is weak; all are if the confidence is `none`."""
        if sure == "none":
            return [True] * len(answer.selected)
        return weak(self._reader, answer.query, answer.selected, answer.ranked[0].score)

    def to_hits(
        self,
        answer: Answer,
        selected: Sequence[RankedPassage],
        weak: Sequence[bool],
        *,
        explain: bool,
    ) -> tuple[Hit, ...]:
        """Convert selected hits of an answer to the public form."""
        return to_hits(
            self._reader, self._state, self._sources, answer, selected, weak, explain=explain
        )
