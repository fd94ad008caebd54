import pytest

from tests.embeddings.server import EmbeddingServer
from vault_index.config import EmbeddingConfig
from vault_index.embeddings import open_embedder
from vault_index.embeddings.prices import KNOWN_DIMENSIONS, PRICES_PER_MILLION
from vault_index.errors import ConfigError, EmbedderRefused
from vault_index.models import VectorSpace

LOCAL = VectorSpace("local", "all-MiniLM-L6-v2-int8", 384)


def test_no_embedder() -> None:
    assert open_embedder(EmbeddingConfig(provider="none")) is None
    assert open_embedder(EmbeddingConfig(provider="none"), LOCAL) is None


def test_the_local_one() -> None:
    for space in (None, LOCAL):
        embedder = open_embedder(EmbeddingConfig(), space)
        assert embedder is not None
        assert embedder.space == LOCAL
        embedder.close()


def test_a_server(server: EmbeddingServer) -> None:
    config = EmbeddingConfig(provider="openai", base_url=server.base_url, batch_texts=7, batch_tokens=99)
    embedder = open_embedder(config)
    assert embedder is not None
    assert embedder.space == VectorSpace("openai", "text-embedding-3-small", 1536, server.base_url)
    assert (embedder.batch_texts, embedder.batch_tokens, embedder.remote) == (7, 99, True)
    embedder.close()


def test_while_a_server_fills_beside_it_the_local_model_still_answers(server: EmbeddingServer) -> None:
    embedder = open_embedder(EmbeddingConfig(provider="openai", base_url=server.base_url, model="x"), LOCAL)
    assert embedder is not None
    assert embedder.space == LOCAL
    assert embedder.remote is False
    embedder.close()
    assert server.requests == []


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


def test_an_unknown_provider() -> None:
    with pytest.raises(ConfigError):
        open_embedder(EmbeddingConfig(provider="cohere"))


def test_every_known_model_has_a_price_and_a_length() -> None:
    assert PRICES_PER_MILLION.keys() == KNOWN_DIMENSIONS.keys()
