"""Change the settings files of a client: JSON as data, TOML by replacing our own table.

JSON is written again with the indentation of the file. A file with comments is refused, because
they would be lost. TOML that people edit by hand keeps every other byte: tomlkit can lose comments
after a table that it removes. The commands of the clients (`claude mcp add` …) are not used: they
take 0.3 to 11 seconds, cannot show a change before they make it, and do not support hooks.
"""

import json
import re
import tomllib
from typing import Any

from vault_index.errors import ConfigError

_TOML_SERVER = re.compile(
    r"""(?:^[ \t]*\r?\n)?^[ \t]*\[[ \t]*["']?mcp_servers["']?[ \t]*\.[ \t]*"""
    r"""["']?vault-index["']?[ \t]*[].].*(?:\n|\Z)"""
    r"""(?:(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*[ \t]*[^\s#[].*(?:\n|\Z))*""",
    re.MULTILINE,
)
"""Our table or one inside it, with a blank line before it.

Comments after its last key belong to the next table.
"""
_CORRECT = "correct the file, then run the same command again"


def read_json(text: str) -> dict[str, Any]:
    """Return the object in a text; an empty text is an empty object. Raises ConfigError."""
    text = text.removeprefix("\ufeff")
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"this is not valid JSON without comments: {error}",
            "correct the file or move its comments away, then run the same command again",
        ) from error
    if not isinstance(value, dict):
        raise ConfigError("this is not a JSON object", _CORRECT)
    return value


def write_json(old: str, data: dict[str, Any]) -> str:
    """Return the text of an object, with indentation, escapes and line ends as in the old text.

    Raises ConfigError for numbers that JSON cannot hold.
    """
    step = re.search(r'\n([ \t]+)"', old)
    try:
        text = json.dumps(
            data, indent=step[1] if step else 2, ensure_ascii=old.isascii(), allow_nan=False
        )
        text.encode()
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"this cannot be written as JSON: {error}", _CORRECT) from error
    text += "\n" if old.endswith("\n") or not old else ""
    return text.replace("\n", "\r\n") if "\r\n" in old else text


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables in a text, with at least an empty `mcp_servers`. Raises ConfigError."""
    try:
        data = tomllib.loads(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"this is not valid TOML: {error}", _CORRECT) from error
    if not isinstance(data.setdefault("mcp_servers", {}), dict):
        raise ConfigError("mcp_servers is not a table", _CORRECT)
    return data


def write_toml(text: str, server: dict[str, Any] | None) -> str:
    """Return TOML with `[mcp_servers.vault-index]` at its end, or without it for None.

    Raises ConfigError if the table is written in a form that cannot be replaced safely.
    """
    wanted = read_toml(text)
    wanted["mcp_servers"].pop("vault-index", None)
    changed = _TOML_SERVER.sub("", text)
    if server is not None:
        # Imported here: 20 ms, and only Codex needs it.
        import tomlkit

        wanted["mcp_servers"]["vault-index"] = server
        gap = "" if not changed else "\n" if changed.endswith("\n") else "\n\n"
        table = gap + tomlkit.dumps({"mcp_servers": {"vault-index": server}})
        changed += table.replace("\n", "\r\n") if "\r\n" in text else table
    try:
        safe = read_toml(changed) == wanted
    except ConfigError:
        safe = False
    if safe:
        return changed
    by_hand = json.dumps(server, ensure_ascii=False, default=str) if server else "nothing"
    raise ConfigError(
        "there is no safe way to change this file", f"set mcp_servers.vault-index to {by_hand}"
    )
