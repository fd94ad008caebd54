"""Reads the scope and the expiry of a token from the options of `token add`."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from vault_index.access import Token
from vault_index.callers import Caller, Scope
from vault_index.config import Config, SourceConfig
from vault_index.dates import read_date
from vault_index.disk import is_under, real_path
from vault_index.errors import NotFoundError, UsageError, did_you_mean
from vault_index.sources.files import same_name
from vault_index.times import iso_time, iso_time_or_none


def read_scope(
    config: "Config", options: Mapping[str, Sequence[str]], *, dashes: str = ""
) -> tuple[Scope, tuple[str, ...]]:
    """Return the scope for `sources`, `folders` and `projects`, and its missing folders.

    `dashes` precede option names in error messages. Raises UsageError, and NotFoundError for an
    unknown source.
    """
    for key in ("sources", "folders", "projects"):
        # An unset variable in a script gives an empty value.
        if not all(map(str.strip, options.get(key, ["-"]) or [""])):
            raise UsageError(
                f"{dashes}{key[:-1]} is empty, which would allow everything",
                "give a value, or leave the option out",
            )
    known = [source.name for source in all_sources(config)]
    sources = list(dict.fromkeys(options.get("sources", ())))
    if unknown := next((name for name in sources if name not in known), ""):
        hint = did_you_mean(unknown, known, f"the sources are: {', '.join(known)}")
        raise NotFoundError(f"there is no source {unknown!r}", hint)
    folders = []
    for folder in options.get("folders", ()):
        vault, path = _inside(folder, config.sources, dashes)
        if vault and sources not in ([], [vault]):
            raise UsageError(
                f"{dashes}folder {folder} is in {vault}, but the token is for {', '.join(sources)}",
                "create two tokens",
            )
        sources = [vault] if vault else sources
        folders.append(path)
    projects = tuple(dict.fromkeys(map(str.strip, options.get("projects", ()))))
    roots = [vault.path for vault in config.sources if not sources or vault.name in sources]
    spelled, absent = _resolve_spelling(folders, roots)
    return Scope(tuple(sources), spelled, projects), absent


def end_of(day: str, now: datetime, *, option: str) -> float:
    """Return the timestamp of the end of a day, or of the given time.

    Raises UsageError for a time in the past.
    """
    text = read_date(day, now, option=option)
    end = datetime.fromisoformat(
        text if len(text) > len("2027-03-01") else f"{text}T23:59:59"
    ).timestamp()
    if end <= now.timestamp():
        raise UsageError(f"{option}: {text} is in the past", "give a future day")
    return end


def scope_warnings(config: "Config", caller: Caller, absent: Iterable[str]) -> list[str]:
    """Return warnings about probable mistakes in a new token.

    `absent` are folders of its scope that do not exist.
    """
    warnings = [
        f"The folder {one} does not exist yet; the token shows its files once it is created."
        for one in absent
    ]
    memories = f"{config.memory.dir}/"
    apart = not any(
        memories.startswith(one) or one.startswith(memories) for one in caller.scope.below
    )
    if caller.writes and caller.scope.folders and apart:
        warnings.append(f"It cannot store memories: they are in {memories}, outside of its scope.")
    return warnings


def token_row(token: Token, now: float) -> dict[str, Any]:
    """Return a token as a row of `token list`."""
    return {
        "name": token.caller.name,
        "writes": token.caller.writes,
        **token.caller.scope._asdict(),
        "created": iso_time(token.created),
        "expires": iso_time_or_none(token.expires),
        "expired": token.expired(now),
    }


def all_sources(config: "Config") -> tuple["SourceConfig", ...]:
    """Return the vaults and the session sources."""
    return (*config.sources, *config.servers, *session_sources(config))


def session_sources(config: "Config") -> tuple["SourceConfig", ...]:
    """Return the sources of enabled clients that are configured or that have sessions."""
    from vault_index.sources.sessions.source import SessionSource  # late: rarely needed

    sources = (
        SessionSource(config, name) for name, client in config.clients.items() if client.enabled
    )
    return tuple(source.config for source in sources if source.configured or not source.missing())


def _inside(folder: str, vaults: Iterable["SourceConfig"], dashes: str) -> tuple[str, str]:
    """Return the vault of an absolute folder (empty for a relative one) and the path in the vault.

    Raises UsageError.
    """
    path, vault = folder.replace("\\", "/"), ""
    if path.startswith(("/", "~/")):
        here = os.path.abspath(os.path.expanduser(path))
        ways = [(here, str(one.path), one.name) for one in vaults]
        ways += [(real_path(way), real_path(root), name) for way, root, name in ways]
        found = next(
            ((way[len(root) :], name) for way, root, name in ways if is_under(root, way)), None
        )
        if found is None:
            raise UsageError(
                f"{dashes}folder {folder} is not in a vault",
                "give a folder of a vault: vault-index source list",
            )
        path, vault = found
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts:
        hint = (
            f"give {dashes}source {vault or 'NAME'}"
            if not parts
            else "give its path inside the vault"
        )
        what = "not a folder of a vault" if parts else "a whole vault"
        raise UsageError(f"{dashes}folder {folder} is {what}", hint)
    return vault, "/".join(parts)


def _resolve_spelling(
    folders: Iterable[str], roots: Iterable[Path]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders in their spelling on disk, and the folders that do not exist.

    Scopes compare paths exactly, so the spelling matters.
    """
    found: dict[str, None] = {}
    absent: dict[str, None] = {}
    for folder in folders:
        there = [spelled for root in roots if (spelled := _on_disk(root, folder))]
        found |= dict.fromkeys(there or [folder])
        absent |= {} if there else {folder: None}
    return tuple(found), tuple(absent)


def _on_disk(root: Path, folder: str) -> str:
    """Return the path of a folder in its Unicode form on disk, or "" if it does not exist."""
    at = root
    for part in folder.split("/"):
        try:
            at /= same_name(part, names := os.listdir(at))
        except OSError:
            return ""
        if at.name not in names:
            return ""
    return at.relative_to(root).as_posix() if at.is_dir() else ""
