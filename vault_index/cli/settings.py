"""`config`: read and change the settings."""

import argparse
import json
from typing import Any

from vault_index.cli.client import home_of
from vault_index.cli.options import Options
from vault_index.cli.present import remark, show, show_value
from vault_index.cli.reload import reload_daemon

_KEY = "section.key, as search.limit; with --source NAME a key of that source, as exclude"


def add_config_get(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help=_KEY)


def run_config_get(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config.edit import get_value

    value = get_value(home_of(options), args["key"], options.source or "")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    show_value(options, "config_get", {"key": args["key"], "value": value}, text)
    return 0


def add_config_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help=_KEY)
    parser.add_argument("value", metavar="VALUE", help='a text, a number, true or false, or a list as "a, b"')


def run_config_set(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config.edit import get_value, set_value

    home = home_of(options)
    set_value(home, args["key"], args["value"], options.source or "")
    reload_daemon(options)
    value = get_value(home, args["key"], options.source or "", {})
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    show_value(options, "config_set", {"key": args["key"], "value": value}, f"{args['key']} = {shown}")
    if args["key"].startswith("embedding."):
        remark(options, "Vectors of another model are made by: vault-index embed (--plan tells what it costs)")
    return 0


def run_config_list(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config.edit import list_values

    prefix = f"sources.{options.source}." if options.source else ""
    settings = [setting for setting in list_values(home_of(options)) if setting.key.startswith(prefix)]
    rows = [{"key": setting.key, "value": setting.value, "origin": setting.origin} for setting in settings]
    show(options, "config_list", {"results": rows, "total": len(rows)})
    return 0


def add_config_delete(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", help=_KEY)


def run_config_delete(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config.edit import delete_value

    deleted = delete_value(home_of(options), args["key"], options.source or "")
    if deleted:
        reload_daemon(options)
    text = f"{args['key']} has its default again" if deleted else f"{args['key']} was not set"
    show_value(options, "config_delete", {"key": args["key"], "deleted": deleted}, text)
    return 0


def run_config_path(options: Options, args: dict[str, Any]) -> int:
    file = home_of(options).config_file
    show_value(options, "config_path", {"path": str(file), "exists": file.exists()}, str(file))
    return 0
