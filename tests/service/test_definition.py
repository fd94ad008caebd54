"""The command in the definition of a service."""

import sys
from pathlib import Path

import pytest

from vault_index.service.definition import daemon_command, environment


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", "utf-8")
    path.chmod(0o755)
    return path


def test_daemon_command_is_the_called_program_with_links_kept(tmp_path: Path) -> None:
    tool = program(tmp_path / "venvs" / "vault-index")
    link = tmp_path / "bin" / "vault-index"
    link.parent.mkdir()
    link.symlink_to(tool)
    assert daemon_command(started=str(link)) == (str(link), "watch")


def test_daemon_command_replaces_the_short_name_by_the_long_one(tmp_path: Path) -> None:
    program(tmp_path / "vault-index")
    short = program(tmp_path / "vx")
    assert daemon_command(["--home", "/x"], str(short)) == (str(tmp_path / "vault-index"), "--home", "/x", "watch")


def test_daemon_command_of_a_module_uses_this_python(tmp_path: Path) -> None:
    module = program(tmp_path / "vault_index" / "__main__.py")
    assert daemon_command(started=str(module)) == (sys.executable, "-m", "vault_index", "watch")


def test_environment_keeps_variables_that_locate_the_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"VAULT_INDEX_HOME": "here", "XDG_DATA_HOME": "", "HOME": "/home/anna", "OPENAI_API_KEY": "sk-1"}
    assert environment(given) == {"VAULT_INDEX_HOME": str(tmp_path / "here")}
