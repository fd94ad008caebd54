"""`config` and `source`: read and change the settings and the vaults that are indexed."""

import json
from typing import TYPE_CHECKING, Any

from vault_index.cli.arguments import SEVERAL, Options, absolute, argument, takes
from vault_index.cli.client import home_of
from vault_index.cli.daemon import reload_daemon
from vault_index.cli.present import remark, show, show_value
from vault_index.errors import UsageError, VaultIndexError

if TYPE_CHECKING:  # spares the import of the configuration
    from vault_index.config import Config, Home

_KEY = argument(
    "key",
    metavar="KEY",
    help="section.key, as search.limit; with --source NAME a key of that source, as exclude",
)


@takes(_KEY)
def run_config_get(options: Options, args: dict[str, Any]) -> None:
    from vault_index.config.edit import get_value

    value = get_value(home_of(options), args["key"], options.source or "")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    show_value(options, "config_get", {"key": args["key"], "value": value}, text)


@takes(
    _KEY,
    argument("value", metavar="VALUE", help='a text, a number, true or false, or a list as "a, b"'),
)
def run_config_set(options: Options, args: dict[str, Any]) -> None:
    from vault_index.config.edit import get_value, set_value

    home = home_of(options)
    judge = _choose_model if args["key"] in ("embedding.model", "embedding.dimensions") else None
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
    from vault_index.config import load_config

    try:
        _check_model(load_config(home))
    except VaultIndexError as error:
        return f"Not yet: {error.in_one_line}"
    return "Vectors of another model are made by: vault-index embed (--plan tells what it costs)"


def _choose_model(config: "Config") -> None:
    """As `_check_model`; but with the address of a server its model may be named before the provider."""
    if not config.embedding.base_url:
        _check_model(config)


def _check_model(config: "Config") -> None:
    """Raises ConfigError, EmbedderError where the local embedder has no such model."""
    from vault_index.embeddings.spaces import check_model

    if config.embedding.provider == "local":
        check_model(config.embedding)


@takes()
def run_config_list(options: Options, args: dict[str, Any]) -> None:
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
    from vault_index.config.edit import delete_value

    deleted = delete_value(home_of(options), args["key"], options.source or "")
    if deleted:
        reload_daemon(options)
    text = f"{args['key']} has its default again" if deleted else f"{args['key']} was not set"
    show_value(options, "config_delete", {"key": args["key"], "deleted": deleted}, text)
    if deleted and args["key"].startswith("embedding."):
        remark(options, _next_step(home_of(options)))


@takes()
def run_config_path(options: Options, args: dict[str, Any]) -> None:
    file = home_of(options).config_file
    show_value(options, "config_path", {"path": str(file), "exists": file.exists()}, str(file))


@takes()
def run_source_list(options: Options, args: dict[str, Any]) -> None:
    from vault_index.api.scopes import all_sources
    from vault_index.config import load_config

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
        }
        for source in all_sources(config)
        if options.source is None or options.source.casefold() == source.name.casefold()
    ]
    show(options, "source_list", {"results": rows, "total": len(rows)})


@takes(
    argument("path", metavar="PATH", help="the folder of the vault"),
    argument("--name", metavar="NAME", help="how to call it (default: after the folder)"),
    argument("--include", help="only what these globs match", **SEVERAL),
    argument("--exclude", help="not what these globs match", **SEVERAL),
    argument("--local-only", help="folders and globs that stay on this machine", **SEVERAL),
)
def run_source_add(options: Options, args: dict[str, Any]) -> None:
    from vault_index.config.edit import add_source, same_source

    settings: dict[str, Any] = {
        key: args[key] for key in ("include", "exclude", "local_only") if key in args
    }
    name = args.get("name") or options.source or ""
    known = same_source(home_of(options), name, absolute(args["path"]), settings)
    source = known or add_source(home_of(options), name, absolute(args["path"]), settings)
    daemon = reload_daemon(options)
    answer = {"name": source.name, "kind": source.kind, "path": str(source.path)}
    done = f"{source.name} is there already" if known else f"added {source.name}"
    show_value(options, "source_add", answer, f"{done}: {source.path}")
    remark(options, "The daemon indexes it now" if daemon else "Index it with: vault-index sync")


@takes(argument("name", metavar="NAME", help="the source to forget; its files stay"))
def run_source_remove(options: Options, args: dict[str, Any]) -> None:
    from vault_index.api.scopes import session_sources
    from vault_index.config import load_config
    from vault_index.config.edit import remove_source

    if any(
        source.name == args["name"] for source in session_sources(load_config(home_of(options)))
    ):
        raise UsageError(
            f"the sessions of a client are no section that could be removed, as {args['name']!r} are",
            f"vault-index config set sessions.{args['name']}.enabled false",
        )
    remove_source(home_of(options), args["name"])
    daemon = reload_daemon(options)
    show_value(
        options,
        "source_remove",
        {"name": args["name"], "removed": True},
        f"removed {args['name']}; its files stay",
    )
    if not daemon:
        remark(options, "The next sync takes its notes out of the index: vault-index sync")
