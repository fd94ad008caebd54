"""Open embedders and keep them: the configured one, and the one of the serving space."""

from __future__ import annotations

import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from vault_index.config import EmbeddingConfig
from vault_index.errors import EmbedderRefused, VaultIndexError
from vault_index.models import Filters, QueryOrigins, Vector, VectorSpace
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import document_states
from vault_index.store.state import State

if TYPE_CHECKING:  # so that keyword queries skip the import of the embeddings
    from vault_index.embeddings import Embedder
    from vault_index.indexer.outbound import Now
    from vault_index.store.reader import IndexReader

_LONGEST_QUESTION = 4000
"""Maximum query length in characters, about the largest passage.

Each further thousand costs the local model 60 ms.
"""


class Embedders:
    """Opens each embedder once; safe for several threads."""

    def __init__(self, config: EmbeddingConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._configured: Embedder | None = None
        self._by_space: dict[VectorSpace, Embedder] = {}

    def configured(self) -> Embedder | None:
        """Return the configured embedder; None for provider `none`.

        Raises EmbedderError, ConfigError.
        """
        from vault_index.embeddings import open_embedder

        with self._lock:
            if self._configured is None and (opened := open_embedder(self._config)) is not None:
                # If an embedder of this space is open, use it, so that a model is not loaded twice.
                self._configured = self._by_space.setdefault(opened.space, opened)
                if self._configured is not opened:
                    opened.close()
            return self._configured

    def prepare(self, space: SpaceRow | None, text: str) -> None:
        """Start loading the model of a space before a query is parsed.

        Not for non-ASCII text, which the English model may not support.
        """
        if space is not None and text.isascii():
            with suppress(VaultIndexError):  # `embed_query` raises it again
                self._for_space(space.space).prepare()

    def embed_query(
        self,
        state: State,
        now: Now,
        reader: IndexReader,
        limited: bool,
        space: SpaceRow,
        text: str,
        origins: QueryOrigins,
        filters: Filters,
    ) -> Vector:
        """Return the vector of a query in `space`; its model may be the one being replaced.

        A long query is truncated. `limited`: whether `reader` shows only a part of the index.
        """
        embedder = self._for_space(space.space)
        if not embedder.remote:
            return embedder.embed_query(text[:_LONGEST_QUESTION])
        # Imported here because it is slow, and only remote embedders need it.
        from vault_index.indexer.outbound import Outbound, Question

        question = Question(origins, filters, partial(document_states, reader), limited)
        return Outbound(embedder, state, now).embed_query(text, _LONGEST_QUESTION, question)

    def release(self, unused: float) -> bool:
        """Free the memory of models unused for `unused` seconds. Returns whether any was freed."""
        with self._lock:
            released = [embedder.release(unused) for embedder in self._by_space.values()]
            return any(released)

    def close(self) -> None:
        """Close all embedders."""
        with self._lock:
            for embedder in self._by_space.values():
                embedder.close()
            self._configured, self._by_space = None, {}

    def _for_space(self, space: VectorSpace) -> Embedder:
        from vault_index.embeddings import open_embedder

        with self._lock:
            if space not in self._by_space:
                embedder = open_embedder(self._config, space)
                if embedder is None:
                    raise EmbedderRefused(
                        "no embedder is configured",
                        "set embedding.provider, or search with --mode text",
                    )
                self._by_space[space] = embedder
            return self._by_space[space]
