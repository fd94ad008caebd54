"""Make texts safe to show; shorten and format values: ids, places, passages, sizes, times."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from vault_index.markdown.normalize import without_invisible

_ID_LENGTH = 8
"""Minimum length of a short id, because a prefix is looked up in the whole index."""

Spans = Sequence[Sequence[int]]
"""Start and end of words in a text, in characters."""

_VISIBLE = {code: 0x2400 + code for code in range(0x20)}  # control pictures, from U+2400
_REPLACED = (
    0x7F,
    *range(0x80, 0xA0),  # C1 control characters; U+009B alone is a CSI
    *range(0x202A, 0x202F),  # bidirectional embeddings and overrides reorder a line
    *range(0x2066, 0x206A),  # bidirectional isolates
    *range(0xD800, 0xE000),  # lone surrogates cannot be encoded as UTF-8
)
_TABLE = _VISIBLE | dict.fromkeys(_REPLACED, 0xFFFD) | {0x09: "    ", 0x0A: "\n"}
_LINE_TABLE = _TABLE | dict.fromkeys((0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029), " ")

_WITHOUT_LINES = {code: sign for code, sign in _TABLE.items() if code not in (0x09, 0x0A)}


def visible(text: str) -> str:
    """Return `text` for agents and programs, with its line breaks and tabs."""
    return without_invisible(text.replace("\r\n", "\n")).translate(_WITHOUT_LINES)


def clean(text: str) -> str:
    """Return `text` for a terminal: CR LF and CR become LF, a tab becomes four spaces."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def clean_line(text: str) -> str:
    """Return `text` on one line; line breaks and tabs become spaces."""
    return text.replace("\r\n", "\n").translate(_LINE_TABLE)


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """Return for each id its shortest unique prefix of at least 8 characters."""
    unique = sorted(set(ids))
    short: dict[str, str] = {}
    for position, whole in enumerate(unique):
        neighbours = unique[max(position - 1, 0) : position] + unique[position + 1 : position + 2]
        lengths = range(_ID_LENGTH, len(whole))
        short[whole] = next(
            (whole[:n] for n in lengths if not any(one[:n] == whole[:n] for one in neighbours)),
            whole,
        )
    return short


def with_short_ids(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return copies of the records with short ids."""
    known = list(records)
    ids = short_ids(record["id"] for record in known)
    return [{**record, "id": ids[record["id"]]} for record in known]


def lines(record: Mapping[str, Any]) -> str:
    """Return `10-42`, `10` for a single line, or an empty string."""
    first, last = record.get("lines") or ("", "")
    return str(first) if first == last else f"{first}-{last}"


def place(record: Mapping[str, Any]) -> str:
    """Return `path:10-42`, which `get` accepts."""
    span = lines(record)
    return f"{record['path']}:{span}" if span else str(record["path"])


def short_path(path: str, width: int) -> str:
    """Return a path of at most `width` characters: without middle folders, or cut in its name."""
    first, name = path.partition("/")[0], path.rpartition("/")[2]
    cut = f"{name[: width // 2 - 1]}…{name[-width // 2 :]}"
    return next(one for one in (path, f"{first}/…/{name}", f"…/{name}", cut) if len(one) <= width)


def passage(text: str, spans: Spans, budget: float) -> tuple[str, Spans]:
    """Cut a text to about `budget` tokens on one line, around the first of `spans`.

    Return it with the spans inside it. Cuts are at spaces, marked by `…`.
    """
    line = one_line(text)
    marks = [
        (len(one_line(f"{text[:start]}x")) - 1, len(one_line(text[:end]))) for start, end in spans
    ]
    if cost(line) <= budget:
        return line, marks
    costs = [0.0, *accumulate(map(cost, line))]  # cost of the text before each character
    start = _back(line, costs, marks[0][0] if marks else 0, budget / 3)
    end = _forth(line, costs, start, budget)
    if end == len(line):  # use the rest of the budget before the words
        start = min(start, _back(line, costs, end, budget))
    before, after = "…" if start else "", "…" if end < len(line) else ""
    moved = start - len(before)
    inside = [
        (first - moved, last - moved) for first, last in marks if start <= first and last <= end
    ]
    return f"{before}{line[start:end].strip()}{after}", inside


def _back(text: str, costs: Sequence[float], position: int, budget: float) -> int:
    """Return the start of a text that ends at `position` and costs at most `budget` tokens."""
    start = bisect_right(costs, costs[position] - budget) - 1
    return text.find(" ", start, position) + 1 or start if start > 0 else 0


def _forth(text: str, costs: Sequence[float], position: int, budget: float) -> int:
    """Return the end of a text that starts at `position` and costs at most `budget` tokens."""
    end = min(bisect_left(costs, costs[position] + budget), len(text))
    space = text.rfind(" ", position, end) if end < len(text) else -1
    return space if space > position + (end - position) // 2 else end


def one_line(text: object) -> str:
    """Return `text` with each run of white space as one space."""
    return " ".join(str(text).split())


def cost(text: str) -> float:
    """Estimate tokens without a tokenizer: 4 ASCII characters per token, 2 or 1 of others."""
    return sum(0.25 + 0.25 * (one >= "\x80") + 0.5 * (one >= "\u2000") for one in text)


def state(record: Mapping[str, Any]) -> str:
    """Return the states of a document or hit, such as `expired`; empty for most documents."""
    by, old = record.get("superseded_by") or "", record.get("supersedes") or ""
    words = [
        f"superseded by {by[:_ID_LENGTH]}" if one == "superseded" else one
        for one in record.get("states", ())
    ]
    if old:
        words.append(f"supersedes {old[:_ID_LENGTH]}")
    return ", ".join([*words, "weak"] if record.get("weak") else words)


_SHOWN_KEYS = frozenset(
    [
        "id",
        "path",
        "title",
        "lines",
        "tokens",
        "frontmatter",
        "states",
        "superseded_by",
        "unreviewed",
    ]
)
"""Keys that `get` shows in the head of a text or as its state."""


def more_of(text: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the fields of a memory as names and texts; with `--full`, also the other metadata."""
    known = text.get("metadata") or {}
    given = known.get("frontmatter") or {}
    shown = (
        text["content"].startswith("---") and text["lines"][0] == 1
    )  # the text starts with its frontmatter
    hidden = _SHOWN_KEYS.union(given if shown else ())
    rows = {"state": state(text), **text.get("fields", {}), **({} if shown else given), **known}
    content = one_line(text["content"])
    return [
        (key, value)
        for key, value in metadata(rows)
        if key not in hidden and not (key == "digest" and value in content)
    ]


def metadata(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return names and texts of values, without empty ones."""
    rows = [(key, flat(value)) for key, value in values.items()]
    return [(key, text) for key, text in rows if text]


def flat(value: Any) -> str:
    """Return a JSON value on one line."""
    if isinstance(value, dict):
        if "target" in value and "heading" in value:  # a link
            return (
                f"{value['target']}#{value['heading']}"
                if value["heading"]
                else str(value["target"])
            )
        return "; ".join(f"{key}: {text}" for key, text in metadata(value))
    if isinstance(value, list | tuple):
        return ", ".join(dict.fromkeys(map(flat, value)))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else one_line(value)


def size(count: int) -> str:
    """Format a number of bytes: `812 B`, `3.4 MB`."""
    power = min((len(str(count)) - 1) // 3, 3)
    amount, unit = count / 1000**power, ("B", "kB", "MB", "GB")[power]
    return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"


def kept(source: Mapping[str, Any]) -> str | None:
    """Return the number and size of the stored sessions of a client, or None."""
    return f"{source['kept']:,} ({size(source['kept_bytes'])})" if source.get("kept") else None


def duration(seconds: float) -> str:
    """Format seconds: `8 ms`, `1.4 s`, `3 min 5 s`."""
    if seconds < 60:
        return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def moment(stamp: str | None) -> str:
    """Format an ISO time to the minute: `2026-11-21 10:00`."""
    return (stamp or "")[:16].replace("T", " ")


def when(stamp: str) -> str:
    """Format an ISO time to the minute, or midnight as its date only."""
    return moment(stamp).removesuffix(" 00:00")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 note`, `1,204 notes`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def joined(*parts: str | None) -> str:
    """Join the parts that are not empty by ` · `."""
    return " · ".join(part for part in parts if part)
