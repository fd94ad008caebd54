"""Completions: what a shell makes of a line that is not finished."""

import shutil
import subprocess
from pathlib import Path

import pytest

from vault_index.cli import main
from vault_index.cli.commands import COMMANDS


def completions(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completions", shell]) == 0
    return capsys.readouterr().out


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = tmp_path / "completions.bash"
    path.write_text(completions("bash", capsys), "utf-8")
    return path


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("vault-index sea", {"search"}),
        ("vx sto", {"store"}),
        ("vx --json stat", {"stats", "status"}),
        ("vx config s", {"set"}),
        ("vx service ", {"install", "uninstall", "status", "restart", "logs"}),
        ("vx search --mod", {"--mode", "--model"}),
        ("vx search wal --mode ", {"hybrid", "text", "vector"}),
        ("vx store --conf", {"--confidence", "--config"}),
        ("vx service logs --fol", {"--follow"}),
        ("vx doctor --re", {"--recall"}),
    ],
)  # fmt: skip
def test_bash_completes(script: Path, line: str, expected: set[str]) -> None:
    words = line.split(" ")
    array = " ".join(f"'{word}'" for word in words)
    code = (
        f'source "{script}"; COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _vault_index;'
        ' printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == expected
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_known_to_every_shell(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = completions(shell, capsys)
    assert [command.name for command in COMMANDS if command.name.split()[-1] not in text] == []
    if shutil.which(shell):
        read = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False)
        assert (read.returncode, read.stderr) == (0, "")


def test_another_shell_is_refused() -> None:
    assert main(["completions", "tcsh"]) == 2
