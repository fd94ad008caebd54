"""Answers as JSON and as JSON lines: every key, nothing shortened."""

import json
import re
from collections.abc import Mapping
from typing import Any

# Legal in a JSON string, yet a terminal obeys them, or they are no characters at all: written as escapes, lossless.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def render_json(value: object, *, indent: bool = False) -> str:
    text = json.dumps(
        value, ensure_ascii=False, indent=2 if indent else None, separators=(",", ": " if indent else ":")
    )
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def render_lines(result: Mapping[str, Any]) -> str:
    """One record of `results` a line; an answer that is no list is one line."""
    records = result.get("results")
    return "\n".join(render_json(record) for record in ([result] if records is None else records))
