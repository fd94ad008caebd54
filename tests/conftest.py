"""Settings and fixtures of all tests; marks each test `core`, `attack` or `browser` by its folder and file."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.seeds import TIMES
from tests.sources.opencode.stores import Client
from vault_index.sources.sessions.clients import KNOWN

# Each suite with real clients runs only when its make target names the programs to use.
_NAMED_BY = {
    "opencode_real": "OPENCODE_BIN", "clients_real": "CLIENTS_DIR", "mcp_real": "MCP_TOOLS",
    "openapi_real": "SCHEMATHESIS",
}  # fmt: skip
collect_ignore = [folder for folder, name in _NAMED_BY.items() if name not in os.environ]

# Hide the agents of the user that runs the tests.
for variable in {known.variable for known in KNOWN.values()} - {""}:
    os.environ[variable] = "/nonexistent"
# A busy machine must not make a command answer without the daemon.
os.environ.setdefault("VAULT_INDEX_GREETING_SECONDS", "300")

# No deadlines, because they measure the machine. CI uses the same examples every time.
settings.register_profile("people", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("nightly", deadline=None, print_blob=True, max_examples=100 * TIMES)
settings.load_profile("nightly" if TIMES > 1 else "ci" if os.environ.get("CI") else "people")

_TESTS = Path(__file__).parent
_CORE = {"api", "config", "embeddings", "markdown", "output", "query", "secrets", "store"}
"""Folders of tests that start no process, except modules that import subprocess: `make fast`. They also run on the
oldest and the newest Python."""
_ATTACKS = (
    "*_attacks.py", "*_killed.py", "test_attacks.py", "test_concurrent*.py", "test_growth.py",
    "test_hostile.py", "test_leaks*.py", "test_mutated*.py", "test_patterns.py",
    "test_reliability.py", "test_smuggling.py",
)  # fmt: skip
"""Files of random, hostile or killed runs. A landing runs those of the packages that it changes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        path = item.path.relative_to(_TESTS)
        if any(path.match(pattern) for pattern in _ATTACKS):
            item.add_marker("attack")
        elif path.parts[0] in _CORE and isinstance(item, pytest.Function) and not hasattr(item.module, "subprocess"):
            item.add_marker("core")
        if path.parts[0] == "page_real":
            item.add_marker("browser")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """OpenCode's database at `tmp_path/opencode/opencode.db`, without sessions."""
    (tmp_path / "opencode").mkdir()
    client = Client(tmp_path / "opencode/opencode.db")
    yield client
    client.close()
