"""What the transcripts show is what the commands print."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["agents.md"])
def test_the_commands_print_what_the_page_says(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VAULT_INDEX_HOME", "VAULT_INDEX_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    tool = runpy.run_path(str(ROOT / "tools" / "transcript.py"))
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert text.count("\n$ vx ") >= 10
    again = tool["play"](text)
    assert tool["steady"](again) == tool["steady"](text), f"record it: python tools/transcript.py docs/{page}"
