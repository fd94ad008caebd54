"""Draw lines over time as an SVG picture, one panel per line, without a drawing library."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _GAP = 720, 110, 56, 34


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its values."""

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
    parts.append(
        f'<text x="{_LEFT + _WIDTH}" y="{height - 6}" '
        f'text-anchor="end">{minutes[-1]:.0f} minutes</text>'
    )
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
    """One value with its limit."""

    name: str
    value: float
    limit: float
    unit: str


_LABEL, _BAR, _BAR_LEFT, _AT_LIMIT, _MOST = 17, 10, 12, 150, 2.3
"""Heights of a name and of a bar; `_AT_LIMIT` is the length of a bar at its limit, in pixels. A bar
is cut at `_MOST` times its limit.
"""


def bars(title: str, about: str, groups: Sequence[tuple[str, Sequence[Sequence[Bar]]]]) -> str:
    """Draw each value as a share of its limit, which is one line through all bars.

    The picture is as wide as a phone. Bars of one name are grouped and have one unit.
    """
    parts = [
        f'<text x="{_BAR_LEFT}" y="22" font-size="17" font-weight="bold">{escape(title)}</text>',
        f'<text x="{_BAR_LEFT}" y="40">{escape(about)}</text>',
    ]
    top = 52
    for name, rows in groups:
        top += 26
        parts.append(
            f'<text x="{_BAR_LEFT}" y="{top - 7}" font-size="15" '
            f'font-weight="bold">{escape(name)}</text>'
        )
        for row in rows:
            values, limits = (
                ", ".join(_short(bar.value) for bar in row),
                ", ".join(f"{bar.limit:g}" for bar in row),
            )
            figures = f"{values} of {limits} {row[0].unit}"
            parts += [
                f'<text x="{_BAR_LEFT}" y="{top + 12}">{escape(row[0].name)}</text>',
                f'<text x="372" y="{top + 12}" text-anchor="end">{escape(figures)}</text>',
            ]
            top += _LABEL
            for bar in row:
                share = bar.value / bar.limit
                parts.append(
                    f'<rect x="{_BAR_LEFT}" y="{top}" width="{_AT_LIMIT * min(share, _MOST):.1f}" '
                    f'height="{_BAR - 2}" fill="{"#2563eb" if share <= 1 else "#dc2626"}"/>'
                )
                top += _BAR
            height = len(row) * _BAR + 2
            parts.append(
                f'<path d="M{_BAR_LEFT + _AT_LIMIT},{top - height} v{height}" '
                'stroke="#111" stroke-width="2"/>'
            )
            top += 5
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 384 {top + 12}" '
        'font-family="sans-serif"'
    )
    return "\n".join(
        [
            f'{head} font-size="13">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
