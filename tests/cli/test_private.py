"""The steps of the README for an embedder elsewhere, one after the other, as a user runs them."""

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


def set_up(vault: Path, server: EmbeddingServer, **settings: str) -> None:
    assert main(["init", str(vault), "--no-opencode", "--no-embed"]) == 0
    for key, value in {
        "embedding.base_url": server.base_url, "embedding.model": "toy", "embedding.dimensions": "64",
        "embedding.provider": "openai", **settings,
    }.items():  # fmt: skip
        assert main(["config", "set", key, value]) == 0


@pytest.mark.parametrize("local_only", ['["private/"]', "true"])
def test_private_notes_never_leave(
    vault: Path, server: EmbeddingServer, local_only: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (vault / "private").mkdir()
    (vault / "private/diary.md").write_text("My secret is the colour purple.\n", encoding="utf-8")
    set_up(vault, server, **{"sources.my-vault.local_only": local_only})
    plan = answer(capsys, "embed", "--plan")
    assert (plan["chunks"], plan["kept_local"]) == ((0, 3) if local_only == "true" else (2, 1))
    assert main(["embed", "--plan", "--human"]) == 0
    assert "kept local" in capsys.readouterr().out
    assert main(["embed"]) == 0
    status = answer(capsys, "embed", "--status")
    assert (status["pending"], status["kept_local"]) == (0, plan["kept_local"])
    assert "diary" not in str(answer(capsys, "status", "--privacy"))
    sent = "\n".join(server.texts)
    assert "purple" not in sent
    assert ("Readers never wait" in sent) is (local_only != "true")


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
    set_up(vault, server, **{"opencode.local_only": f'["{tmp_path}/clients"]'})
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
