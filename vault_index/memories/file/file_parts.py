"""Where the parts of a memory file lie: opening fence, YAML, closing fence, body; joined again they are the file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.normalize import split_lines
from vault_index.models import Fault

BOM = "\ufeff"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Layout:
    """`opening + inside + closing + body` is the text. Without frontmatter the first is a byte order mark or empty,
    the next two are empty."""

    opening: str
    inside: str
    closing: str
    body: str
    newline: str
    """How the lines end: as the first one does."""
    values: Mapping[str, Any]
    faults: tuple[Fault, ...] = ()


def lay_out(text: str) -> Layout:
    mark = BOM if text.startswith(BOM) else ""
    rest = text.removeprefix(BOM)
    front = read_frontmatter(split_lines(rest))
    newline = first_line_end(rest)
    if not front.lines:
        return Layout(mark, "", "", rest, newline, front.values)
    lines = lines_with_ends(rest)
    head = lines[: front.lines]
    body = "".join(lines[front.lines :])
    return Layout(mark + head[0], "".join(head[1:-1]), head[-1], body, newline, front.values, front.faults)


def lines_with_ends(text: str) -> list[str]:
    """The lines that `split_lines` gives, each with the end it has in the file."""
    return _LINE.findall(text)


def first_line_end(text: str) -> str:
    found = _LINE_END.search(text)
    return found[0] if found else "\n"


def with_line_ends(text: str, newline: str) -> str:
    return _LINE_END.sub(lambda _: newline, text)


def ended(text: str, newline: str) -> str:
    """`text` with its last line ended."""
    return text if not text or text.endswith(("\n", "\r")) else text + newline


def without_blank_edges(text: str) -> str:
    """Without blank lines around it; the indentation of the first line stays."""
    return re.sub(r"\A(?:[ \t]*(?:\r\n|\r|\n))+", "", text.removeprefix(BOM)).rstrip()
