"""Runs the program of the service manager and reads what it says."""

import subprocess
from collections.abc import Sequence

from vault_index.errors import VaultIndexError


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
