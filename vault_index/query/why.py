"""Explains why a passage is found or missed: runs the search, then checks each condition alone."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vault_index.models import Fault, Vector
from vault_index.query.hits import SelectedHit, as_words, in_file, query_reading
from vault_index.query.language.filters import single_filters
from vault_index.query.ranking.passages import RankedPassage
from vault_index.query.references import Place
from vault_index.query.search import Answer, Searcher, SearchOptions
from vault_index.results.base import Problem as Reason
from vault_index.results.search import Why
from vault_index.sources.vault import VaultSource
from vault_index.store.documents import allows, chunks_of
from vault_index.store.reader import HIDDEN, IndexReader
from vault_index.store.spaces import cosines
from vault_index.times import iso_time

_DAY = 86_400.0


def why(
    searcher: Searcher, reader: IndexReader, text: str, place: Place, options: SearchOptions
) -> Why:
    """Return the rank of the passage at `place` in a search, and the reasons.

    Raises UsageError as `search`.
    """
    with reader.snapshot():
        answer = searcher.ask(text, options)
        hit, rank, reasons = _Examination(
            reader, options, place, searcher.everything(answer, options)
        ).verdict()
        hits = searcher.to_hits(answer, [hit] if hit else [], explain=True)
        document = place.document
        confidence = searcher.confidence(answer)
        return Why(
            query=text,
            mode=options.mode,
            id=document.uid,
            source=document.source,
            path=document.path,
            title=document.title,
            lines=None
            if place.is_whole
            else (place.first, max(place.last or document.line_count, place.first)),
            found=rank is not None and rank <= options.limit,
            rank=rank,
            limit=options.limit,
            confidence=confidence,
            degraded=answer.degraded,
            corrections=answer.query.spelling.corrections,
            reasons=(*reasons, *([_NO_CONFIDENCE] if hits and confidence == "none" else ())),
            hit=next(iter(hits), None),
            reading=query_reading(reader, answer.query),
        )


_GONE = Reason("gone", "The file was deleted after it was indexed.", "run `vault-index sync`")
_NO_CONFIDENCE = Reason(
    "confidence",
    "The best hits match so little of the query that the confidence is none: all of them are weak.",
    "search for words that the notes use",
)


def _first_line(hit: RankedPassage) -> int:
    return in_file(hit.chunk, hit.passage.first, hit.passage.last)[0]


@dataclass(frozen=True, slots=True)
class _Examination:
    """Finds the reasons for one place. `answer` has no limit."""

    reader: IndexReader
    options: SearchOptions
    place: Place
    answer: Answer

    def verdict(self) -> tuple[SelectedHit | None, int | None, Sequence[Reason]]:
        """Return the hit, its rank without a limit (None if it is not shown), and the reasons."""
        for rank, selected in enumerate(self.answer.selected, start=1):
            if self._is_inside(selected.hit):
                return selected, rank, [self._shown(rank)]
        own = next((hit for hit in self.answer.ranked if self._is_inside(hit)), None)
        if own is None:
            return None, None, self._not_found()
        changed = self.answer.disk.changed(own.chunk.document)
        reason = self._not_shown(own) if changed is not None else _GONE
        return SelectedHit(own, bool(changed)), None, [reason]

    def _is_inside(self, hit: RankedPassage) -> bool:
        first, last = in_file(hit.chunk, hit.passage.first, hit.passage.last)
        return hit.chunk.document.id == self.place.document.id and self.place.overlaps(first, last)

    def _shown(self, rank: int) -> Reason:
        limit = self.options.limit
        if rank <= limit:
            return Reason("found", f"It is hit {rank} of the answer.")
        return Reason(
            "beyond_limit",
            f"It would be hit {rank}; the answer ends after {limit}.",
            f"raise --limit to {rank}",
        )

    def _not_shown(self, own: RankedPassage) -> Reason:
        """Return why a ranked passage is not shown."""
        if own.echo:
            return Reason(
                "echo",
                "It only repeats the query; the turn that answers it is shown instead.",
            )
        for rank, other in enumerate(self.answer.selected, start=1):
            hit = f"Hit {rank} ({other.hit.chunk.document.path}:{_first_line(other.hit)})"
            if other.same_text(own):
                return Reason(
                    "same_text", f"{hit} has the same text; this one is listed under its `also`."
                )
            if other.shows(own):
                return Reason("same_snippet", f"{hit} is in the same short section and shows it.")
            if other.stands_for(own):
                return Reason(
                    "field",
                    f"It is a field without a query word; {hit} represents the document.",
                )
        before = self.options.per_document
        return Reason(
            "per_document",
            f"{before} other passage{'s' * (before != 1)} of this document"
            f" come{'s' * (before == 1)} before it.",
            "raise --per-document",
        )

    # --- passages that were not found -----------------------------------------------------------

    def _not_found(self) -> Sequence[Reason]:
        in_document = chunks_of(self.reader, self.place.document.id)
        chunks = [
            chunk.chunk_id
            for chunk in in_document
            if self.place.overlaps(chunk.start_line, chunk.end_line)
        ]
        if not chunks:
            count = self.place.document.line_count
            return [
                Reason(
                    "no_text",
                    f"Nothing is indexed there; the document has {count} lines.",
                    "give other lines",
                )
            ]
        found = self.answer.evidence.keys() & set(chunks)
        if unmet := [*self._conditions(chunks)]:
            return unmet
        return [self._elsewhere(found)] if found else [*self._channels(chunks)]

    def _elsewhere(self, chunks: Collection[int]) -> Reason:
        """Return the reason if the section was found, but with other lines."""
        best = next((hit for hit in self.answer.ranked if hit.chunk.chunk_id in chunks), None)
        if best is None:  # chunks overlap, and the shared lines were assigned to the other chunk
            return Reason(
                "other_passage",
                "The next section also contains these lines and is found instead.",
            )
        line = _first_line(best)
        return Reason(
            "other_passage",
            f"Line {line} of the same section matches more of the query and is found instead.",
            f"explain {self.place.document.path}:{line} instead",
        )

    def _conditions(self, chunks: Sequence[int]) -> Iterator[Reason]:
        """Yield the conditions of the query that the place does not meet."""
        yield from self._filters()
        yield from self._hidden(chunks)
        parsed = self.answer.query.parsed
        for part in parsed.all_of:
            if not self._matching(part, chunks):
                message = f"It does not contain {as_words(part)}, which is required."
                yield Reason("required", message, "remove it from the query")
        if parsed.excluded and self._matching(parsed.excluded, chunks) == set(chunks):
            for part in parsed.none_of:
                if self._matching(part, chunks):
                    message = f"It contains {as_words(part)}, which is excluded."
                    yield Reason("excluded", message, "remove the exclusion from the query")

    def _filters(self) -> Iterator[Reason]:
        document, as_of = self.place.document, self.options.as_of
        later = as_of is not None and document.created >= as_of + _DAY
        if as_of is not None and later:
            yield Reason(
                "created_later",
                f"It was created on {iso_time(document.created)[:10]},"
                f" after {iso_time(as_of)[:10]}.",
                "omit --as-of, or give a later day",
            )
        for written, single in single_filters(self.answer.query.parsed.filters):
            if not allows(self.reader, single, document.id) and not (
                later and single.before is not None
            ):
                yield Reason("filtered", f"It does not match {written}.", "remove that filter")

    def _hidden(self, chunks: Sequence[int]) -> Iterator[Reason]:
        """Yield the states that hide it: expired, superseded, archived, or waiting for review."""
        document, query = self.place.document, self.answer.query
        by, requested = (
            document.frontmatter.get("superseded_by") or "",
            {*self.options.shown, *query.parsed.filters.states},
        )
        for state, message, hint in (
            (
                "expired",
                f"It expired{_on(document.expires)}.",
                "add --include-expired, or is:expired",
            ),
            (
                "superseded",
                f"It was superseded{by and f' by {by}'}.",
                "add --include-superseded, or is:superseded",
            ),
            ("archived", f"It was archived{_on(document.archived)}.", "add is:archived"),
            (
                "unreviewed",
                "It waits for review.",
                "accept it: vault-index review; or add is:unreviewed",
            ),
        ):
            hidden = (
                ()
                if state in requested
                else self.reader.hidden_chunks(query.now, shown=HIDDEN.keys() - {state})
            )
            if not set(chunks).isdisjoint(hidden):
                yield Reason(state, message, hint)

    def _matching(self, expression: str, chunks: Sequence[int]) -> set[int]:
        return {chunk_id for chunk_id, _ in self.reader.bm25(expression, chunks)}

    def _channels(self, chunks: Sequence[int]) -> Iterator[Reason]:
        """Yield why no channel found any of these chunks, which meet all conditions."""
        query = self.answer.query
        if query.match:
            yield self._words(chunks)
        if query.vector is not None and query.space_id is not None:
            yield from self._meaning(query.space_id, query.vector, chunks)
        elif query.degraded:
            yield Reason(
                "degraded",
                f"Its meaning was not compared: {query.degraded[0]}.",
                "see vault-index status",
            )
        elif not query.match and self.answer.evidence:
            yield Reason(
                "listed",
                "A query of filters alone lists the newest documents, each by its beginning.",
            )
        elif not query.match:
            yield Reason(
                "nothing_asked",
                "The query contains nothing to search for.",
                "add a word",
            )

    def _words(self, chunks: Sequence[int]) -> Reason:
        scores = dict(self.reader.bm25(self.answer.query.match, chunks))
        if not scores:
            return Reason(
                "no_word", "It contains no word of the query.", "use words of the passage"
            )
        found = [one.bm25 for one in self.answer.evidence.values() if one.bm25 is not None]
        return Reason(
            "few_words",
            f"It matches too little of the query: its BM25 is {max(scores.values()):.1f},"
            f" and {len(found)} others have at least {min(found, default=0.0):.1f}.",
            "add words of the passage",
        )

    def _meaning(self, space_id: int, vector: Vector, chunks: Sequence[int]) -> Iterator[Reason]:
        known = cosines(self.reader, space_id, vector, chunks)
        if len(known) < len(chunks):
            yield Reason("pending", "Its vector is still pending.", "run `vault-index embed`")
        if known:
            found = [one.cosine for one in self.answer.evidence.values() if one.cosine is not None]
            yield Reason(
                "far",
                f"Its meaning is not similar enough: its cosine is {max(known.values()):.2f};"
                f" the nearest {len(found)} have at least {min(found, default=0.0):.2f}.",
            )


def why_not_indexed(
    sources: Iterable[VaultSource], query: str, reference: str, options: SearchOptions
) -> Why | None:
    """Return the answer for an existing file that is not indexed; None if no source has it."""
    path = re.sub(r":\d+(-\d*)?$", "", reference.strip())
    for source in sources:
        inside = source.relative(path) if os.path.isabs(path) else path
        reason = _not_indexed(source, inside) if inside else None
        if inside and reason:
            return Why(
                query=query,
                mode=options.mode,
                id=None,
                source=source.config.name,
                path=inside,
                title=None,
                lines=None,
                found=False,
                rank=None,
                limit=options.limit,
                confidence="none",
                degraded=(),
                corrections={},
                reasons=(reason,),
                hit=None,
                reading=None,
            )
    return None


def _not_indexed(source: VaultSource, path: str) -> Reason | None:
    found = source.examine(path)
    if isinstance(found, Fault):
        return Reason(found.code, f"It is not indexed: {found.message}", "see vault-index status")
    if found is not None:
        return Reason("not_yet", "It is not indexed yet.", "run `vault-index sync`")
    if source.stamp(path) is None:
        return None
    return Reason(
        "ignored",
        "It is not indexed: it is not markdown, or a rule excludes it (hidden, `.vaultignore`,"
        f" Obsidian's excluded files, or include and exclude of the source {source.config.name}).",
        "change the rule, then run `vault-index sync`",
    )


def _on(moment: float | None) -> str:
    return "" if moment is None else f" on {iso_time(moment)[:10]}"
