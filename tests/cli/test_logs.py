"""`logs`: the daemon's own file where it is no service."""

from pathlib import Path

import pytest

from vault_index.cli import main


def test_the_last_lines_of_its_own_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["logs"]) == 3
    assert "vault-index watch" in capfd.readouterr().err
    (home / "daemon.log").write_text("event=one\nevent=two\nevent=three\n", "utf-8")
    assert main(["logs", "-n", "2"]) == 0
    assert capfd.readouterr().out == "event=two\nevent=three\n"
