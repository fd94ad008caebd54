"""`doctor` on the command line: exit codes, repairs, and checks of the service and the plugin."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fake_daemon import fake_daemon
from tests.cli.process import Out
from tests.service.conftest import stand_in as stand_in
from tests.service.test_systemd import SYSTEMCTL, Stand
from vault_index.cli import main
from vault_index.config import find_home
from vault_index.errors import ConfigError


@pytest.fixture(autouse=True)
def ready(vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set up an index; hide the user's own service and plugin."""
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert main(["init", str(vault), "--provider", "none", "--quiet", "--no-opencode"]) == 0


def doctor(capsys: Out, *words: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    code = main(["doctor", *words, "--json", "--quiet"])
    return code, json.loads(capsys.readouterr().out)


def codes(report: dict[str, Any], key: str = "problems") -> list[str]:
    return [problem["code"] for problem in report[key]]


def test_doctor_exit_code_reports_health(home: Path, vault: Path, capsys: Out) -> None:
    assert doctor(capsys) == (0, {"healthy": True, "problems": [], "recall": None, "fixed": []})
    (home / "index.db").chmod(0o644)
    code, report = doctor(capsys, "--deep")
    assert (code, report["healthy"], codes(report)) == (1, False, ["permissions"])
    assert main(["doctor", "--fix", "--human", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Repaired: other users can read")
    assert "No problems" in out
    assert doctor(capsys)[0] == 0
    (home / "config.toml").write_text("a = [", "utf-8")
    assert main(["doctor"]) == ConfigError.exit_code
    assert "config.toml" in capsys.readouterr().err


def test_doctor_repairs_in_the_process_of_the_daemon(
    home: Path, vault: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    monkeypatch.setattr("vault_index.cli.doctor.__version__", "9.9.0")
    mended = {"healthy": True, "problems": [], "recall": None, "fixed": []}
    with fake_daemon(home, lambda request: [{"result": mended}]) as daemon:
        code, report = doctor(capsys, "--fix", "--deep")
    assert [(request["method"], request["params"]) for request in daemon.requests] == [("repair", {"deep": True})]
    assert (code, codes(report)) == (1, ["daemon_outdated"])


def test_doctor_names_an_outdated_plugin_of_this_home_only(
    home: Path, vault: Path, tmp_path: Path, capsys: Out
) -> None:
    assert main(["agent", "install", "opencode"]) == 0
    assert doctor(capsys)[0] == 0
    (tmp_path / "user/.config/opencode/plugin/vault-index/guard.ts").unlink()
    assert codes(doctor(capsys)[1]) == ["plugin_outdated"]
    other = tmp_path / "other"
    assert main(["init", str(vault), "--provider", "none", "--quiet", "--no-opencode", "--home", str(other)]) == 0
    assert doctor(capsys, "--home", str(other))[0] == 0


def test_doctor_names_a_masked_or_outdated_service(stand_in: Stand, vault: Path, tmp_path: Path, capsys: Out) -> None:
    stand_in("systemctl", SYSTEMCTL)
    assert main(["service", "install"]) == 0
    assert doctor(capsys)[0] == 0
    unit = tmp_path / "user/.config/systemd/user/vault-index.service"
    unit.write_text(unit.read_text("utf-8").replace("Restart=", "# Restart="), "utf-8")
    assert codes(doctor(capsys)[1]) == ["service_outdated"]
    assert main(["service", "install"]) == 0
    (tmp_path / "active").unlink()
    with fake_daemon(
        find_home().data_dir, lambda request: [{"result": {"healthy": True, "problems": [], "recall": None}}]
    ):
        assert "service_blocked" in codes(doctor(capsys)[1])


@pytest.mark.parametrize("active", ["failed", "inactive"])  # `service install` rolls back if the start fails
def test_doctor_names_a_failed_or_inactive_service(
    stand_in: Stand, vault: Path, tmp_path: Path, capsys: Out, active: str
) -> None:
    ended = SYSTEMCTL.replace("echo inactive", f"echo {active}").replace("NRestarts=1", "Result=oom-kill")
    stand_in("systemctl", ended)
    assert main(["service", "install"]) == 0
    (tmp_path / "active").unlink()
    (problem,) = doctor(capsys)[1]["problems"]
    assert (problem["code"], "oom-kill" in problem["message"]) == ("service_failed", True)
    assert "vault-index logs" in problem["hint"]
