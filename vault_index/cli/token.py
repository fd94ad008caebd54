"""`token`: who may ask by way of `serve`, and what of the index each may see."""

import os
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_index.access import Token, Tokens
from vault_index.callers import Caller, Scope
from vault_index.cli.arguments import SEVERAL, Group, Options, absolute, argument, flag, takes
from vault_index.cli.client import home_of
from vault_index.cli.daemon import reload_daemon
from vault_index.cli.present import answer_format, remark, show, show_value
from vault_index.dates import read_date
from vault_index.disk import is_under, real_path
from vault_index.errors import NotFoundError, UsageError, did_you_mean
from vault_index.sources.names import same_name
from vault_index.times import iso_time, iso_time_or_none, local_day

if TYPE_CHECKING:  # spares the import of the configuration
    from vault_index.config import Config, SourceConfig


@takes(
    argument("name", metavar="NAME", help="how to call it, as laptop or ci; what is written with it is signed so"),
    Group("", flag("--read", "it may ask"), flag("--write", "it may ask, and write memories")),
    argument("--source", dest="sources", help="it sees these sources only", **SEVERAL),
    argument("--folder", dest="folders", metavar="DIR", action="append", help="only what lies below this folder"),
    argument("--project", dest="projects", metavar="NAME", action="append", help="only what is of this project"),
    flag("--isolated", "give it an index of its own, so that not even scores tell of anything else"),
    argument("--expires", metavar="DATE", help="the last day it is good for, as 2027-03-01 or 'in 3 months'"),
    description="Make a token for a caller of `serve`, and print it: only its hash is kept, so it is not shown again. "
    "--folder and --project may be repeated; without them and --source it sees everything.",
)
def run_token_add(options: Options, args: dict[str, Any]) -> None:
    from vault_index.config import load_config

    if "read" not in args and "write" not in args:
        raise UsageError("may it write?", "say --read or --write")
    home, now = home_of(options), datetime.now().astimezone()
    config = load_config(home)
    scope = _scope(options, config, args)
    expires = _end_of(args["expires"], now) if "expires" in args else None
    caller = Caller(args["name"], "write" in args, scope)
    token = Token(caller, now.timestamp(), expires)
    secret = Tokens(home.tokens_file).add(caller, created=token.created, expires=expires)
    if scope.isolated:
        reload_daemon(options)
    show_value(options, "token_add", {"token": secret, **_shown(token, token.created)}, secret)
    words = _in_words(token, token.created)
    remark(options, f"{caller.name} {words}. The token is shown this once: only its hash is kept.")
    memories = f"{config.memory.dir}/"
    apart = not any(memories.startswith(one) or one.startswith(memories) for one in scope.below)
    if caller.writes and scope.folders and apart:
        remark(options, f"It can store nothing: memories lie in {memories}, which it does not see.")


@takes()
def run_token_list(options: Options, args: dict[str, Any]) -> None:
    now, tokens = time.time(), Tokens(home_of(options).tokens_file).all()
    if answer_format(options, "token_list") == "human":
        wide = max((len(token.caller.name) for token in tokens), default=0)
        lines = [f"{token.caller.name:<{wide}}  {_in_words(token, now)}" for token in tokens]
        show_value(options, "token_list", {}, "\n".join(lines) or "no tokens yet")
        return
    rows = [_shown(token, now) for token in tokens]
    show(options, "token_list", {"results": rows, "total": len(rows)})


@takes(argument("name", metavar="NAME", help="the name of the token"))
def run_token_revoke(options: Options, args: dict[str, Any]) -> None:
    revoked = Tokens(home_of(options).tokens_file).revoke(args["name"])
    if revoked.caller.scope.isolated:
        reload_daemon(options)
    answer = {"name": args["name"], "revoked": True}
    show_value(options, "token_revoke", answer, f"revoked {args['name']}: it is refused from now on")


# --- what is shown -------------------------------------------------------------------------------------------------


def _shown(token: Token, now: float) -> dict[str, Any]:
    caller, scope = token.caller, token.caller.scope
    return {
        "name": caller.name,
        "writes": caller.writes,
        **scope._asdict(),
        "created": iso_time(token.created),
        "expires": iso_time_or_none(token.expires),
        "expired": token.expired(now),
    }


def _in_words(token: Token, now: float) -> str:
    """As `reads my-vault, below work/acme, of the project acme (made 2026-11-21, until 2027-02-21T23:59:59+01:00)`."""
    scope = token.caller.scope
    seen = (
        ", ".join(scope.sources) or ("" if scope.folders or scope.projects else "everything"),
        f"below {' or '.join(scope.folders)}" if scope.folders else "",
        f"of the project {' or '.join(scope.projects)}" if scope.projects else "",
        "isolated" if scope.isolated else "",
    )
    expired = "EXPIRED: " if token.expired(now) else ""
    until = f", until {iso_time(token.expires)}" if token.expires is not None else ""
    does = "reads and writes" if token.caller.writes else "reads"
    return f"{expired}{does} {', '.join(filter(None, seen))} (made {local_day(token.created)}{until})"


# --- what is asked for ---------------------------------------------------------------------------------------------


def _end_of(day: str, now: datetime) -> float:
    """The last moment of a day, or the moment itself where a time is said."""
    said = read_date(day, now, option="--expires")
    end = datetime.fromisoformat(said if len(said) > len("2027-03-01") else f"{said}T23:59:59").timestamp()
    if end <= now.timestamp():
        raise UsageError(f"--expires: {said} is over already", "give a day to come")
    return end


def _scope(options: Options, config: "Config", args: dict[str, Any]) -> Scope:
    from vault_index.cli.settings import all_sources

    for option, name in (("sources", "source"), ("folders", "folder"), ("projects", "project")):
        if not all(map(str.strip, args.get(option, ["-"]) or [""])):  # a variable of a script that was not set, say
            raise UsageError(f"--{name} is empty, which would open everything", "name what the token may see")
    known = [source.name for source in all_sources(config)]
    sources = list(dict.fromkeys(args.get("sources", ())))
    if unknown := next((name for name in sources if name not in known), ""):
        hint = did_you_mean(unknown, known, f"the sources are: {', '.join(known)}")
        raise NotFoundError(f"there is no source {unknown!r}", hint)
    folders = []
    for said in args.get("folders", ()):
        vault, folder = _inside(said, config.sources)
        if vault and sources not in ([], [vault]):
            raise UsageError(f"{said} lies in {vault}, and the token is for {', '.join(sources)}", "make two tokens")
        sources = [vault] if vault else sources
        folders.append(folder)
    projects = tuple(dict.fromkeys(name.strip() for name in args.get("projects", ())))
    if "isolated" in args and (projects or not (sources or folders)):
        why = "a project is no place of its own" if projects else "it would be the whole index once more"
        raise UsageError(f"--isolated needs a source or a folder, and no project: {why}", "give --source or --folder")
    roots = [vault.path for vault in config.sources if not sources or vault.name in sources]
    return Scope(tuple(sources), _spelled(options, folders, roots), projects, "isolated" in args)


def _inside(said: str, vaults: Iterable["SourceConfig"]) -> tuple[str, str]:
    """The vault that a folder is said to lie in, or nothing where its path is not absolute; and its path there."""
    path, vault = said.replace("\\", "/"), ""
    if path.startswith(("/", "~/")):
        ways = [(absolute(path), str(one.path), one.name) for one in vaults]
        ways += [(real_path(way), real_path(root), name) for way, root, name in ways]
        found = next(((way[len(root) :], name) for way, root, name in ways if is_under(root, way)), None)
        if found is None:
            raise UsageError(f"{said} lies in no vault", "give a folder of a vault: vault-index source list")
        path, vault = found
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        hint = f"give --source {vault or 'NAME'}" if not parts else "give it as it lies in the vault"
        raise UsageError(f"--folder {said} is {'no folder of a vault' if parts else 'the whole of a vault'}", hint)
    return vault, "/".join(parts)


def _spelled(options: Options, folders: Iterable[str], roots: Iterable[Path]) -> tuple[str, ...]:
    """The folders as they are spelled on the disk, for paths are compared letter by letter; which are not there is
    said: they may come, or be misspelled."""
    found: dict[str, None] = {}
    for folder in folders:
        there = [spelled for root in roots if (spelled := _on_disk(root, folder))]
        found |= dict.fromkeys(there or [folder])
        if not there:
            remark(options, f"There is no folder {folder} yet: the token shows what will be there, and nothing else.")
    return tuple(found)


def _on_disk(root: Path, folder: str) -> str:
    """The path of a folder whose names may differ in their Unicode normal form; nothing where there is none."""
    at = root
    for part in folder.split("/"):
        try:
            at /= same_name(part, names := os.listdir(at))
        except OSError:
            return ""
        if at.name not in names:
            return ""
    return at.relative_to(root).as_posix() if at.is_dir() else ""
