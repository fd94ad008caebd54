"""docs/mcp.md is what a session of tools/build_mcp.py tells."""

import runpy
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The days of its notes are days there: the client of the SDK passes no time zone on."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("utc")
def test_the_transcript_is_what_a_session_tells() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "build_mcp.py"))["page"]()
    assert (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8") == made, "run: python tools/build_mcp.py"
