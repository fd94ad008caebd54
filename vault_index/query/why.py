"""Why a passage was found or not: the search itself is asked, and then each condition by itself."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from vault_index.config.schema import SourceConfig
from vault_index.models import DocumentRef, Fault, FileStamp
from vault_index.query.hits import SelectedHit, as_words, in_file, query_reading
from vault_index.query.language.filters import single_filters
from vault_index.query.ranking.rank import RankedPassage
from vault_index.query.references import Place
from vault_index.query.search import Answer, Searcher, SearchOptions
from vault_index.results import Reason, Why
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord
from vault_index.times import iso_time

_DAY = 86_400.0


class Examined(Protocol):
    """What is asked of a source about a file that is not in the index."""

    config: SourceConfig

    def relative(self, absolute_path: str) -> str | None: ...

    def examine(self, path: str) -> DocumentRef | Fault | None: ...

    def stamp(self, path: str) -> FileStamp | None: ...


def why(searcher: Searcher, reader: IndexReader, text: str, place: Place, options: SearchOptions) -> Why:
    """What `search` does with the passage at `place`, and why. Raises UsageError as `search` does."""
    with reader.snapshot():
        answer = searcher.ask(text, options)
        case = _Case(reader, options, place, answer, searcher.everything(answer, options))
        selected, rank, reasons = case.verdict()
        hits = searcher.to_hits(answer, [selected] if selected else [], explain=True)
        document = place.document
        confidence = searcher.confidence(answer)
        if hits and confidence == "none":
            reasons = [*reasons, _NO_CONFIDENCE]
        return Why(
            query=text,
            mode=options.mode,
            id=document.uid,
            source=document.source,
            path=document.path,
            title=document.title,
            lines=case.lines if place.first > 1 or place.last is not None else None,
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


_NO_CONFIDENCE = Reason(
    "confidence",
    "The best hits say so little of the question that the answer counts as none: people are shown no hits.",
    "ask in words that the notes use; --json shows the hits all the same",
)
_Verdict = tuple[SelectedHit | None, int | None, list[Reason]]


@dataclass(frozen=True, slots=True)
class _Case:
    """A place and a question."""

    reader: IndexReader
    options: SearchOptions
    place: Place
    answer: Answer
    everything: Answer
    """The answer without a limit."""

    @property
    def lines(self) -> tuple[int, int]:
        last = self.place.document.line_count
        return self.place.first, max(last if self.place.last is None else self.place.last, self.place.first)

    def verdict(self) -> _Verdict:
        """The hit of the place, its number in the answer, and what is to be said of it."""
        for number, selected in enumerate(self.everything.selected, start=1):
            if self._is_inside(selected.hit):
                return selected, number, [self._counted(number)]
        own = next((hit for hit in self.everything.ranking.hits if self._is_inside(hit)), None)
        if own is not None:
            changed = self.everything.disk.changed(own.chunk)
            return SelectedHit(own, bool(changed), []), None, [self._not_shown(own, gone=changed is None)]
        return None, None, self._not_found()

    def _is_inside(self, hit: RankedPassage) -> bool:
        first, last = in_file(hit.chunk, hit.passage.first, hit.passage.last)
        return hit.chunk.document_id == self.place.document.id and first <= self.lines[1] and last >= self.lines[0]

    def _counted(self, number: int) -> Reason:
        limit = self.options.limit
        if number <= limit:
            return Reason("found", f"It is hit {number} of the answer.")
        return Reason(
            "beyond_limit", f"It would be hit {number}; the answer ends after {limit}.", f"raise --limit to {number}"
        )

    def _not_shown(self, own: RankedPassage, *, gone: bool) -> Reason:
        """Why a passage that was ranked has no number."""
        if gone:
            return Reason("gone", "The file is gone since it was indexed.", "run `vault-index sync`")
        for number, other in enumerate(self.everything.selected, start=1):
            if other.same_text(own):
                where = f"{other.hit.chunk.path}:{_first_line(other.hit)}"
                return Reason(
                    "same_text", f"Hit {number} ({where}) says the same; this one is named there, under `also`."
                )
            if other.shows(own):
                where = f"{other.hit.chunk.path}:{_first_line(other.hit)}"
                return Reason("same_snippet", f"Hit {number} ({where}) is of the same short section, and shows it.")
        before = self.options.per_document
        return Reason(
            "per_document",
            f"{before} other passage{'s' * (before != 1)} of this document come{'s' * (before == 1)} before it.",
            "raise --per-document",
        )

    # --- what the channels did not name, or not at this place ------------------------------------------------------

    def _not_found(self) -> list[Reason]:
        chunks = [
            chunk
            for chunk in self.reader.chunks_of(self.place.document.id)
            if chunk.start_line <= self.lines[1] and chunk.end_line >= self.lines[0]
        ]
        if not chunks:
            count = self.place.document.line_count
            return [Reason("no_text", f"Nothing is indexed there; the document has {count} lines.", "name other lines")]
        named = [chunk for chunk in chunks if chunk.chunk_id in self.everything.ranking.evidence]
        if named:
            return [self._elsewhere(named)]
        chunk_ids = [chunk.chunk_id for chunk in chunks]
        return [*self._conditions(chunk_ids)] or [*self._channels(chunks)]

    def _elsewhere(self, named: Iterable[ChunkRecord]) -> Reason:
        """The section was found, but other lines of it."""
        ids = {chunk.chunk_id for chunk in named}
        best = next((hit for hit in self.everything.ranking.hits if hit.chunk.chunk_id in ids), None)
        if best is None:  # they overlap, and the lines of this one were counted to the other
            return Reason("other_passage", "The section beside it holds these lines, too, and is found instead.")
        line = _first_line(best)
        return Reason(
            "other_passage",
            f"Line {line} of the same section says more of the question, and is found instead.",
            f"ask for {self.place.document.path}:{line}",
        )

    def _conditions(self, chunk_ids: Sequence[int]) -> Iterator[Reason]:
        """The conditions of the question that the place does not meet."""
        yield from self._filters()
        yield from self._over(chunk_ids)
        query = self.answer.query.parsed
        if query.required and not self._matching(query.required, chunk_ids):
            for part in query.all_of:
                if not self._matching(part, chunk_ids):
                    yield Reason(
                        "required",
                        f"It does not hold {as_words(part)}, which is required.",
                        "leave it out of the query",
                    )
        if query.excluded and self._matching(query.excluded, chunk_ids) == set(chunk_ids):
            for part in query.none_of:
                if self._matching(part, chunk_ids):
                    yield Reason(
                        "excluded", f"It holds {as_words(part)}, which is excluded.", "leave that out of the query"
                    )

    def _filters(self) -> Iterator[Reason]:
        document, as_of = self.place.document, self.options.as_of
        later = as_of is not None and document.created >= as_of + _DAY
        if as_of is not None and later:
            yield Reason(
                "created_later",
                f"It was created on {iso_time(document.created)[:10]}, after {iso_time(as_of)[:10]}.",
                "leave out --as-of, or give a later day",
            )
        for written, single in single_filters(self.answer.query.parsed.filters):
            if not self.reader.allows(single, document.id) and not (later and single.before is not None):
                yield Reason("filtered", f"{written} does not hold for it.", "leave that filter out")

    def _over(self, chunk_ids: Sequence[int]) -> Iterator[Reason]:
        """Memories that are over are hidden unless they are asked for."""
        document, options = self.place.document, self.options
        states = self.answer.query.parsed.filters.states

        def hidden(*, expired: bool, superseded: bool) -> bool:
            over = self.reader.hidden_chunks(self.answer.query.now, expired=expired, superseded=superseded)
            return not over.isdisjoint(chunk_ids)

        shown = options.include_expired or "expired" in states
        if not shown and hidden(expired=True, superseded=False):
            day = f" on {iso_time(document.expires)[:10]}" if document.expires is not None else ""
            yield Reason("expired", f"It expired{day}.", "add --include-expired, or is:expired")
        shown = options.include_superseded or "superseded" in states
        if not shown and hidden(expired=False, superseded=True):
            by = document.frontmatter.get("superseded_by")
            yield Reason(
                "superseded",
                f"It was superseded{f' by {by}' if by else ''}.",
                "add --include-superseded, or is:superseded",
            )

    def _matching(self, expression: str, chunk_ids: Sequence[int]) -> set[int]:
        return {chunk_id for chunk_id, _ in self.reader.bm25(expression, chunk_ids)}

    def _channels(self, chunks: Sequence[ChunkRecord]) -> Iterator[Reason]:
        """Why no channel named any of these chunks, which meet all conditions."""
        query = self.answer.query
        if query.match:
            yield self._words(chunks)
        if query.vector is not None and query.space_id is not None:
            yield from self._meaning(query.space_id, query.vector, [chunk.chunk_id for chunk in chunks])
        elif self.answer.query.degraded:
            yield Reason(
                "degraded", f"Its meaning was not compared: {self.answer.query.degraded[0]}.", "see vault-index status"
            )
        elif not query.match and self.everything.ranking.evidence:
            yield Reason("listed", "A query of filters alone lists documents, the newest first, each by its beginning.")
        elif not query.match:
            yield Reason("nothing_asked", "The query says nothing that could be looked for.", "ask for a word")

    def _words(self, chunks: Sequence[ChunkRecord]) -> Reason:
        found = dict(self.reader.bm25(self.answer.query.match, [chunk.chunk_id for chunk in chunks]))
        if not found:
            return Reason("no_word", "It says no word of the question.", "ask in words that stand there")
        named = [one.bm25 for one in self.everything.ranking.evidence.values() if one.bm25 is not None]
        return Reason(
            "few_words",
            f"It says too little of the question: BM25 {max(found.values()):.1f}, and {len(named)} others have more"
            f" (at least {min(named, default=0.0):.1f}).",
            "add words that stand there",
        )

    def _meaning(self, space_id: int, vector: bytes, chunk_ids: Sequence[int]) -> Iterator[Reason]:
        cosines = self.reader.cosines(space_id, vector, chunk_ids)
        if len(cosines) < len(chunk_ids):
            yield Reason("pending", "Its vector is still pending.", "run `vault-index embed`")
        if cosines:
            named = [one.cosine for one in self.everything.ranking.evidence.values() if one.cosine is not None]
            yield Reason(
                "far",
                f"It is far in meaning: its cosine is {max(cosines.values()):.2f}; the nearest {len(named)}"
                f" have {min(named, default=0.0):.2f} and more.",
            )


def why_not_indexed(sources: Iterable[Examined], query: str, reference: str, options: SearchOptions) -> Why | None:
    """The answer for a file that is in a source but not in the index; None where there is no such file."""
    path = re.sub(r":\d+(-\d*)?$", "", reference.strip())
    for source in sources:
        inside = source.relative(path) if os.path.isabs(path) else path
        reason = _left_out(source, inside) if inside else None
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


def _left_out(source: Examined, path: str) -> Reason | None:
    found = source.examine(path)
    if isinstance(found, Fault):
        return Reason(found.code, f"It is not indexed: {found.message}", "see vault-index status")
    if found is not None:
        return Reason("not_yet", "It is not indexed yet.", "run `vault-index sync`")
    if source.stamp(path) is None:
        return None
    return Reason(
        "ignored",
        "It is not indexed: it is no markdown, or a rule leaves it out (hidden, `.vaultignore`, Obsidian's excluded"
        f" files, or include and exclude of the source {source.config.name}).",
        "change the rule, then run `vault-index sync`",
    )


def _first_line(hit: RankedPassage) -> int:
    return in_file(hit.chunk, hit.passage.first, hit.passage.last)[0]
