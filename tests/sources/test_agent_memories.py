"""The memory files that agents' clients keep: found, labelled, compared, and never written."""

import json
import re
from pathlib import Path

import pytest

from tests.api.vaults import opened, paths_found
from vault_index.config.edit import set_value
from vault_index.config.home import find_home
from vault_index.errors import UsageError

SAME = "Tests of the shop use port 0, because fixed ports clash in CI.\n"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable)
    shop = re.sub("[^A-Za-z0-9]", "-", f"{tmp_path}/shop")
    line = {
        "type": "user", "uuid": "u1", "sessionId": "a1", "timestamp": "2026-11-01T10:00:00Z", "version": "2.1.0",
        "cwd": f"{tmp_path}/shop/src", "message": {"role": "user", "content": "Hello."},
    }  # fmt: skip
    files = {
        ".claude.json": json.dumps({"projects": {f"{tmp_path}/shop": {}}}),
        f".claude/projects/{shop}/a1.jsonl": json.dumps(line),
        f".claude/projects/{shop}/memory/ports.md": f"---\nname: ports\n---\n{SAME}",
        ".claude/settings.md": "A heron in no memory.",
        ".codex/memories/ports.md": SAME,
        ".gemini/GEMINI.md": "Answer a heron in German: AKIAIOSFODNN7EXAMPLQ",
        "shop/.git/HEAD": "",
        "shop/AGENTS.md": "The heron counter is reset nightly.",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_memories_of_agents_are_found_with_client_and_project_and_never_written(user: Path) -> None:
    with opened(user) as index:
        index.sync()
        assert sorted(paths_found(index, "heron", kind="memory")) == [
            "gemini/GEMINI.md",
            f"projects{user}/shop/AGENTS.md",
        ]
        labels = {hit.path: (hit.entered_by, hit.project) for hit in index.list(kind="memory").results}
        assert labels[f"projects{user}/shop/AGENTS.md"] == ("agents", "shop")
        assert labels["gemini/GEMINI.md"] == ("gemini", None)
        assert "AKIA" not in index.get("gemini/GEMINI.md").results[0].content
        [item] = index.review().results
        assert item.reason == "duplicate"
        assert {(one.entered_by, one.project) for one in item.memories} == {("claude-code", "shop"), ("codex", None)}
        for one in item.memories:
            assert SAME.strip() in one.text
            with pytest.raises(UsageError, match="read-only"):
                index.update(one.id, content="Another text.")
        assert index.prune(before="2100-01-01").results == ()
        (user / "shop/AGENTS.md").write_text("The egret counter is reset weekly.")
        index.sync()
        assert paths_found(index, "egret") == [f"projects{user}/shop/AGENTS.md"]
    set_value(find_home(user / "home"), "agents.memories", "false")
    with opened(user) as index:
        index.sync()
        assert paths_found(index, "egret") == []
