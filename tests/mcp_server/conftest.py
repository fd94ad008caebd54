"""One home and one server for the tests of a module; each writes memories of its own."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_server.sessions import NEW, OLD, Session, make_home, session
from vault_index.config import Home


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="vx-") as folder:
        yield make_home(Path(folder))


@pytest.fixture(scope="module")
def vault(home: Home) -> Path:
    return home.data_dir.parent / "vault"


@pytest.fixture(scope="module", params=[OLD, NEW])
def client(home: Home, request: pytest.FixtureRequest) -> Iterator[Session]:
    with session(home.data_dir, era=request.param) as opened:
        assert opened.version == request.param
        yield opened
