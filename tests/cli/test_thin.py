"""The imports of a search, which keep it fast."""

from pathlib import Path

import pytest

from tests.cli.fake_daemon import fake_daemon, replying
from tests.cli.process import vx
from tests.output import answers
from vault_index.cli import main

CODE = """
import sys
from vault_index.cli import main
code = main(sys.argv[1:])
print("\\n".join(sorted(sys.modules)), file=sys.stderr)
sys.exit(code)
"""
HEAVY = {
    "psycopg", "vault_index.team",
    "openai", "mcp", "numpy", "onnxruntime", "rich", "pydantic", "markdown_it", "yaml", "watchdog", "uvicorn",
    "starlette", "shtab", "vault_index.serve",
}  # fmt: skip
THIN = HEAVY | {
    "apsw", "tiktoken", "tomllib", "tomlkit", "toon_format", "frontmatter", "pathspec", "tenacity", "rapidfuzz",
    "dataclasses", "inspect", "asyncio", "difflib", "shutil", "subprocess", "logging", "threading",
    "vault_index.models", "vault_index.results", "vault_index.runtime",
    "vault_index.api.index", "vault_index.api.json_api", "vault_index.store", "vault_index.query",
    "vault_index.output.toon",
}  # fmt: skip

WITHOUT_A_DAEMON = HEAVY | {
    "tiktoken", "toon_format", "frontmatter", "rapidfuzz", "tenacity", "logging", "shutil", "subprocess", "socket",
    "vault_index.daemon.client", "vault_index.embeddings", "vault_index.indexer.index_writer",
    "vault_index.indexer.sync",
    "vault_index.indexer.reading", "vault_index.query.search", "vault_index.store.related",
    "vault_index.store.vocabulary", "vault_index.terms",
}  # fmt: skip

SESSION_MODULES = {f"vault_index.sources.sessions.{name}" for name in ("source", "projects", "clients", "privacy")}


def imported(*arguments: str) -> set[str]:
    ended = vx(*arguments, code=CODE)
    assert ended.returncode == 0, ended.stderr
    return set(ended.stderr.split("\n"))


def test_search_with_a_daemon_imports_almost_nothing(home: Path) -> None:
    for form in ("--toon", "--json", "--format=auto", "--markdown"):
        reply = {"result": answers.search(answers.hit())} if form == "--json" else {"text": "x"}
        with fake_daemon(home, replying(reply)) as daemon:
            modules = imported("search", "wal", form)
        assert daemon.requests
        assert not THIN & modules, form


def test_add_with_a_daemon_imports_almost_nothing(home: Path) -> None:
    with fake_daemon(home, lambda request: [{"text": "id: 5f0c3f0e"}]) as daemon:
        modules = imported("add", "Readers never wait.", "--tags", "wal", "--expires", "in 3 months")
        modules |= imported("update", "5f0c", "--type", "decision")
    assert [request["method"] for request in daemon.requests] == ["add", "update"]
    assert not (THIN | {"vault_index.memories", "vault_index.secrets"}) & modules


def test_search_without_a_daemon_imports_only_what_it_needs(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VAULT_INDEX_GREETING_SECONDS", raising=False)  # its name is compared with those of settings
    (vault / "note.md").write_text("# A note\n", encoding="utf-8")
    assert main(["init", str(vault), "--provider", "none", "--quiet", "--toon"]) == 0
    assert not HEAVY & imported("search", "readers", "--mode", "text", "--json")
    made = {"tags": "status", "sessions": "sessions", "get note.md": "texts", "list": "documents"}
    for command, answer in made.items():
        modules = imported(*command.split(), "--json")
        results = {name for name in modules if name.startswith("vault_index.results.")}
        assert results - {"vault_index.results.base"} == {f"vault_index.results.{answer}"}
        assert sorted(WITHOUT_A_DAEMON & modules) == []
    # The vault has no sessions, so no session reader is imported.
    reading = ("vault_index.sources.sessions.", "vault_index.sources.opencode")
    read = {name for name in modules if name.startswith(reading)}
    assert "vault_index.sources.sessions.source" in read
    assert sorted(read - SESSION_MODULES | {"hashlib", "difflib"} & modules) == []
