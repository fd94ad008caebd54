"""Give every test a home of its own, regardless of the environment."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """VAULT_INDEX_HOME, in a path short enough for a socket."""
    for name in list(os.environ):
        if name.startswith("VAULT_INDEX_") and name != "VAULT_INDEX_GREETING_SECONDS":
            monkeypatch.delenv(name)
    with tempfile.TemporaryDirectory(prefix="vx-") as folder:
        monkeypatch.setenv("VAULT_INDEX_HOME", folder)
        monkeypatch.setenv("XDG_DATA_HOME", f"{folder}/no-data")  # the machine may have OpenCode
        yield Path(folder)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Two notes."""
    folder = tmp_path / "My Vault"
    folder.mkdir()
    (folder / "wal.md").write_text("# WAL\n\nReaders never wait for the writer.\n", encoding="utf-8")
    (folder / "soup.md").write_text("# Soup\n\nTomatoes, basil. #recipe\n", encoding="utf-8")
    return folder
