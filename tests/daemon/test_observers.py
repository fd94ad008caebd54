import tomllib
from pathlib import Path

import pytest

from vault_index.daemon.observers import silent_filesystem
from vault_index.sources import files

MOUNTS = tomllib.loads(Path(__file__).with_name("mounts.toml").read_text("utf-8"))


def test_silent_filesystem_names_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS["table"])
    monkeypatch.setattr(files, "_TABLE", str(table))
    assert {folder: silent_filesystem(folder) for folder in MOUNTS["types"]} == MOUNTS["types"]


def test_silent_filesystem_is_empty_without_a_mount_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_TABLE", "/nowhere/mountinfo")
    assert silent_filesystem("/") == ""
