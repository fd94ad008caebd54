"""Review at a terminal, in a pipe, and by commands."""

import os
import signal
from pathlib import Path

import pytest

from tests.api.vaults import opened
from tests.cli.process import Out, answer
from tests.memories.test_review import memory, put, put_one_of_each, uid
from tests.terminal import Terminal
from vault_index.cli import main

KEYS = "a accept  e edit  r archive  d delete  n next  ? help  q quit"


@pytest.fixture(autouse=True)
def memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the memories: one for each reason."""
    folder = tmp_path / "vault" / "80-memory"
    with opened(tmp_path) as index:
        put_one_of_each(index, folder)
    monkeypatch.setenv("VAULT_INDEX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("VAULT_INDEX_DAEMON", "off")
    return folder


def test_review_shows_one_item_per_screen_and_decides_by_key(memories: Path) -> None:
    with Terminal("review") as terminal:
        assert "Herons nest in the reeds" in terminal.until(KEYS)
        terminal.type("a")
        shown = terminal.until("q quit")
        assert "accepted: Herons nest in the reeds (80-memory/note/a.md)" in shown
        assert "1 of 5 · unreviewed · waiting since" in shown
        terminal.type("?")
        assert "move it out of the inbox" in terminal.until("press any key to go back")
        terminal.type("z")
        terminal.until("q quit")
        terminal.type("n")
        shown = " ".join(terminal.until("q quit").split())
        assert "e edit m merge s supersede x swap r archive d delete k keep n next p back u undo ?" in shown
        terminal.type("k")
        assert "expired since 2020-01-01" in terminal.until("q quit")
        terminal.type("u")
        assert "undone: keep" in terminal.until("similarity 1.00") + terminal.until("q quit")
        terminal.type("x")
        assert "1 keep  Port 3000" in terminal.until("q quit")
        terminal.type("m")
        assert "merged: Port 3000" in terminal.until("q quit")
        terminal.type("r")
        assert "archived: The lake is frozen" in terminal.until("q quit")
        terminal.type("dn")
        terminal.until("End of the list. 2 undecided.")
        terminal.type("q")
        assert terminal.until("[ended 0 cooked=True]").strip().splitlines()[-2:-1] == [
            "1 accepted, 1 merged, 1 archived, 1 deleted, 1 undone; 2 left to review"
        ]
    assert (memories / "note" / "a.md").exists()
    assert (memories.parent / ".trash/80-memory/note/f.md").exists()


def test_review_highlights_differences_and_fits_the_width(memories: Path) -> None:
    with Terminal("review", "--reason", "duplicate", size=(120, 30)) as terminal:
        shown = terminal.until("q quit")
        beside = [line for line in shown.splitlines() if "│" in line]
        assert any("80-memory/note/c.md" in line and "80-memory/note/d.md" in line for line in beside)
        assert "«there»" in shown
        assert max(map(len, shown.splitlines())) <= 120
        terminal.resize(60, 20)
        shown = terminal.until("help  q quit")
        assert "│" not in shown
        assert max(map(len, shown.splitlines())) <= 60
        terminal.type("\x04")
        terminal.until("[ended 0 cooked=True]")


def test_review_escapes_control_sequences_of_notes(memories: Path, tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        put(index, memories, inbox__0=memory(9, "Red \x1b]0;owned\x07 text", created="2020-01-01"))
    with Terminal("review") as terminal:
        assert "Red ␛]0;owned␇ text" in terminal.until("q quit")
        terminal.type("\x1b[Aq")
        terminal.until("[ended 0 cooked=True]")
        assert "\x1b" not in terminal.shown


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_review_restores_the_terminal_on_signals(number: signal.Signals) -> None:
    with Terminal("review") as terminal:
        job = int(terminal.until("]").strip("[]job "))
        terminal.until("q quit")
        if number == signal.SIGINT:
            terminal.type("\x03")
        else:
            os.kill(job, number)
        assert "nothing decided" in terminal.until(f"[ended {128 + number} cooked=True]")


def test_review_reads_keys_from_lines_without_a_terminal(memories: Path) -> None:
    with Terminal("review", environ={"PIPED": "accept\nn\nk\n"}) as terminal:
        shown = terminal.until("[ended 0 cooked=True]")
    assert "1 accepted, 1 kept; 4 left to review" in shown


EDITOR = """#!/bin/sh
ls -l "$1" | cut -c1-10 >&2
if [ -e "$0.again" ]; then sed -i "s/frozen/open/; s/2020-01-01/2999-01-01/" "$1"; exit; fi
touch "$0.again"
echo "new words" > "$1"
"""


def test_review_keeps_the_text_of_a_refused_edit_for_a_retry(memories: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    with Terminal("review", "--reason", "expired", size=(200, 30), environ={"VISUAL": str(editor)}) as terminal:
        terminal.until("q quit")
        terminal.type("e")
        shown = terminal.until("q quit")
        assert "not done: the text has no frontmatter" in shown
        kept = Path(shown.partition("your text is in ")[2].split()[0])
        terminal.type("e")
        assert "-rw-------" in terminal.until("Review finished.")
        terminal.type("q")
        terminal.until("[ended 0 cooked=True]")
    assert kept.read_text("utf-8") == "new words\n"
    assert "The lake is open." in (memories / "note" / "e.md").read_text("utf-8")
    kept.unlink()


def test_review_prints_a_list_to_a_pipe(capsys: Out) -> None:
    listed = answer(capsys, "review", "--limit", "2")
    assert ([item["reason"] for item in listed["results"]], listed["total"]) == (["unreviewed"] * 2, 6)
    assert main(["review", "--reason", "duplicate"]) == 0
    assert "similarity 1.00" in capsys.readouterr().out
    assert main(["review", "--project", "none", "--human"]) == 0
    assert "Nothing to review." in capsys.readouterr().out


def test_review_decides_by_subcommands(memories: Path, capsys: Out) -> None:
    done = answer(capsys, "review", "accept", uid(1), uid(3), code=1)
    assert [one["outcome"] for one in done["results"]] == ["accepted"]
    assert [one["position"] for one in done["failed"]] == [uid(3)]
    text = (memories / "note" / "e.md").read_text("utf-8").replace("frozen", "open")
    assert main(["review", "edit", uid(5), "--text", text]) == 0
    assert "The lake is open." in (memories / "note" / "e.md").read_text("utf-8")
    assert main(["review", "edit", uid(5), "--text", text, "--seen", "0" * 64]) == 5
    assert main(["undo"]) == 0
    assert "The lake is frozen." in (memories / "note" / "e.md").read_text("utf-8")


def test_review_refuses_invalid_option_combinations(capsys: Out) -> None:
    for words in ("burn x", "accept x --limit 3", "--text x", "--reason dull --json", "edit x", "accept"):
        assert main(["review", *words.split()]) == 2
    assert "no memory was given" in capsys.readouterr().err
