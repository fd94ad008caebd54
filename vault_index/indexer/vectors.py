"""Filling the vectors of the index: from the cache first, then from the embedder, each success kept at once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from vault_index import tokens
from vault_index.embeddings import Embedder, batches
from vault_index.errors import RequestRefused
from vault_index.indexer.outbound import Now, Outbound
from vault_index.models import Vector
from vault_index.store.cache import Cache
from vault_index.store.counts import count_rows
from vault_index.store.records import PendingChunk, SpaceRow
from vault_index.store.spaces import (
    add_space,
    count_pending,
    drop_space,
    lacking_documents,
    pending_chunks,
    put_vectors,
    read_spaces,
    refused_chunks,
    serve_space,
)
from vault_index.store.state import State
from vault_index.store.writer import IndexWriter

Lock = Callable[[], AbstractContextManager[None]]

Twins = Sequence[PendingChunk]
"""The chunks that have one text."""


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
    rows = read_spaces(writer)
    serving = next((row for row in rows if row.serving), None)
    building = next((row for row in rows if not row.serving), None)
    if embedder is None or not writer.vectors_work:
        for row in rows:
            drop_space(writer, row.id)
        return None
    if building is not None and building.space == embedder.space and not renew:
        return building
    if serving is not None and serving.space == embedder.space and not renew:
        if building is not None:
            drop_space(writer, building.id)
        return serving
    return add_space(writer, SpaceRow(0, embedder.space, serving is None, renew))


class VectorBuilder:
    """Embeds what is pending in one space, a step at a time; the write lock is held only while rows are written."""

    def __init__(
        self,
        writer: IndexWriter,
        cache: Cache,
        state: State,
        embedder: Embedder,
        space: SpaceRow,
        lock: Lock,
        *,
        now: Now,
        after: int = 0,
    ) -> None:
        self._writer = writer
        self._cache = cache
        self._embedder = embedder
        self._space = space
        self._lock = lock
        self._outbound = Outbound(embedder, state, now)
        self._refused = cache.refused(embedder.space)
        self._most_texts = min(cache.most_texts(embedder.space) or embedder.batch_texts, embedder.batch_texts)
        self.cursor = after
        """The last chunk that was tried: texts that may not leave now are passed over, not tried for ever."""

    def remaining(self) -> int:
        """Chunks this builder may still embed; those that stay home do not count for a remote embedder."""
        return count_pending(self._writer, self._space.id) - sum(self._staying().values())

    def step(self) -> Step:
        """Give the next chunks their vectors.

        Raises EmbedderError; what was embedded before that is kept. A text that the server refuses for itself is
        recorded and never sent again; one that may not leave is passed over until its document is read again.
        """
        while chunks := pending_chunks(
            self._writer, self._space.id, self.cursor, self._embedder.batch_texts, self._staying()
        ):
            by_key: dict[bytes, list[PendingChunk]] = {}
            for chunk in chunks:
                by_key.setdefault(chunk.embed_key, []).append(chunk)
            known = {} if self._space.renewed else self._cache.embeddings(self._embedder.space, list(by_key))
            from_cache = self._store(known, chunks)
            missing = [twins for key, twins in by_key.items() if key not in known and key not in self._refused]
            embedded = [self._embed(part, chunks) for part in self._parts(missing)]
            self.cursor = chunks[-1].chunk_id
            if known or any(done is not None for done in embedded):
                return Step(sum(done or 0 for done in embedded), from_cache, finished=False)
        if not self._space.serving and self._is_complete():  # it answers now, and the old one goes
            with self._lock():
                serve_space(self._writer, self._space.id)
        self.cursor = 0
        return Step(0, 0, finished=True)

    def _is_complete(self) -> bool:
        """Whether every chunk has its vector that can have one now. Files in the cloud, or in a vault that is not
        mounted, keep the others waiting for nothing; but where nothing has a vector, the old ones are better."""
        staying = self._staying()
        lacking = lacking_documents(self._writer, self._space.id)
        refused = Counter(id_ for id_, *_ in refused_chunks(self._writer, self._space.id, self._refused))
        waiting = [one for one, chunks in lacking.items() if one.id not in staying and chunks > refused[one.id]]
        has_some = sum(lacking.values()) < count_rows(self._writer, "chunk")
        return not waiting or (has_some and not self._outbound.awaits(waiting))

    def _staying(self) -> Mapping[int, int]:
        return self._outbound.staying(lambda: lacking_documents(self._writer, self._space.id))

    def _parts(self, texts: Sequence[Twins]) -> list[Sequence[Twins]]:
        # For a remote embedder the tokens are counted as the server will; a local one has no use for them.
        counts = [tokens.count(one.embed_text) if self._embedder.remote else one.tokens for one, *_ in texts]
        spans = batches(counts, self._embedder.batch_tokens, self._most_texts)
        return [[texts[i] for i in span] for span in spans]

    def _embed(self, part: Sequence[Twins], chunks: Sequence[PendingChunk]) -> int | None:
        """How many chunks got a vector; None where nothing may leave now.

        A part that the server refuses is halved, down to the texts that it refuses for themselves. If there are none,
        their number was too high, and the server is never sent as many again.
        """
        if len(part) > self._most_texts:
            return self._embed_halves(part, chunks)
        try:
            vectors = self._outbound.embed(part)
        except RequestRefused as error:
            if len(part) == 1:
                self._refuse(part[0][0].embed_key, error)
                return 0
            before = len(self._refused)
            embedded = self._embed_halves(part, chunks)
            if embedded and len(self._refused) == before:
                self._most_texts = min(self._most_texts, len(part) - len(part) // 2)
                self._cache.put_most_texts(self._embedder.space, self._most_texts)
            return embedded
        if not vectors:
            return None
        self._cache.put_embeddings(self._embedder.space, vectors)
        return self._store(vectors, chunks)

    def _embed_halves(self, part: Sequence[Twins], chunks: Sequence[PendingChunk]) -> int | None:
        half = len(part) // 2
        embedded = [self._embed(part[:half], chunks), self._embed(part[half:], chunks)]
        return None if embedded == [None, None] else sum(done or 0 for done in embedded)

    def _refuse(self, key: bytes, error: RequestRefused) -> None:
        """Record that a text has no vector, and why. Raises EmbedderError where the server embeds no text at all."""
        self._outbound.probe()
        self._refused[key] = error.message
        self._cache.put_refused(self._embedder.space, key, error.message)

    def _store(self, vectors: Mapping[bytes, Vector], chunks: Sequence[PendingChunk]) -> int:
        if not vectors:
            return 0
        with self._lock():
            return put_vectors(self._writer, self._space.id, vectors, chunks)
