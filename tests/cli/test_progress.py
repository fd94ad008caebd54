"""Progress is drawn on terminals only."""

import io
import sys

import pytest

from vault_index.cli.present import progress_bar


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drawn(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, *, quiet: bool = False) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with progress_bar(quiet=quiet) as progress:
        progress("read", 0, 0)
        for done in range(5):
            progress("text", done, 4)
        progress("embed", 1, 9)
        progress("waiting", 0, 0)
    return stream.getvalue()


def test_progress_is_drawn_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = drawn(monkeypatch, Terminal())
    assert all(label in shown for label in ("reading", "indexing", "4/4", "embedding", "1/9"))
    assert drawn(monkeypatch, io.StringIO()) == ""
    assert drawn(monkeypatch, Terminal(), quiet=True) == ""
