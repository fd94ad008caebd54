"""Parse an Obsidian canvas: its text cards become blocks with the lines of the JSON file."""

import json
import re
from bisect import bisect
from collections.abc import Iterator
from typing import Any

from vault_index.markdown.normalize import split_lines
from vault_index.markdown.obsidian import without_suffix
from vault_index.markdown.parse import normal_tags, read_body
from vault_index.models import Block, Fault, Link, ParsedDocument
from vault_index.unicode import mended

_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n?|\n")

_Node = dict[str, tuple[int, Any]]
"""The fields of a node, each with the line of its value. A JSON string never spans lines."""


def parse_canvas(text: str, name: str) -> ParsedDocument:
    """Parse a canvas; its title is `name`. All blocks of a card have the card's line.

    A file card becomes a link. Invalid JSON gives no blocks, but a fault with its line.
    """
    text = text.removeprefix("\ufeff")
    nodes, faults = _read_nodes(text)
    blocks: list[Block] = []
    tags: list[str] = []
    links: list[Link] = []
    for node in nodes:
        line, card = node.get("text", (0, None))
        if isinstance(card, str):
            structure, inline = read_body(split_lines(card))
            blocks += [block._replace(start_line=line, end_line=line) for block in structure.blocks]
            tags += inline.tags
            links += [link._replace(line=line) for link in inline.links]
        line, file = node.get("file", (0, None))
        if isinstance(file, str) and file:
            subpath = node.get("subpath", (0, None))[1]
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


def _read_nodes(text: str) -> tuple[list[_Node], tuple[Fault, ...]]:
    line_ends = [match.end() for match in _LINE_END.finditer(text)]
    try:
        if not text.strip() or not isinstance(json.loads(text), dict):
            return [], ()
        return list(_nodes(text, line_ends)), ()
    except ValueError as error:  # invalid JSON, or a number that is too long
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        line = bisect(line_ends, error.pos) + 1 if isinstance(error, json.JSONDecodeError) else 1
    except RecursionError:
        reason, line = "nested too deeply", 1
    return [], (Fault("canvas", f"canvas cannot be read: {reason}", line=line),)


def _nodes(text: str, line_ends: list[int]) -> Iterator[_Node]:
    """Parse the outer levels of valid JSON, because `json.loads` reports no positions."""
    for key, start, nodes in _values(text, _skip(text, 0)):
        if key == "nodes" and isinstance(nodes, list):
            for _, place, node in _values(text, start):
                if isinstance(node, dict):
                    fields = _values(text, place)
                    yield {
                        name: (bisect(line_ends, at) + 1, mended(value))
                        for name, at, value in fields
                    }


def _values(text: str, start: int) -> Iterator[tuple[str, int, Any]]:
    """Yield (key, offset, value) of the object or list at `start`; in a list, keys are empty."""
    decode = json.JSONDecoder().raw_decode
    key, keyed = "", text[start] == "{"
    position = _skip(text, start + 1)
    while text[position] not in "}]":
        if keyed:
            key, position = decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        value, end = decode(text, position)
        yield key, position, value
        end = _skip(text, end)
        position = _skip(text, end + 1) if text[end] == "," else end


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
