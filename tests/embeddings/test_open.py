import pytest

from tests.embeddings.server import EmbeddingServer
from vault_index.config import EmbeddingConfig
from vault_index.embeddings import open_embedder
from vault_index.embeddings.access import KNOWN_DIMENSIONS, PRICES_PER_MILLION
from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import VectorSpace

LOCAL = VectorSpace("local", "all-MiniLM-L6-v2-int8", 384)


def test_open_embedder_follows_the_configuration_or_the_stored_vectors(server: EmbeddingServer) -> None:
    remote = VectorSpace("openai", "text-embedding-3-small", 1536, server.base_url)
    there = EmbeddingConfig(provider="openai", base_url=server.base_url, batch_texts=7, batch_tokens=99)
    for config, space, expected in (
        (EmbeddingConfig(), None, LOCAL), (EmbeddingConfig(), LOCAL, LOCAL), (there, None, remote),
        (there, LOCAL, LOCAL),  # while vectors of the server are filled at the same time
    ):  # fmt: skip
        embedder = open_embedder(config, space)
        assert embedder is not None
        assert (embedder.space, embedder.remote) == (expected, expected == remote)
        if embedder.remote:
            assert (embedder.batch_texts, embedder.batch_tokens) == (7, 99)
        embedder.close()
    assert server.requests == []
    assert open_embedder(EmbeddingConfig(provider="none"), LOCAL) is None
    with pytest.raises(ConfigError):
        open_embedder(EmbeddingConfig(provider="cohere"))


@pytest.mark.parametrize(
    ("config", "space"),
    [
        # The server is no longer configured: no text may go there.
        (EmbeddingConfig(), VectorSpace("openai", "text-embedding-3-small", 1536, "https://api.openai.com/v1")),
        (
            EmbeddingConfig(provider="openai", base_url="http://localhost:1/v1"),
            VectorSpace("openai", "text-embedding-3-small", 1536, "https://api.openai.com/v1"),
        ),
        # A model of an older version of this program.
        (EmbeddingConfig(), VectorSpace("local", "all-MiniLM-L12", 384)),
        (EmbeddingConfig(provider="openai", base_url="http://localhost:1/v1"), VectorSpace("local", "old", 384)),
    ],
)
def test_open_embedder_refuses_vectors_of_an_unavailable_model(config: EmbeddingConfig, space: VectorSpace) -> None:
    with pytest.raises(EmbedderRefused, match=space.model) as caught:
        open_embedder(config, space)
    assert "vault-index embed" in caught.value.hint


def test_known_models_all_have_a_price_and_dimensions() -> None:
    assert PRICES_PER_MILLION.keys() == KNOWN_DIMENSIONS.keys()
