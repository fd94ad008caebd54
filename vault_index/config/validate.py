"""Check settings that depend on each other, and folders that contain each other."""

import os
import re
from pathlib import Path, PurePosixPath

from vault_index.config.home import Home
from vault_index.config.schema import CLIENTS, Config
from vault_index.disk import is_under
from vault_index.errors import ConfigError, did_you_mean

_ADDRESS = re.compile(r"(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})", re.ASCII)
_DURATION = re.compile(r"[1-9]\d{0,3} (?:day|week|month|year)s?")


def check_together(config: Config, home: Home) -> None:
    """Raise ConfigError for the first contradiction."""
    _check_values(config)
    _check_sessions(config)
    names = [source.name for source in config.sources]
    if config.memory.vault and config.memory.vault.casefold() not in map(str.casefold, names):
        raise ConfigError(
            f"memory.vault names {config.memory.vault!r}, which is not a source",
            did_you_mean(config.memory.vault, names, f"sources: {', '.join(names) or 'none yet'}"),
        )
    _check_folders(config, home)


def address_of(listen: str) -> tuple[str, int]:
    """Return host and port of `serve.listen`. Raises ConfigError."""
    match = _ADDRESS.fullmatch(listen)
    if match is None or int(match[3]) > 65_535:
        raise ConfigError(
            f"serve.listen is not an address with a port: {listen!r}",
            'write it as "127.0.0.1:7341"',
        )
    return match[1] or match[2], int(match[3])


def _refuse(wrong: bool, problem: str, hint: str) -> None:
    if wrong:
        raise ConfigError(problem, hint)


def _check_values(config: Config) -> None:
    chunk, watch, url, folder = (
        config.chunk,
        config.watch,
        config.embedding.base_url,
        config.memory.dir,
    )
    _refuse(
        chunk.overlap * 2 >= chunk.tokens,
        f"chunk.overlap ({chunk.overlap}) must be less than half of chunk.tokens ({chunk.tokens})",
        f"set chunk.overlap to {chunk.tokens // 5}",
    )
    _refuse(
        watch.longest < watch.quiet,
        f"watch.longest ({watch.longest}) must not be less than watch.quiet ({watch.quiet})",
        "raise watch.longest or lower watch.quiet",
    )
    _refuse(
        bool(url) and not url.startswith(("http://", "https://")),
        "embedding.base_url must begin with http:// or https://",
        "for Ollama: http://localhost:11434/v1",
    )
    _refuse(
        not _is_visible_folder(folder),
        f"memory.dir must be a folder inside the vault that is not hidden, not {folder!r}",
        'the default is "80-memory"',
    )
    address_of(config.serve.listen)
    _refuse(
        bool(config.serve.certificate) != bool(config.serve.key),
        "serve.certificate and serve.key go together",
        "set both, or neither",
    )
    after = config.memory.archive_after
    _refuse(
        bool(after) and not _DURATION.fullmatch(after),
        f"memory.archive_after is not a duration: {after!r}",
        'write it as "365 days", "6 months" or "2 years"; "" for never',
    )
    for entry in config.memory.capture_tags:
        tag, colon, _ = entry.partition(":")
        _refuse(
            not colon or not tag.strip("# "),
            f"memory.capture_tags: {entry!r} has no tag",
            'write a list as ["billing: invoice, stripe api"]',
        )


def _is_visible_folder(text: str) -> bool:
    """Return whether a setting is a relative folder without hidden parts."""
    folder = PurePosixPath(text)
    hidden = any(part.startswith(".") for part in folder.parts)
    return bool(folder.parts) and not folder.is_absolute() and not hidden and "\\" not in text


def _check_sessions(config: Config) -> None:
    known, mirror = ("reasoning", "output", "diffs"), config.sessions.mirror
    for name, client in config.clients.items():
        wrong = next((word for word in client.include if word not in known), None)
        if wrong is not None:
            raise ConfigError(
                f"sessions.{name}.include names {wrong!r}, which is not a part of a session",
                did_you_mean(wrong, known, f"use {', '.join(known)}"),
            )
        _refuse(
            client.enabled and any(source.name == name for source in config.sources),
            f"the source name {name!r} is reserved for the sessions of {CLIENTS[name]}",
            f"rename its section, or set sessions.{name}.enabled to false",
        )
    folder, memories = PurePosixPath(mirror), PurePosixPath(config.memory.dir)
    _refuse(
        bool(mirror) and not _is_visible_folder(mirror),
        f"sessions.mirror must be a folder inside the vault that is not hidden, not {mirror!r}",
        'for example "sessions"',
    )
    _refuse(
        bool(mirror) and (folder.is_relative_to(memories) or memories.is_relative_to(folder)),
        f"sessions.mirror ({folder}) and memory.dir ({memories}) must not contain each other",
        "every note in memory.dir is a memory: give sessions a folder of their own",
    )


def _check_folders(config: Config, home: Home) -> None:
    data = os.path.realpath(home.data_dir)
    roots: list[tuple[str, str]] = []
    for source in config.sources:
        root = os.path.realpath(source.path)
        _refuse(
            is_under(data, root),
            f"the vault {source.path} lies in the data folder of the index, {home.data_dir}",
            "move one of them: --home DIR chooses another data folder",
        )
        _refuse(
            is_under(root, data)
            and not any(part[0] == "." for part in Path(data).relative_to(root).parts),
            f"the data folder {home.data_dir} lies inside the vault {source.path}",
            "choose a data folder outside the vault, or a hidden one in it, with --home DIR",
        )
        for other, name in roots:
            _refuse(
                is_under(other, root) or is_under(root, other),
                f"the sources {name!r} and {source.name!r} share the folder "
                f"{max(root, other, key=len)}",
                "every note must belong to one source: remove one, or move it out of the other",
            )
        roots.append((root, source.name))
