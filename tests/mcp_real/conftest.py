"""A home for the server, and one for the programs that try it."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_real.programs import TOOLS
from tests.mcp_server.sessions import make_home


@pytest.fixture(scope="session", autouse=True)
def _tools() -> None:
    if not os.access(TOOLS / "installed", os.R_OK):
        pytest.exit("MCP_TOOLS must name where npm has put them; run: make test-mcp", 2)


@pytest.fixture(scope="session")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True) as folder:
        make_home(Path(folder))
        yield Path(folder)
