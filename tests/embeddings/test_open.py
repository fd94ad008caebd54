import pytest

from tests.embeddings.server import EmbeddingServer
from vault_index.config import EmbeddingConfig
from vault_index.embeddings import open_embedder
from vault_index.embeddings.access import KNOWN_DIMENSIONS, PRICES_PER_MILLION
from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import VectorSpace

LOCAL = VectorSpace("local", "all-MiniLM-L6-v2-int8", 384)


def test_the_configuration_or_the_vectors_in_use_choose_the_embedder(server: EmbeddingServer) -> None:
    remote = VectorSpace("openai", "text-embedding-3-small", 1536, server.base_url)
    there = EmbeddingConfig(provider="openai", base_url=server.base_url, batch_texts=7, batch_tokens=99)
    for config, space, expected in (
        (EmbeddingConfig(), None, LOCAL), (EmbeddingConfig(), LOCAL, LOCAL), (there, None, remote),
        (there, LOCAL, LOCAL),  # while vectors of the server are filled beside them
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
        # The server is not configured any more: no text may go there.
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
def test_vectors_nobody_can_answer_for_are_refused_with_a_hint(config: EmbeddingConfig, space: VectorSpace) -> None:
    with pytest.raises(EmbedderRefused, match=space.model) as caught:
        open_embedder(config, space)
    assert "vault-index embed" in caught.value.hint


def test_every_known_model_has_a_price_and_a_length() -> None:
    assert PRICES_PER_MILLION.keys() == KNOWN_DIMENSIONS.keys()
