"""Lay out text for people: lines, pairs and tables, wrapped by rich for a given width."""

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
"""Maximum width of prose in characters, on terminals of any width."""
_SCHEMES = ("obsidian://", "file://", "https://", "http://")

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

    def draw(self, page: "Page") -> None:
        """Print the wrapped paragraph; `…` marks a cut."""
        width = min(page.width, READABLE) - self.indent - self.hang
        wrapped = Text.assemble(*map(page.styled, self.parts)).wrap(page.console, width)
        shown = list(wrapped[: self.limit])
        if len(wrapped) > len(shown):
            last = shown[-1]
            last.rstrip()
            last.truncate(width - 2)
            last.append(" …")
        for number, one in enumerate(shown):
            page.print(Text(" " * (self.indent + (self.hang if number else 0))) + one)


class Pairs(NamedTuple):
    """Names and values in two columns, without empty values."""

    rows: Sequence[tuple[str, str]]
    indent: int = 0

    def draw(self, page: "Page") -> None:
        """Print the pairs, with wrapped values."""
        rows = [(clean_line(name), clean_line(value)) for name, value in self.rows if value]
        width = max((len(name) for name, _ in rows), default=0) + 2
        for name, value in rows:
            for number, one in enumerate(
                Text(value).wrap(page.console, page.width - self.indent - width)
            ):
                label = Text(("" if number else name).ljust(width), style="dim")
                page.print(Text(" " * self.indent) + label + one)


class Table(NamedTuple):
    """A table with a row per record, under dim headings."""

    columns: Sequence[Column]
    records: Sequence[Record]

    def draw(self, page: "Page") -> None:
        """Print the table with the width of the page."""
        table = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for column in self.columns:
            table.add_column(
                column.head.rstrip("#"),
                style=column.style,
                no_wrap=True,
                overflow="ellipsis",
                ratio=column.share or None,
                justify="right" if column.head.endswith("#") else "left",
            )
        table.expand = any(column.share for column in self.columns)
        for record in self.records:
            table.add_row(*(page.styled(_cell(column, record)) for column in self.columns))
        page.console.print(table)


class Raw(NamedTuple):
    """Text without wrapping: the terminal wraps it, so that it can be copied."""

    text: str

    def draw(self, page: "Page") -> None:
        """Print the text without wrapping."""
        page.print(Text(clean(self.text)))


GAP = Raw("")
Block = Line | Pairs | Table | Raw
Blocks = Sequence[Block]


def line(*parts: Part, indent: int = 0, hang: int = 0, limit: int | None = None) -> Line:
    """Return a paragraph of these parts."""
    return Line(parts, indent, hang, limit)


def shown_if(condition: object, *blocks: Block) -> Blocks:
    """Return the blocks if the condition is true, else nothing."""
    return blocks if condition else ()


def _cell(column: Column, record: Record) -> Part:
    value = record[column.key]
    if isinstance(value, tuple):  # a value with a style
        return value
    text = cell(column, record)
    return (text, "", record["link"]) if column.kind == "link" else text


class Page:
    """Layout of blocks as text; all their text is made safe here."""

    def __init__(self, width: int, *, color: bool, links: bool) -> None:
        self.width = max(width, 30)
        self._buffer = StringIO()
        self._links = links
        self.console = Console(
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
        """Return the blocks as text without trailing spaces."""
        for block in blocks:
            block.draw(self)
        lines = (line.rstrip() for line in self._buffer.getvalue().split("\n"))
        return "\n".join(lines).rstrip("\n")

    def print(self, text: Text) -> None:
        """Print one line."""
        self.console.print(text, soft_wrap=True)

    def styled(self, part: Part) -> Text:
        """Return the part with its style, and with its link if the output is a terminal."""
        text, style, target = (part, "", "") if isinstance(part, str) else (*part, "")[:3]
        if self._links and target.startswith(_SCHEMES):
            return Text(clean_line(text), style=Style.parse(style) + Style(link=clean_line(target)))
        return Text(clean_line(text), style=style)
