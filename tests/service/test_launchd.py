"""The agent of launchd: a property list that macOS reads, and the calls of launchctl."""

import plistlib
from collections.abc import Callable
from pathlib import Path

import pytest

from vault_index.errors import VaultIndexError
from vault_index.service import service_here
from vault_index.service.definition import MARK, Definition
from vault_index.service.launchd import LABEL

WATCH = Definition(("/opt/my tools/vault-index", "watch"), {"VAULT_INDEX_HOME": "/Users/anna/<Index>"})
Stand = Callable[[str, str], Callable[[], list[str]]]

LAUNCHCTL = Path(__file__).with_name("launchctl.sh").read_text("utf-8")


def test_launchd_installs_once_and_again_after_a_change(stand_in: Stand, home: Path) -> None:
    calls = stand_in("launchctl", LAUNCHCTL)
    service = service_here("darwin")
    assert service.install(WATCH)
    assert not service.install(WATCH)
    file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    told = plistlib.loads(file.read_bytes())
    assert told["ProgramArguments"] == ["/opt/my tools/vault-index", "watch"]
    assert told["EnvironmentVariables"] == {"VAULT_INDEX_HOME": "/Users/anna/<Index>"}
    assert told["KeepAlive"] == {"SuccessfulExit": False}
    assert MARK in file.read_text("utf-8")
    state = service.state()
    assert (state.active, state.pid, state.restarts) == ("active", 4711, 2)
    assert service.install(Definition(("/other", "watch"), {}))
    words = [call.split()[0] for call in calls() if not call.startswith("print")]
    assert words == ["bootstrap", "bootout", "bootstrap"]
    assert service.uninstall()
    assert not service.uninstall()
    assert not file.exists()
    assert service.state().active == "inactive"


def test_launchd_serve_is_a_separate_agent(stand_in: Stand, home: Path) -> None:
    stand_in("launchctl", LAUNCHCTL)
    service = service_here("darwin", serve=True)
    assert service.install(Definition(("/opt/vault-index", "serve"), {}, hidden=()))
    told = plistlib.loads((home / "Library" / "LaunchAgents" / "vault-index.serve.plist").read_bytes())
    assert (told["Label"], told["ProgramArguments"]) == ("vault-index.serve", ["/opt/vault-index", "serve"])
    assert told["StandardErrorPath"] == str(home / "Library" / "Logs" / "vault-index-serve.log")
    assert not (home / "Library" / "LaunchAgents" / f"{LABEL}.plist").exists()


def test_launchd_refuses_a_sandbox(stand_in: Stand, home: Path) -> None:
    stand_in("launchctl", LAUNCHCTL)
    with pytest.raises(VaultIndexError, match="no sandbox"):
        service_here("darwin").install(Definition(("/x",), {}, ()))
    assert not (home / "Library").exists()
