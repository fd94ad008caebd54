"""The transcripts show the output of the commands."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", ["docs/agents.md", "tests/cli/terminal.md"])
def test_transcript_commands_print_the_output_of_the_page(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VAULT_INDEX_HOME", "VAULT_INDEX_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    tool = runpy.run_path(str(ROOT / "tools" / "transcript.py"))
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.count("\n$ vx ") >= 10
    again = tool["play"](text)
    assert tool["steady"](again) == tool["steady"](text), f"record it: python tools/transcript.py {page}"
