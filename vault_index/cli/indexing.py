"""`init`, `sync`, `rebuild`, `embed`, `watch`: create the index and keep it up to date."""

import gc
import json
import os
import sys
from collections.abc import Collection
from typing import Any

from vault_index.cli.arguments import NO_EMBED, Group, Options, absolute, argument, flag, takes
from vault_index.cli.client import (
    call,
    call_here,
    call_with_progress,
    home_of,
    reload_daemon,
    with_source,
)
from vault_index.cli.present import answer_format, print_error, remark, show
from vault_index.config import Home
from vault_index.errors import EmbedderError, UsageError, VaultIndexError


@takes(
    argument(
        "vault",
        nargs="?",
        metavar="VAULT",
        help="folder of the notes; run again with another folder to add it",
    ),
    argument(
        "--provider",
        choices=("local", "openai", "none"),
        help="embedder: local (default, the bundled model), openai (a server), or none",
    ),
    argument(
        "--memory-dir", metavar="DIR", help="folder of memories in the vault (default: 80-memory)"
    ),
    flag("--no-sessions", "do not index agent sessions"),
    flag("--no-opencode", "do not index sessions of OpenCode"),
    flag("--no-sync", "write the configuration without indexing"),
    NO_EMBED,
)
def run_init(options: Options, args: dict[str, Any]) -> int:
    """Write the configuration, index the vault, and print the next steps."""
    from vault_index.config import load_config
    from vault_index.config.schema import CLIENTS

    home = home_of(options)
    answer = {"config": str(home.config_file), **_configure(home, args)}
    left_out = ("opencode",) if "no_opencode" in args else ()
    answer["sessions"] = _sessions(options, CLIENTS if "no_sessions" in args else left_out)
    answer["opencode"] = next(
        (row["path"] for row in answer["sessions"] if row["client"] == "opencode"), None
    )
    human = answer_format(options, "init") == "human"
    if human and answer.get("created"):
        remark(options, f"Wrote {home.config_file}")
    sessions = load_config(home).sessions
    if answer["sessions"] and sessions.keep and not sessions.mirror:
        remark(
            options,
            f"Sessions that clients delete are kept in {home.sessions_dir} (sessions.keep)",
        )
    daemon = reload_daemon(options)
    report: dict[str, Any] = {}
    if "no_sync" not in args:
        report = _work(options, "sync", {"embed": False} if "embed" in args else {})
    show(options, "init", {**answer, "daemon": daemon, "sync": report or None})
    if report:
        _remark_problems(options, call(options, "status", {}), report)
    return _exit_code(options, "init", report)


def _configure(home: "Home", args: dict[str, Any]) -> dict[str, Any]:
    """Write the configuration; return the keys of the answer about it."""
    from vault_index.config.edit import create_config, set_value

    if args.get("vault") == "":
        raise UsageError(
            "the name of the vault folder is empty", "name it: vault-index init ~/Vault"
        )
    vault = args.get("vault") or _vault(home.config_file.exists())
    if not vault:
        for key, option in (("embedding.provider", "provider"), ("memory.dir", "memory_dir")):
            if option in args:
                set_value(home, key, args[option])
        return {"source": None, "vault": None}
    done = create_config(home, absolute(vault), args.get("provider"), args.get("memory_dir"))
    return {
        "source": done.source,
        "vault": absolute(vault),
        "created": done.created,
        "added": done.added,
    }


def _remark_problems(options: Options, status: dict[str, Any], report: dict[str, Any]) -> None:
    if advice := status["embedder"].get("advice"):
        remark(options, f"{advice[0].upper()}{advice[1:]}")
    problems = [problem for problem in status["problems"] if problem["code"] != "left_out"]
    if len(problems) > len(report.get("problems", ())):
        remark(options, "Some files have problems; see: vault-index status")


def _sessions(options: Options, left_out: Collection[str]) -> list[dict[str, Any]]:
    """Return the clients whose sessions are indexed, with the number and start of their sessions.

    Write the settings that the configuration lacks.
    """
    from vault_index.config import load_config
    from vault_index.sources.sessions.source import SessionSource

    try:
        _find_sessions(home_of(options), left_out)
    except VaultIndexError as error:  # another program manages the file; `init` can go on
        remark(options, f"The settings of sessions were not changed: {error.message}")
    config = load_config(home_of(options))
    wanted = [
        SessionSource(config, name) for name, client in config.clients.items() if client.enabled
    ]
    found = [source for source in wanted if not source.missing()]
    if wanted and not found:
        named = ", ".join(source.title for source in wanted)
        remark(
            options,
            f"No agent sessions found yet ({named}); new ones will be indexed automatically",
        )
    rows = []
    for source in found:
        name, (number, since) = source.config.name, source.found()
        data = ", ".join(config.clients[name].data) or str(source.config.path)
        rows.append(
            {
                "client": name,
                "title": source.title,
                "path": data,
                "sessions": number,
                "since": since,
            }
        )
    return rows


def _find_sessions(home: "Home", left_out: Collection[str]) -> None:
    """Enable clients that have sessions, and save folders that only the environment names.

    The daemon has another environment, so it needs them in the configuration.
    """
    from vault_index.config import load_config
    from vault_index.config.edit import set_value
    from vault_index.sources.sessions.clients import KNOWN, folders_of
    from vault_index.sources.sessions.source import SessionSource

    for name in left_out:
        set_value(home, f"sessions.{name}.enabled", "false")
    config = load_config(home)
    for name in config.clients.keys() - config.configured:
        if config.clients[name].enabled and not SessionSource(config, name).missing():
            set_value(home, f"sessions.{name}.enabled", "true")
            database = os.environ.get("OPENCODE_DB", "") if name == "opencode" else ""
            found = [folder / database for folder in folders_of(name)]
            if not KNOWN[name].imported and found != folders_of(name, environ={}):
                set_value(home, f"sessions.{name}.data", json.dumps([*map(str, found)]))


def _vault(set_up: bool) -> str:
    """Ask for the vault on a terminal; return an empty string if a configuration exists.

    Raises UsageError without a terminal.
    """
    if set_up:
        return ""
    here = os.getcwd() if os.path.isdir(".obsidian") else ""
    if sys.stdin.isatty() and sys.stderr.isatty():
        print(
            f"Folder of your notes{f' [{here}]' if here else ''}: ",
            end="",
            file=sys.stderr,
            flush=True,
        )
        answer = sys.stdin.readline().strip() or here
        if answer:
            return answer
    raise UsageError(
        "the folder of the notes is missing", f"name it: vault-index init {here or '~/Vault'}"
    )


@takes(
    argument("paths", nargs="*", metavar="PATH", help="files and folders to update (default: all)"),
    flag("--dry-run", "print the changes without making them"),
    NO_EMBED,
)
def run_sync(options: Options, args: dict[str, Any]) -> int:
    """Update the index."""
    if paths := args.pop("paths", ()):
        args["paths"] = [absolute(path) for path in paths]
    if "dry_run" in args:
        remark(options, "vault-index: dry run: nothing is changed")
    return _bring_up_to_date(options, "sync", args)


@takes(NO_EMBED)
def run_rebuild(options: Options, args: dict[str, Any]) -> int:
    """Rebuild the index from all files."""
    return _bring_up_to_date(options, "rebuild", args)


@takes(
    Group(
        "",
        flag("--plan", "estimate the cost without sending anything"),
        flag("--status", "show the progress"),
        flag("--rebuild", "compute all vectors again; search uses the old ones until then"),
    )
)
def run_embed(options: Options, args: dict[str, Any]) -> int:
    """Compute missing vectors, or print the cost or the progress."""
    if "plan" in args or "status" in args:
        # In the daemon, this request would wait until the embedding is finished.
        show(options, "embed", call_here(options, "embed", args))
        return 0
    return _bring_up_to_date(options, "embed", args)


@takes()
def run_watch(options: Options, args: dict[str, Any]) -> int:
    """Run the daemon until it is stopped."""
    from vault_index.daemon.run import run
    from vault_index.mcp_server.toolbox import answer_tool

    gc.enable()
    return run(home_of(options), log_level=options.log_level, tools=answer_tool)


def _bring_up_to_date(options: Options, method: str, params: dict[str, Any]) -> int:
    """Call a writing method, print its report, and return 6 if the embedder failed, else 0."""
    report = _work(options, method, params)
    show(options, method, report)
    return _exit_code(options, method, report)


def _work(options: Options, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Call a writing method with a progress bar and return its report."""
    return call_with_progress(
        options, method, with_source(options, params) if method == "sync" else params
    )


def _exit_code(options: Options, method: str, report: dict[str, Any]) -> int:
    """Return 6 if the embedder failed, else 0; print the error if the report does not show it."""
    problems = report.get("problems", ())
    failed = next((problem for problem in problems if problem["code"] == EmbedderError.code), None)
    if failed is None:
        return 0
    form = answer_format(options, method)
    if form != "human":  # the report for people shows the problem
        print_error(
            EmbedderError(failed["message"], failed["hint"]), as_json=form in ("json", "jsonl")
        )
    return EmbedderError.exit_code
