"""`opencode wake`, which the OpenCode plugin and the hooks call to start the daemon."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.process import answer, vx
from tests.waiting import until
from vault_index.cli import main
from vault_index.config import find_home
from vault_index.daemon.client import ping
from vault_index.daemon.system import DaemonLock
from vault_index.errors import BusyError


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


def test_wake_syncs_when_starting_a_daemon_is_disabled(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(vault), "--provider", "none", "--no-opencode", "--no-sync", "--quiet"]) == 0
    assert main(["config", "set", "agents.start_daemon", "false"]) == 0
    capsys.readouterr()
    assert answer(capsys, "opencode", "wake") == {"daemon": "off", "synced": True}
    assert answer(capsys, "search", "waiting readers")["results"][0]["path"] == "wal.md"


def test_wake_starts_a_daemon_once(home: Path, vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opencode", "wake"]) == 4
    assert "vault-index init" in capsys.readouterr().err
    assert main(["init", str(vault), "--provider", "none", "--no-opencode", "--no-sync", "--quiet"]) == 0
    started = json.loads(vx("opencode", "wake", "--json").stdout)
    try:
        until(lambda: ping(find_home(home).socket_path))
        assert answer(capsys, "opencode", "wake") == {"daemon": "running"}
        assert answer(capsys, "status")["daemon"]["pid"] == started["pid"]
        until((home / "daemon.log").exists)  # the daemon answers before it logs
        assert (home / "daemon.log").stat().st_mode & 0o777 == 0o600
    finally:
        os.kill(started["pid"], signal.SIGTERM)
        until(lambda: has_ended(home))


def has_ended(home: Path) -> bool:
    try:
        DaemonLock(find_home(home).daemon_lock).release()
    except BusyError:
        return False
    return True
