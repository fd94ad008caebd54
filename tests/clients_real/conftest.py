"""One home for each client; its sessions are made once."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients_real import clients
from tests.clients_real.clients import Client
from tests.clients_real.model import Model
from tests.clients_real.scenes import scenes


@pytest.fixture(scope="session", autouse=True)
def _clients() -> None:
    if not os.access(clients.installed("claude"), os.X_OK):
        pytest.exit("CLIENTS_DIR must name where npm has put the clients; run: make test-clients", 2)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


def _made(make: Callable[[Path, Model, Path], Client], name: str, program: str, place: Path) -> Iterator[Client]:
    model = Model(scenes(place / name / "shop")[name])
    try:
        yield make(place / name, model, clients.installed(program))
    finally:
        model.shutdown()
        model.server_close()


@pytest.fixture(scope="module")
def claude_code(place: Path) -> Iterator[Client]:
    yield from _made(clients.claude_code, "claude-code", "claude", place)


@pytest.fixture(scope="module")
def codex(place: Path) -> Iterator[Client]:
    yield from _made(clients.codex, "codex", "codex", place)
