"""Text to vectors: the local model, or any server that speaks OpenAI's embeddings API, behind one Protocol."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import Vector, VectorSpace

if TYPE_CHECKING:
    from vault_index.config import EmbeddingConfig


class Embedder(Protocol):
    """Turns texts into unit vectors of one space. Safe for several threads."""

    @property
    def space(self) -> VectorSpace: ...

    @property
    def remote(self) -> bool:
        """Whether texts leave this process for a server; a server on this machine counts, it may pass them on."""

    @property
    def via(self) -> str:
        """The proxy that texts go through, or nothing."""

    @property
    def batch_tokens(self) -> int:
        """The most cl100k_base tokens for one `embed`."""

    @property
    def batch_texts(self) -> int: ...

    def embed(self, texts: Sequence[str], before: Callable[[], object] | None = None) -> list[Vector]:
        """Return one vector for each text, in their order. Raises EmbedderError; RequestRefused where fewer texts
        may pass.

        `before` is called right before anything is sent, also for the second time, and keeps it back by raising.
        """

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        """As `embed`, for somebody who waits: a server that does not answer soon is given up."""

    def prepare(self) -> None:
        """Begin to load a model that is not there yet: a question will come once it is read."""

    def release(self, unused: float) -> bool:
        """Free the memory of a model that was not used for `unused` seconds; the next text loads it again. Returns
        whether a model was freed."""

    def close(self) -> None:
        """Let go of the connections or the model; a request under way fails soon."""


def open_embedder(config: "EmbeddingConfig", space: VectorSpace | None = None) -> Embedder | None:
    """The embedder of `config`, None for provider `none`; raises ConfigError, EmbedderError.

    With `space`, the one that answers for the vectors of that space, which may be of a model that is being replaced.
    It is refused where the text would go to a server that the configuration does not name any more. Without `space`,
    a model of unknown dimensions is asked for one vector of a fixed text.
    """
    if config.provider == "none":
        return None
    # A local model also answers while vectors of a server, or of the other one, are being built beside its own.
    if config.provider == "local" or (config.provider == "openai" and space is not None and space.provider == "local"):
        from vault_index.embeddings.local import LocalEmbedder
        from vault_index.embeddings.spaces import ENGLISH, MULTILINGUAL

        if space is not None and space not in (ENGLISH, MULTILINGUAL):
            raise _not_configured(space)
        return LocalEmbedder(config, space)
    if config.provider == "openai":
        from vault_index.embeddings.access import endpoint

        if space is not None and space.endpoint != endpoint(config):
            raise _not_configured(space)
        from vault_index.embeddings.openai import OpenAIEmbedder

        return OpenAIEmbedder(config, space)
    raise ConfigError(f"there is no embedder {config.provider!r}", "embedding.provider is local, openai or none")


def known_share(space: VectorSpace, text: str) -> float:
    """How far the model of `space` knows the language of `text`, from 0 to 1: what the English model's vocabulary
    says; the others are taken to know every language."""
    from vault_index.embeddings.spaces import ENGLISH
    from vault_index.embeddings.wordpiece import vocabulary

    if space != ENGLISH:
        return 1.0
    return vocabulary().known_share(text)


def batches(token_counts: Sequence[int], max_tokens: int, max_texts: int) -> list[range]:
    """Cut a row of texts into requests within both bounds, in order; a text over `max_tokens` goes alone."""
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


def _not_configured(space: VectorSpace) -> EmbedderRefused:
    where = f" at {space.endpoint}" if space.endpoint else ""
    return EmbedderRefused(
        f"the vectors in use are of {space.model}{where}, which is not the configured embedder",
        "run `vault-index embed` to build those of the configured one; until then search works by keywords",
    )
