"""Lend connections to a pool: each request becomes its member for the length of a transaction."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import psycopg
from psycopg.sql import SQL, Identifier
from psycopg_pool import ConnectionPool

from vault_index.callers import Caller, Scope
from vault_index.store.pool import Connections
from vault_index.store.state import State
from vault_index.team.database import translated
from vault_index.team.reader import PoolReader

if TYPE_CHECKING:
    from vault_index.store.reader import IndexReader

_SECONDS = 3.0
"""Longest wait for a connection, so that a lost pool is reported soon."""
_OPTIONS = (
    "-csearch_path=answer,pool,public -cjit=off -cstatement_timeout=30s"
    " -crandom_page_cost=1.1"  # as of memory and SSD; else it reads whole tables for a few rows
    " -cplan_cache_mode=force_custom_plan"  # a plan for any values is several times slower
)


class PoolConnections:
    """The connections of one server to its pool. Thread-safe."""

    def __init__(self, dsn: str, state_db: Path, most: int = 8) -> None:
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)  # callers get the error
        self._state_db = state_db
        self._pool = ConnectionPool(
            dsn,
            kwargs={"options": _OPTIONS, "autocommit": True},
            min_size=1,
            max_size=most,
            timeout=_SECONDS,
            check=ConnectionPool.check_connection,
            open=True,
        )

    @contextmanager
    def lend(self, caller: Caller | None) -> Iterator[Connections]:
        """Lend what one member may see; None is the role of the address itself. Raises PoolError.

        The role and the settings end with the transaction.
        """
        # In pipeline mode, a statement without an answer takes no round trip.
        with translated(), self._pool.connection() as connection, connection.pipeline():
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            if caller:
                connection.execute(SQL("SET LOCAL ROLE {}").format(Identifier(caller.name)))
            try:
                reader = PoolReader(connection, caller.scope if caller else Scope())
                with closing(State(self._state_db)) as state:
                    # Of an index, a served method uses only what `query.reader.Reader` has.
                    yield Connections(cast("IndexReader", reader), state, (0, 0))
            finally:
                connection.execute("ROLLBACK")

    @contextmanager
    def write(self, caller: Caller) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection as a member that writes, for one transaction. Raises PoolError."""
        role = SQL("SET LOCAL search_path = pool, public; SET LOCAL ROLE {}")
        with translated(), self._pool.connection() as connection, connection.transaction():
            connection.execute(role.format(Identifier(caller.name)))
            yield connection

    def member_with(self, hashed: str) -> Caller | None:
        """Return the member with the hash of a token; None for an unknown or expired one."""
        with translated(), self._pool.connection() as connection:
            row = connection.execute(
                "SELECT role::text, writes, sources, folders, projects FROM pool.member_with(%s)",
                (hashed,),
            ).fetchone()
        if row is None:
            return None
        name, writes, *scope = row
        return Caller(name, writes, Scope(*map(tuple, scope)))

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()
