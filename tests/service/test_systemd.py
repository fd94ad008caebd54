"""The service under systemd on the command line: install, start, status, uninstall."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_index.cli import main

Stand = Callable[[str, str], Callable[[], list[str]]]

# Knows the unit after a reload, and fails as systemctl does.
SYSTEMCTL = Path(__file__).with_name("systemctl.sh").read_text("utf-8")


@pytest.fixture
def unit(home: Path) -> Path:
    config = home / ".config" / "vault-index" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[sources.vault]\npath = "{home}/My Vault"\n', "utf-8")
    return home / ".config" / "systemd" / "user" / "vault-index.service"


def service(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["service", *words])
    told = capsys.readouterr()
    return code, told.out, told.err


def test_systemd_install_and_uninstall_are_idempotent(
    stand_in: Stand, unit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = stand_in("systemctl", SYSTEMCTL)
    code, out, err = service(capsys, "install")
    assert (code, out) == (0, f"installed and active: {unit}\n"), err
    assert "ExecStart=" in unit.read_text("utf-8")
    words = [re.sub("^--user --no-pager (--quiet )?", "", call).split()[0] for call in calls()]
    done = [word for word in words if not word.startswith("show")]
    assert done == ["daemon-reload", "enable", "reset-failed", "restart"]
    code, out, _ = service(capsys, "install", "--json")
    assert json.loads(out)["changed"] is False
    assert calls()[-2].endswith("start vault-index.service")
    assert "restart" not in calls()[-2]
    assert service(capsys, "uninstall")[0] == 0
    assert not unit.exists()
    assert any("disable --now" in call for call in calls())
    code, out, _ = service(capsys, "uninstall")
    assert code == 0
    assert "no service" in out


def test_systemd_status_joins_unit_and_daemon(stand_in: Stand, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stand_in("systemctl", SYSTEMCTL)
    service(capsys, "install")
    code, out, _ = service(capsys, "status", "--json")
    assert code == 0
    told = json.loads(out)
    assert (told["installed"], told["enabled"], told["active"], told["pid"]) == (True, True, "active", 4711)
    assert told["said"] == "12 waiting"
    assert told["memory"] is None
    assert told["daemon"]["running"] is False
    service(capsys, "uninstall")
    told = json.loads(service(capsys, "status", "--json")[1])
    assert (told["installed"], told["enabled"], told["active"], told["pid"]) == (False, False, "inactive", None)


@pytest.mark.parametrize("link", [False, True], ids=["file", "link"])
def test_systemd_install_keeps_a_foreign_unit(
    stand_in: Stand, unit: Path, capsys: pytest.CaptureFixture[str], link: bool
) -> None:
    calls = stand_in("systemctl", SYSTEMCTL)
    unit.parent.mkdir(parents=True)
    if link:
        unit.symlink_to("/nix/store/0-vault-index.service")
    else:
        unit.write_text("[Service]\nExecStart=/bin/true\n", "utf-8")
    for word in ("install", "uninstall"):
        code, _, err = service(capsys, word)
        assert code == 1
        assert "was not written by" in err
    assert unit.is_symlink() == link
    assert link or unit.read_text("utf-8").startswith("[Service]\nExecStart=/bin/true")
    assert not any("able" in call or "start v" in call for call in calls())


def test_systemd_sandbox_may_write_the_vaults(stand_in: Stand, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stand_in("systemctl", SYSTEMCTL)
    config = unit.parents[3] / ".config/vault-index/config.toml"
    config.write_text(f"{config.read_text('utf-8')}[sessions.opencode]\nenabled = true\n", "utf-8")
    assert service(capsys, "install", "--sandbox")[0] == 0
    text = unit.read_text("utf-8")
    for folder in ("My Vault", ".local/share/vault-index", ".local/share/opencode"):
        assert f"-{unit.parents[3]}/{folder}" in text
    assert (unit.parents[3] / ".local/share/vault-index").is_dir()  # only a folder can be made writable


def test_systemd_serve_is_a_separate_service(stand_in: Stand, unit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls = stand_in("systemctl", SYSTEMCTL)
    code, _, err = service(capsys, "install", "--serve")
    assert code == 3
    assert "vault-index service install" in err
    service(capsys, "install")
    daemon = unit.read_text("utf-8")
    # A vault around the configuration cannot be hidden.
    with open(unit.parents[3] / ".config/vault-index/config.toml", "a", encoding="utf-8") as file:
        file.write(f'[sources.around]\npath = "{unit.parents[3]}/.config"\n')
    assert service(capsys, "install", "--serve")[0] == 0
    text = (unit.parent / "vault-index-serve.service").read_text("utf-8")
    assert re.findall(r"^InaccessiblePaths=(.*)$", text, re.MULTILINE) == [f'"-{unit.parents[3]}/My Vault"']
    assert re.findall(r"^ExecStart=.* (\w+)$", text, re.MULTILINE) == ["serve"]
    assert unit.read_text("utf-8") == daemon
    assert json.loads(service(capsys, "status", "--serve", "--json")[1])["active"] == "active"
    assert service(capsys, "restart", "--serve")[0] == 0
    assert service(capsys, "uninstall", "--serve")[0] == 0
    assert unit.read_text("utf-8") == daemon
    assert not (unit.parent / "vault-index-serve.service").exists()
    told = [call for call in calls() if "serve" in call]
    for words in ("enable", "restart", "disable --now"):
        assert [call for call in told if f"{words} vault-index-serve.service" in call], words


def test_systemd_explains_a_failed_start_and_does_not_retry(
    stand_in: Stand, unit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in("systemctl", SYSTEMCTL)
    for status, sandbox, said in (
        ("1", [], ["Job for vault-index.service failed.", "vault-index logs"]),
        ("226", ["--sandbox"], ["no user namespace", "vault-index service install"]),
    ):
        (tmp_path / "broken").write_text(f"{status}\n", "utf-8")
        code, _, err = service(capsys, "install", *sandbox)
        assert code == 1
        assert [words for words in said if words not in err] == []
        (tmp_path / "stopped").unlink()


def test_systemd_install_warns_without_lingering(
    stand_in: Stand, unit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_in("systemctl", SYSTEMCTL)
    for loginctl, said in (("echo no", True), ("echo yes", False), ("echo not logged in >&2; exit 1", False)):
        stand_in("loginctl", loginctl)
        code, _, err = service(capsys, "install")
        assert code == 0
        assert ("at boot: sudo loginctl enable-linger $USER" in err) == said, loginctl


def test_systemd_names_a_missing_program_and_writes_nothing(
    stand_in: Stand, unit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in("systemctl", SYSTEMCTL)
    (tmp_path / "no-bus").touch()
    code, _, err = service(capsys, "install")
    assert code == 1
    assert "No medium found" in err
    assert "enable-linger" in err
    (tmp_path / "no-bus").unlink()
    (unit.parents[3] / ".config/vault-index/config.toml").unlink()
    code, _, err = service(capsys, "install")
    assert code == 4
    assert "init" in err
    assert not unit.exists()
    monkeypatch.setenv("PATH", "/nowhere")
    code, _, err = service(capsys, "status")
    assert code == 1
    assert "vault-index watch" in err


def test_systemd_logs_show_the_journal(stand_in: Stand, unit: Path, capfd: pytest.CaptureFixture[str]) -> None:
    stand_in("systemctl", SYSTEMCTL)
    stand_in("journalctl", 'echo "the journal $*"\nexit 3')
    assert main(["logs", "--serve", "-n", "7"]) == 3
    assert capfd.readouterr().out == "the journal --user --no-pager --unit vault-index-serve.service --lines 7\n"
