"""docs/mcp.md matches the session of tools/build_mcp.py."""

import runpy
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use UTC for the days of the notes: the SDK's client passes no time zone on."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("utc")
def test_mcp_transcript_is_up_to_date() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "build_mcp.py"))["page"]()
    assert (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8") == made, "run: python tools/build_mcp.py"
