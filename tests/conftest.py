"""What tests of several packages share.

Hypothesis has no deadlines, which measure the machine, and in CI the same examples every time.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.sources.opencode.stores import Client

# `make test-opencode`, `test-clients`, `test-mcp` and `test-openapi` name what to test with.
_NAMED_BY = {
    "opencode_real": "OPENCODE_BIN", "clients_real": "CLIENTS_DIR", "mcp_real": "MCP_TOOLS",
    "openapi_real": "SCHEMATHESIS",
}  # fmt: skip
collect_ignore = [folder for folder, name in _NAMED_BY.items() if name not in os.environ]

for variable in ("XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
    os.environ[variable] = "/nonexistent"  # whoever runs the tests may use agents

settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "people")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """OpenCode, as far as its database goes: `tmp_path/opencode/opencode.db`, with no session yet."""
    (tmp_path / "opencode").mkdir()
    client = Client(tmp_path / "opencode/opencode.db")
    yield client
    client.close()
