"""Render answers as JSON, JSON lines, TOON, markdown or text for people.

The module of a renderer is imported on first use.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

# Valid in a JSON string, but control characters of terminals or not characters: write escapes.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

Format = Literal["json", "jsonl", "toon", "markdown", "human"]


def render(
    method: str,
    result: Mapping[str, Any],
    format: Format,
    *,
    width: int = 80,
    color: bool = False,
    terminal: bool = False,
) -> str:
    """Return the answer of `method` (from `api.dispatch`) as text without a final newline.

    `width` and `color` apply to `human` only. With `terminal`, JSON is indented and human output
    has links. Control characters of notes and names are always neutralised: escaped in JSON,
    replaced in TOON and markdown, except tabs. A caller that prints TOON or markdown on a terminal
    must also pass it through `vault_index.output.text.clean`.
    """
    if format == "json":
        return render_json(result, indent=terminal)
    if format == "jsonl":  # a line per result, then per failure; other answers are one line
        return "\n".join(
            map(render_json, [*result.get("results", [result]), *result.get("failed", ())])
        )
    if format == "human":
        from vault_index.output.terminal import render_human

        return render_human(method, result, width=width, color=color, links=terminal)
    from vault_index.output.text import visible  # late: its tables have thousands of entries

    if format == "toon":
        from vault_index.output.toon import render_toon

        return visible(render_toon(method, result))
    from vault_index.output.markdown import render_markdown

    return visible(render_markdown(method, result))


def render_json(value: object, *, indent: bool = False) -> str:
    """Return a value as JSON, with control characters escaped."""
    text = json.dumps(
        value,
        ensure_ascii=False,
        indent=2 if indent else None,
        separators=(",", ": " if indent else ":"),
    )
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
