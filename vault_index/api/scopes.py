"""What a token shall be good for, as people say it: the part of the index that it may see, and until when."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_index.access import Token
from vault_index.callers import Caller, Scope
from vault_index.dates import read_date
from vault_index.disk import is_under, real_path
from vault_index.errors import NotFoundError, UsageError, did_you_mean
from vault_index.sources.names import same_name
from vault_index.times import iso_time, iso_time_or_none

if TYPE_CHECKING:  # spares the import of the configuration
    from vault_index.config import Config, SourceConfig


def read_scope(
    config: "Config", said: Mapping[str, Sequence[str]], *, isolated: bool = False, dashes: str = ""
) -> tuple[Scope, tuple[str, ...]]:
    """Of what is `said` of `sources`, `folders` and `projects`, and the folders that are not there. `dashes` stand
    before the names of options. Raises UsageError, and NotFoundError for a source that is none."""
    for key in ("sources", "folders", "projects"):
        if not all(
            map(str.strip, said.get(key, ["-"]) or [""])
        ):  # a variable of a script that was not set, say
            raise UsageError(
                f"{dashes}{key[:-1]} is empty, which would open everything",
                "name what the token may see",
            )
    known = [source.name for source in all_sources(config)]
    sources = list(dict.fromkeys(said.get("sources", ())))
    if unknown := next((name for name in sources if name not in known), ""):
        hint = did_you_mean(unknown, known, f"the sources are: {', '.join(known)}")
        raise NotFoundError(f"there is no source {unknown!r}", hint)
    folders = []
    for folder in said.get("folders", ()):
        vault, path = _inside(folder, config.sources, dashes)
        if vault and sources not in ([], [vault]):
            raise UsageError(
                f"{folder} lies in {vault}, and the token is for {', '.join(sources)}",
                "make two tokens",
            )
        sources = [vault] if vault else sources
        folders.append(path)
    projects = tuple(dict.fromkeys(name.strip() for name in said.get("projects", ())))
    if isolated and (projects or not (sources or folders)):
        why = (
            "a project is no place of its own"
            if projects
            else "it would be the whole index once more"
        )
        hint = f"give {dashes}source or {dashes}folder"
        raise UsageError(
            f"{dashes}isolated needs a source or a folder, and no project: {why}", hint
        )
    roots = [vault.path for vault in config.sources if not sources or vault.name in sources]
    spelled, absent = _spelled(folders, roots)
    return Scope(tuple(sources), spelled, projects, isolated), absent


def end_of(day: str, now: datetime, *, option: str) -> float:
    """The last moment of a day, or the moment itself where a time is said. Raises UsageError for one that is over."""
    said = read_date(day, now, option=option)
    end = datetime.fromisoformat(
        said if len(said) > len("2027-03-01") else f"{said}T23:59:59"
    ).timestamp()
    if end <= now.timestamp():
        raise UsageError(f"{option}: {said} is over already", "give a day to come")
    return end


def doubts(config: "Config", caller: Caller, absent: Iterable[str]) -> list[str]:
    """What whoever makes a token may not have meant, in sentences; `absent` are its folders that are not there."""
    told = [
        f"There is no folder {one} yet: the token shows what will be there, and nothing else."
        for one in absent
    ]
    memories = f"{config.memory.dir}/"
    apart = not any(
        memories.startswith(one) or one.startswith(memories) for one in caller.scope.below
    )
    if caller.writes and caller.scope.folders and apart:
        told.append(f"It can store nothing: memories lie in {memories}, which it does not see.")
    return told


def token_row(token: Token, now: float) -> dict[str, Any]:
    """A token as it is listed."""
    return {
        "name": token.caller.name,
        "writes": token.caller.writes,
        **token.caller.scope._asdict(),
        "created": iso_time(token.created),
        "expires": iso_time_or_none(token.expires),
        "expired": token.expired(now),
    }


def all_sources(config: "Config") -> tuple["SourceConfig", ...]:
    """The vaults, and the sessions of clients that were spoken of, or that are there."""
    return (*config.sources, *session_sources(config))


def session_sources(config: "Config") -> tuple["SourceConfig", ...]:
    from vault_index.sources.sessions.source import SessionSource  # late: most ask for no session

    sources = (
        SessionSource(config, name) for name, client in config.clients.items() if client.enabled
    )
    return tuple(source.config for source in sources if source.told or not source.missing())


def _inside(said: str, vaults: Iterable["SourceConfig"], dashes: str) -> tuple[str, str]:
    """The vault that a folder is said to lie in, or nothing where its path is not absolute; and its path there."""
    path, vault = said.replace("\\", "/"), ""
    if path.startswith(("/", "~/")):
        here = os.path.abspath(os.path.expanduser(path))
        ways = [(here, str(one.path), one.name) for one in vaults]
        ways += [(real_path(way), real_path(root), name) for way, root, name in ways]
        found = next(
            ((way[len(root) :], name) for way, root, name in ways if is_under(root, way)), None
        )
        if found is None:
            raise UsageError(
                f"{said} lies in no vault", "give a folder of a vault: vault-index source list"
            )
        path, vault = found
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        hint = (
            f"give {dashes}source {vault or 'NAME'}"
            if not parts
            else "give it as it lies in the vault"
        )
        what = "no folder of a vault" if parts else "the whole of a vault"
        raise UsageError(f"{dashes}folder {said} is {what}", hint)
    return vault, "/".join(parts)


def _spelled(
    folders: Iterable[str], roots: Iterable[Path]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The folders as they are spelled on the disk, for paths are compared letter by letter; and those that are not
    there: they may come, or be misspelled."""
    found: dict[str, None] = {}
    absent: dict[str, None] = {}
    for folder in folders:
        there = [spelled for root in roots if (spelled := _on_disk(root, folder))]
        found |= dict.fromkeys(there or [folder])
        absent |= {} if there else {folder: None}
    return tuple(found), tuple(absent)


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
