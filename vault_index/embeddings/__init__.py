"""Embedders behind one Protocol: the local models, and servers with OpenAI's embeddings API."""

from collections.abc import Callable, Sequence
from typing import Protocol

from vault_index.config.schema import EmbeddingConfig
from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import Vector, VectorSpace


class Embedder(Protocol):
    """Turns texts into unit vectors of one space. Thread-safe."""

    @property
    def space(self) -> VectorSpace:
        """The vector space of the model."""

    @property
    def remote(self) -> bool:
        """Whether texts go to a server, also a local one, which may forward them."""

    @property
    def via(self) -> str:
        """The proxy URL for texts, or ""."""

    @property
    def batch_tokens(self) -> int:
        """Maximum number of cl100k_base tokens per `embed`."""

    @property
    def batch_texts(self) -> int:
        """Maximum number of texts per `embed`."""

    def embed(
        self, texts: Sequence[str], before: Callable[[], object] | None = None
    ) -> list[Vector]:
        """Return one vector per text, in order.

        Calls `before` right before each request, also before retries; an exception from it stops
        the request. Raises EmbedderError, and RequestRefused if a smaller batch may succeed.
        """

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        """Return the vector of one query, as `embed` does, but with short timeouts."""

    def prepare(self) -> None:
        """Start loading the model in the background, before an expected query."""

    def release(self, unused: float) -> bool:
        """Free a model that was not used for `unused` seconds; return whether one was freed.

        The next text loads it again.
        """

    def close(self) -> None:
        """Release connections or the model; a running request fails soon."""


def open_embedder(config: EmbeddingConfig, space: VectorSpace | None = None) -> Embedder | None:
    """Return the configured embedder, or None for provider `none`.

    With `space`, return the embedder of that space; its model may be the one being replaced. Raises
    EmbedderRefused if texts would go to a server that is no longer configured. Without `space`, a
    server's model of unknown dimensions gets one request with a fixed text. Raises ConfigError,
    EmbedderError.
    """
    if config.provider == "none":
        return None
    # A local model also answers queries while the vectors of its replacement are built.
    if config.provider == "local" or (
        config.provider == "openai" and space is not None and space.provider == "local"
    ):
        from vault_index.embeddings.local import LocalEmbedder
        from vault_index.embeddings.spaces import COSINES

        if space is not None and space not in COSINES:
            raise _not_configured(space)
        return LocalEmbedder(config, space)
    if config.provider == "openai":
        from vault_index.embeddings.access import endpoint

        if space is not None and space.endpoint != endpoint(config):
            raise _not_configured(space)
        from vault_index.embeddings.openai import OpenAIEmbedder

        return OpenAIEmbedder(config, space)
    raise ConfigError(
        f"unknown embedding.provider {config.provider!r}",
        "set it to local, openai or none",
    )


def _not_configured(space: VectorSpace) -> EmbedderRefused:
    where = f" at {space.endpoint}" if space.endpoint else ""
    return EmbedderRefused(
        f"the index has vectors of {space.model}{where}, which is not the configured embedder",
        "run `vault-index embed` to build new vectors; until then search uses keywords only",
    )
