"""`opencode` through the command line: the plugin in place, and the daemon that it wakes."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import vx
from tests.waiting import until
from vault_index.cli import main
from vault_index.config import find_home
from vault_index.daemon.client import ping
from vault_index.daemon.system import DaemonLock
from vault_index.errors import BusyError


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Whose plugins these are."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "user"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    read: dict[str, Any] = json.loads(capsys.readouterr().out)
    return read


def test_the_plugin_is_installed_for_every_project_and_removed(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = user / ".config/opencode/plugin"
    assert main(["opencode", "install"]) == 0
    out, err = capsys.readouterr()
    assert out == f"the plugin is in {folder}\n"
    assert "vault-index init" in err  # there is no index yet
    assert main(["opencode", "install"]) == 0
    assert capsys.readouterr().out == f"the plugin was in {folder} already, as it is now\n"
    assert main(["opencode", "status"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("global   installed (")
    assert main(["opencode", "uninstall"]) == 0
    assert list(folder.iterdir()) == []
    capsys.readouterr()
    assert main(["opencode", "uninstall"]) == 0
    assert capsys.readouterr().out == f"no plugin of ours is in {folder}\n"


def test_the_plugin_knows_the_home_it_was_installed_for(
    home: Path, user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(capsys, "opencode", "install")
    place = (user / ".config/opencode/plugin/vault-index/place.ts").read_text().splitlines()[-1]
    assert f'"--home", "{home}"' in place
    assert str(find_home(home).socket_path) in place


def test_the_plugin_of_one_project(tmp_path: Path, user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "opencode", "install", "--project")["path"] == str(tmp_path / "project/.opencode/plugin")
    (tmp_path / "other").mkdir()
    answer(capsys, "opencode", "install", "--project", str(tmp_path / "other"))
    states = answer(capsys, "opencode", "status")["results"]
    assert [(one["scope"], one["state"]) for one in states] == [("global", "absent"), ("project", "installed")]
    answer(capsys, "opencode", "uninstall", "--project", "../other")
    assert answer(capsys, "opencode", "status", "--project", "../other")["results"][1]["state"] == "absent"


def test_either_name_of_the_program_knows_the_plugin_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("vault-index", "vx"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    for installed in ("vault-index", "vx"):
        monkeypatch.setattr("sys.argv", [str(tmp_path / installed)])
        answer(capsys, "opencode", "install")
        for asked in ("vault-index", "vx"):
            monkeypatch.setattr("sys.argv", [str(tmp_path / asked)])
            status = answer(capsys, "opencode", "status")
            assert (status["results"][0]["state"], status["command"][0]) == ("installed", str(tmp_path / "vault-index"))


def test_a_changed_file_is_named(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "opencode", "install")
    changed = user / ".config/opencode/plugin/vault-index.ts"
    changed.write_text(changed.read_text() + "// mine\n")
    assert main(["opencode", "install"]) == 5
    assert str(changed) in capsys.readouterr().err
    assert answer(capsys, "opencode", "status")["results"][0]["changed"] == [str(changed)]
    assert main(["opencode", "install", "--force"]) == 0
    assert "// mine" not in changed.read_text()


def test_wake_syncs_where_no_daemon_may_be_started(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(vault), "--provider", "none", "--no-opencode", "--no-sync", "--quiet"]) == 0
    assert main(["config", "set", "agents.start_daemon", "false"]) == 0
    capsys.readouterr()
    assert answer(capsys, "opencode", "wake") == {"daemon": "off", "synced": True}
    assert answer(capsys, "search", "waiting readers")["results"][0]["path"] == "wal.md"


def test_wake_starts_a_daemon_once(home: Path, vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(vault), "--provider", "none", "--no-opencode", "--no-sync", "--quiet"]) == 0
    capsys.readouterr()
    started = json.loads(vx("opencode", "wake", "--json").stdout)
    try:
        until(lambda: answers(home))
        assert answer(capsys, "opencode", "wake") == {"daemon": "running"}
        assert answer(capsys, "status")["daemon"]["pid"] == started["pid"]
        log = home / "daemon.log"
        until(log.exists)  # it answers before it has anything to say
        assert log.stat().st_mode & 0o777 == 0o600
    finally:
        os.kill(started["pid"], signal.SIGTERM)
        until(lambda: has_ended(home))


def answers(home: Path) -> bool:
    return ping(find_home(home).socket_path) is not None


def has_ended(home: Path) -> bool:
    try:
        DaemonLock(find_home(home).daemon_lock).release()
    except BusyError:
        return False
    return True


def test_wake_without_an_index_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opencode", "wake"]) == 4
    assert "vault-index init" in capsys.readouterr().err
