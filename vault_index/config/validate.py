"""Convert and check the value of each setting, and check settings that depend on each other."""

import dataclasses
import json
import os
import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

from vault_index.config.home import Home
from vault_index.config.schema import CLIENTS, Config
from vault_index.disk import is_under
from vault_index.errors import ConfigError, did_you_mean

TEXTS = tuple[str, ...]
TEXTS_OR_ALL = bool | tuple[str, ...]
_NAMES: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Path: "a folder",
    TEXTS: "a list of texts",
    TEXTS_OR_ALL: "a list of texts, or true for everything",
}
_TRUTH = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


_REMOTE = re.compile(
    r"(?:git\+ssh|git\+https|s3|webdav\+https|https)://[^\s/?#-]\S*|git\+file:///\S+"
    r"|(?:git\+|webdav\+)?http://(?:[^/@\s]+@)?(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:/\S*)?"
    r"|gist:[0-9a-f]{5,64}"
)
_ADDRESS = re.compile(r"(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})", re.ASCII)
_INBOX = "inbox"
"""The folder of captured memories inside the memory folder."""
_PASSWORD = re.compile(r"^\w+://[^/?:]*:[^/?@]*@|\bpassword\s*=")
_DURATION = re.compile(r"[1-9]\d{0,3} (?:day|week|month|year)s?")


class BadValueError(ValueError):
    """An invalid value; the caller adds key and line and raises ConfigError."""


def keys(section: type[Any]) -> dict[str, dataclasses.Field[Any]]:
    """Return the settings of a section by name, without the name of a source."""
    return {
        field.name: field
        for field in dataclasses.fields(section)
        if field.name != "name" and field.metadata
    }


def check(field: dataclasses.Field[Any], value: object, folder: Path) -> Any:
    """Return the converted and checked value. Relative paths are relative to `folder`."""
    several = field.metadata["place"] and field.type == TEXTS
    if several and isinstance(value, str):
        value = [value] if value else []
    checked = _in_bounds(field, _typed(field.type, value, folder))
    if several:
        return tuple(str(_typed(Path, one, folder)) for one in checked)
    return str(_typed(Path, checked, folder)) if field.metadata["place"] and checked else checked


def from_text(field: dataclasses.Field[Any], text: str) -> object:
    """Convert a text from the environment or the command line to the type of the field."""
    if field.type in (str, Path):
        return text
    if field.type is bool or (
        field.type == TEXTS_OR_ALL and text.strip().lower() in ("true", "false")
    ):
        word = text.strip().lower()
        if word not in _TRUTH:
            raise BadValueError(f"must be true or false, not {text!r}")
        return _TRUTH[word]
    if field.type in (int, float):
        try:
            return int(text) if field.type is int else float(text)
        except ValueError:
            raise BadValueError(f"must be {_NAMES[field.type]}, not {text!r}") from None
    return _list(text)


def without_password(url: str) -> str:
    """Hide user, password and query values in a URL."""
    before, slashes, rest = url.partition("//")
    _, at, place = rest.rpartition("@")
    address, mark, query = (f"…@{place}" if at else rest).partition("?")
    parts = (part.partition("=") for part in query.split("&"))
    shown = "&".join(f"{name}=…" if equals else name for name, equals, _ in parts)
    return f"{before}{slashes}{address}{mark}{shown}"


def plain(value: Any) -> Any:
    """Convert a value to a TOML and JSON type."""
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def _typed(kind: Any, value: object, folder: Path) -> Any:
    if kind is Path and isinstance(value, str) and value:
        return Path(os.path.abspath(folder / os.path.expanduser(value)))
    if kind in (TEXTS, TEXTS_OR_ALL) and isinstance(value, list | tuple):
        if all(isinstance(item, str) and item for item in value):
            return tuple(value)
    elif kind == TEXTS_OR_ALL and isinstance(value, bool):
        return value or ()
    elif kind is float and type(value) is int:
        return float(value)
    elif type(value) is kind:
        return value
    shown = without_password(json.dumps(plain(value), default=str, ensure_ascii=False))
    raise BadValueError(f"must be {_NAMES[kind]}, not {shown}")


def _in_bounds(field: dataclasses.Field[Any], value: Any) -> Any:
    low, high, choices = (field.metadata[name] for name in ("low", "high", "choices"))
    if choices and value not in choices:
        meant = did_you_mean(value, choices, "")
        raise BadValueError(
            "; ".join(filter(None, (f"must be one of {', '.join(choices)}, not {value!r}", meant)))
        )
    # NaN fails both comparisons.
    if low is None or (low <= value and (high is None or value <= high)):
        return value
    raise BadValueError(
        f"must be {f'{low} or more' if high is None else f'between {low} and {high}'}, not {value}"
    )


def _list(text: str) -> object:
    """Parse a TOML or JSON list, else texts separated by commas."""
    if not text.strip().startswith("["):
        return [item.strip() for item in text.split(",") if item.strip()]
    try:
        return tomllib.loads(f"list = {text}")["list"]
    except tomllib.TOMLDecodeError:
        raise BadValueError(f'must be a list as ["a", "b"], not {text!r}') from None


def is_remote(place: object) -> bool:
    """Return whether an argument is an address and not a folder."""
    return isinstance(place, str) and (place.startswith("gist:") or "://" in place)


def check_remote(url: str) -> None:
    """Raise ConfigError if an address of a remote source is not valid, or has a password."""
    _refuse(
        re.search(r"//[^/@:]*:[^/@]*@", url) is not None,
        "the address of a remote must not contain a password",
        "set password_command of the source, or a variable (docs/remotes.md)",
    )
    _refuse(
        _REMOTE.fullmatch(url) is None,
        f"{url!r} is not the address of a remote source",
        "use git+https://, git+ssh://, git+file://, gist:ID, s3://, webdav+https:// or https://;"
        " http only for this machine",
    )


def check_together(config: Config, home: Home) -> None:
    """Raise ConfigError for the first contradiction."""
    _check_values(config)
    _check_sessions(config)
    _check_pool(config)
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


def check_dsn(dsn: str) -> None:
    """Raise ConfigError if the address of a pool has a password, which the file would show."""
    _refuse(
        _PASSWORD.search(dsn) is not None,
        "pool.dsn must not contain a password",
        "set PGPASSWORD, write it to ~/.pgpass, or set pool.password_command",
    )


def _check_pool(config: Config) -> None:
    pool = config.pool
    check_dsn(pool.dsn)
    _refuse(
        bool(pool.mirror) and not _is_visible_folder(pool.mirror),
        f"pool.mirror must be a folder inside the vault that is not hidden, not {pool.mirror!r}",
        'for example "80-memory/team"',
    )
    folder, memories = PurePosixPath(pool.mirror), PurePosixPath(config.memory.dir)
    others = memories / _INBOX, PurePosixPath(config.sessions.mirror or memories / _INBOX)
    _refuse(
        bool(pool.mirror)
        and (memories.is_relative_to(folder) or any(map(folder.is_relative_to, others))),
        f"pool.mirror ({folder}) must not hold other notes: every file in it is published",
        'give it a folder of its own, such as "80-memory/team"',
    )


def _check_folders(config: Config, home: Home) -> None:
    data = os.path.realpath(home.data_dir)
    roots: list[tuple[str, str]] = []
    for source in (*config.sources, *config.servers):
        if source.remote:
            check_remote(source.remote)
            continue
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
