"""Connect to the database of a pool, and create its tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from vault_index.errors import PoolError, UsageError

if TYPE_CHECKING:
    import psycopg

SEARCH_PATH = "pool, public"
_HINTS = {
    "certificate": "check the host name, and put the certificate of the server's CA into"
    " ~/.postgresql/root.crt",
    "password": "set PGPASSWORD, ~/.pgpass, a service file or pool.password_command",
}
"""By a word of a failed connection."""
_OLDEST = 180_000


def connect(dsn: str) -> psycopg.Connection[Any]:
    """Open a connection that commits each statement alone (`dsn`: see `address`).

    Raises PoolError.
    """
    import psycopg

    with translated():
        connection = psycopg.connect(dsn, autocommit=True)
        connection.execute(f"SET search_path = {SEARCH_PATH}")
    return connection


@contextmanager
def translated() -> Iterator[None]:
    """Translate exceptions of the driver. Never shows the address, which may hold a password."""
    import psycopg

    try:
        yield
    except psycopg.OperationalError as error:
        found = (hint for word, hint in _HINTS.items() if word in str(error))
        hint = next(found, "check that PostgreSQL runs and that the address is right")
        raise PoolError(f"the pool does not answer: {_in_one_line(error)}", hint) from error
    except psycopg.errors.InvalidRegularExpression as error:
        raise UsageError("a pattern of the query is not valid", "correct its brackets") from error
    except psycopg.errors.InsufficientPrivilege as error:
        hint = "ask the owner of the pool for the right: vault-index pool members"
        raise PoolError(f"the pool refuses this: {_in_one_line(error)}", hint) from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise PoolError(
            "this database has no pool", "its owner creates it: vault-index pool join DSN"
        ) from error


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def create_pool(connection: psycopg.Connection[Any]) -> bool:
    """Create the tables if they are missing; return whether they were.

    It needs the owner of the database: a superuser, or a role with CREATEROLE (docs/teams.md).
    """
    if connection.info.server_version < _OLDEST:
        raise PoolError("a pool needs PostgreSQL 18 or newer", "update the server")
    with translated(), connection.transaction():
        if connection.execute("SELECT to_regclass('pool.document')").fetchone() != (None,):
            return False
        for script in sorted(files("vault_index.team").joinpath("sql").iterdir(), key=str):
            connection.execute(script.read_bytes())
    return True
