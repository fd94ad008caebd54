"""Explains why a passage is found or missed: runs the search, then checks each condition alone."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from vault_index.query.hits import (
    Answer,
    as_words,
    first_line,
    in_file,
    query_reading,
    represents,
)
from vault_index.query.language.filters import single_filters
from vault_index.query.ranking.passages import RankedPassage
from vault_index.query.reader import Reader
from vault_index.query.references import Place
from vault_index.query.search import Searcher, SearchOptions
from vault_index.results.base import Problem as Reason
from vault_index.results.search import Why
from vault_index.store.documents import HIDDEN, allows, hidden_chunks
from vault_index.times import iso_time

_DAY = 86_400.0


def why(searcher: Searcher, reader: Reader, text: str, place: Place, options: SearchOptions) -> Why:
    """Return the rank of the passage at `place` in a search, and the reasons.

    Raises UsageError as `search`.
    """
    with reader.snapshot():
        answer = searcher.answer(searcher.understand(text, options), options)
        unlimited = searcher.everything(answer, options)
        hit, rank, reasons = _Examination(reader, options, place, unlimited).verdict()
        hits = searcher.to_hits(answer, [hit], [False], explain=True) if hit else ()
        document, confidence = place.document, searcher.confidence(answer)
        if hits and confidence == "none":
            reasons = [*reasons, _NO_CONFIDENCE]
        last = max(place.last or document.line_count, place.first)
        return Why(
            query=text,
            mode=options.mode,
            id=document.uid,
            source=document.source,
            path=document.path,
            title=document.title,
            lines=None if place.is_whole else (place.first, last),
            found=rank is not None and rank <= options.limit,
            rank=rank,
            limit=options.limit,
            confidence=confidence,
            degraded=answer.degraded,
            corrections=answer.query.spelling.corrections,
            reasons=tuple(reasons),
            hit=next(iter(hits), None),
            reading=query_reading(reader, answer.query),
        )


_GONE = Reason("gone", "The file was deleted after it was indexed.", "run `vault-index sync`")
_ECHO = Reason("echo", "It only repeats the query; the turn that answers it is shown instead.")
_NEXT_SECTION = Reason(
    "other_passage", "The next section also contains these lines and is found instead."
)
_LISTED = Reason(
    "listed", "A query of filters alone lists the newest documents, each by its beginning."
)
_NOTHING_ASKED = Reason("nothing_asked", "The query contains nothing to search for.", "add a word")
_FEW_WORDS = Reason(
    "few_words",
    "It contains fewer words of the query than the passages that were found.",
    "add words of the passage",
)
_FAR = Reason(
    "far", "Its meaning is less similar to the query than that of the passages that were found."
)
_NO_WORD = Reason("no_word", "It contains no word of the query.", "use words of the passage")
_PENDING = Reason("pending", "Its vector is still pending.", "run `vault-index embed`")
_NO_CONFIDENCE = Reason(
    "confidence",
    "The best hits match so little of the query that the confidence is none: all of them are weak.",
    "search for words that the notes use",
)
_REPRESENTED = {
    "same_text": "{} has the same text; this one is listed under its `also`.",
    "same_snippet": "{} is in the same short section and shows it.",
    "field": "It is a field without a query word; {} represents the document.",
}
"""Why a better hit is shown instead, by the codes of `represents`."""
_STATES = {
    "expired": ("It expired{on}.", "add --include-expired, or is:expired"),
    "superseded": ("It was superseded{by}.", "add --include-superseded, or is:superseded"),
    "archived": ("It was archived{on}.", "add is:archived"),
    "unreviewed": (
        "It waits for review.",
        "accept it: vault-index review; or add is:unreviewed",
    ),
}
"""Message and hint for each state that hides a memory."""


@dataclass(frozen=True, slots=True)
class _Examination:
    """Finds the reasons for one place. `answer` has no limit."""

    reader: Reader
    options: SearchOptions
    place: Place
    answer: Answer

    def verdict(self) -> tuple[RankedPassage | None, int | None, Sequence[Reason]]:
        """Return the hit, its rank without a limit (None if it is not shown), and the reasons."""
        for rank, hit in enumerate(self.answer.selected, start=1):
            if self._is_inside(hit):
                return hit, rank, [self._shown(rank)]
        own = next((hit for hit in self.answer.ranked if self._is_inside(hit)), None)
        return own, None, [self._not_shown(own)] if own else [*self._not_found()]

    def _is_inside(self, hit: RankedPassage) -> bool:
        lines = in_file(hit.chunk, hit.passage.first, hit.passage.last)
        return hit.chunk.document.id == self.place.document.id and self.place.overlaps(*lines)

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
        if self.answer.disk.changed(own.chunk.document) is None:
            return _GONE
        if own.echo:
            return _ECHO
        for rank, other in enumerate(self.answer.selected, start=1):
            if code := represents(other, own):
                hit = f"Hit {rank} ({other.chunk.document.path}:{first_line(other)})"
                return Reason(code, _REPRESENTED[code].format(hit))
        before = self.options.per_document
        return Reason(
            "per_document",
            f"{before} other passage{'s' * (before != 1)} of this document"
            f" come{'s' * (before == 1)} before it.",
            "raise --per-document",
        )

    # --- passages that were not found -----------------------------------------------------------

    def _not_found(self) -> Iterator[Reason]:
        document = self.place.document
        chunks = [
            chunk.chunk_id
            for chunk in self.reader.chunks_of(document.id)
            if self.place.overlaps(chunk.start_line, chunk.end_line)
        ]
        if not chunks:
            yield Reason(
                "no_text",
                f"Nothing is indexed there; the document has {document.line_count} lines.",
                "give other lines",
            )
        elif unmet := [*self._conditions(chunks)]:
            yield from unmet
        elif found := self.answer.evidence.keys() & set(chunks):
            yield self._elsewhere(found)
        else:
            yield from self._channels(chunks)

    def _elsewhere(self, chunks: Collection[int]) -> Reason:
        """Return the reason if the section was found, but with other lines."""
        best = next((hit for hit in self.answer.ranked if hit.chunk.chunk_id in chunks), None)
        if best is None:  # chunks overlap, and the shared lines were assigned to the other chunk
            return _NEXT_SECTION
        return Reason(
            "other_passage",
            f"Line {first_line(best)} of the same section matches more of the query and is found"
            " instead.",
            f"explain {self.place.document.path}:{first_line(best)} instead",
        )

    def _conditions(self, chunks: Sequence[int]) -> Iterator[Reason]:
        """Yield the conditions of the query that the place does not meet."""
        yield from self._filters()
        yield from self._hidden(chunks)
        parsed = self.answer.query.parsed
        for part in parsed.all_of:
            if not self._matching(part, chunks):
                yield Reason(
                    "required",
                    f"It does not contain {as_words(part)}, which is required.",
                    "remove it from the query",
                )
        if parsed.excluded and self._matching(parsed.excluded, chunks) == set(chunks):
            for part in parsed.none_of:
                if self._matching(part, chunks):
                    yield Reason(
                        "excluded",
                        f"It contains {as_words(part)}, which is excluded.",
                        "remove the exclusion from the query",
                    )

    def _filters(self) -> Iterator[Reason]:
        document, as_of = self.place.document, self.options.as_of
        later = as_of is not None and document.created >= as_of + _DAY
        if as_of is not None and later:
            yield Reason(
                "created_later",
                f"It was created{_on(document.created)}, after {iso_time(as_of)[:10]}.",
                "omit --as-of, or give a later day",
            )
        for written, single in single_filters(self.answer.query.parsed.filters):
            of_day = later and single.before is not None
            if not of_day and not allows(self.reader, single, document.id):
                yield Reason("filtered", f"It does not match {written}.", "remove that filter")

    def _hidden(self, chunks: Sequence[int]) -> Iterator[Reason]:
        """Yield the states that hide it: expired, superseded, archived, or waiting for review."""
        document, query = self.place.document, self.answer.query
        ends = {"expired": document.expires, "archived": document.archived}
        by = document.frontmatter.get("superseded_by")
        for state in _STATES.keys() - {*self.options.shown, *query.parsed.filters.states}:
            hidden = hidden_chunks(self.reader, query.now, shown=HIDDEN.keys() - {state})
            if not hidden.isdisjoint(chunks):
                message, hint = _STATES[state]
                message = message.format(on=_on(ends.get(state)), by=f" by {by}" if by else "")
                yield Reason(state, message, hint)

    def _matching(self, expression: str, chunks: Sequence[int]) -> set[int]:
        return {chunk_id for chunk_id, _ in self.reader.bm25(expression, chunks)}

    def _channels(self, chunks: Sequence[int]) -> Iterator[Reason]:
        """Yield why no channel found any of these chunks, which meet all conditions."""
        query = self.answer.query
        if query.match:
            yield _FEW_WORDS if self._matching(query.match, chunks) else _NO_WORD
        elif query.vector is None:
            yield _LISTED if self.answer.evidence else _NOTHING_ASKED
        if query.vector is not None and query.space_id is not None:
            known = self.reader.cosines(query.space_id, query.vector, chunks)
            yield _FAR if len(known) == len(chunks) else _PENDING
        elif query.degraded:
            yield Reason(
                "degraded",
                f"Its meaning was not compared: {query.degraded[0]}.",
                "see vault-index status",
            )


def _on(moment: float | None) -> str:
    return "" if moment is None else f" on {iso_time(moment)[:10]}"
