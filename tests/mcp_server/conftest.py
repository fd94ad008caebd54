"""One home, and one server for each era of the protocol, for all tests; each test writes its own memories."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_server.sessions import NEW, OLD, Session, make_home, session
from vault_index.config import Home


@pytest.fixture(scope="session")
def home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="vx-") as folder:
        yield make_home(Path(folder))


@pytest.fixture(scope="session")
def vault(home: Home) -> Path:
    return home.data_dir.parent / "vault"


@pytest.fixture(scope="session")
def client(home: Home) -> Iterator[Session]:
    """A client of the era with a handshake."""
    with session(home.data_dir) as opened:
        assert opened.version == OLD
        yield opened


@pytest.fixture(scope="session")
def new_client(home: Home) -> Iterator[Session]:
    with session(home.data_dir, era=NEW) as opened:
        assert opened.version == NEW
        yield opened


@pytest.fixture(params=["client", "new_client"])
def each(request: pytest.FixtureRequest) -> Session:
    """A client of each era, for parts that the protocol carries differently."""
    opened: Session = request.getfixturevalue(request.param)
    return opened
