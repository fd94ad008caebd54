from collections.abc import Iterator

import pytest

from tests.embeddings.server import EmbeddingServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    """An embeddings server that is reached without a proxy, and no key in the environment."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with EmbeddingServer() as running:
        yield running
