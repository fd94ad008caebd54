"""The steps of the README for an embedder elsewhere, one after the other, as a user runs them."""

import json
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
