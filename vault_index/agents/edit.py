"""Change one value in a JSON or TOML file that people edit by hand, and nothing else.

A change is returned only if the new text parses to the old data with this one value changed, and
keeps every comment of the old text. JSON may have comments and trailing commas, as the clients
allow.

The commands of the clients (`claude mcp add` …) are not used: they take 0.3 to 11 seconds, cannot
show a change before they make it, do not support hooks, and reformat the file; `codex mcp add`
deletes comments of other servers. tomlkit changes only values in our own table: when it adds
or removes a table, it can lose the comments after it, or mix line endings.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any, NamedTuple

from vault_index.errors import ConfigError

Key = str | int
"""The name of a member of an object, or the index in an array (its length to append)."""

_JSON_COMMENT = re.compile(
    r'"(?:[^"\\]|\\.)*"?|(\A\ufeff|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?)', re.DOTALL
)
"""A string, or a comment (group 1)."""
_TRAILING_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"?|(,)(?=\s*[]}])', re.DOTALL)
"""A string, or a trailing comma (group 1) of JSON without comments."""
_JSON_MEMBER = re.compile(
    r'\s*(?P<comma>,?)\s*(?P<begin>)(?:(?P<name>"(?:[^"\\]|\\.)*")\s*:\s*)?', re.DOTALL
)
"""The text between two values."""
_TOML_COMMENT = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:""")?|"(?:[^"\\\n]|\\.)*"?'
    r"|'''(?:[^']|'(?!''))*(?:''')?|'[^'\n]*'?|(#[^\n]*)",
    re.DOTALL,
)
_TOML_SERVER = re.compile(
    r"""(?:^[ \t]*\r?\n)?^[ \t]*\[[ \t]*["']?mcp_servers["']?[ \t]*\.[ \t]*"""
    r"""["']?vault-index["']?[ \t]*[].].*(?:\n|\Z)"""
    r"""(?:(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*[ \t]*[^\s#[].*(?:\n|\Z))*""",
    re.MULTILINE,
)
"""Our table or one inside it, with a blank line before it.

Comments after its last key belong to the next table.
"""
_EMPTY = "\ufeff \t\r\n"
_CORRECT = "correct the file, then run the same command again"


class _Container(NamedTuple):
    """The position of an object or array in a text."""

    start: int
    close: int
    members: list[tuple[Key, int, int, int]]
    """For each member: its key, its start (that of its name, if any), and the start and end of its
    value.
    """
    commas: list[int]
    """The position of the comma before each member, and after the last one; -1 if there is none."""


def read_json(text: str) -> dict[str, Any]:
    """Return the object in a text; an empty text is an empty object. Raises ConfigError."""
    try:
        value = json.loads(_without_comments(text)[1]) if text.strip(_EMPTY) else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"this is not valid JSON: {error}", _CORRECT) from error
    if not isinstance(value, dict):
        raise ConfigError("this is not a JSON object", _CORRECT)
    return value


def with_json(text: str, path: Sequence[Key], value: Any) -> str:
    """Return the text with a value at a path.

    It replaces the existing value, or becomes the last member of its object or array. Missing
    parents are created.
    """
    hint = f"set {_name(path)} by hand to {json.dumps(value, ensure_ascii=False)}"
    wanted, text = read_json(text), text if text.strip(_EMPTY) else "{}\n"
    found = _containers(text, path, hint)
    parent, index = found[-1]
    depth = len(found) - 1
    data: Any = reduce(_item, path[:depth], wanted)
    if index < 0:
        for key in reversed(path[depth:]):
            value = {key: value} if isinstance(key, str) else [value]
        data.update(value) if isinstance(value, dict) else data.extend(value)
        candidates = [_insert_last(text, parent, value)]
    else:
        data[path[depth]] = value
        _, begin, start, end = parent.members[index]
        new = _format_json(text, value, _indent_of(text, begin))
        comments = _comments_in(_JSON_COMMENT, text[start:end])
        candidates = [_splice(text, (start, end, new)), _splice(text, (start, end, new + comments))]
    return _first_safe(text, candidates, wanted, read_json, _JSON_COMMENT, hint)


def without_json(text: str, path: Sequence[Key]) -> str:
    """Return the text without the value at a path, and without parents that would be empty."""
    hint, wanted = f"delete {_name(path)} by hand", read_json(text)
    found = _containers(text, path, hint) if wanted else []
    if len(found) < len(path) or found[-1][1] < 0:
        return text
    while len(found) > 1 and len(found[-1][0].members) == 1:
        found.pop()
    parent, index = found[-1]
    depth = len(found) - 1
    del reduce(_item, path[:depth], wanted)[path[depth]]  # type: ignore[arg-type]
    _, begin, _, end = parent.members[index]
    comma = max(parent.commas[index : index + 2])  # the one after it, or else the one before
    commas = [(comma, comma + 1, "")] if comma >= 0 else []
    blank, comments = len(text[:begin].rstrip()), _comments_in(_JSON_COMMENT, text[begin:end])
    candidates = (
        _splice(text, (blank, end, ""), *commas)
        if len(parent.members) > 1
        else _splice(text, (blank, parent.close, "")),
        # If the first one loses or extends a comment:
        _splice(text, (begin, end, comments), *commas),
    )
    return _first_safe(text, candidates, wanted, read_json, _JSON_COMMENT, hint)


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables in a text, with at least an empty `mcp_servers`. Raises ConfigError."""
    try:
        data = tomllib.loads(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"this is not valid TOML: {error}", _CORRECT) from error
    if not isinstance(data.setdefault("mcp_servers", {}), dict):
        raise ConfigError("mcp_servers is not a table", _CORRECT)
    return data


def with_server(text: str, value: dict[str, Any]) -> str:
    """Return TOML with `[mcp_servers.vault-index]`, changed in place or added at the end."""
    wanted = read_toml(text)
    servers = wanted["mcp_servers"]
    if "vault-index" in servers:
        changed = _TOML_SERVER.sub(lambda block: _update_table(block[0], value), text, 1)
    else:
        line = _line_of(text)
        gap = ("" if text.endswith("\n") else line) + line if text else ""
        lines = [f"{key} = {json.dumps(part, ensure_ascii=False)}" for key, part in value.items()]
        changed = text + gap + line.join(["[mcp_servers.vault-index]", *lines, ""])
    servers["vault-index"] = {**servers.get("vault-index", {}), **value}
    hint = f"set mcp_servers.vault-index by hand to {json.dumps(value, ensure_ascii=False)}"
    return _first_safe(text, [changed], wanted, read_toml, _TOML_COMMENT, hint)


def without_server(text: str) -> str:
    """Return TOML without `[mcp_servers.vault-index]` and its subtables."""
    wanted = read_toml(text)
    if wanted["mcp_servers"].pop("vault-index", None) is None:
        return text
    with_comments = _TOML_SERVER.sub(lambda block: _comments_in(_TOML_COMMENT, block[0]), text)
    candidates = (_TOML_SERVER.sub("", text), with_comments)
    return _first_safe(
        text, candidates, wanted, read_toml, _TOML_COMMENT, "delete mcp_servers.vault-index by hand"
    )


# --- helpers --------------------------------------------------------------------------------------


def _first_safe(
    text: str,
    candidates: Iterable[str],
    wanted: dict[str, Any],
    read: Callable[[str], dict[str, Any]],
    pattern: re.Pattern[str],
    hint: str,
) -> str:
    """Return the first candidate with the wanted data and all comments of the text.

    Raises ConfigError if there is none.
    """
    comments = _comments(pattern, text)
    for candidate in candidates:
        with suppress(ConfigError):
            if read(candidate) == wanted and _comments(pattern, candidate) == comments:
                return candidate
    raise ConfigError("there is no safe way to change this file", hint)


def _comments(pattern: re.Pattern[str], text: str) -> list[str]:
    return [match[1].rstrip() for match in pattern.finditer(text) if match[1]]


def _comments_in(pattern: re.Pattern[str], text: str) -> str:
    """Return the comments of a removed text, so that they can be kept."""
    return "".join(
        each if each.startswith("/*") else f"{each}\n" for each in _comments(pattern, text)
    )


def _item(data: Any, key: Key) -> Any:
    return data[key]


def _name(path: Sequence[Key]) -> str:
    return ".".join(map(str, path))


def _without_comments(text: str) -> tuple[str, str]:
    """Return JSON of equal length without comments, and the same also without trailing commas."""
    spaced = _JSON_COMMENT.sub(_blank, text)
    return spaced, _TRAILING_COMMA.sub(_blank, spaced)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0]) if match[1] else match[0]


def _containers(text: str, path: Sequence[Key], hint: str) -> list[tuple[_Container, int]]:
    """Return the existing objects and arrays on a path, and the index of the member for each key.

    Of several members with one name, the last one counts. The index is -1 for a missing member.
    """
    spaced, plain = _without_comments(text)
    start, found = len(plain) - len(plain.lstrip()), []
    for depth, key in enumerate(path):
        if plain[start] != ("{" if isinstance(key, str) else "["):
            raise ConfigError(f"{_name(path[:depth])} has an unexpected value", hint)
        container = _container(spaced, plain, start)
        index = max(
            (index for index, member in enumerate(container.members) if member[0] == key),
            default=-1,
        )
        found.append((container, index))
        if index < 0:
            break
        start = container.members[index][2]
    return found


def _container(spaced: str, plain: str, start: int) -> _Container:
    members: list[tuple[Key, int, int, int]] = []
    commas: list[int] = []
    at = start + 1
    while gap := _JSON_MEMBER.match(spaced, at):
        commas.append(gap.start("comma") if gap["comma"] else -1)
        if spaced[gap.end()] in "]}":
            break
        key = json.loads(gap["name"]) if gap["name"] else len(members)
        at = json.JSONDecoder().raw_decode(plain, gap.end())[1]
        members.append((key, gap.start("begin"), gap.end(), at))
    return _Container(start, gap.end() if gap else at, members, commas)


def _splice(text: str, *edits: tuple[int, int, str]) -> str:
    """Replace parts of a text, given as start, end and new text."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _insert_last(text: str, parent: _Container, more: dict[str, Any] | list[Any]) -> str:
    """Add the one member of `more` at the end of an object or array."""
    _, begin, _, end = parent.members[-1] if parent.members else ("", 0, 0, 0)
    if parent.members and "\n" not in text[parent.start : begin]:  # all on one line
        return _splice(text, (end, end, f", {json.dumps(more, ensure_ascii=False)[1:-1]}"))
    inner = _format_json(text, more, _indent_of(text, parent.start))[1:-1]
    new, rest = inner.rstrip(), len(text[: parent.close].rstrip())
    if not parent.members:
        return _splice(text, (rest, rest, new if "\n" in text[rest : parent.close] else inner))
    if parent.commas[-1] >= 0:
        return _splice(text, (rest, rest, f"{new},"))
    return _splice(text, (end, rest, f",{text[end:rest]}{new}"))


def _format_json(text: str, value: Any, indent: str) -> str:
    """Return JSON on several lines, indented like the first member that has its own line."""
    step = re.search(r'\n([ \t]+)"', text)
    new = json.dumps(value, indent=step[1] if step else "  ", ensure_ascii=False)
    return new.replace("\n", _line_of(text) + indent)


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _update_table(block: str, value: dict[str, Any]) -> str:
    import tomlkit

    with suppress(tomlkit.exceptions.TOMLKitError):  # not a table of its own: leave it unchanged
        document: Any = tomlkit.parse(block)
        document["mcp_servers"]["vault-index"].update(value)
        block = tomlkit.dumps(document)
    return block
