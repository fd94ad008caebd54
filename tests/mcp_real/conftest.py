"""One home with a daemon, and the server on stdio and on HTTP."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.mcp_real.programs import SERVER, TOOLS
from tests.world import opened_world


class Reached(NamedTuple):
    """The address of the server in the form that a program takes."""

    stdio: list[str]
    port: int
    token: str

    def by_inspector(self, transport: str) -> list[str]:
        if transport == "stdio":
            return self.stdio
        return [f"http://127.0.0.1:{self.port}/mcp", "--header", f"Authorization: Bearer {self.token}"]


@pytest.fixture(scope="session", autouse=True)
def _tools() -> None:
    if not os.access(TOOLS / "installed", os.R_OK):
        pytest.exit("MCP_TOOLS must name where npm has put them; run: make test-mcp", 2)


@pytest.fixture(scope="session")
def reached() -> Iterator[Reached]:
    with (
        tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True) as folder,
        opened_world(Path(folder), "[agents]\nstart_daemon = false\n") as made,
    ):
        made.write("harbour.md", "# Harbour\n\nThe importer of carrier events tries three times.\n")
        made.daemon()
        served, token = made.serve(), made.token("tools", writes=True)
        yield Reached([*SERVER, str(made.home.data_dir)], served.port, token)
