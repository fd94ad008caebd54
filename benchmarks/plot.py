"""Lines over time as an SVG picture, one panel a line; nothing but text is needed to draw them."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _GAP = 720, 110, 56, 34


@dataclass(frozen=True, slots=True)
class Line:
    name: str
    values: Sequence[float]


def draw(title: str, minutes: Sequence[float], lines: Sequence[Line]) -> str:
    """All lines have a value for each of the minutes. Every panel begins at zero."""
    height = len(lines) * (_HEIGHT + _GAP) + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH + _LEFT + 20} {height}"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{_LEFT}" y="18" font-size="14">{escape(title)}</text>',
    ]
    for number, line in enumerate(lines):
        parts += _panel(line, minutes, 40 + number * (_HEIGHT + _GAP))
    parts.append(f'<text x="{_LEFT + _WIDTH}" y="{height - 6}" text-anchor="end">{minutes[-1]:.0f} minutes</text>')
    return "\n".join([*parts, "</svg>", ""])


def _panel(line: Line, minutes: Sequence[float], top: float) -> list[str]:
    most = max(*line.values, 1e-9) * 1.1
    points = " ".join(
        f"{_LEFT + _WIDTH * minute / minutes[-1]:.1f},{top + _HEIGHT * (1 - value / most):.1f}"
        for minute, value in zip(minutes, line.values, strict=True)
    )
    return [
        f'<text x="{_LEFT}" y="{top - 4}">{escape(line.name)}</text>',
        f'<path d="M{_LEFT},{top} v{_HEIGHT} h{_WIDTH}" fill="none" stroke="#888"/>',
        f'<text x="{_LEFT - 4}" y="{top + 10}" text-anchor="end">{most:.0f}</text>',
        f'<text x="{_LEFT - 4}" y="{top + _HEIGHT}" text-anchor="end">0</text>',
        f'<polyline points="{points}" fill="none" stroke="#2563eb" stroke-width="1.5"/>',
    ]


@dataclass(frozen=True, slots=True)
class Bar:
    name: str
    value: float
    limit: float
    unit: str


_ROW, _BAR_LEFT, _AT_LIMIT, _MOST = 34, 12, 150, 2.3
"""`_AT_LIMIT`: pixels of a bar that reaches its limit; `_MOST`: what is longer, in limits, is cut."""


def bars(title: str, groups: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """Each value as a share of its limit, which is one line through all of them; as wide as a phone."""
    parts, top = [f'<text x="{_BAR_LEFT}" y="22" font-size="17" font-weight="bold">{escape(title)}</text>'], 34
    for name, rows in groups:
        top += 24
        parts.append(f'<text x="{_BAR_LEFT}" y="{top - 6}" font-size="15" font-weight="bold">{escape(name)}</text>')
        for row in rows:
            share = row.value / row.limit
            colour = "#2563eb" if share <= 1 else "#dc2626"
            figures = f"{_short(row.value)} of {row.limit:g} {row.unit}"
            parts += [
                f'<text x="{_BAR_LEFT}" y="{top + 12}">{escape(row.name)}</text>',
                f'<text x="372" y="{top + 12}" text-anchor="end">{escape(figures)}</text>',
                f'<rect x="{_BAR_LEFT}" y="{top + 17}" width="{_AT_LIMIT * min(share, _MOST):.1f}" height="9"'
                f' fill="{colour}"/>',
                f'<path d="M{_BAR_LEFT + _AT_LIMIT},{top + 15} v14" stroke="#111" stroke-width="2"/>',
            ]
            top += _ROW
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 384 {top + 12}" font-family="sans-serif"'
    return "\n".join(
        [f'{head} font-size="13">', '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>", ""]
    )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
