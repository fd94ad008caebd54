"""`init`: from nothing to an index that answers."""

import argparse
import os
import sys
from typing import Any

from vault_index.cli.arguments import absolute
from vault_index.cli.client import home_of
from vault_index.cli.indexing import exit_code, work
from vault_index.cli.options import Options
from vault_index.cli.present import answer_format, remark, show
from vault_index.cli.reload import reload_daemon
from vault_index.errors import UsageError, VaultIndexError

TYPE_CHECKING = False  # spares the import of the configuration; type checkers know the name
if TYPE_CHECKING:
    from vault_index.config import Home


def add_init(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("vault", nargs="?", metavar="VAULT", help="the folder of the notes; another one is added")
    parser.add_argument(
        "--provider",
        choices=("local", "openai", "none"),
        help="who makes the vectors: the model that comes along (the default), a server, nobody",
    )
    parser.add_argument("--memory-dir", metavar="DIR", help="the folder of the memories in the vault")
    parser.add_argument("--no-opencode", action="store_true", help="leave the sessions of OpenCode out")
    parser.add_argument("--no-sync", action="store_true", help="write the configuration only")
    parser.add_argument("--no-embed", action="store_true", help="stop when the text is searchable")


def run_init(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config.edit import create_config

    home = home_of(options)
    vault = args.get("vault") or _vault(home.config_file.exists())
    answer: dict[str, Any] = {"config": str(home.config_file), "source": None, "vault": None}
    if vault:
        done = create_config(home, absolute(vault), args.get("provider"), args.get("memory_dir"))
        answer |= {"source": done.source, "vault": absolute(vault), "created": done.created, "added": done.added}
    else:
        _change(options, args)
    answer["opencode"] = _sessions(options, wanted="no_opencode" not in args)
    human = answer_format(options, "init") == "human"
    if human and answer.get("created"):
        remark(options, f"Wrote {home.config_file}")
    daemon = reload_daemon(options, answer["source"] or "")
    report: dict[str, Any] = {}
    if "no_sync" not in args:
        report = work(options, "sync", {"embed": False} if "no_embed" in args else {})
    show(options, "init", {**answer, "daemon": daemon, "sync": report or None})
    return exit_code(options, "init", report)


def _sessions(options: Options, *, wanted: bool) -> str | None:
    """The folder that OpenCode's sessions are read from, if they are; what the file does not say of them yet is set."""
    from vault_index.config import load_config
    from vault_index.sources.opencode.stores import data_folder

    try:
        _find_sessions(home_of(options), wanted=wanted)
    except VaultIndexError as error:  # a file that another program manages: the rest of `init` works all the same
        remark(options, f"Sessions of OpenCode are left as they were: {error.message}")
    found = load_config(home_of(options)).opencode
    return (found.data or str(data_folder(None, os.environ))) if found.enabled else None


def _find_sessions(home: "Home", *, wanted: bool) -> None:
    """A folder that only this shell's environment names is written down: the daemon will not know that environment."""
    from vault_index.config.edit import list_values, set_value
    from vault_index.sources.opencode.stores import data_folder, find_places

    said = {setting.key for setting in list_values(home) if setting.origin != "default"}
    if not wanted:
        set_value(home, "opencode.enabled", "false")
    elif "opencode.enabled" not in said and (found := find_places()):
        set_value(home, "opencode.enabled", "true")
        if found != find_places(environ={}) and "opencode.data" not in said:
            own = found.databases[0] if found.databases and os.environ.get("OPENCODE_DB") else None
            set_value(home, "opencode.data", str(own or data_folder(None, os.environ)))


def _vault(set_up: bool) -> str:
    """The vault when none was given: asked for at a terminal; none where there is a configuration already."""
    if set_up:
        return ""
    here = os.getcwd() if os.path.isdir(".obsidian") else ""
    if sys.stdin.isatty() and sys.stderr.isatty():
        print(f"Folder of your notes{f' [{here}]' if here else ''}: ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline().strip() or here
        if answer:
            return answer
    raise UsageError("which folder holds the notes?", f"Name it: vault-index init {here or '~/Vault'}")


def _change(options: Options, args: dict[str, Any]) -> None:
    """`init --provider …` without a vault, where a configuration is there already."""
    from vault_index.config.edit import set_value

    for key, option in (("embedding.provider", "provider"), ("memory.dir", "memory_dir")):
        if option in args:
            set_value(home_of(options), key, args[option])
