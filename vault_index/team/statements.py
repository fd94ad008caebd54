"""Run the statements of `store` on PostgreSQL."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from vault_index.store.connection import ANY_OF
from vault_index.team.database import translated

if TYPE_CHECKING:
    import psycopg

_PARAMETER = re.compile(rf"{re.escape(ANY_OF)}|\?(\d*)|'[^']*'")
_LIMIT = re.compile(r"LIMIT (\?\d*)")


@lru_cache(maxsize=1024)
def as_postgres(sql: str) -> tuple[str, frozenset[int]]:
    """Return a statement for PostgreSQL, and which of its parameters are lists in JSON.

    The rest of the SQL in `store.documents`, `store.related` and `store.filters` is the same for
    both, as the pool has the functions of SQLite that it uses (sql/002_answer.sql).
    """
    lists: set[int] = set()
    last = 0

    def numbered(found: re.Match[str]) -> str:
        nonlocal last
        if found[0].startswith("'"):
            return found[0]
        number = int(found[1]) if found[1] else last + 1
        last = max(last, number)
        if found[0] != ANY_OF:
            return f"${number}"
        lists.add(number - 1)
        return f"= ANY (${number})"

    # Without a limit, SQLite takes -1.
    return _PARAMETER.sub(numbered, _LIMIT.sub(r"LIMIT nullif(\1, -1)", sql)), frozenset(lists)


class Connected:
    """A connection that runs statements with the parameters of SQLite."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self.connection = connection
        self._answers: dict[tuple[str, str], list[Any]] = {}
        """Rows by statement and values: a transaction that only reads always gets the same."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows. Raises PoolError."""
        key = sql, repr(values)
        if key not in self._answers:
            self.ask((sql, values))
        return self._answers[key]

    def ask(self, *statements: tuple[str, Sequence[Any]]) -> None:
        """Run statements in one round trip, for `execute` to return their rows."""
        with translated():
            asked = {(sql, repr(values)): self._send(sql, values) for sql, values in statements}
            self._answers |= {key: cursor.fetchall() for key, cursor in asked.items()}

    def _send(self, sql: str, values: Sequence[Any]) -> psycopg.RawCursor[Any]:
        from psycopg import RawCursor

        text, lists = as_postgres(sql)
        given = [json.loads(one) if at in lists else one for at, one in enumerate(values)]
        return RawCursor(self.connection).execute(text, given)

    def set(self, **settings: str) -> None:
        """Change settings for the rest of the transaction; `__` stands for a dot."""
        for name, one in settings.items():
            values = name.replace("__", "."), one
            self.connection.execute("SELECT set_config(%s, %s, true)", values)

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row; None without rows."""
        rows = self.execute(sql, values)
        return rows[0][0] if rows else None
