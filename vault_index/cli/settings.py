"""`config`, `source`: read and change the settings and the indexed vaults."""

import gc
import json
import shutil
from contextlib import closing
from dataclasses import asdict
from typing import Any

from vault_index.cli.arguments import SEVERAL, Options, absolute, argument, takes
from vault_index.cli.client import call, call_with_progress, home_of, reload_daemon
from vault_index.cli.present import remark, show, show_value
from vault_index.config import Config, Home, SourceConfig, load_config
from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.times import iso_time_or_none

_PATIENCE = 20.0
"""Seconds to wait for the daemon, which exchanges the same files."""
_SOURCE_SETTINGS = ("include", "exclude", "local_only", "every", "password_command")
_KEY = argument(
    "key",
    metavar="KEY",
    help="section.key, such as search.limit; with --source NAME, a key of that source",
)


@takes(_KEY)
def run_config_get(options: Options, args: dict[str, Any]) -> None:
    """Print one setting."""
    from vault_index.config.edit import get_value

    value = get_value(home_of(options), args["key"], options.source or "")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    show_value(options, "config_get", {"key": args["key"], "value": value}, text)


@takes(
    _KEY,
    argument("value", metavar="VALUE", help='text, number, true, false, or a list: "a, b"'),
)
def run_config_set(options: Options, args: dict[str, Any]) -> None:
    """Change one setting, and print the stored value."""
    from vault_index.config.edit import get_value, set_value

    home = home_of(options)
    judge = _check_model if args["key"] in ("embedding.model", "embedding.dimensions") else None
    set_value(home, args["key"], args["value"], options.source or "", judge)
    reload_daemon(options)
    value = get_value(home, args["key"], options.source or "", {})
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    show_value(
        options, "config_set", {"key": args["key"], "value": value}, f"{args['key']} = {shown}"
    )
    if args["key"].startswith("embedding."):
        remark(options, _next_step(home))


def _next_step(home: "Home") -> str:
    try:
        _check_model(load_config(home))
    except VaultIndexError as error:
        return f"The new model cannot be used yet: {error.in_one_line}"
    return "To compute the vectors, run: vault-index embed (--plan estimates the cost)"


def _check_model(config: "Config") -> None:
    """Raise ConfigError or EmbedderError if the local embedder does not have this model.

    The model of a configured server may be set before the provider.
    """
    from vault_index.embeddings.spaces import check_model

    if config.embedding.provider == "local" and not config.embedding.base_url:
        check_model(config.embedding)


@takes()
def run_config_list(options: Options, args: dict[str, Any]) -> None:
    """Print all settings with their origin."""
    from vault_index.config.edit import list_values

    prefix = f"sources.{options.source}.".casefold() if options.source else ""
    settings = [
        setting
        for setting in list_values(home_of(options))
        if setting.key.casefold().startswith(prefix)
    ]
    rows = [
        {"key": setting.key, "value": setting.value, "origin": setting.origin}
        for setting in settings
    ]
    show(options, "config_list", {"results": rows, "total": len(rows)})


@takes(_KEY)
def run_config_delete(options: Options, args: dict[str, Any]) -> None:
    """Reset one setting to its default."""
    from vault_index.config.edit import delete_value

    if deleted := delete_value(home_of(options), args["key"], options.source or ""):
        reload_daemon(options)
    text = f"reset {args['key']} to its default" if deleted else f"{args['key']} was not set"
    show_value(options, "config_delete", {"key": args["key"], "deleted": deleted}, text)
    if deleted and args["key"].startswith("embedding."):
        remark(options, _next_step(home_of(options)))


@takes()
def run_config_path(options: Options, args: dict[str, Any]) -> None:
    """Print the path of the configuration file."""
    file = home_of(options).config_file
    show_value(options, "config_path", {"path": str(file), "exists": file.exists()}, str(file))


@takes()
def run_source_list(options: Options, args: dict[str, Any]) -> None:
    """List the sources."""
    from vault_index.api.scopes import all_sources

    config = load_config(home_of(options))
    rows = [
        {
            "name": source.name,
            "kind": source.kind,
            "path": str(source.path),
            "include": list(source.include),
            "exclude": list(source.exclude),
            "local_only": source.local_only
            if isinstance(source.local_only, bool)
            else list(source.local_only),
            **_remote_state(config, source),
        }
        for source in all_sources(config)
        if options.source is None or options.source.casefold() == source.name.casefold()
    ]
    show(options, "source_list", {"results": rows, "total": len(rows)})


def _remote_state(config: Config, source: SourceConfig) -> dict[str, Any]:
    if not source.remote:
        return {}
    from vault_index.remotes.mirror import state_of

    state = state_of(config, source)
    return {**state, "synced": iso_time_or_none(state["synced"])}


@takes(
    argument("path", metavar="PATH", help="folder of the vault, or address of a remote source"),
    argument("--name", metavar="NAME", help="name of the source (default: name of the folder)"),
    argument("--include", help="index only files that match these globs", **SEVERAL),
    argument("--exclude", help="exclude files that match these globs", **SEVERAL),
    argument(
        "--local-only", help="folders and globs whose text is never sent to a server", **SEVERAL
    ),
    argument(
        "--every",
        metavar="MINUTES",
        type=float,
        help="time between two exchanges with a remote (default: 5; 0: only `source sync`)",
    ),
    argument(
        "--password-command", metavar="COMMAND", help="command that prints a remote's password"
    ),
)
def run_source_add(options: Options, args: dict[str, Any]) -> None:
    """Add a vault or a remote source, or report that it already exists."""
    from vault_index.config.edit import add_source, same_source
    from vault_index.config.validate import is_remote

    settings: dict[str, Any] = {key: args[key] for key in _SOURCE_SETTINGS if key in args}
    name = args.get("name") or options.source or ""
    place = args["path"] if is_remote(args["path"]) else absolute(args["path"])
    known = same_source(home_of(options), name, place, settings)
    source = known or add_source(home_of(options), name, place, settings)
    daemon = reload_daemon(options)
    answer = {"name": source.name, "kind": source.kind, "path": str(source.path)}
    done = f"{source.name} already exists" if known else f"added {source.name}"
    show_value(options, "source_add", answer, f"{done}: {source.remote or source.path}")
    how = f"source sync {source.name}" if source.remote else "sync"
    if not source.live:
        remark(options, "The daemon is indexing it" if daemon else f"Next, run: vault-index {how}")


def _remotes(config: Config, name: str | None) -> list[SourceConfig]:
    if found := [one for one in config.sources if one.remote and name in (None, one.name)]:
        return found
    hint = "list the sources: vault-index source list"
    raise NotFoundError(f"there is no remote source {name or ''}".rstrip(), hint)


@takes(
    argument("name", nargs="?", metavar="NAME", help="only this source (default: all remotes)"),
    description="Send what changed here to the remotes, fetch what changed there, and index it. "
    "The daemon does this by itself (`every`).",
)
def run_source_sync(options: Options, args: dict[str, Any]) -> int:
    """Exchange changes with remote sources; return 1 if one did not answer."""
    from vault_index.remotes.mirror import synchronise
    from vault_index.runtime import Runtime

    gc.enable()
    sources = _remotes(load_config(home_of(options)), args.get("name") or options.source)
    names = [one.name for one in sources]
    call(options, "sync", {"embed": False, "source": names})  # only indexed files may leave
    with closing(Runtime.open(home_of(options))) as runtime:
        exchanges = [synchronise(runtime.machine(), source, _PATIENCE) for source in sources]
    rows = [
        {"name": name, "pulled": done.pulled, "pushed": done.pushed, "conflicts": done.conflicts}
        for name, done in zip(names, exchanges, strict=True)
    ]
    if any(done.pulled or done.conflicts for done in exchanges):
        call_with_progress(options, "sync", {"source": names})
    problems = [asdict(problem) for done in exchanges for problem in done.problems]
    show(options, "source_sync", {"results": rows, "total": len(rows), "problems": problems})
    return VaultIndexError.exit_code if problems else 0


@takes(argument("name", metavar="NAME", help="source to remove; its files stay"))
def run_source_remove(options: Options, args: dict[str, Any]) -> None:
    """Remove a vault from the configuration; the copy of a remote is deleted."""
    from vault_index.api.scopes import session_sources
    from vault_index.config.edit import remove_source

    if any(
        source.name == args["name"] for source in session_sources(load_config(home_of(options)))
    ):
        raise UsageError(
            f"{args['name']!r} holds the sessions of a client and cannot be removed",
            f"disable it: vault-index config set sessions.{args['name']}.enabled false",
        )
    config = load_config(home_of(options))
    source, stay = config.source(args["name"]), "; its files stay"
    remove_source(home_of(options), args["name"])
    daemon = reload_daemon(options)
    if source.remote:
        from vault_index.remotes.mirror import state_of

        if waiting := state_of(config, source)["pending"]:
            stay = f"; {source.path} stays, because the remote lacks changes in it ({waiting})"
        else:
            stay = " and its copy; the remote stays"
            shutil.rmtree(source.path.parent, ignore_errors=True)
    show_value(
        options,
        "source_remove",
        {"name": args["name"], "removed": True},
        f"removed {args['name']}{stay}",
    )
    if not daemon:
        remark(options, "To remove its notes from the index, run: vault-index sync")
