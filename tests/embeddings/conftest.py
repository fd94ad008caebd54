from collections.abc import Iterator

import pytest

from tests.embeddings.server import EmbeddingServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    """An embeddings server, reached directly, and no key of whoever runs the tests."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with EmbeddingServer() as running:
        yield running
