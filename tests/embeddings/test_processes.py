"""Tests that start a process: the command that prints the API key, and side effects of importing and embedding."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vault_index.config import EmbeddingConfig
from vault_index.embeddings.access import find_key
from vault_index.errors import EmbedderRefused


@pytest.mark.parametrize(("command", "key"), [("echo sk-cmd", "sk-cmd"), ("echo $HOME;ls", "$HOME;ls")])
def test_key_command_prints_the_key_and_needs_no_shell(command: str, key: str) -> None:
    assert find_key(EmbeddingConfig(api_key_command=command), {}) == key


@pytest.mark.parametrize(
    "command", ["/nonexistent/program", "'unbalanced", "sh -c 'echo sk-half; exit 3'", "printf '\\377'", "sleep 600"]
)
def test_key_command_without_a_key_is_refused_without_its_output(monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    if "sleep" in command:
        monkeypatch.setattr("vault_index.embeddings.access._COMMAND_SECONDS", 0.05)
    with pytest.raises(EmbedderRefused, match="api_key_command") as caught:
        find_key(EmbeddingConfig(api_key_command=command), {})
    assert "sk-half" not in caught.value.message + caught.value.hint


def test_embeddings_import_nothing_heavy_and_leave_no_telemetry(tmp_path: Path) -> None:
    code = """
import sys
import vault_index.embeddings
heavy = {"numpy", "onnxruntime", "openai", "tenacity", "pydantic", "httpx", "httpx2"} & sys.modules.keys()
assert not heavy, heavy
from vault_index.config import EmbeddingConfig
from vault_index.embeddings.local import LocalEmbedder
LocalEmbedder(EmbeddingConfig()).embed(["a heron"])
"""
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-B", "-c", code], env=os.environ | home, check=True)
    assert not list(tmp_path.rglob("*"))
