"""docs/mcp.md is what a session of tools/build_mcp.py tells."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_transcript_is_what_a_session_tells() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "build_mcp.py"))["page"]()
    assert (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8") == made, "run: python tools/build_mcp.py"
