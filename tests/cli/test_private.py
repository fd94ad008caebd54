"""The steps of the README for an embedder elsewhere, one after the other, as a user runs them."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.process import vx
from tests.embeddings.server import EmbeddingServer


@pytest.mark.parametrize("local_only", ['["private/"]', "true"])
def test_private_notes_never_leave(home: Path, vault: Path, local_only: str) -> None:
    (vault / "private").mkdir()
    (vault / "private/diary.md").write_text("My secret is the colour purple.\n", encoding="utf-8")
    with EmbeddingServer(dimensions=64) as server:
        environ = {"NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "sk-test"}

        def run(*words: str) -> str:
            done = vx(*words, environ=environ)
            assert done.returncode == 0, done.stderr
            return done.stdout

        run("init", str(vault), "--no-opencode")
        run("config", "set", "embedding.provider", "openai")
        run("config", "set", "embedding.base_url", server.base_url)
        run("config", "set", "embedding.model", "toy")
        run("config", "set", "sources.my-vault.local_only", local_only)
        plan = json.loads(run("embed", "--plan", "--json"))
        assert (plan["chunks"], plan["kept_local"]) == ((0, 3) if local_only == "true" else (2, 1))
        assert "kept local" in run("embed", "--plan", "--human")
        run("embed")
        status = json.loads(run("embed", "--status", "--json"))
        ledger = run("status", "--privacy", "--json")
        sent = "\n".join(server.texts)
    assert "purple" not in sent
    assert ("Readers never wait" in sent) is (local_only != "true")
    assert (status["pending"], status["kept_local"]) == (0, plan["kept_local"])
    assert "diary" not in ledger


IN_A_DELETED_FOLDER = """
import os, sys
os.rmdir(os.getcwd())
from vault_index.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_what_is_asked_inside_a_private_project_never_leaves(home: Path, vault: Path, tmp_path: Path) -> None:
    inside, beside, odd = tmp_path / "clients/secret", tmp_path / "public", tmp_path / os.fsdecode(b"clients/\xff")
    gone = tmp_path / "clients/gone"
    for folder in (inside, beside, odd, gone):
        folder.mkdir(parents=True)
    with EmbeddingServer(dimensions=64) as server:
        environ = {"NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "sk-test"}

        def run(*words: str, cwd: Path | None = None, code: str = "", **more: str) -> str:
            done = vx(*words, environ=environ | more, cwd=cwd, code=code)
            assert done.returncode == 0, done.stderr
            return done.stdout

        run("init", str(vault), "--no-opencode", "--no-embed")
        for key, value in {
            "embedding.base_url": server.base_url,
            "embedding.model": "toy",
            "embedding.dimensions": "64",
            "embedding.provider": "openai",
            "opencode.local_only": f'["{tmp_path}/clients"]',
        }.items():
            run("config", "set", key, value)
        run("embed")
        server.requests.clear()
        for folder in (inside, odd):
            answer = json.loads(run("search", "readers never wait", "--json", cwd=folder))
            assert [hit["path"] for hit in answer["results"]][:1] == ["wal.md"]
            assert "local_only keeps it on this machine" in answer["degraded"][0]
        run("why", "readers never wait", "wal.md", cwd=inside)
        run("timeline", "--query", "readers never wait", cwd=inside)
        run("recall", "readers never wait", cwd=inside)
        run("search", "readers never wait", cwd=gone, code=IN_A_DELETED_FOLDER, PWD=str(gone))
        assert server.texts == []
        assert json.loads(run("search", "readers never wait", "--json", cwd=beside))["degraded"] == []
        assert server.texts == ["readers never wait"]
