"""What both managers need: the file that defines a service, and their program, which is run."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from vault_index import disk
from vault_index.errors import VaultIndexError
from vault_index.service.definition import MARK


def write_definition(path: Path, content: bytes) -> bool:
    """Write the file that defines the service; whether it changed. VaultIndexError where somebody else wrote it."""
    if _own_content(path) == content:
        return False
    with disk.os_errors_as(f"cannot write {path}", "make its folder writable, then run the command again"):
        disk.make_folder(str(path.parent))
        disk.replace(str(path), content)
    return True


def is_own_file(path: Path) -> bool:
    """Whether the file was written by `service install`. VaultIndexError where somebody else wrote it."""
    return _own_content(path) is not None


def output_of(command: Sequence[str]) -> str:
    """What a program prints; VaultIndexError with its own words where it fails."""
    ended = run(command)
    if ended.returncode:
        words = (ended.stderr.strip() or ended.stdout.strip() or f"exit code {ended.returncode}").splitlines()
        raise VaultIndexError(f"{' '.join(command[:4])}: {words[0]}", "vault-index service logs may say why")
    return ended.stdout


def run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Run a program, whatever its exit code; VaultIndexError where it is not there."""
    with disk.os_errors_as(f"cannot run {command[0]}", "it must be in PATH"):
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)


def _own_content(path: Path) -> bytes | None:
    """What the file holds; None where there is no file. A link into a store (home-manager's) is not ours either."""
    link = path.is_symlink()
    if not link and not path.exists():
        return None
    if link or MARK.encode() not in (content := path.read_bytes()):
        raise VaultIndexError(
            f"{path} was not written by `vault-index service install`, and is left as it is",
            "change it where it comes from (your own file, home-manager), or move it away first",
        )
    return content
