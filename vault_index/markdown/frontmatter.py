"""The YAML at the top of a note: read safely and within bounds; broken YAML is a fault, never an error."""

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

from vault_index.models import Fault

_FENCE = "---"
_MAX_CHARACTERS = 64 * 1024
_DEEP_FLOW = re.compile(r"[\[{](?:\s*[\[{]){49}")
_COMMAS = re.compile(r"\s*,\s*")
_SPACES_TOO = re.compile(r"[,\s]+")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """`lines` is how many lines of the file it takes, fences counted; 0 where there is none."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lines: int = 0
    faults: tuple[Fault, ...] = ()


def read_frontmatter(lines: Sequence[str]) -> Frontmatter:
    """Read the frontmatter of a document given as lines. Values are JSON values."""
    if not lines or lines[0].rstrip() != _FENCE:
        return Frontmatter()
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE), None)
    if end is None:
        return Frontmatter()
    text = "\n".join(lines[1:end])
    try:
        values = _load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or str(error)
        return Frontmatter({}, end + 1, (_fault(str(reason), mark.line + 2 if mark else 1),))
    except (ValueError, OverflowError, RecursionError, TypeError) as error:
        return Frontmatter({}, end + 1, (_fault(str(error), _guilty_line(lines[1:end], error)),))
    return Frontmatter(values, end + 1)


def string_list(value: Any, *, split_spaces: bool = False) -> list[str]:
    """A frontmatter value that may be a list, a string with commas (or spaces), a single value, or nothing."""
    if value is None or isinstance(value, bool | Mapping):
        return []
    if isinstance(value, list):
        return [text for item in value if not isinstance(item, list | Mapping) if (text := _single(item))]
    if isinstance(value, str):
        return [part for part in (_SPACES_TOO if split_spaces else _COMMAS).split(value.strip()) if part]
    return [str(value)]


def _single(item: Any) -> str:
    return "" if item is None or isinstance(item, bool) else str(item).strip()


def _load(text: str) -> dict[str, Any]:
    if len(text) > _MAX_CHARACTERS:
        raise ValueError(f"longer than {_MAX_CHARACTERS:,} characters")
    if _DEEP_FLOW.search(text):
        raise ValueError("nested too deeply")
    if "*" in text and "&" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, _LOADER)):
        # A few aliases of aliases expand to gigabytes; no note needs them.
        raise ValueError("aliases (*name) are not read")
    values = YAMLHandler().load(text, Loader=_LOADER)
    if values is None:
        return {}
    if not isinstance(values, Mapping):
        raise yaml.YAMLError("not a list of keys and values")
    return {str(key): _json_value(value) for key, value in values.items()}


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [_json_value(item) for item in value]
        return sorted(items, key=str) if isinstance(value, set | frozenset) else items
    return str(value)


def _fault(reason: str, line: int) -> Fault:
    return Fault("frontmatter", f"frontmatter cannot be read: {reason}", line=line)


def _guilty_line(lines: Sequence[str], error: Exception) -> int:
    """YAML's constructors do not say where: a date that does not exist is looked for by itself."""
    if isinstance(error, ValueError):
        for number, line in enumerate(lines, start=2):
            for date in re.findall(r"\d{4}-\d{1,2}-\d{1,2}", line):
                try:
                    datetime.date(*map(int, date.split("-")))
                except ValueError:
                    return number
    return 1
