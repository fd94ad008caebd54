"""Changes one value in a JSON or TOML file that people keep by hand, and not a byte beside it.

JSON is read with the comments and trailing commas that the clients allow; a value is found with the place it has in the
text, and only that is written anew.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from vault_index.errors import ConfigError

Key = str | int
"""Of a member of an object, or of an array; the length of an array for one that is to be added."""

_TOKEN = re.compile(
    r"(?P<skipped>[\s\ufeff]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)"
    r'|(?P<value>"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"|[-+\w.]+)|(?P<mark>[][{}:,])'
)
_INDENT = "  "
_HINT = "mend it first, or put in by hand what --print shows"


@dataclass(slots=True, eq=False)
class _Node:
    """A value and where it stands; of a member of an object, `begin` is where its name begins."""

    value: Any
    start: int
    end: int
    begin: int = -1
    comma: int = -1
    """Where the comma behind it is; -1 without one."""
    key: Key = ""
    members: list["_Node"] = field(default_factory=list)
    rest: int = 0
    """Where the last thing in an object or array ends, be it a comment or a comma."""


def read_json(text: str) -> Any:
    """The value of a text; an empty one is an empty object. ConfigError where it is no JSON."""
    return _Reader(text).whole().value if text.strip("\ufeff \t\r\n") else {}


def with_json(text: str, path: Sequence[Key], value: Any) -> str:
    """The text with a value at a path, in the place of the one that is there or else as the last of its object or
    array; what is missing on the way is made."""
    text = text if text.strip("\ufeff \t\r\n") else "{}\n"
    root = node = _Reader(text).whole()
    for depth, key in enumerate(path):
        found = _member(node, key)
        if found is None:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value} if isinstance(missing, str) else [value]
            return _added(text, root, node, key, value)
        node = found
    return text[: node.start] + _written(text, root, value, _indent_of(text, node.start)) + text[node.end :]


def without_json(text: str, path: Sequence[Key]) -> str:
    """The text without the value at a path, nor the objects and arrays that would be empty then."""
    nodes = [_Reader(text).whole()]
    for key in path:
        found = _member(nodes[-1], key)
        if found is None:
            return text
        nodes.append(found)
    while len(nodes) > 2 and len(nodes[-2].members) == 1:
        nodes.pop()
    parent, node = nodes[-2:]
    place = parent.members.index(node)
    before = parent.members[place - 1] if place else None
    if before and node.comma < 0:  # the last one: the comma before it goes
        begin = _end_before(text, before.comma + 1, node.begin)
        return text[: before.comma] + text[before.comma + 1 : begin] + text[node.end :]
    end = node.end if node.comma < 0 else node.comma + 1
    if (
        len(parent.members) == 1
        and not text[parent.start + 1 : node.begin].strip()
        and not text[end : parent.end - 1].strip()
    ):
        return text[: parent.start + 1] + text[parent.end - 1 :]
    begin = _end_before(text, before.comma + 1 if before else parent.start + 1, node.begin)
    return text[:begin] + text[end:]


def _end_before(text: str, low: int, high: int) -> int:
    """Where what stands between two places ends: a comment, or nothing."""
    return low + len(text[low:high].rstrip())


def _member(node: _Node, key: Key) -> _Node | None:
    if not isinstance(node.value, dict if isinstance(key, str) else list):
        raise ConfigError(f"{node.key!r} is not as it should be: {str(node.value)[:60]}", _HINT)
    # Of two with one name the last one counts.
    return next((member for member in reversed(node.members) if member.key == key), None)


def _added(text: str, root: _Node, parent: _Node, key: Key, value: Any) -> str:
    last = parent.members[-1] if parent.members else None
    name = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    if last and "\n" not in text[parent.start : last.begin]:  # all on one line
        written = f" {name}{json.dumps(value, ensure_ascii=False)}"
        return (
            text[: last.end] + "," + written + text[last.end :]
            if last.comma < 0
            else (text[: last.comma + 1] + written + "," + text[last.comma + 1 :])
        )
    line = "\r\n" if "\r\n" in text else "\n"
    outer = _indent_of(text, parent.start)
    indent = _indent_of(text, last.begin) if last else outer + _step(text, root)
    written = f"{line}{indent}{name}{_written(text, root, value, indent)}"
    if last is None:
        closed = "" if "\n" in text[parent.rest : parent.end - 1] else f"{line}{outer}"
        return text[: parent.rest] + written + closed + text[parent.rest :]
    if last.comma >= 0:  # so has every other one
        return text[: parent.rest] + written + "," + text[parent.rest :]
    return text[: last.end] + "," + text[last.end : parent.rest] + written + text[parent.rest :]


def _written(text: str, root: _Node, value: Any, indent: str) -> str:
    line = "\r\n" if "\r\n" in text else "\n"
    return json.dumps(value, indent=_step(text, root), ensure_ascii=False).replace("\n", line + indent)


def _step(text: str, root: _Node) -> str:
    first = root.members[0].begin if root.members else 0
    return (_indent_of(text, first) if "\n" in text[root.start : first] else "") or _INDENT


def _indent_of(text: str, place: int) -> str:
    """Of the line that a place stands in."""
    begin = text.rfind("\n", 0, place) + 1
    return text[begin : begin + len(text[begin:place]) - len(text[begin:place].lstrip(" \t"))]


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def whole(self) -> _Node:
        try:
            node = self._value(self._next())
            while self._at < len(self._text):
                token = _TOKEN.match(self._text, self._at)
                if token is None or token["skipped"] is None:
                    raise ValueError
                self._at = token.end()
        except (ValueError, RecursionError) as error:
            line = self._text.count("\n", 0, self._at) + 1
            raise ConfigError(f"this is no JSON: see line {line}", _HINT) from error
        if not isinstance(node.value, dict):
            raise ConfigError("this is no JSON object", _HINT)
        return node

    def _next(self) -> re.Match[str]:
        """The next token, comments left out. ValueError where there is none."""
        while token := _TOKEN.match(self._text, self._at):
            self._at = token.end()
            if token["skipped"] is None:
                return token
        raise ValueError

    def _value(self, token: re.Match[str]) -> _Node:
        start = token.start()
        if token["value"] is not None:
            return _Node(json.loads(token[0]), start, token.end(), start)
        if token[0] not in ("{", "["):
            raise ValueError
        node = _Node({} if token[0] == "{" else [], start, 0, start)
        close, token = ("}" if token[0] == "{" else "]"), self._next()
        while token[0] != close:
            self._add(node, token)
            token = self._next()
            if token[0] == ",":
                node.members[-1].comma, token = token.start(), self._next()
            elif token[0] != close:
                raise ValueError
        node.rest, node.end = _end_before(self._text, start + 1, token.start()), token.end()
        return node

    def _add(self, node: _Node, token: re.Match[str]) -> None:
        if isinstance(node.value, list):
            member = self._value(token)
            member.key = len(node.value)
            node.value.append(member.value)
        else:
            if not token[0].startswith('"') or self._next()[0] != ":":
                raise ValueError
            member = self._value(self._next())
            member.key, member.begin = json.loads(token[0]), token.start()
            node.value[member.key] = member.value
        node.members.append(member)


# --- TOML ----------------------------------------------------------------------------------------------------------


def read_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"this is no TOML: {error}", _HINT) from error


def with_table(text: str, table: str, name: str, value: dict[str, Any]) -> str:
    """The text with `[table.name]`: changed in its place, or else at its end."""
    data = read_toml(text)
    known = data.setdefault(table, {})
    if not isinstance(known, dict):
        raise ConfigError(f"{table} is no table", _HINT)
    if name in known:
        import tomlkit

        document = tomlkit.parse(text)
        document[table][name].update(value)
        changed = tomlkit.dumps(document)
    else:
        line = "\r\n" if "\r\n" in text else "\n"
        gap = (line if not text.endswith("\n") else "") + line if text else ""
        lines = [f"[{table}.{name}]", *(f"{key} = {json.dumps(one, ensure_ascii=False)}" for key, one in value.items())]
        changed = text + gap + "".join(one + line for one in lines)
    known[name] = {**known.get(name, {}), **value}
    return _as_meant(changed, data, table)


def without_table(text: str, table: str, name: str) -> str:
    """The text without `[table.name]` and the tables in it."""
    data = read_toml(text)
    if name not in data.get(table, {}):
        return text
    del data[table][name]
    if not data[table]:
        del data[table]
    head = re.compile(rf'\s*\[\s*"?{re.escape(table)}"?\s*\.\s*"?{re.escape(name)}"?\s*[].]')
    kept: list[str] = []
    waiting: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if head.match(line):
            inside, waiting = True, []
            while kept and not kept[-1].strip():
                waiting.append(kept.pop())
            kept += waiting[1:]
            waiting = []
        elif inside and line.lstrip().startswith("["):
            inside = False
            kept += waiting
        if not inside:
            kept.append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            waiting.append(line)  # they belong to what follows
        else:
            waiting = []
    return _as_meant("".join([*kept, *(waiting if inside else ())]), data, table)


def _as_meant(text: str, data: dict[str, Any], table: str) -> str:
    """The text, if it says what it should: TOML has many ways to write a table."""
    try:
        said = read_toml(text)
    except ConfigError:
        said = {}
    if said.get(table, {}) != data.get(table, {}) or {**said, table: 0} != {**data, table: 0}:
        raise ConfigError(f"{table} is written in a way that is not understood", "change it by hand: see --print")
    return text
