"""Answers as text: JSON, JSON lines, TOON, markdown, or for people; each renderer is imported when it is asked for."""

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

# Legal in a JSON string, yet a terminal obeys them, or they are no characters at all: written as escapes, lossless.
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
    """The answer of `method` (as `api.dispatch` gives it) as text without a final newline.

    `width` and `color` concern `human` alone. `terminal` says that a terminal will show the text: then JSON is
    indented and human output has links. Control characters of notes and names are neutralised always: in JSON by
    escapes, in TOON and markdown with tabs left as they are. Whoever sends those to a terminal passes them through
    `vault_index.output.clean.clean`.
    """
    if format == "json":
        return render_json(result, indent=terminal)
    if (
        format == "jsonl"
    ):  # a record of `results` a line, then of those that failed; what is no list is one line
        return "\n".join(
            map(render_json, [*result.get("results", [result]), *result.get("failed", ())])
        )
    if format == "human":
        from vault_index.output.human import render_human

        return render_human(method, result, width=width, color=color, links=terminal)
    from vault_index.output.clean import visible  # late: its tables have thousands of entries

    if format == "toon":
        from vault_index.output.toon import render_toon

        return visible(render_toon(method, result))
    from vault_index.output.markdown import render_markdown

    return visible(render_markdown(method, result))


def render_json(value: object, *, indent: bool = False) -> str:
    text = json.dumps(
        value,
        ensure_ascii=False,
        indent=2 if indent else None,
        separators=(",", ": " if indent else ":"),
    )
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
