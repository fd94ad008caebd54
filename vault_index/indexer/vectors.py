"""Filling the vectors of the index: from the cache first, then from the embedder, each success kept at once."""

import datetime
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from vault_index import tokens
from vault_index.embeddings import Embedder, batches
from vault_index.errors import EmbedderRefused, TextTooLong
from vault_index.models import Vector
from vault_index.results import SentRecord
from vault_index.store.cache import Cache
from vault_index.store.records import PendingChunk, SpaceRow
from vault_index.store.writer import IndexWriter

Lock = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Step:
    """What one step did. `finished`: there is nothing left that this builder could do."""

    embedded: int
    cached: int
    finished: bool


def open_space(writer: IndexWriter, embedder: Embedder | None, *, renew: bool = False) -> SpaceRow | None:
    """The space that `embedder` fills: the serving one if it is of the same model, else one built beside it.

    Without an embedder there is no space (the cache keeps what was paid for). `renew` begins again at nothing,
    beside the serving vectors, ignoring the cache.
    """
    rows = writer.spaces()
    serving = next((row for row in rows if row.serving), None)
    building = next((row for row in rows if not row.serving), None)
    if embedder is None or not writer.vectors_work:
        for row in rows:
            writer.drop_space(row.id)
        return None
    if building is not None and building.space == embedder.space and not renew:
        return building
    if serving is not None and serving.space == embedder.space and not renew:
        if building is not None:
            writer.drop_space(building.id)
        return serving
    return writer.add_space(SpaceRow(0, embedder.space, serving is None, renew))


class VectorBuilder:
    """Embeds what is pending in one space, a step at a time; the write lock is held only while rows are written."""

    def __init__(
        self,
        writer: IndexWriter,
        cache: Cache,
        embedder: Embedder,
        space: SpaceRow,
        lock: Lock,
        *,
        daily_token_limit: int,
        after: int = 0,
    ) -> None:
        self._writer = writer
        self._cache = cache
        self._embedder = embedder
        self._space = space
        self._lock = lock
        self._daily_token_limit = daily_token_limit
        self.cursor = after
        """The last chunk that was tried: texts the server refuses are passed over, not tried for ever."""

    def remaining(self) -> int:
        """Chunks this builder may still embed; those that stay home do not count for a remote embedder."""
        return self._writer.count_pending(self._space.id, may_leave=self._embedder.remote)

    def step(self) -> Step:
        """Give the next chunks their vectors.

        Raises EmbedderError; what was embedded before that is kept. A text that alone is too long for the server is
        passed over until the next builder.
        """
        chunks = self._writer.pending(
            self._space.id, self.cursor, self._embedder.batch_texts, may_leave=self._embedder.remote
        )
        if not chunks:
            self._serve()
            self.cursor = 0
            return Step(0, 0, finished=True)
        keys = list(dict.fromkeys(chunk.embed_key for chunk in chunks))
        known = {} if self._space.renewed else self._cache.embeddings(self._embedder.space, keys)
        from_cache = self._store(known, chunks)
        missing = list({c.embed_key: c for c in chunks if c.embed_key not in known}.values())
        embedded = sum(self._embed(part, chunks) for part in self._parts(missing))
        self.cursor = chunks[-1].chunk_id
        return Step(embedded, from_cache, finished=False)

    def _parts(self, chunks: Sequence[PendingChunk]) -> list[Sequence[PendingChunk]]:
        # For a remote embedder the tokens are counted as the server will; a local one has no use for them.
        counts = [tokens.count(c.embed_text) if self._embedder.remote else c.tokens for c in chunks]
        spans = batches(counts, self._embedder.batch_tokens, self._embedder.batch_texts)
        return [[chunks[i] for i in span] for span in spans]

    def _embed(self, part: Sequence[PendingChunk], chunks: Sequence[PendingChunk]) -> int:
        if self._embedder.remote:
            self._declare(part)
        try:
            vectors = self._embedder.embed([chunk.embed_text for chunk in part])
        except TextTooLong:
            if len(part) == 1:
                return 0
            half = len(part) // 2
            return self._embed(part[:half], chunks) + self._embed(part[half:], chunks)
        by_key = {chunk.embed_key: vector for chunk, vector in zip(part, vectors, strict=True)}
        self._cache.put_embeddings(self._embedder.space, by_key)
        return self._store(by_key, chunks)

    def _store(self, vectors: dict[bytes, Vector], chunks: Sequence[PendingChunk]) -> int:
        if not vectors:
            return 0
        with self._lock():
            return self._writer.put_vectors(self._space.id, vectors, chunks)

    def _declare(self, part: Sequence[PendingChunk]) -> None:
        """Check the day's limit and write the privacy ledger, before the first byte leaves."""
        today = local_day(time.time())
        cost = [tokens.count(chunk.embed_text) for chunk in part]
        check_daily_limit(self._cache, today, sum(cost), self._daily_token_limit)
        space = self._embedder.space
        self._cache.record_sent(
            [
                SentRecord(today, space.endpoint, space.model, chunk.source, chunk.path, 1, count)
                for chunk, count in zip(part, cost, strict=True)
            ]
        )

    def _serve(self) -> None:
        """The space is complete: from now on it answers, and the old one goes."""
        if not self._space.serving and self.remaining() == 0:
            with self._lock():
                self._writer.serve_space(self._space.id)


def check_daily_limit(cache: Cache, day: str, cost: int, limit: int) -> None:
    """Raise EmbedderRefused where sending `cost` more tokens would pass the day's limit (0: none)."""
    spent = cache.tokens_sent(day)
    if limit and spent + cost > limit:
        raise EmbedderRefused(
            f"the daily limit of {limit:,} tokens is reached ({spent:,} sent today, {cost:,} more asked for)",
            "go on tomorrow, or raise embedding.daily_token_limit",
        )


def local_day(now: float) -> str:
    return datetime.datetime.fromtimestamp(now).strftime("%Y-%m-%d")
