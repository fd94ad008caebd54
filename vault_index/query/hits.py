"""Hits as they are answered: whether their files changed, what a hit shows, and why it is where it is."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from vault_index import results
from vault_index.models import FileStamp
from vault_index.query.documents import date_or_none, iso_time
from vault_index.query.highlight import Focus, snippet
from vault_index.query.language.filters import single_filters
from vault_index.query.language.parse import ParsedQuery
from vault_index.query.language.tree import Term
from vault_index.query.ranking.rank import Ranked, Ranking
from vault_index.query.ranking.retrieval import Needle, ranking_expression
from vault_index.query.ranking.spelling import Spelling
from vault_index.results import Explanation, Hit
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord


class Source(Protocol):
    """What the freshness check needs of a source."""

    def stamp(self, path: str) -> FileStamp | None: ...

    def link(self, path: str) -> str: ...

    def missing(self) -> str: ...


class Disk:
    """The files behind the hits of one answer."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._missing: dict[str, str] = {}
        self._changed: dict[int, bool | None] = {}

    def changed(self, record: ChunkRecord) -> bool | None:
        """Whether the file changed since it was indexed; None where it is gone, and its vault is there."""
        if record.document_id not in self._changed:
            self._changed[record.document_id] = self._look(record)
        return self._changed[record.document_id]

    def _look(self, record: ChunkRecord) -> bool | None:
        source = self._sources.get(record.source)
        if source is None:
            return False
        stamp = source.stamp(record.path)
        if stamp is None:
            if record.source not in self._missing:
                self._missing[record.source] = source.missing()
            # Of a vault that is not mounted the index is all there is.
            return True if self._missing[record.source] else None
        return (stamp.size, stamp.mtime_ns) != (record.stamp.size, record.stamp.mtime_ns)

    def missing(self) -> tuple[str, ...]:
        """Sources that answered from the index alone, as reasons for `degraded`."""
        return tuple(f"source {name}: {reason}" for name, reason in self._missing.items() if reason)


TYPE_CHECKING = False  # spares a list the import of what makes hits; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from vault_index.query.highlight import Focus
    from vault_index.query.ranking.rank import Ranked
    from vault_index.results import Explanation, Hit
    from vault_index.store.records import ChunkRecord


def to_hit(
    hit: Ranked,
    place: Focus,
    *,
    better: Collection[int],
    tags: tuple[str, ...],
    link: str,
    accesses: int,
    changed: bool,
    also: tuple[str, ...],
    explain: Explanation | None,
) -> Hit:
    """`better` are the lines of the file that better hits point at: what two hits show is not the same."""
    chunk = hit.chunk
    others = {line - chunk.start_line for line in better}
    return Hit(
        id=chunk.uid,
        kind=chunk.kind,
        source=chunk.source,
        path=chunk.path,
        title=chunk.title,
        headings=chunk.headings,
        lines=(chunk.start_line, chunk.end_line),
        score=round(hit.score, 4),
        tags=tags,
        type=chunk.type,
        digest=chunk.digest,
        snippet=snippet(chunk.text, place.first, place.column, others),
        focus=in_file(chunk, place.first, place.last),
        tokens=chunk.tokens,
        created=iso_time(chunk.created),
        updated=iso_time(chunk.updated),
        entered_by=chunk.entered_by,
        project=chunk.project,
        expires=date_or_none(chunk.expires),
        valid_until=date_or_none(chunk.valid_until),
        confidence=chunk.confidence,
        accesses=accesses,
        changed_since_index=changed,
        also=also,
        link=link,
        explain=explain,
    )


def in_file(chunk: ChunkRecord, first: int, last: int) -> tuple[int, int]:
    """Lines of a chunk as lines of its file."""
    return min(chunk.start_line + first, chunk.end_line), min(chunk.start_line + last, chunk.end_line)


_ONE_WORD = re.compile(r'"(\w+)"')


def explanation(hit: Ranked, needles: Sequence[Needle], ranking: Ranking) -> results.Explanation:
    said = {needles[number].text: weight for number, weight in hit.matched.items()}
    return results.Explanation(
        channels=_channels(hit, ranking),
        coverage=round(hit.coverage, 3),
        matched=tuple(word for word, weight in said.items() if weight == 1.0),
        corrected=tuple(word for word, weight in said.items() if weight < 1.0),
        missing=tuple(needle.text for number, needle in enumerate(needles) if number not in hit.matched),
        parts={
            "text": round(hit.parts.text, 4),
            "vector": round(hit.parts.vector, 4),
            "path": round(hit.parts.name, 4),
            "passage": round(hit.parts.passage, 4),
        },
        factors={name: round(factor, 4) for name, factor in hit.factors.items()},
    )


def _channels(hit: Ranked, ranking: Ranking) -> Mapping[str, results.ChannelEvidence]:
    """The score of its chunk in each channel that named it, and its rank among the chunks named."""
    scores = {
        "text": {chunk_id: one.bm25 for chunk_id, one in ranking.evidence.items() if one.bm25 is not None},
        "vector": {chunk_id: one.cosine for chunk_id, one in ranking.evidence.items() if one.cosine is not None},
        "path": {chunk_id: one.name for chunk_id, one in ranking.evidence.items() if one.name is not None},
    }
    return {
        channel: results.ChannelEvidence(1 + sum(score > own for score in named.values()), round(own, 4))
        for channel, named in scores.items()
        if (own := named.get(hit.chunk.chunk_id)) is not None
    }


def reading(
    reader: IndexReader, query: ParsedQuery, needles: Sequence[Needle], spelling: Spelling
) -> results.QueryReading:
    """How a query was read, with what the index says of its words."""
    return results.QueryReading(
        words=tuple(_word(reader, needle, spelling.forms.get(needle.text, {})) for needle in needles),
        required=as_words(query.required),
        excluded=as_words(query.excluded),
        filters=tuple(written for written, _ in single_filters(query.filters)),
    )


def as_words(expression: str) -> str:
    """An FTS5 expression as people write it: quotes around phrases alone."""
    return _ONE_WORD.sub(r"\1", expression)


def _word(reader: IndexReader, needle: Needle, meant: Mapping[str, float]) -> results.WordReading:
    term = Term(needle.text, "prefix" if needle.prefix else "word", 0)
    return results.WordReading(
        text=needle.text,
        rarity=round(needle.weight, 2),
        texts=reader.count_matches(ranking_expression([term], {needle.text: meant})),
        meant=tuple(sorted(meant, key=lambda form: -meant[form])),
    )
