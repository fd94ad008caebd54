"""What both managers need: the file that defines a service, and the program that is asked."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from vault_index.errors import VaultIndexError
from vault_index.service.definition import MARK


def write_ours(path: Path, content: bytes) -> bool:
    """Whether the file changed by it. VaultIndexError where somebody else wrote it."""
    if _read_ours(path) == content:
        return False
    draft = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(content)
        os.replace(draft, path)
    except OSError as error:
        raise VaultIndexError(
            f"cannot write {path}: {error.strerror}", "make its folder writable, then run the command again"
        ) from error
    return True


def is_ours(path: Path) -> bool:
    """False where there is no file. VaultIndexError where somebody else wrote it."""
    return _read_ours(path) is not None


def _read_ours(path: Path) -> bytes | None:
    """None where there is no file; a link into a store (home-manager's) is not ours either."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        if not path.is_symlink():
            return None
        content = b""
    if MARK.encode() not in content or path.is_symlink():
        raise VaultIndexError(
            f"{path} was not written by `vault-index service install`, and is left as it is",
            "change it where it comes from (your own file, home-manager), or move it away first",
        )
    return content


def said(command: Sequence[str]) -> str:
    """What it prints; VaultIndexError with its own words where it fails."""
    ended = run(command)
    if ended.returncode:
        words = (ended.stderr.strip() or ended.stdout.strip() or f"exit code {ended.returncode}").splitlines()
        raise VaultIndexError(f"{' '.join(command[:4])}: {words[0]}", "vault-index service logs may say why")
    return ended.stdout


def run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Its end, whatever it is; VaultIndexError where there is no such program."""
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise VaultIndexError(f"cannot run {command[0]}: {error.strerror}", "it must be in PATH") from error
