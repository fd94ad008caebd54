"""Queries of a client that works in a private project reach no server."""

from pathlib import Path

import pytest

from tests.embeddings.server import EmbeddingServer
from tests.mcp_server.sessions import make_home, session
from vault_index import VaultIndex
from vault_index.config.edit import set_value


def test_mcp_keeps_a_query_from_a_private_root_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder where the server was started is also in `directory`: tests/mcp_server/test_remote.py."""
    secret, public = tmp_path / "clients/big secret", tmp_path / "public"
    secret.mkdir(parents=True)
    public.mkdir()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    home = make_home(tmp_path)
    with EmbeddingServer(dimensions=16) as server:
        settings = {"base_url": server.base_url, "model": "toy", "dimensions": "16", "provider": "openai"}
        for key, value in settings.items():
            set_value(home, f"embedding.{key}", value)
        set_value(home, "sessions.opencode.local_only", f'["{tmp_path}/clients"]')
        with VaultIndex.open(home) as index:
            index.embed()
        server.requests.clear()
        for folder in (secret, public):
            with session(home.data_dir, roots=[folder], cwd=public) as client:
                answer = client.call("memory_search", query="the importer")
                client.call("memory_recall", query="the importer")
                client.call("memory_timeline", query="the importer")
            private = folder == secret
            assert any("local_only" in why for why in answer.get("degraded", ())) is private
            assert bool(server.texts) is not private
