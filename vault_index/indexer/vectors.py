"""Fill the vectors of the index from the cache and the embedder, storing each batch at once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from vault_index import tokens
from vault_index.embeddings import Embedder
from vault_index.errors import RequestRefused
from vault_index.indexer.outbound import Now, Outbound, SharedVectors
from vault_index.models import Vector
from vault_index.store.cache import Cache
from vault_index.store.connection import count_rows
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
"""The chunks that share one text."""


@dataclass(frozen=True, slots=True)
class Step:
    """The result of one step. `finished`: nothing is left for this builder."""

    embedded: int
    cached: int
    finished: bool


def open_space(
    writer: IndexWriter, embedder: Embedder | None, *, renew: bool = False
) -> SpaceRow | None:
    """Return the space for `embedder`: the serving one if it has the same model, else a new one.

    Without an embedder there is no space (the cache keeps the vectors). `renew` starts a new space
    without the cache, while the old space serves.
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
    """Embeds the pending chunks of one space in steps; holds the write lock only to write rows."""

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
        pool: SharedVectors | None = None,
    ) -> None:
        self._writer = writer
        self._cache = cache
        self._embedder = embedder
        self._space = space
        self._lock = lock
        self._outbound = Outbound(embedder, state, now)
        self._pool = pool
        self._refused = cache.refused(embedder.space)
        self._most_texts = min(
            cache.most_texts(embedder.space) or embedder.batch_texts, embedder.batch_texts
        )
        self.cursor = after
        """The last chunk that was tried, so that texts that may not be sent now are skipped."""

    def remaining(self) -> int:
        """Return the number of chunks to embed, without local-only ones for a remote embedder."""
        return count_pending(self._writer, self._space.id) - sum(self._staying().values())

    def step(self) -> Step:
        """Embed the next chunks.

        Raises EmbedderError; vectors embedded before are kept. A text that the server rejects alone
        is recorded and never sent again. A text that may not be sent is skipped until its document
        is read again.
        """
        while chunks := pending_chunks(
            self._writer, self._space.id, self.cursor, self._embedder.batch_texts, self._staying()
        ):
            by_key: dict[bytes, list[PendingChunk]] = {}
            for chunk in chunks:
                by_key.setdefault(chunk.embed_key, []).append(chunk)
            known = (
                {}
                if self._space.renewed
                else self._cache.embeddings(self._embedder.space, list(by_key))
            )
            missing = self._missing(by_key, known)
            if self._pool is not None and missing and not self._space.renewed:
                shared = self._outbound.shared(missing, self._pool)
                self._cache.put_embeddings(self._embedder.space, shared)
                known |= shared
                missing = self._missing(by_key, known)
            from_cache = self._store(known, chunks)
            embedded = [self._embed(part, chunks) for part in self._parts(missing)]
            self.cursor = chunks[-1].chunk_id
            if known or any(done is not None for done in embedded):
                return Step(sum(done or 0 for done in embedded), from_cache, finished=False)
        # Switch to the new space, and drop the old one.
        if not self._space.serving and self._is_complete():
            with self._lock():
                serve_space(self._writer, self._space.id)
        self.cursor = 0
        return Step(0, 0, finished=True)

    def _missing(self, by_key: Mapping[bytes, Twins], known: Mapping[bytes, Vector]) -> list[Twins]:
        return [
            twins for key, twins in by_key.items() if key not in known and key not in self._refused
        ]

    def _is_complete(self) -> bool:
        """Return whether every chunk that can have a vector now has one.

        Unreachable files (cloud storage, unmounted vaults) do not delay the switch, unless no chunk
        has a vector.
        """
        staying = self._staying()
        lacking = lacking_documents(self._writer, self._space.id)
        refused = Counter(
            id_ for id_, *_ in refused_chunks(self._writer, self._space.id, self._refused)
        )
        waiting = [
            one
            for one, chunks in lacking.items()
            if one.id not in staying and chunks > refused[one.id]
        ]
        has_some = sum(lacking.values()) < count_rows(self._writer, "chunk")
        return not waiting or (has_some and not self._outbound.awaits(waiting))

    def _staying(self) -> Mapping[int, int]:
        return self._outbound.staying(lambda: lacking_documents(self._writer, self._space.id))

    def _parts(self, texts: Sequence[Twins]) -> list[Sequence[Twins]]:
        # Count tokens as a remote server does; a local model does not need that.
        counts = [
            tokens.count(one.embed_text) if self._embedder.remote else one.tokens
            for one, *_ in texts
        ]
        spans = batches(counts, self._embedder.batch_tokens, self._most_texts)
        return [[texts[i] for i in span] for span in spans]

    def _embed(self, part: Sequence[Twins], chunks: Sequence[PendingChunk]) -> int | None:
        """Embed one request.

        Return the number of vectors stored, or None if nothing may be sent now. A rejected request
        is halved until single texts are rejected. If no single text is rejected, the request was
        too large, and its size becomes a limit for the server.
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
        """Record a rejected text with the reason.

        Raises EmbedderError if the server embeds no text at all.
        """
        self._outbound.probe()
        self._refused[key] = error.message
        self._cache.put_refused(self._embedder.space, key, error.message)

    def _store(self, vectors: Mapping[bytes, Vector], chunks: Sequence[PendingChunk]) -> int:
        if not vectors:
            return 0
        with self._lock():
            return put_vectors(self._writer, self._space.id, vectors, chunks)


def batches(token_counts: Sequence[int], max_tokens: int, max_texts: int) -> list[range]:
    """Split texts into requests within both limits; a text over `max_tokens` goes alone."""
    found: list[range] = []
    start, total = 0, 0
    for index, count in enumerate(token_counts):
        if index > start and (total + count > max_tokens or index - start >= max_texts):
            found.append(range(start, index))
            start, total = index, 0
        total += count
    if start < len(token_counts):
        found.append(range(start, len(token_counts)))
    return found
