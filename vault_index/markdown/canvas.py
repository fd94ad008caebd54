"""Parse an Obsidian canvas: its text cards become blocks with the lines of the JSON file."""

import json
import re
from bisect import bisect
from collections.abc import Iterator
from typing import Any

from vault_index.markdown.inline import without_suffix
from vault_index.markdown.normalize import split_lines
from vault_index.markdown.parse import normal_tags, read_body
from vault_index.models import Block, Fault, Link, ParsedDocument
from vault_index.unicode import mended

_ID = re.compile(r'"id"\s*:\s*"([^"\\]*)"')
_LINE_END = re.compile(r"\r\n?|\n")


def parse_canvas(text: str, name: str) -> ParsedDocument:
    """Parse a canvas; its title is `name`. All blocks of a card have the line of the card's id.

    A file card becomes a link. Invalid JSON gives no blocks, but a fault with its line.
    """
    text = text.removeprefix("\ufeff")
    nodes, faults = _read_nodes(text)
    blocks: list[Block] = []
    tags: list[str] = []
    links: list[Link] = []
    for line, node in nodes:
        card, file, subpath = (node.get(key) for key in ("text", "file", "subpath"))
        if isinstance(card, str):
            structure, inline = read_body(split_lines(card))
            blocks += [block._replace(start_line=line, end_line=line) for block in structure.blocks]
            tags += inline.tags
            links += [link._replace(line=line) for link in inline.links]
        if isinstance(file, str) and file:
            heading = subpath.lstrip("#") if isinstance(subpath, str) else ""
            links.append(Link(without_suffix(file), heading, "", line, embed=True))
    return ParsedDocument(
        title=name,
        title_in_text=False,
        aliases=(),
        tags=normal_tags(tags),
        links=tuple(links),
        frontmatter={},
        line_count=len(split_lines(text)),
        blocks=tuple(blocks),
        faults=faults,
    )


def _read_nodes(text: str) -> tuple[list[tuple[int, dict[str, Any]]], tuple[Fault, ...]]:
    """Return the nodes with their lines."""
    line_ends = [match.end() for match in _LINE_END.finditer(text)]
    try:
        canvas = json.loads(text) if text.strip() else None
    except ValueError as error:  # invalid JSON, or a number that is too long
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        line = bisect(line_ends, error.pos) + 1 if isinstance(error, json.JSONDecodeError) else 1
    except RecursionError:
        reason, line = "nested too deeply", 1
    else:
        return list(_with_lines(canvas, text, line_ends)), ()
    return [], (Fault("canvas", f"canvas cannot be read: {reason}", line=line),)


def _with_lines(
    canvas: Any, text: str, line_ends: list[int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the nodes, each with the line of its id, because `json.loads` reports no positions.

    A node without a plain id has the line of an earlier one.
    """
    nodes = canvas.get("nodes") if isinstance(canvas, dict) else None
    ids, at = _ID.finditer(text), 0
    for node in nodes if isinstance(nodes, list) else ():
        if isinstance(node, dict):
            at = next((found.end() for found in ids if found[1] == node.get("id")), at)
            yield bisect(line_ends, at) + 1, mended(node)
