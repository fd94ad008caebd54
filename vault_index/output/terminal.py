"""Draw views for people at a terminal, wrapped by rich for a given width."""

from collections.abc import Iterable
from io import StringIO
from itertools import chain, pairwise

from rich.console import Console
from rich.padding import Padding
from rich.style import Style
from rich.table import Table as RichTable
from rich.text import Text

from vault_index.output.text import clean, clean_line, passage
from vault_index.output.view import (
    Block,
    Column,
    Line,
    Pairs,
    Part,
    Quote,
    Raw,
    Record,
    Table,
    cell,
    line,
)
from vault_index.output.views import view

_READABLE = 100
"""Maximum width of prose in characters, on terminals of any width."""
_SCHEMES = ("obsidian://", "file://", "https://", "http://")


def render_human(method: str, result: Record, *, width: int, color: bool, links: bool) -> str:
    """Return the answer of `method` as text of at most `width` columns."""
    page = Page(width, color=color, links=links)
    return page.text(view(method, result, page.width))


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
            self._draw(block)
        lines = (line.rstrip() for line in self._buffer.getvalue().split("\n"))
        return "\n".join(lines).rstrip("\n")

    def print(self, text: Text) -> None:
        """Print one line."""
        self.console.print(text, soft_wrap=True)

    def _draw(self, block: Block) -> None:
        match block:
            case Line():
                self._line(block)
            case Quote():
                self._quote(block)
            case Pairs():
                self._pairs(block)
            case Table():
                self._table(block)
            case Raw(text):
                self.print(Text(clean(text)))

    def _quote(self, block: Quote) -> None:
        """Print some lines of a text, from the line with the first match."""
        width, rows = min(self.width, _READABLE) - block.indent, block.rows
        start = block.text.rfind("\n", 0, block.spans[0][0] if block.spans else 0) + 1
        for text in block.text[start:].split("\n"):
            end = start + len(text)
            spans = [(a - start, b - start) for a, b in block.spans if start <= a and b <= end]
            if rows > 0:
                parts = _marked(*passage(text, spans, rows * width / 4))
                rows -= self._line(line(*parts, indent=block.indent, limit=rows))
            start = end + 1

    def _line(self, block: Line) -> int:
        """Print a wrapped paragraph, and return its number of lines; `…` marks a cut."""
        most = self.width if block.limit == 1 else _READABLE
        width = min(self.width, most) - block.indent - block.hang
        wrapped = Text.assemble(*map(self._styled, block.parts)).wrap(self.console, width)
        shown = list(wrapped[: block.limit])
        if len(wrapped) > len(shown):
            last = shown[-1]
            last.rstrip()
            last.truncate(width - 2)
            last.append(" …")
        for number, one in enumerate(shown):
            self.print(Text(" " * (block.indent + (block.hang if number else 0))) + one)
        return len(shown)

    def _pairs(self, block: Pairs) -> None:
        """Print names and values in two columns."""
        grid = RichTable.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="dim", no_wrap=True)
        for name, value in block.rows:
            if value:
                grid.add_row(self._styled(name), self._styled(value))
        self.console.print(Padding.indent(grid, block.indent))

    def _table(self, block: Table) -> None:
        """Print a table under dim headings, with the width of the page."""
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
            table.add_row(*(self._styled(_cell(column, record)) for column in block.columns))
        self.console.print(table)

    def _styled(self, part: Part) -> Text:
        """Return the part with its style, and with its link if the output is a terminal."""
        text, style, target = (part, "", "") if isinstance(part, str) else (*part, "")[:3]
        if self._links and target.startswith(_SCHEMES):
            return Text(clean_line(text), style=Style.parse(style) + Style(link=clean_line(target)))
        return Text(clean_line(text), style=style)


def _marked(text: str, spans: Iterable[Iterable[int]]) -> list[Part]:
    """Split a text into parts, with the matched words in bold."""
    edges = [0, *chain(*spans), len(text)]
    return [
        (text[start:end], "bold yellow" if odd % 2 else "")
        for odd, (start, end) in enumerate(pairwise(edges))
    ]


def _cell(column: Column, record: Record) -> Part:
    value = record[column.key]
    if isinstance(value, tuple):  # a value with a style
        return value
    text = cell(column, record)
    return (text, "", record["link"]) if column.kind == "link" else text
