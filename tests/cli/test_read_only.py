"""A read-only home: commands report it instead of finding nothing."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.waiting import PATIENCE
from vault_index.cli import main


@cache
def refusal() -> str:
    """Return why this machine cannot make such a namespace, or an empty string."""
    script = "mount -t tmpfs -o size=1m none /mnt"
    try:
        tried = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script], capture_output=True, text=True
        )
    except OSError as error:
        return f"{error.filename}: {error.strerror}"
    return tried.stderr.strip() or f"exit code {tried.returncode}" if tried.returncode else ""


pytestmark = pytest.mark.skipif(bool(refusal()), reason=f"no namespace of mounts: {refusal()}")
_READ_ONLY = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"'


def run_it(home: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _READ_ONLY, str(home),
         sys.executable, "-m", "vault_index", *words],
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip


def test_commands_name_a_read_only_home(home: Path, vault: Path) -> None:
    assert main(["init", str(vault), "--provider", "none", "--quiet", "--toon"]) == 0
    for command in ("search readers", "sync", "add Text."):
        told = run_it(home, *command.split())
        assert (told.returncode, told.stdout) == (1, "")
        said = (f"{home} is not writable", f"{home}/write.lock: Read-only file system")
        assert any(words in told.stderr for words in said)
        assert "--home DIR" in told.stderr
        assert "damaged" not in told.stderr
    people = run_it(home, "status", "--human").stdout
    assert "cannot be read, see below" in people
    assert "0 documents" not in people
    for command in ("status", "doctor"):
        problems = json.loads(run_it(home, command, "--json").stdout)["problems"]
        assert [one["message"] for one in problems] == [f"{home} is not writable, and even a search needs that"]
