"""A home for each test, and stubs for the programs of the service managers, which no test may run for real."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("VAULT_INDEX_HOME", "VAULT_INDEX_CONFIG", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Callable[[], list[str]]]:
    """Replaces a program by a shell script; returns a function that lists its calls."""
    folder, calls = tmp_path / "bin", tmp_path / "calls"
    folder.mkdir()
    calls.touch()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("STATE", str(tmp_path))

    def put(name: str, script: str) -> Callable[[], list[str]]:
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "$*" >> "{calls}"\n{script}', "utf-8")
        program.chmod(0o755)
        return lambda: calls.read_text("utf-8").splitlines()

    return put
