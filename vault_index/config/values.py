"""Convert one value, from TOML or text, to the type of its key, or explain what is wrong."""

import dataclasses
import json
import os
import tomllib
from pathlib import Path
from typing import Any

from vault_index.errors import did_you_mean

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
    elif kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    elif kind in (str, int, float, bool) and type(value) is kind:
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
