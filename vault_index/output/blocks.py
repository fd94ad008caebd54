"""The blocks of a view: each answer is laid out once, for a terminal and for markdown."""

from collections.abc import Sequence
from typing import NamedTuple

from vault_index.output.short import Spans
from vault_index.output.view import Column, Record

Part = str | tuple[str, str] | tuple[str, str, str]
"""A text, optionally with a style, or with a style and the target of a link."""


class Line(NamedTuple):
    """A wrapped paragraph of at most `limit` lines.

    All lines are indented by `indent` characters, all but the first by `hang` more.
    """

    parts: tuple[Part, ...]
    indent: int = 0
    hang: int = 0
    limit: int | None = None


class Pairs(NamedTuple):
    """Names and values, without empty values."""

    rows: Sequence[tuple[str, str]]
    indent: int = 0


class Table(NamedTuple):
    """A table with a row per record."""

    columns: Sequence[Column]
    records: Sequence[Record]


class Quote(NamedTuple):
    """Text of a document, with the matched words; a terminal shows three lines of it."""

    text: str
    spans: Spans = ()
    indent: int = 0


class Raw(NamedTuple):
    """Text without wrapping: the terminal wraps it, so that it can be copied."""

    text: str


GAP = Raw("")
Block = Line | Pairs | Table | Quote | Raw
Blocks = Sequence[Block]


def line(*parts: Part, indent: int = 0, hang: int = 0, limit: int | None = None) -> Line:
    """Return a paragraph of these parts."""
    return Line(parts, indent, hang, limit)


def shown_if(condition: object, *blocks: Block) -> Blocks:
    """Return the blocks if the condition is true, else nothing."""
    return blocks if condition else ()
