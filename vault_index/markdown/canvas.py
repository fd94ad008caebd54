"""The text cards of an Obsidian canvas, as blocks at the lines of the file they stand in."""

import json
from typing import Any

from vault_index.markdown.lines import split_lines
from vault_index.markdown.obsidian import inline_links, inline_tags
from vault_index.markdown.tags import normalize_tag
from vault_index.models import Block, Fault, Link, ParsedDocument


def parse_canvas(text: str, name: str) -> ParsedDocument:
    """Read a canvas. Its title is its name; cards with files count as links. Broken JSON is a fault."""
    lines = split_lines(text)
    faults: tuple[Fault, ...] = ()
    nodes: list[Any] = []
    try:
        content = json.loads(text) if text.strip() else {}
        found = content.get("nodes", []) if isinstance(content, dict) else []
        nodes = found if isinstance(found, list) else []
    except json.JSONDecodeError as error:
        faults = (Fault("canvas", f"not valid JSON: {error.msg}", line=error.lineno),)
    except RecursionError:
        faults = (Fault("canvas", "nested too deeply", line=1),)
    cards = [(node, _line_of(node, lines)) for node in nodes if isinstance(node, dict)]
    texts = [(str(node["text"]), line) for node, line in cards if isinstance(node.get("text"), str)]
    numbered = [(line, part) for card, line in texts for part in card.split("\n")]
    files = [Link(str(n["file"]).removesuffix(".md"), "", "", line, True) for n, line in cards if n.get("file")]
    return ParsedDocument(
        title=name,
        title_in_text=False,
        aliases=(),
        tags=tuple(dict.fromkeys(tag for t in inline_tags(p for _, p in numbered) if (tag := normalize_tag(t)))),
        links=(*inline_links(numbered), *files),
        frontmatter={},
        line_count=len(lines),
        blocks=tuple(Block(line, line, card.strip(), ()) for card, line in texts if card.strip()),
        faults=faults,
    )


def _line_of(node: dict[str, Any], lines: list[str]) -> int:
    """Nodes have ids, and Obsidian writes a node a line; a canvas written otherwise is all in its first lines."""
    mark = json.dumps(node.get("id", ""), ensure_ascii=False)
    return next((number for number, line in enumerate(lines, start=1) if mark in line and '"id"' in line), 1)
