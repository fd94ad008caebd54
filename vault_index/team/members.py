"""Members and servers of a pool: login roles of PostgreSQL, with a scope and a token each."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vault_index.callers import Caller
from vault_index.errors import NotFoundError, UsageError
from vault_index.team.database import translated

if TYPE_CHECKING:
    import psycopg

    Pool = psycopg.Connection[Any]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_MEMBERS, _SERVERS = "vault_pool_member", "vault_pool_server"


def add_member(pool: Pool, caller: Caller, *, password: str = "", expires: float | None) -> str:
    """Create the login role of a member, and return its token for `serve`.

    Only the token's hash is stored. Without a password, the role can log in by other means only
    (`pg_hba.conf`). Raises UsageError for a bad or taken name, and PoolError.
    """
    token = f"vx_{secrets.token_urlsafe(32)}"
    scope = caller.scope
    until = None if expires is None else datetime.fromtimestamp(expires).astimezone()
    with translated(), pool.transaction():
        _create_role(pool, caller.name, password)
        _grant(pool, _MEMBERS, caller.name)
        # A server may become this member, but has none of its rights until then.
        _grant(pool, caller.name, _SERVERS, " WITH INHERIT FALSE, SET TRUE")
        pool.execute(
            "INSERT INTO member (role, token, writes, sources, folders, projects, expires)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (
                caller.name,
                hashlib.sha256(token.encode()).hexdigest(),
                caller.writes,
                list(scope.sources),
                [folder.strip("/") for folder in scope.folders],
                [project.lower() for project in scope.projects],
                until,
            ),
        )
    return token


def add_server(pool: Pool, name: str, *, password: str = "") -> None:
    """Create the login role of a server, which may become the members and nothing else."""
    with translated(), pool.transaction():
        _create_role(pool, name, password)
        _grant(pool, _SERVERS, name)


def members(pool: Pool) -> list[dict[str, Any]]:
    """Return the members by name, without their tokens."""
    columns = ("name", "writes", "sources", "folders", "projects", "created", "expires")
    with translated():
        rows = pool.execute(
            "SELECT role, writes, sources, folders, projects, created::date::text,"
            " expires::date::text FROM member ORDER BY role"
        )
        return [dict(zip(columns, row, strict=True)) for row in rows]


def remove_member(pool: Pool, name: str) -> None:
    """Drop the role and the token of a member or a server; published documents stay.

    Raises NotFoundError.
    """
    from psycopg.sql import SQL, Identifier

    with translated(), pool.transaction():
        known = pool.execute(
            "SELECT FROM pg_auth_members JOIN pg_roles AS one ON one.oid = member"
            " JOIN pg_roles AS whole ON whole.oid = roleid"
            " WHERE one.rolname = %s AND whole.rolname = ANY (%s)",
            (name, [_MEMBERS, _SERVERS]),
        )
        if not known.rowcount:
            hint = "list the members: vault-index pool members list"
            raise NotFoundError(f"the pool has no member {name!r}", hint)
        pool.execute("DELETE FROM member WHERE role = %s", (name,))
        pool.execute(SQL("DROP ROLE {}").format(Identifier(name)))


def _create_role(pool: Pool, name: str, password: str) -> None:
    from psycopg.errors import DuplicateObject
    from psycopg.sql import SQL, Identifier, Literal

    if not _NAME.fullmatch(name):
        hint = "use small ASCII letters, digits, - and _, at most 63 in all"
        raise UsageError(f"{name!r} cannot be the name of a role", hint)
    # Encrypted here, so that it is in no log of the server.
    given = pool.pgconn.encrypt_password(password.encode(), name.encode()).decode()
    clause = SQL(" PASSWORD {}").format(Literal(given)) if password else SQL("")
    try:
        pool.execute(SQL("CREATE ROLE {} LOGIN{}").format(Identifier(name), clause))
    except DuplicateObject as error:
        hint = "choose another name, or remove it: vault-index pool members remove"
        raise UsageError(f"the role {name!r} exists already", hint) from error


def _grant(pool: Pool, role: str, to: str, more: str = "") -> None:
    from psycopg.sql import SQL, Identifier

    pool.execute(SQL(f"GRANT {{}} TO {{}}{more}").format(Identifier(role), Identifier(to)))
