"""Values as they are written in YAML: on one line, and read as the same by YAML 1.1 (ours) and 1.2 (Obsidian's)."""

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from vault_index.fields import FIELDS

_ORDER = (
    "id", "type", "title", "subtitle", "digest", "tags", "project", "created", "updated", "entered_by", "expires",
    "valid_until", "confidence", "supersedes", "superseded_by",
)  # fmt: skip
KEYS = tuple(dict.fromkeys((*_ORDER, *FIELDS)))
"""The keys of a memory, in the order they are written."""

DATES = frozenset({"created", "updated"}.union(name for name, field in FIELDS.items() if field.kind == "date"))
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?")
_NUMBER_TO_OBSIDIAN = re.compile(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?|0o[0-7]+|0x[0-9a-fA-F]+")
# Words that no reader takes for anything but text: they need no quotes, and no dumper, which takes half a millisecond.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[ /-][A-Za-z0-9_]+)*|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_ENDLESS = 1 << 30


class _Dumper(yaml.SafeDumper):
    """Never an anchor: no reader of ours takes aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = None
    if not value.isprintable():
        style = '"'
    elif _NUMBER_TO_OBSIDIAN.fullmatch(value):
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(tuple, yaml.SafeDumper.represent_list)


def entry(key: str, value: Any, newline: str) -> str:
    """A line of a block mapping."""
    return f"{flow_value(key)}: {block_value(key, value)}{newline}"


def block_value(key: str, value: Any, style: str | None = None) -> str:
    """A value as it may stand behind `key:`; `style` is the quote it is to have, if it is a string."""
    if key in DATES and isinstance(value, str) and _DATE.fullmatch(value):
        return value
    if isinstance(value, list | tuple | Mapping):
        return flow_value(value)
    return _quoted(value, style) or _plain(value) or _dump({"k": value}, flow=False)[3:]


def flow_value(value: Any, style: str | None = None) -> str:
    """A value as it may stand inside brackets."""
    if isinstance(value, list | tuple) and value and all(map(_plain, value)):
        return f"[{', '.join(value)}]"
    return _quoted(value, style) or _plain(value) or _dump([value], flow=True)[1:-1]


def _plain(value: Any) -> str:
    """A text that is written as it is; empty for any other value."""
    plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return value if plain else ""


def _quoted(value: Any, style: str | None) -> str:
    if not isinstance(value, str) or not value.isprintable():
        return ""
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value, ensure_ascii=False) if style == '"' else ""


def _dump(value: Any, *, flow: bool) -> str:
    text: str = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=flow, width=_ENDLESS, allow_unicode=True, sort_keys=False
    )
    return text.rstrip("\n")
