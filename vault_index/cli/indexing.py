"""`init`, `sync`, `rebuild`, `embed`, `watch`: create the index, bring it up to date and keep it so."""

import gc
import json
import os
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from vault_index.cli.arguments import NO_EMBED, Group, Options, absolute, argument, flag, takes
from vault_index.cli.client import call, call_here, call_with_progress, home_of, with_source
from vault_index.cli.present import answer_format, print_error, remark, show
from vault_index.errors import EmbedderError, UsageError, VaultIndexError

if TYPE_CHECKING:  # spares the import of the configuration
    from vault_index.config import Home


@takes(
    argument(
        "vault", nargs="?", metavar="VAULT", help="the folder of the notes; another one is added"
    ),
    argument(
        "--provider",
        choices=("local", "openai", "none"),
        help="who makes the vectors: the model that comes along (the default), a server, nobody",
    ),
    argument("--memory-dir", metavar="DIR", help="the folder of the memories in the vault"),
    flag("--no-sessions", "leave the sessions of every agent out"),
    flag("--no-opencode", "leave those of OpenCode out"),
    flag("--no-sync", "write the configuration only"),
    NO_EMBED,
)
def run_init(options: Options, args: dict[str, Any]) -> int:
    from vault_index.cli.daemon import reload_daemon  # only here: `sync` is not to pay for a socket
    from vault_index.config import load_config
    from vault_index.config.edit import create_config, set_value
    from vault_index.config.schema import CLIENTS

    home = home_of(options)
    if args.get("vault") == "":
        raise UsageError(
            "the name of the vault's folder is empty", "name it: vault-index init ~/Vault"
        )
    vault = args.get("vault") or _vault(home.config_file.exists())
    answer: dict[str, Any] = {"config": str(home.config_file), "source": None, "vault": None}
    if vault:
        done = create_config(home, absolute(vault), args.get("provider"), args.get("memory_dir"))
        answer |= {
            "source": done.source,
            "vault": absolute(vault),
            "created": done.created,
            "added": done.added,
        }
    else:
        for key, option in (("embedding.provider", "provider"), ("memory.dir", "memory_dir")):
            if option in args:
                set_value(home, key, args[option])
    left_out = CLIENTS if "no_sessions" in args else ("opencode",) if "no_opencode" in args else ()
    answer["sessions"] = _sessions(options, left_out)
    answer["opencode"] = next(
        (row["path"] for row in answer["sessions"] if row["client"] == "opencode"), None
    )
    human = answer_format(options, "init") == "human"
    if human and answer.get("created"):
        remark(options, f"Wrote {home.config_file}")
    if (
        answer["sessions"]
        and (config := load_config(home)).sessions.keep
        and not config.sessions.mirror
    ):
        remark(
            options,
            f"What clients delete of their sessions is kept in {home.sessions_dir} (sessions.keep)",
        )
    daemon = reload_daemon(options)
    report: dict[str, Any] = {}
    if "no_sync" not in args:
        report = _work(options, "sync", {"embed": False} if "embed" in args else {})
    show(options, "init", {**answer, "daemon": daemon, "sync": report or None})
    status = call(options, "status", {}) if report else {"embedder": {}, "problems": ()}
    if advice := status["embedder"].get("advice"):
        remark(options, f"{advice[0].upper()}{advice[1:]}")
    problems = [problem for problem in status["problems"] if problem["code"] != "left_out"]
    if len(problems) > len(report.get("problems", ())):
        remark(options, "Some files need attention: vault-index status")
    return _exit_code(options, "init", report)


def _sessions(options: Options, left_out: Collection[str]) -> list[dict[str, Any]]:
    """The clients whose sessions are indexed: how many there are, and since when. Settings that the configuration lacks
    are written."""
    from vault_index.config import load_config
    from vault_index.sources.sessions.source import SessionSource

    try:
        _find_sessions(home_of(options), left_out)
    except (
        VaultIndexError
    ) as error:  # a file that another program manages: the rest of `init` works all the same
        remark(options, f"Sessions are left as they were: {error.message}")
    config = load_config(home_of(options))
    wanted = [
        SessionSource(config, name) for name, client in config.clients.items() if client.enabled
    ]
    found = [source for source in wanted if not source.missing()]
    if wanted and not found:
        named = ", ".join(source.title for source in wanted)
        remark(
            options,
            f"There are no sessions of agents yet ({named}): they are indexed as soon as there are some",
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
    """A folder that only the environment names is written to the configuration: the daemon has another environment."""
    from vault_index.config import load_config
    from vault_index.config.edit import set_value
    from vault_index.sources.sessions.clients import folders_of
    from vault_index.sources.sessions.source import SessionSource

    for name in left_out:
        set_value(home, f"sessions.{name}.enabled", "false")
    config = load_config(home)
    for name in config.clients.keys() - config.told:
        if config.clients[name].enabled and not SessionSource(config, name).missing():
            set_value(home, f"sessions.{name}.enabled", "true")
            database = os.environ.get("OPENCODE_DB", "") if name == "opencode" else ""
            found = [folder / database for folder in folders_of(name)]
            if found != folders_of(name, environ={}):
                set_value(home, f"sessions.{name}.data", json.dumps([*map(str, found)]))


def _vault(set_up: bool) -> str:
    """The vault when none was given: asked for on a terminal, empty if there is a configuration already."""
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
        "which folder holds the notes?", f"name it: vault-index init {here or '~/Vault'}"
    )


@takes(
    argument(
        "paths", nargs="*", metavar="PATH", help="only these files and folders of the sources"
    ),
    flag("--dry-run", "say what would change, and change nothing"),
    NO_EMBED,
)
def run_sync(options: Options, args: dict[str, Any]) -> int:
    if paths := args.pop("paths", ()):
        args["paths"] = [absolute(path) for path in paths]
    if "dry_run" in args:
        remark(options, "vault-index: a dry run: nothing is changed")
    return _bring_up_to_date(options, "sync", args)


@takes(NO_EMBED)
def run_rebuild(options: Options, args: dict[str, Any]) -> int:
    return _bring_up_to_date(options, "rebuild", args)


@takes(
    Group(
        "",
        flag("--plan", "say what it would cost, and send nothing"),
        flag("--status", "say how far it is"),
        flag("--rebuild", "compute every vector again; the old ones serve until then"),
    )
)
def run_embed(options: Options, args: dict[str, Any]) -> int:
    if "plan" in args or "status" in args:
        # In the daemon this would wait behind the embedding that it asks about.
        show(options, "embed", call_here(options, "embed", args))
        return 0
    return _bring_up_to_date(options, "embed", args)


@takes(
    argument(
        "--log-format",
        choices=("text", "json"),
        help="how a line of the log looks: key=value pairs, or a JSON object",
    )
)
def run_watch(options: Options, args: dict[str, Any]) -> int:
    from vault_index.daemon.run import run
    from vault_index.mcp_server.toolbox import answer_tool

    gc.enable()
    level = "debug" if options.verbose else "warning" if options.quiet else "info"
    return run(
        home_of(options),
        log_level=level,
        log_format=args.get("log_format", "text"),
        tools=answer_tool,
    )


def _bring_up_to_date(options: Options, method: str, params: dict[str, Any]) -> int:
    """Call a writing method with a progress bar and show its report; exit code 6 if the embedder failed."""
    report = _work(options, method, params)
    show(options, method, report)
    return _exit_code(options, method, report)


def _work(options: Options, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The report of a writing method, which may take minutes."""
    return call_with_progress(
        options, method, with_source(options, params) if method == "sync" else params
    )


def _exit_code(options: Options, method: str, report: dict[str, Any]) -> int:
    """6 if text was indexed but not embedded; the error is printed where the report does not show it."""
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
