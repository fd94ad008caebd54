"""Tables of cases in a TOML file next to their test."""

import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any

from vault_index.models import Filters


def tables(test: str) -> dict[str, Any]:
    """Return the tables of `name.toml` for the test file `test_name.py`."""
    file = Path(test)
    return tomllib.loads(file.with_name(f"{file.stem.removeprefix('test_')}.toml").read_text("utf-8"))


def filters_of(fields: dict[str, Any]) -> Filters:
    """Return the filters with these fields. A property is a list of its name and its value, if it has one."""
    known: dict[str, Any] = {}
    for name, value in fields.items():
        known[name] = tuple(value) if isinstance(value, list) else value
        if isinstance(value, datetime):
            known[name] = value.timestamp()
    known["properties"] = tuple((name, value[0] if value else None) for name, *value in known.get("properties", ()))
    known["without"] = tuple(map(filters_of, known.get("without", ())))
    return Filters(**known)
