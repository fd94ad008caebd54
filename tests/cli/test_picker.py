"""The program without a command, the choice of a document on a terminal, and `uninstall`."""

import sys
from pathlib import Path

import pytest

from tests.cli.process import Out, answer, vx
from tests.terminal import Terminal
from vault_index.cli import main

pytest.importorskip("prompt_toolkit", reason="the extra `terminal` is not installed")


@pytest.fixture
def environ(vault: Path, tmp_path: Path, capsys: Out) -> dict[str, str]:
    """An indexed vault, and an editor that prints its arguments."""
    (vault / "log.md").write_text("# Log\n\nRain.\n\nThe writer slept.\n")
    main(["init", str(vault), "--provider", "none", "--no-sessions"])
    capsys.readouterr()
    editor = tmp_path / "editor"
    editor.write_text(f"#!{sys.executable}\nimport sys\nprint('opened', *sys.argv[1:])\n")
    editor.chmod(0o755)
    return {"EDITOR": str(editor), "VAULT_INDEX_DAEMON": "off"}


def test_picker_opens_the_chosen_hit_in_the_editor_at_its_line(environ: dict[str, str], vault: Path) -> None:
    with Terminal("search", "-i", "writer", environ=environ) as terminal:
        terminal.until("log.md:5")
        terminal.until("wal.md:3")
        terminal.type("\x1b[B\r")
        assert f"opened +3 {vault}/wal.md" in terminal.until("[ended 0 cooked=True]").replace("\n", "")


def test_program_alone_on_a_terminal_lists_documents_until_escape(environ: dict[str, str]) -> None:
    with Terminal(environ=environ) as terminal:
        terminal.until("soup.md")
        terminal.type("\x1b")
        assert "opened" not in terminal.until("[ended 0 cooked=True]")


def test_program_alone_in_a_pipe_prints_a_summary(environ: dict[str, str]) -> None:
    summary = vx(environ=environ).stdout
    assert "documents: 3" in summary
    assert "to_review: 0" in summary
    assert "to review  0" in vx("summary", "--human", environ=environ).stdout


def test_uninstall_leaves_the_vault_and_the_state(
    environ: dict[str, str], vault: Path, home: Path, capsys: Out
) -> None:
    assert main(["uninstall"]) == 2
    removed = answer(capsys, "uninstall", "--yes")
    left = [path.name for path in home.rglob("*") if path.is_file()]
    assert left == ["state.db"] == [Path(path).name for path in removed["left"]]
    assert len(list(vault.glob("*.md"))) == 3
