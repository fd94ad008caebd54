"""`pool`: join a team's pool, publish to it, and manage its members."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from vault_index.callers import Caller, Scope
from vault_index.cli.arguments import SEVERAL, Group, Options, absolute, argument, flag, takes
from vault_index.cli.client import call, home_of, reload_daemon
from vault_index.cli.present import progress_bar, remark, show, show_value
from vault_index.config import PoolConfig, load_config
from vault_index.errors import UsageError, VaultIndexError

if TYPE_CHECKING:
    from psycopg import Connection

_PATIENCE = 20.0
"""Seconds to wait for the daemon, which publishes after the same sync."""
_SOURCES = argument("sources", nargs="*", metavar="SOURCE", help="these sources (default: all)")


@contextmanager
def _connected(settings: PoolConfig) -> "Iterator[Connection[Any]]":
    # Imported here because psycopg is optional.
    from vault_index.team.address import conninfo

    address = conninfo(settings)
    from vault_index.team.database import connect, translated

    with translated(), closing(connect(address)) as pool:
        yield pool


@takes(
    argument("dsn", metavar="DSN", help="address of the database, without a password"),
    argument("--publish", dest="sources", help="publish these sources", **SEVERAL),
    argument(
        "--machine", metavar="NAME", help="unique name of this machine (default: host name-XXXX)"
    ),
    argument("--password-command", metavar="COMMAND", help="command that prints the password"),
    description="Store the address of the pool, after a first connection. If the database has no "
    "pool, the command creates its tables. The password comes from PGPASSWORD, ~/.pgpass, a "
    "service file or a command.",
)
def run_pool_join(options: Options, args: dict[str, Any]) -> None:
    """Connect to a pool, create it if it is missing, and store its address."""
    import platform

    from vault_index.config.edit import set_value
    from vault_index.config.validate import check_dsn

    home = home_of(options)
    config = load_config(home)
    for name in args.get("sources", ()):
        config.source(name)
    values = {
        "dsn": args["dsn"],
        # Several hosts may have one name.
        "machine": args.get("machine")
        or config.pool.machine
        or f"{platform.node()}-{os.urandom(2).hex()}",
        "password_command": args.get("password_command", config.pool.password_command),
        "sources": ", ".join(args.get("sources", config.pool.sources)),
    }
    check_dsn(args["dsn"])
    settings = replace(config.pool, **{**values, "sources": ()})
    with _connected(settings) as pool:
        from vault_index.team.address import label
        from vault_index.team.database import create_pool

        created = create_pool(pool)
    for key, value in values.items():
        set_value(home, f"pool.{key}", value)
    reload_daemon(options)
    where = label(settings)
    answer = {"pool": where, "created": created, "machine": values["machine"]}
    show_value(options, "pool_join", answer, f"{'created' if created else 'joined'} {where}")
    if not values["sources"]:
        remark(options, "To choose what to publish: vault-index config set pool.sources NAME")
    else:
        remark(options, "The daemon publishes it; without a daemon: vault-index pool publish")


@takes(
    _SOURCES,
    flag("--dry-run", "print what would be published"),
    flag("--take", "take over sources that another machine of yours published"),
    description="Update the index, then publish what changed. Text that is local_only, sessions "
    "(unless pool.sessions is set) and memories that wait for review are left out.",
)
def run_pool_publish(options: Options, args: dict[str, Any]) -> int:
    """Publish, and return exit code 1 if a source could not be published."""
    from vault_index.api import to_json
    from vault_index.runtime import Runtime

    gc.enable()
    if not args.get("dry_run"):
        call(options, "sync", {"embed": False})
    with closing(Runtime.open(home_of(options))) as runtime:
        pool = runtime.config.pool
        names = runtime.source_names(args.get("sources", ()))
        if other := next((name for name in names if name not in pool.sources), ""):
            hint = f"add it: vault-index config set pool.sources {','.join((*pool.sources, other))}"
            raise UsageError(f"pool.sources does not name {other!r}", hint)
        with _connected(pool):  # reports a missing package or server before the work
            from vault_index.team.publish import publish
        with progress_bar(quiet=options.quiet) as progress:
            report = publish(
                runtime.machine(),
                names,
                dry_run="dry_run" in args,
                take="take" in args,
                patience=_PATIENCE,
                progress=progress,
            )
    if report.vectors:
        _index_vectors(options, pool)
    show(options, "pool_publish", to_json(report))
    return VaultIndexError.exit_code if report.problems else 0


def _index_vectors(options: Options, settings: PoolConfig) -> None:
    """Build the index of a large pool, if this member owns it."""
    from vault_index.team.vectors import index_vectors

    with _connected(settings) as pool:
        sql = (
            "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'embedding'::regclass"
        )
        if pool.execute(sql).fetchone() == (True,) and index_vectors(pool):
            remark(options, "The pool has a new index of its vectors")


@takes()
def run_pool_status(options: Options, args: dict[str, Any]) -> None:
    """Print the sources of the pool that this member sees."""
    config = load_config(home_of(options))
    with _connected(config.pool) as pool:
        from vault_index.team.address import label

        rows = pool.execute(
            "SELECT source.name, owner::text, machine, private, shared,"
            " coalesce(sum(zone.documents), 0)::integer, coalesce(sum(zone.chunks), 0)::integer,"
            " pending, published::timestamptz(0)::text FROM source"
            " LEFT JOIN zone ON zone.source = source.name GROUP BY source.name ORDER BY 1"
        ).fetchall()
        names = ("name", "owner", "machine", "private", "shared", "documents", "chunks")
        columns = (*names, "pending", "published")
        results = [dict(zip(columns, row, strict=True)) for row in rows]
        me = pool.execute("SELECT current_user").fetchone()
    answer = {
        "pool": label(config.pool),
        "member": me[0] if me else "",
        "machine": config.pool.machine,
        "publishes": list(config.pool.sources),
        "results": results,
        "total": len(results),
    }
    show(options, "pool_status", answer)


@takes(
    argument("action", choices=("add", "list", "remove"), help="add, list or remove"),
    argument("name", nargs="?", metavar="NAME", help="login role of the member or server"),
    Group(
        "",
        flag("--read", "allow reading"),
        flag("--write", "allow reading, and writing shared memories"),
        flag("--server", "a host that runs `serve --pool`, which may act as the members"),
    ),
    argument("--source", dest="sources", help="only these sources (default: all)", **SEVERAL),
    argument("--folder", dest="folders", metavar="DIR", action="append", help="only this folder"),
    argument("--project", dest="projects", metavar="NAME", action="append", help="only this one"),
    argument("--expires", metavar="DATE", help="last valid day of the token"),
    flag("--password", "read the password of the role from stdin"),
    description="A member is a login role of PostgreSQL with a token for `serve`, which is printed "
    "once. Only the owner of the pool can add and remove members.",
)
def run_pool_members(options: Options, args: dict[str, Any]) -> None:
    """Add, list or remove members and servers."""
    config = load_config(home_of(options))
    name, action = args.get("name", ""), args["action"]
    if (action == "list") == bool(name):
        raise UsageError(f"`pool members {action}` takes {'no' if name else 'a'} name", "")
    with _connected(config.pool) as pool:
        from vault_index.team import members

        if action == "list":
            rows = members.members(pool)
            show(options, "pool_members", {"results": rows, "total": len(rows)})
        elif action == "remove":
            members.remove_member(pool, name)
            show_value(options, "pool_members", {"name": name, "removed": True}, f"removed {name}")
        elif "server" in args:
            members.add_server(pool, name, password=_password(args))
            show_value(options, "pool_members", {"name": name, "server": True}, f"added {name}")
        else:
            _add_member(options, args, pool)


def _add_member(options: Options, args: dict[str, Any], pool: "Connection[Any]") -> None:
    from vault_index.api.scopes import end_of
    from vault_index.team.members import add_member

    if "read" not in args and "write" not in args:
        raise UsageError("the permission of the member is missing", "add --read or --write")
    parts = [tuple(args.get(key, ())) for key in ("sources", "folders", "projects")]
    if not all(word.strip("/ ") for part in parts for word in part):
        raise UsageError("an empty source, folder or project", "leave the option out")
    now = datetime.now().astimezone()
    expires = end_of(args["expires"], now, option="--expires") if "expires" in args else None
    caller = Caller(args["name"], "write" in args, Scope(*parts))
    token = add_member(pool, caller, password=_password(args), expires=expires)
    answer = {"name": caller.name, "token": token, "writes": caller.writes}
    show_value(options, "pool_members", answer, token)
    remark(options, f"{caller.name} was added. The token is not shown again.")


def _password(args: dict[str, Any]) -> str:
    if "password" not in args:
        return ""
    if sys.stdin.isatty():
        from getpass import getpass

        return getpass("Password: ")
    return sys.stdin.readline().rstrip("\r\n")


@takes(argument("folder", metavar="DIR", help="folder for the files, new or empty"))
def run_pool_export(options: Options, args: dict[str, Any]) -> None:
    """Write all memories of the pool that this member sees as files."""
    folder = absolute(args["folder"])
    with _connected(load_config(home_of(options)).pool) as pool:
        from vault_index.team.files import export

        count = export(pool, folder)
    answer = {"path": folder, "memories": count}
    show_value(options, "pool_export", answer, f"wrote {count} memories to {folder}")


@takes(
    argument("sources", nargs="*", metavar="SOURCE", help="remove these sources from the pool"),
    description="With sources, remove them from the pool and stop publishing them. Without, forget "
    "the pool: what this machine published stays there, and so do mirrored files here.",
)
def run_pool_leave(options: Options, args: dict[str, Any]) -> None:
    """Remove sources from the pool, or forget the pool."""
    from vault_index.config.edit import delete_value, set_value

    home = home_of(options)
    settings = load_config(home).pool
    names = args.get("sources", ())
    if names:
        _remove_sources(settings, names)
        left = [name for name in settings.sources if name not in names]
        set_value(home, "pool.sources", ", ".join(left))
    else:
        for key in ("dsn", "machine", "sources", "mirror"):
            delete_value(home, f"pool.{key}")
    reload_daemon(options)
    what = f"removed {', '.join(names)} from the pool" if names else "left the pool"
    show_value(options, "pool_leave", {"removed": list(names)}, what)


def _remove_sources(settings: PoolConfig, names: list[str]) -> None:
    from vault_index.errors import NotFoundError

    with _connected(settings) as pool:
        for name in names:
            with pool.transaction():  # documents first, because their triggers count in the zones
                pool.execute("DELETE FROM document WHERE source = %s", (name,))
                sql = "DELETE FROM source WHERE name = %s AND NOT shared"
                if not pool.execute(sql, (name,)).rowcount:
                    hint = "see the sources of the pool: vault-index pool status"
                    raise NotFoundError(f"no source {name!r} of yours is in the pool", hint)
