"""Tables of cases in a TOML file next to their test."""

import tomllib
from pathlib import Path
from typing import Any


def tables(test: str) -> dict[str, Any]:
    """Return the tables of `name.toml` for the test file `test_name.py`."""
    file = Path(test)
    return tomllib.loads(file.with_name(f"{file.stem.removeprefix('test_')}.toml").read_text("utf-8"))
