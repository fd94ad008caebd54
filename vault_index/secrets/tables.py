"""Columns of tables and CSV whose header names a credential."""

from typing import NamedTuple

from vault_index.secrets.placeholders import pattern

_SEPARATORS = "│┃|\t;,"
_LONGEST_HEADER = 300
_LONGEST_ROW = 2_000
_AROUND = " \t*`\"'"


class Column(NamedTuple):
    rows: int
    """Position of the first row below the header."""
    end: int
    """Position behind the last row."""
    cells: list[tuple[int, int]]
    """Start and end of each cell, without the blanks and quotes around it."""


def column(text: str, start: int, end: int) -> Column | None:
    """The column whose header holds the name between `start` and `end`."""
    if not pattern("<REST_OF_CELL>").match(text, end):
        return None
    header = text.rfind("\n", max(start - _LONGEST_HEADER, 0), start) + 1
    rows = text.find("\n", end, end + _LONGEST_HEADER) + 1
    names = text[header:rows].rstrip()
    separator = next((sign for sign in _SEPARATORS if sign in names), "")
    width = names.count(separator) if rows and start - header <= _LONGEST_HEADER and separator else 0
    name = pattern("<HEADER_CELL>" if separator in "│┃|" else "<NAME_CELL>")
    if not width or not all(map(name.fullmatch, names.split(separator))):
        return None
    cell = pattern(rf'(?:\A|[{separator}])([ \t]*"[^"\n]*"[ \t]*(?=[{separator}]|\Z)|(?:\\.|[^{separator}\\])*)')
    cells, at, number = [], rows, names.count(separator, 0, start - header)
    while at < len(text):
        until = text.find("\n", at) if "\n" in text[at : at + _LONGEST_ROW] else len(text)
        row = text[at : min(until, at + _LONGEST_ROW)].rstrip()
        spans = [match.span(1) for match in cell.finditer(row)]
        if not pattern("<RULE>").fullmatch(row):
            if len(spans) != width + 1:
                break
            begin, stop = spans[number]
            value = row[begin:stop].lstrip(_AROUND)
            cells.append((at + stop - len(value), at + stop - len(value) + len(value.rstrip(_AROUND))))
        elif not row:
            break
        at = until + 1
    return Column(rows, at, cells)
