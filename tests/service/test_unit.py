"""The units of systemd: their content, the copies in systemd/, and the verdict of systemd."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE
from vault_index.service.definition import MARK, Definition
from vault_index.service.systemd import user_unit

ROOT = Path(__file__).parents[2]
PLAIN = Definition(("/opt/bin/vault-index", "watch"), {})
SANDBOXED = Definition(PLAIN.command, {}, (Path("/home/anna/.local/share/vault-index"), Path("/home/anna/My Vault")))
UNITS = runpy.run_path(str(ROOT / "tools" / "build_units.py"))["units"]()
DAEMON, DAEMON_TEMPLATE = UNITS["vault-index.service"], UNITS["vault-index@.service"]
SERVE, SERVE_TEMPLATE = UNITS["vault-index-serve.service"], UNITS["vault-index-serve@.service"]
needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")


def values(unit: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", unit, re.MULTILINE)


def test_unit_names_its_command_and_its_origin() -> None:
    unit = user_unit(PLAIN)
    assert unit.startswith(f"# {MARK}\n")
    assert values(unit, "ExecStart") == ["/opt/bin/vault-index watch"]
    assert values(unit, "NoNewPrivileges") == ["yes"]
    assert not values(unit, "PrivateUsers"), "a user namespace is not to be had everywhere"


def test_unit_quotes_any_words_of_command_and_environment() -> None:
    odd = Definition(("/opt/my tools/100%/$HOME/v", 'a"b', "watch"), {"VAULT_INDEX_HOME": "/mnt/50 %/$x"})
    unit = user_unit(odd)
    assert values(unit, "ExecStart") == [r'"/opt/my tools/100%%/$$HOME/v" "a\"b" watch']
    assert values(unit, "Environment") == ['"VAULT_INDEX_HOME=/mnt/50 %%/$x"']


def test_unit_sandbox_leaves_its_folders_writable() -> None:
    unit = user_unit(SANDBOXED)
    paths = values(unit, "ReadWritePaths")
    assert paths == ["%t", "-/home/anna/.local/share/vault-index", '"-/home/anna/My Vault"']
    assert values(unit, "ProtectHome") == ["read-only"]
    assert values(unit, "PrivateTmp") == ["yes"]


def test_unit_with_a_vault_in_tmp_has_no_private_tmp() -> None:
    unit = user_unit(Definition(PLAIN.command, {}, (Path("/tmp/vault"),)))
    assert values(unit, "PrivateTmp") == ["no"]


def test_unit_of_serve_writes_nowhere_and_sees_no_vault() -> None:
    served = Definition(("/opt/bin/vault-index", "serve"), {}, hidden=(Path("/home/anna/My Vault"),))
    unit = user_unit(served)
    assert values(unit, "ExecStart") == ["/opt/bin/vault-index serve"]
    assert values(unit, "InaccessiblePaths") == ['"-/home/anna/My Vault"']
    assert values(unit, "ProtectSystem") == ["strict"]
    assert values(unit, "ProtectHome") == ["read-only"]
    assert values(unit, "Wants") == ["vault-index.service"]
    for absent in ("ReadWritePaths", "EnvironmentFile", "ExecReload"):
        assert not values(unit, absent), absent
    for template in (SERVE, SERVE_TEMPLATE):
        assert not values(template, "ReadWritePaths")
        assert not values(template, "StateDirectory")
    assert values(SERVE_TEMPLATE, "Wants") == ["vault-index@%i.service"]


def test_unit_files_are_up_to_date() -> None:
    for name, text in UNITS.items():
        assert (ROOT / "systemd" / name).read_text(encoding="utf-8") == text, "run: python tools/build_units.py"


def analyzed(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(folder), "HOME": str(folder), "SYSTEMD_COLORS": "0"}
    command = ["systemd-analyze", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False, timeout=PATIENCE)


@needs_systemd
@pytest.mark.parametrize(
    ("name", "unit", "manager", "most"),
    [
        ("vault-index.service", DAEMON, "--user", 6.3),
        ("vault-index.service", user_unit(SANDBOXED), "--user", 2.0),
        ("vault-index@.service", DAEMON_TEMPLATE, "--system", 1.7),
        ("vault-index-serve.service", SERVE, "--user", 2.0),
        ("vault-index-serve@.service", SERVE_TEMPLATE, "--system", 1.5),
    ],
    ids=["user", "sandbox", "system", "serve", "serve-system"],
)
def test_unit_passes_systemd_analyze(tmp_path: Path, name: str, unit: str, manager: str, most: float) -> None:
    file = tmp_path / name
    # Replace the command by one that exists here.
    file.write_text(re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable}", unit, flags=re.MULTILINE), "utf-8")
    verified = analyzed(tmp_path, manager, "verify", "--man=no", str(file))
    assert (verified.returncode, verified.stderr) == (0, "")
    told = analyzed(tmp_path, manager, "security", "--offline=true", str(file)).stdout
    level = re.search(r"exposure level for \S+ ([\d.]+)", told)
    assert level, told
    assert float(level[1]) <= most
