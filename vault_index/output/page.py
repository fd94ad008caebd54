"""A page of text for people: styled lines, columns and key-value pairs, laid out by rich for a given width."""

from collections.abc import Iterable, Sequence
from io import StringIO

from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

READABLE = 100
"""Prose is not set wider than this, however wide the terminal."""

_SCHEMES = ("obsidian://", "file://", "https://", "http://")


class Page:
    """Collects output; `text()` returns it. Every string it is given must be clean already."""

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

    def text(self) -> str:
        lines = (line.rstrip() for line in self._buffer.getvalue().split("\n"))
        return "\n".join(lines).rstrip("\n")

    def line(
        self, *parts: str | Text | tuple[str, str], indent: int = 0, hang: int = 0, limit: int | None = None
    ) -> None:
        """One paragraph: wrapped, its lines indented, all but the first by `hang` more, at most `limit` of them."""
        width = min(self.width, READABLE) - indent - hang
        wrapped = Text.assemble(*parts).wrap(self._console, width)
        shown = list(wrapped if limit is None else wrapped[:limit])
        if limit is not None and len(wrapped) > limit:
            last = shown[-1]
            last.rstrip()
            last.truncate(width - 2)
            last.append(" …")
        for number, one in enumerate(shown):
            self._console.print(Text(" " * (indent + (hang if number else 0))) + one, soft_wrap=True)

    def raw(self, text: str) -> None:
        """Text as it is: the terminal wraps it, so that it can be copied whole."""
        self._console.print(Text(text), soft_wrap=True)

    def gap(self) -> None:
        self._console.print()

    def link(self, text: str, target: str, style: str = "") -> Text:
        """A hyperlink where a terminal shows the page, plain text elsewhere."""
        usable = self._links and target.startswith(_SCHEMES)
        return Text(text, style=Style.parse(style) + Style(link=target) if usable else style)

    def pairs(self, rows: Iterable[tuple[str, str]], indent: int = 0) -> None:
        kept = [(name, value) for name, value in rows if value]
        width = max((len(name) for name, _ in kept), default=0)
        for name, value in kept:
            wrapped = Text(value).wrap(self._console, self.width - indent - width - 2)
            for number, one in enumerate(wrapped):
                label = Text((name if number == 0 else "").ljust(width + 2), style="dim")
                self._console.print(Text(" " * indent) + label + one, soft_wrap=True)

    def columns(self, columns: Sequence[tuple[str, str, int]], rows: Iterable[Sequence[str | Text]]) -> None:
        """Rows under dim headings; of each column its heading, its style and its share of what is left (0: fixed)."""
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for head, style, share in columns:
            right = head.endswith("#")
            table.add_column(
                head.rstrip("#"),
                style=style,
                no_wrap=True,
                overflow="ellipsis",
                ratio=share or None,
                justify="right" if right else "left",
            )
        table.expand = any(share for *_, share in columns)
        for row in rows:
            table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
        self._console.print(table)
