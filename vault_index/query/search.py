"""Answering a query: candidates of each channel, fused, cut to the best passages, checked against the disk."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from vault_index.answers import Hit, SearchResult
from vault_index.errors import VaultIndexError
from vault_index.models import FileStamp, Filters, Vector
from vault_index.query.fuse import Fused, fuse
from vault_index.query.match import match_expression
from vault_index.query.parse import ParsedQuery, parse_query
from vault_index.query.present import to_hit
from vault_index.store.cache import Cache
from vault_index.store.reader import IndexReader
from vault_index.store.rows import ChunkRecord, SpaceRow

Mode = Literal["hybrid", "text", "vector"]

_DEPTH = 100  # candidates a channel names, at least
_NAMES = 50  # documents called so, at most
_VECTOR_WEIGHT = 0.5
_HIGH_COSINE = 0.5
_LOW_COSINE = 0.3


class Source(Protocol):
    """What the freshness check needs of a source."""

    def stamp(self, path: str) -> FileStamp | None: ...

    def link(self, path: str) -> str: ...

    def missing(self) -> str: ...


@dataclass(frozen=True, slots=True)
class SearchOptions:
    limit: int = 10
    offset: int = 0
    mode: Mode = "hybrid"
    match: Literal["any", "all"] = "any"
    per_document: int = 3
    filters: Filters = field(default_factory=Filters)


class Searcher:
    """Answers queries from one reader. `embed_query` gives the vector of a text in a space, or raises."""

    def __init__(
        self,
        reader: IndexReader,
        cache: Cache,
        sources: Mapping[str, Source],
        embed_query: Callable[[SpaceRow, str], Vector],
    ) -> None:
        self._reader = reader
        self._cache = cache
        self._sources = sources
        self._embed_query = embed_query

    def search(self, text: str, options: SearchOptions) -> SearchResult:
        started = time.perf_counter()
        query = parse_query(text, options.filters, every=options.match == "all")
        vector, space, degraded = self._query_vector(query, options.mode)
        disk = _Disk(self._sources)
        with self._reader.snapshot():
            fused = self._fused(query, options, vector, space)
            results = self._hits(query, fused, options, disk)
        best = fused[0] if fused else None
        return SearchResult(
            query=text,
            mode=options.mode,
            confidence=_confidence(best) if results else "none",
            degraded=(*degraded, *disk.missing()),
            corrections={},
            took_ms=round((time.perf_counter() - started) * 1000, 1),
            results=results,
        )

    def _query_vector(self, query: ParsedQuery, mode: Mode) -> tuple[Vector | None, SpaceRow | None, tuple[str, ...]]:
        """Vectors of two models are never mixed: the query is embedded for the space that serves, or not at all."""
        if mode == "text" or not query.text:
            return None, None, ()
        space = self._reader.serving_space()
        if space is None:
            return None, None, ("vector: there are no vectors",)
        if not self._reader.vectors_work():
            return None, None, ("vector: sqlite-vec cannot be loaded",)
        try:
            return self._embed_query(space, query.text), space, ()
        except VaultIndexError as error:
            return None, None, (f"vector: {error.message}",)

    def _fused(
        self, query: ParsedQuery, options: SearchOptions, vector: Vector | None, space: SpaceRow | None
    ) -> list[Fused]:
        hidden = self._reader.hidden_chunks(time.time())
        depth = max(_DEPTH, 4 * (options.offset + options.limit)) + len(hidden)
        bm25: dict[int, float] = {}
        cosine: dict[int, float] = {}
        match = match_expression(query.terms)
        conditions = {"required": query.required, "excluded": query.excluded}
        if match and (options.mode != "vector" or vector is None):
            bm25 = dict(self._reader.text_candidates(match, depth, query.filters, **conditions))
        if vector is not None and space is not None:
            cosine = dict(self._reader.vector_candidates(space.id, vector, depth, query.filters, **conditions))
            cosine |= self._reader.cosines(space.id, vector, [id_ for id_ in bm25 if id_ not in cosine])
        for chunk_id in hidden:
            bm25.pop(chunk_id, None)
            cosine.pop(chunk_id, None)
        name: dict[int, float] = {}
        if match and (options.mode != "vector" or vector is None):
            name = self._named(match, query, {*bm25, *cosine}, hidden)
        weight = 0.0 if vector is None else 1.0 if not bm25 else _VECTOR_WEIGHT
        return fuse(bm25, cosine, name, weight)

    def _named(self, match: str, query: ParsedQuery, candidates: set[int], hidden: set[int]) -> dict[int, float]:
        """Scores of chunks whose document is called so; a document that no channel names comes with its first chunk."""
        scores = dict(self._reader.name_candidates(match, _NAMES, query.filters))
        documents = self._reader.documents_of(sorted(candidates))
        named = {id_: scores[document] for id_, document in documents.items() if document in scores}
        # What a name does not say may stand in the text: conditions on words keep such documents out.
        unnamed = [] if query.required or query.excluded else sorted(scores.keys() - set(documents.values()))
        firsts = self._reader.first_chunks(unnamed)
        return named | {id_: scores[document] for document, id_ in firsts.items() if id_ not in hidden}

    def _hits(
        self, query: ParsedQuery, fused: Sequence[Fused], options: SearchOptions, disk: "_Disk"
    ) -> tuple[Hit, ...]:
        wanted = options.offset + options.limit
        chosen: list[tuple[Fused, ChunkRecord, list[str], bool]] = []
        by_text: dict[str, list[str]] = {}
        per_document: dict[int, int] = {}
        step = max(50, 2 * wanted)
        for start in range(0, len(fused), step):
            part = fused[start : start + step]
            records = self._reader.chunks([candidate.chunk_id for candidate in part])
            for candidate in part:
                record = records[candidate.chunk_id]
                fresh = disk.changed(record)
                if fresh is None:
                    continue
                if (also := by_text.get(record.text)) is not None:
                    also.append(record.path)
                    continue
                if len(chosen) >= wanted or per_document.get(record.document_id, 0) >= options.per_document:
                    continue
                per_document[record.document_id] = per_document.get(record.document_id, 0) + 1
                by_text[record.text] = also = []
                chosen.append((candidate, record, also, fresh))
            if len(chosen) >= wanted:
                break
        return self._present(query, chosen[options.offset :])

    def _present(
        self, query: ParsedQuery, chosen: Sequence[tuple[Fused, ChunkRecord, list[str], bool]]
    ) -> tuple[Hit, ...]:
        if not chosen:
            return ()
        tags = self._reader.tags_of([record.document_id for _, record, _, _ in chosen])
        accesses = self._cache.accesses([record.uid for _, record, _, _ in chosen])
        words = tuple(term.text for term in query.terms if not term.stop)
        return tuple(
            to_hit(
                record,
                score=candidate.score,
                words=words,
                tags=tags.get(record.document_id, ()),
                link=source.link(record.path) if (source := self._sources.get(record.source)) else "",
                accesses=accesses.get(record.uid, 0),
                changed=changed,
                also=tuple(dict.fromkeys(path for path in also if path != record.path)),
            )
            for candidate, record, also, changed in chosen
        )


class _Disk:
    """What the files say at the moment of the answer: one `stat` a hit."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._missing: dict[str, str] = {}

    def changed(self, record: ChunkRecord) -> bool | None:
        """Whether the file changed since it was indexed; None where it is gone, and its vault is there."""
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


def _confidence(best: Fused | None) -> Literal["high", "low", "none"]:
    """A first measure; without vectors any match of words counts as low."""
    if best is None:
        return "none"
    if best.cosine is None:
        return "low"
    if best.cosine >= _HIGH_COSINE:
        return "high"
    return "low" if best.cosine >= _LOW_COSINE or best.bm25 is not None else "none"
