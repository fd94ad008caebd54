"""One place for tests that leave nothing behind that affects another test."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.opencode_real.client import Place, Server, placed
from tests.opencode_real.scenes import NOTES, SCENES


@pytest.fixture(scope="session", autouse=True)
def _client() -> None:
    if not os.access(os.environ.get("OPENCODE_BIN", ""), os.X_OK):
        pytest.exit("OPENCODE_BIN must name the OpenCode to test with; run: make test-opencode", 2)


@pytest.fixture
def place() -> Iterator[Place]:
    """In a path short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True) as folder, _placed(folder) as place:
        yield place


@pytest.fixture(scope="module")
def shared_place() -> Iterator[Place]:
    """With a daemon, for a whole module."""
    with (
        tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True) as folder,
        _placed(folder) as place,
        place.daemon(),
    ):
        yield place


@pytest.fixture(scope="module")
def server(shared_place: Place) -> Iterator[Server]:
    with shared_place.served() as server:
        yield server


def _placed(folder: str) -> AbstractContextManager[Place]:
    return placed(Path(folder), SCENES, NOTES)
