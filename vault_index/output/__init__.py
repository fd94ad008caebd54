"""Answers as text: JSON, JSON lines, TOON, markdown, or for people; each renderer is imported when it is asked for."""

from collections.abc import Mapping
from typing import Any, Literal

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
    indented and human output has links. Control characters of notes are neutralised in JSON (by escapes) and
    human output always; TOON, JSON lines and markdown keep them, and whoever sends those to a terminal passes
    them through `vault_index.output.clean.clean`.
    """
    if format == "json":
        from vault_index.output.json import render_json

        return render_json(result, indent=terminal)
    if format == "jsonl":
        from vault_index.output.json import render_lines

        return render_lines(result)
    if format == "toon":
        from vault_index.output.toon import render_toon

        return render_toon(method, result)
    if format == "markdown":
        from vault_index.output.markdown import render_markdown

        return render_markdown(method, result)
    from vault_index.output.human import render_human

    return render_human(method, result, width=width, color=color, links=terminal)
