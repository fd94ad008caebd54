"""`source`: the vaults that are indexed."""

import argparse
from typing import Any

from vault_index.cli.arguments import absolute, names
from vault_index.cli.client import home_of
from vault_index.cli.options import Options
from vault_index.cli.present import remark, show, show_value
from vault_index.cli.reload import reload_daemon
from vault_index.errors import UsageError

TYPE_CHECKING = False  # spares the import of the configuration; type checkers know the names
if TYPE_CHECKING:
    from vault_index.config import Config, SourceConfig


def run_source_list(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config import load_config

    config = load_config(home_of(options))
    sources = [*config.sources, *_sessions(config)]
    rows = [
        {
            "name": source.name,
            "kind": source.kind,
            "path": str(source.path),
            "include": list(source.include),
            "exclude": list(source.exclude),
            "local_only": source.local_only if isinstance(source.local_only, bool) else list(source.local_only),
        }
        for source in sources
        if options.source in (None, source.name)
    ]
    show(options, "source_list", {"results": rows, "total": len(rows)})
    return 0


def _sessions(config: "Config") -> tuple["SourceConfig", ...]:
    from vault_index.sources.opencode.source import OpenCodeSource

    return (OpenCodeSource(config.opencode).config,) if config.opencode.enabled else ()


def add_source_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="the folder of the vault")
    parser.add_argument("--name", metavar="NAME", help="how to call it (default: after the folder)")
    parser.add_argument("--include", metavar="A,B", type=names, action="extend", help="only what these globs match")
    parser.add_argument("--exclude", metavar="A,B", type=names, action="extend", help="not what these globs match")
    parser.add_argument(
        "--local-only", metavar="A,B", type=names, action="extend", help="folders and globs that stay on this machine"
    )


def run_source_add(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config.edit import add_source

    settings: dict[str, Any] = {key: args[key] for key in ("include", "exclude", "local_only") if key in args}
    name = args.get("name") or options.source or ""
    source = add_source(home_of(options), name, absolute(args["path"]), settings)
    reload_daemon(options, source.name)
    answer = {"name": source.name, "kind": source.kind, "path": str(source.path)}
    show_value(options, "source_add", answer, f"added {source.name}: {source.path}")
    remark(options, "Index it with: vault-index sync")
    return 0


def add_source_remove(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the source to forget; its files stay")


def run_source_remove(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config import load_config
    from vault_index.config.edit import remove_source

    if any(source.name == args["name"] for source in _sessions(load_config(home_of(options)))):
        raise UsageError(
            "the sessions of OpenCode are no section of their own", "vault-index config set opencode.enabled false"
        )
    remove_source(home_of(options), args["name"])
    reload_daemon(options)
    show_value(
        options, "source_remove", {"name": args["name"], "removed": True}, f"removed {args['name']}; its files stay"
    )
    remark(options, "The next sync takes its notes out of the index: vault-index sync")
    return 0
