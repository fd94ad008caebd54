"""The text cards of an Obsidian canvas, as blocks at the lines of the file they stand in."""

import json
import re
from bisect import bisect
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from vault_index.markdown.normalize import split_lines
from vault_index.markdown.obsidian import without_suffix
from vault_index.markdown.parse import normal_tags, read_body
from vault_index.models import Block, Fault, Link, ParsedDocument
from vault_index.surrogates import mended

_SPACE = re.compile(r"[ \t\r\n]*")
_LINE_END = re.compile(r"\r\n?|\n")

_Node = dict[str, tuple[int, Any]]
"""The fields of a node, each with the line its value begins in. A string of JSON never spans lines."""


def parse_canvas(text: str, name: str) -> ParsedDocument:
    """Read a canvas. Its title is its name; a card is markdown, and all of it stands at one line of the file.

    A card with a file is a link. Broken JSON has no blocks, but a fault with its line.
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
            blocks += [replace(block, start_line=line, end_line=line) for block in structure.blocks]
            tags += inline.tags
            links += [replace(link, line=line) for link in inline.links]
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
    except ValueError as error:  # a number too long to read is one, beside broken JSON
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        line = bisect(line_ends, error.pos) + 1 if isinstance(error, json.JSONDecodeError) else 1
    except RecursionError:
        reason, line = "nested too deeply", 1
    return [], (Fault("canvas", f"canvas cannot be read: {reason}", line=line),)


def _nodes(text: str, line_ends: list[int]) -> Iterator[_Node]:
    """Walks the outer levels of valid JSON by hand: `json.loads` does not tell where a value stood."""
    for key, start, nodes in _members(text, _skip(text, 0)):
        if key == "nodes" and isinstance(nodes, list):
            for place, node in _elements(text, start):
                if isinstance(node, dict):
                    fields = _members(text, place)
                    yield {name: (bisect(line_ends, at) + 1, mended(value)) for name, at, value in fields}


def _members(text: str, start: int) -> Iterator[tuple[str, int, Any]]:
    """Key, offset of the value, and value, of the object that begins at `start`."""
    decode = json.JSONDecoder().raw_decode
    position = _skip(text, start + 1)
    while text[position] != "}":
        key, position = decode(text, position)
        begin = _skip(text, _skip(text, position) + 1)
        value, position = decode(text, begin)
        yield key, begin, value
        position = _next(text, position)


def _elements(text: str, start: int) -> Iterator[tuple[int, Any]]:
    decode = json.JSONDecoder().raw_decode
    position = _skip(text, start + 1)
    while text[position] != "]":
        value, end = decode(text, position)
        yield position, value
        position = _next(text, end)


def _next(text: str, position: int) -> int:
    """Past the comma, or at the closing bracket."""
    position = _skip(text, position)
    return _skip(text, position + 1) if text[position] == "," else position


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position
