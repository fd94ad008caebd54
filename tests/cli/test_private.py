"""An embedder elsewhere and a private project, set up and asked as a user does it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.process import answer
from tests.embeddings.server import EmbeddingServer
from vault_index.cli import main


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    with EmbeddingServer(dimensions=64) as server:
        yield server


def test_what_is_asked_inside_a_private_project_never_leaves(
    vault: Path,
    tmp_path: Path,
    server: EmbeddingServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    inside, beside, odd = tmp_path / "clients/secret", tmp_path / "public", tmp_path / os.fsdecode(b"clients/\xff")
    gone = tmp_path / "clients/gone"
    for folder in (inside, beside, odd, gone):
        folder.mkdir(parents=True)
    assert main(["init", str(vault), "--no-opencode", "--no-embed"]) == 0
    for key, value in {
        "embedding.base_url": server.base_url, "embedding.model": "toy", "embedding.dimensions": "64",
        "embedding.provider": "openai", "sessions.opencode.local_only": f'["{tmp_path}/clients"]',
    }.items():  # fmt: skip
        assert main(["config", "set", key, value]) == 0
    assert main(["embed"]) == 0
    server.requests.clear()
    for folder in (inside, odd):
        monkeypatch.chdir(folder)
        found = answer(capsys, "search", "readers never wait")
        assert [hit["path"] for hit in found["results"]][:1] == ["wal.md"]
        assert "local_only keeps it on this machine" in found["degraded"][0]
    monkeypatch.chdir(inside)
    for words in (["why", "readers never wait", "wal.md"], ["timeline", "--query", "readers"], ["recall", "readers"]):
        assert main(words) == 0
    monkeypatch.chdir(gone)
    monkeypatch.setenv("PWD", str(gone))
    gone.rmdir()
    assert main(["search", "readers never wait"]) == 0
    assert server.texts == []
    monkeypatch.chdir(beside)
    assert answer(capsys, "search", "readers never wait")["degraded"] == []
    assert server.texts == ["readers never wait"]
