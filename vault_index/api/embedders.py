"""The embedders in use: the configured one, and the one that answers for the vectors that serve."""

import threading
import time

from vault_index.answers import SentRecord
from vault_index.config import EmbeddingConfig
from vault_index.embeddings import Embedder, open_embedder
from vault_index.errors import EmbedderRefused
from vault_index.models import Vector, VectorSpace
from vault_index.store.cache import Cache
from vault_index.store.rows import SpaceRow

_QUERIES = "(queries)"


class Embedders:
    """Opens each embedder once; safe for several threads."""

    def __init__(self, config: EmbeddingConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._configured: Embedder | None = None
        self._by_space: dict[VectorSpace, Embedder] = {}

    def configured(self) -> Embedder | None:
        """The embedder of the configuration, None for provider `none`. Raises EmbedderError, ConfigError."""
        with self._lock:
            if self._configured is None:
                self._configured = open_embedder(self._config)
            return self._configured

    def embed_query(self, cache: Cache, space: SpaceRow, text: str) -> Vector:
        """The vector of a question in `space`, which may be of a model that is being replaced."""
        embedder = self._for_space(space.space)
        if embedder.remote:
            self._declare_query(cache, space.space, text)
        return embedder.embed_query(text)

    def close(self) -> None:
        with self._lock:
            for embedder in {id(e): e for e in (self._configured, *self._by_space.values()) if e}.values():
                embedder.close()
            self._configured, self._by_space = None, {}

    def _for_space(self, space: VectorSpace) -> Embedder:
        with self._lock:
            if space not in self._by_space:
                embedder = open_embedder(self._config, space)
                if embedder is None:
                    raise EmbedderRefused(
                        "no embedder is configured", "set embedding.provider, or search with --mode text"
                    )
                self._by_space[space] = embedder
            return self._by_space[space]

    def _declare_query(self, cache: Cache, space: VectorSpace, text: str) -> None:
        from vault_index import tokens
        from vault_index.indexer.vectors import check_daily_limit, local_day

        today, cost = local_day(time.time()), tokens.count(text)
        check_daily_limit(cache, today, cost, self._config.daily_token_limit)
        cache.record_sent([SentRecord(today, space.endpoint, space.model, "", _QUERIES, 1, cost)])
