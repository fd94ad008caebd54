"""A page of text for people: lines, pairs and tables, cleaned and laid out by rich for a given width."""

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import NamedTuple

from rich.console import Console
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from vault_index.output.clean import clean, clean_line
from vault_index.output.view import Column, Record, cell

READABLE = 100
"""Prose is not set wider than this, however wide the terminal."""

_SCHEMES = ("obsidian://", "file://", "https://", "http://")

Part = str | tuple[str, str] | tuple[str, str, str]
"""Text; with a style; with a style and the target of a link."""


class Line(NamedTuple):
    """A paragraph, wrapped: all its lines indented by `indent` characters, all but the first by `hang` more, and at
    most `limit` of them."""

    parts: tuple[Part, ...]
    indent: int = 0
    hang: int = 0
    limit: int | None = None


class Pairs(NamedTuple):
    """Names and values in two columns; those without a value are left out."""

    rows: Sequence[tuple[str, str]]
    indent: int = 0


class Table(NamedTuple):
    """Records in rows, under dim headings."""

    columns: Sequence[Column]
    records: Sequence[Record]


class Raw(NamedTuple):
    """Text as it is: the terminal wraps it, so that it can be copied whole."""

    text: str


GAP = Raw("")
Block = Line | Pairs | Table | Raw
Blocks = Sequence[Block]


def line(*parts: Part, indent: int = 0, hang: int = 0, limit: int | None = None) -> Line:
    return Line(parts, indent, hang, limit)


def shown_if(condition: object, *blocks: Block) -> Blocks:
    return blocks if condition else ()


class Page:
    """Lays out blocks. Whatever text they hold is made safe here."""

    def __init__(self, width: int, *, color: bool, links: bool) -> None:
        self.width = max(width, 30)
        self._buffer = StringIO()
        self._links = links
        self._console = Console(
            file=self._buffer,
            width=self.width,
            force_terminal=color or links,
            color_system="standard" if color or links else None,
            no_color=not color,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            _environ={},
        )

    def text(self, blocks: Iterable[Block]) -> str:
        for block in blocks:
            if isinstance(block, Line):
                self._line(block)
            elif isinstance(block, Pairs):
                self._pairs(block)
            elif isinstance(block, Table):
                self._table(block)
            else:
                self._console.print(Text(clean(block.text)), soft_wrap=True)
        lines = (line.rstrip() for line in self._buffer.getvalue().split("\n"))
        return "\n".join(lines).rstrip("\n")

    def _line(self, block: Line) -> None:
        width = min(self.width, READABLE) - block.indent - block.hang
        wrapped = Text.assemble(*map(self._part, block.parts)).wrap(self._console, width)
        shown = list(wrapped[: block.limit])
        if len(wrapped) > len(shown):
            last = shown[-1]
            last.rstrip()
            last.truncate(width - 2)
            last.append(" …")
        for number, one in enumerate(shown):
            self._console.print(Text(" " * (block.indent + (block.hang if number else 0))) + one, soft_wrap=True)

    def _pairs(self, block: Pairs) -> None:
        kept = [(clean_line(name), clean_line(value)) for name, value in block.rows if value]
        width = max((len(name) for name, _ in kept), default=0) + 2
        for name, value in kept:
            wrapped = Text(value).wrap(self._console, self.width - block.indent - width)
            for number, one in enumerate(wrapped):
                label = Text(("" if number else name).ljust(width), style="dim")
                self._console.print(Text(" " * block.indent) + label + one, soft_wrap=True)

    def _table(self, block: Table) -> None:
        table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for column in block.columns:
            table.add_column(
                column.head.rstrip("#"),
                style=column.style,
                no_wrap=True,
                overflow="ellipsis",
                ratio=column.share or None,
                justify="right" if column.head.endswith("#") else "left",
            )
        table.expand = any(column.share for column in block.columns)
        for record in block.records:
            table.add_row(*(self._cell(column, record) for column in block.columns))
        self._console.print(table)

    def _cell(self, column: Column, record: Record) -> Text:
        value = record[column.key]
        if isinstance(value, tuple):  # of one cell, a style
            return self._part(value)
        text = cell(column, record)
        return self._part((text, "", record["link"]) if column.kind == "link" else text)

    def _part(self, part: Part) -> Text:
        """A hyperlink where a terminal shows the page, plain text elsewhere."""
        text, style, target = (part, "", "") if isinstance(part, str) else (*part, "")[:3]
        if self._links and target.startswith(_SCHEMES):
            return Text(clean_line(text), style=Style.parse(style) + Style(link=clean_line(target)))
        return Text(clean_line(text), style=style)
