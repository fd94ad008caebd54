"""Shell completion of unfinished command lines."""

import shutil
import subprocess

import pytest

from tests.cli.process import Out
from vault_index.cli import main
from vault_index.cli.commands import COMMANDS


def completions(shell: str, capsys: Out) -> str:
    assert main(["completions", shell]) == 0
    return capsys.readouterr().out


LINES = {
    "vault-index sea": {"search"}, "vx sto": {"store"}, "vx --json stat": {"stats", "status"}, "vx config s": {"set"},
    "vx service ": {"install", "uninstall", "status", "restart"}, "vx search --mod": {"--mode", "--model"},
    "vx search wal --mode ": {"hybrid", "text", "vector"}, "vx logs --fol": {"--follow"},
}  # fmt: skip


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completions_bash_completes_unfinished_lines(capsys: Out) -> None:
    code = completions("bash", capsys)
    for line in LINES:
        words = line.split(" ")
        array = " ".join(f"'{word}'" for word in words)
        code += f'COMP_WORDS=({array}); COMP_CWORD={len(words) - 1}; _shtab_vault_index; echo "${{COMPREPLY[@]}}"\n'
    done = subprocess.run(["bash"], input=code, capture_output=True, text=True, check=True)
    found = dict(zip(LINES, (set(line.split()) for line in done.stdout.splitlines()), strict=True))
    assert (found, done.stderr) == (LINES, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_list_every_command_in_every_shell(shell: str, capsys: Out) -> None:
    text = completions(shell, capsys)
    assert [command.name for command in COMMANDS if command.name.split()[-1] not in text] == []
    if shutil.which(shell):
        read = subprocess.run([shell, "-n"], input=text, capture_output=True, text=True, check=False)
        assert (read.returncode, read.stderr) == (0, "")
