"""Columns, rows, blocks and explanations that all formats share."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Any, NamedTuple

from vault_index.output.text import Spans, moment, one_line, state, when, with_short_ids

Record = Mapping[str, Any]

CERTAINTY = {"high": "", "low": "not certain", "none": "none (no sure answer)"}
"""Text for the confidence of an answer; empty if it is high."""
_ALWAYS_SHOWN = 3
"""Number of best hits that are shown even if they are weak."""
_IMPORT_ROWS = 20
"""Maximum number of listed memories of an import."""
_EXPECTED = frozenset({"created", "known", "would be created"})


class Column(NamedTuple):
    """A column of a table: the key of its value in each record, and the kind of value.

    `WRITTEN` formats each kind; a format may replace its functions. For people there are a heading
    (`#` at its end aligns the column to the right), a style, and a share of the remaining width.
    With share 0, the column is as wide as its widest cell.
    """

    key: str
    kind: str = "text"
    head: str = ""
    style: str = ""
    share: int = 0


COLUMNS: Mapping[str, Column] = {
    "id": Column("id", "code", "id", "dim"),
    "source": Column("source"),
    "kind": Column("kind"),
    "created": Column("created", "day", "created", "dim"),
    "created_at": Column("created", "when", "created", "dim"),
    "updated": Column("updated", "day", "updated"),
    "updated_at": Column("updated", "minute", "updated", "dim"),
    "mark": Column("mark", style="green"),
    "type": Column("type", head="type", style="green"),
    "type_or_session": Column("type_or_session", head="type", style="green"),
    "project": Column("project", head="project", style="green", share=1),
    "title": Column("title", head="title", style="bold", share=3),
    "linked_title": Column("title", "link", "title", "bold", 3),
    "plain_title": Column("title", head="title", share=3),
    "path": Column("path", "link", "path", "cyan", 3),
    "wide_path": Column("path", "link", "path", "cyan", 4),
    "tags": Column("tags", "tags", "tags", "magenta", 2),
    "relation": Column("relation", "list", "relation", "green"),
    "relations": Column("relations", "list", "relation"),
    "cosine": Column("cosine", "score", "cosine#", "dim"),
    "client": Column("client", head="client"),
    "spent": Column("spent", head="time#", style="dim"),
    "touched": Column("touched", head="file", style="green"),
    "edited": Column("files", "count", "files#"),
    "turns": Column("turns", "count", "turns#"),
    "tokens": Column("tokens", "count", "tokens#", "dim"),
    "state": Column("state", head="state", style="yellow"),
    "expires": Column("expires"),
    "valid_until": Column("valid_until"),
    "digest": Column("digest", "digest", "digest", "dim", 3),
    "accesses": Column("accesses", "count", "opened#"),
    "tag": Column("tag", "tags", "tag", "magenta"),
    "count": Column("count", "count", "count#"),
    "documents": Column("count", "count", "documents"),
    "bar": Column("bar", style="dim"),
    "outcome": Column("outcome", head="outcome"),
    "version": Column("number", head="version", style="bold"),
    "seen": Column("seen", "minute", "seen", "dim"),
    "by": Column("by", head="by"),
    "action": Column("action", head="what", style="green", share=3),
    "bytes": Column("bytes", "count", "bytes#", "dim"),
    "near": Column("path", "text", "path", "cyan", 3),
    "alike": Column("score", "score", "alike#", "dim"),
    "likeness": Column("relation", head="relation", style="green"),
}
"""All columns by name."""


def columns(names: str, records: Sequence[Record] = ()) -> tuple[Column, ...]:
    """Return the columns of these names; a name with `?` needs a value in some record."""
    return tuple(
        column
        for name in names.split()
        if (column := COLUMNS[name.rstrip("?")])
        and (name[-1] != "?" or any(record[column.key] for record in records))
    )


WRITTEN: Mapping[str, Callable[[Any], str]] = {
    "text": one_line, "code": one_line, "link": one_line, "minute": moment, "when": when,
    "day": lambda stamp: moment(stamp)[:10],
    "tags": lambda tags: " ".join(f"#{tag}" for tag in tags), "list": ", ".join, "digest": one_line,
    "count": "{:,}".format, "score": "{:.2f}".format, "percent": "{:.0%}".format,
}  # fmt: skip


def cell(
    column: Column, record: Record, written: Mapping[str, Callable[[Any], str]] = WRITTEN
) -> str:
    """Return the value of a record in a column, formatted by its kind."""
    value = record[column.key]
    return "" if value is None else written[column.kind](value)


def documents(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Return records of documents with short ids and without digests that repeat the title."""
    return [
        {
            **record,
            "digest": ""
            if one_line(record["digest"]).rstrip(".…") == record["title"]
            else record["digest"],
            "state": state(record),
            "type_or_session": record["type"]
            or (record["kind"] if record["kind"] == "session" else ""),
        }
        for record in with_short_ids(records)
    ]


def with_sources(records: Iterable[Record]) -> list[Record]:
    """Prefix paths with their source, as `get` accepts it, if there are several sources."""
    known = list(records)
    several = len({record["source"] for record in known}) > 1
    return (
        [{**one, "path": f"{one['source']}:{one['path']}"} for one in known] if several else known
    )


def around(result: Record) -> list[dict[str, Any]]:
    """Return the documents of a timeline, oldest first, with a mark on the anchor."""
    marks = chain(("" for _ in result["before"]), "▸", ("" for _ in result["after"]))
    records = documents([*result["before"], result["anchor"], *result["after"]])
    return [
        {**record, "mark": mark, "title": (record["title"], "bold" if mark else "")}
        for record, mark in zip(records, marks, strict=True)
    ]


def versions(result: Record) -> tuple[list[dict[str, Any]], str]:
    """Return the versions of a memory, with short commit hashes, and their count."""
    rows = [
        {**one, "number": str(one["number"] or one["commit"][:10])} for one in result["results"]
    ]
    older = f"; {result['forgotten']:,} older ones were dropped" if result["forgotten"] else ""
    return rows, f"{len(rows)} of {result['total']}{older}"


def stored(answer: Record) -> tuple[Record, list[dict[str, Any]]]:
    """Return a stored memory and the memories on the same subject, with short ids."""
    short, *near = with_short_ids([answer, *answer["near"]])
    question = answer.get("question", "")
    for whole, brief in zip([answer, *answer["near"]], [short, *near], strict=True):
        question = question.replace(whole["id"], brief["id"])
    return {**short, "question": question}, near


def shown_hits(result: Record) -> tuple[list[Record], int]:
    """Return the hits to show and the number of hidden ones.

    Weak hits after the best three are hidden, unless the caller asked for all.
    """
    hits = result["results"]
    first = len(hits) if result.get("all") else max(_ALWAYS_SHOWN - result.get("offset", 0), 0)
    shown = [*hits[:first], *(hit for hit in hits[first:] if not hit.get("weak"))]
    return shown, len(hits) - len(shown)


def is_records(value: object) -> bool:
    """Return whether a value is a list of records that is not empty."""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(item, dict) for item in value)
    )


def import_in_short(answer: Record) -> dict[str, Any]:
    """Return an import with `counts` of its outcomes and at most 20 memories.

    If there are more, list only memories that were not stored unchanged, and failures.
    """
    results, failed = answer["results"], answer["failed"]
    counts = {
        **Counter(result["outcome"] for result in results),
        **({"failed": len(failed)} if failed else {}),
    }
    listed = (
        results
        if len(results) <= _IMPORT_ROWS
        else [one for one in results if one["outcome"] not in _EXPECTED]
    )
    return {"counts": counts, "results": listed[:_IMPORT_ROWS], "failed": failed[:_IMPORT_ROWS]}


# --- Explanations ---------------------------------------------------------------------------------


def reading_lines(reading: Record | None) -> list[str]:
    """Return how the query was parsed, a line per part that is not empty."""
    if reading is None:
        return []
    parts = {
        "words": ", ".join(map(_word, reading["words"])),
        "required": reading["required"],
        "excluded": reading["excluded"],
        "filters": ", ".join(reading["filters"]),
    }
    return [f"{name}: {value}" for name, value in parts.items() if value]


def _word(word: Record) -> str:
    meant = f", or {' or '.join(word['meant'])}" if word["meant"] else ""
    return f"{word['text']} (rarity {word['rarity']:.1f}, in {word['texts']:,} texts{meant})"


def explanation_lines(explain: Record | None) -> list[str]:
    """Return the channels, the matched words and the score of a hit, a line each."""
    if explain is None:
        return []
    channels = [
        f"{name} #{one['rank']} ({one['score']:.2f})" for name, one in explain["channels"].items()
    ]
    labels = {"matched": "matched", "corrected": "corrected", "missing": "missing"}
    words = [f"{label}: {', '.join(explain[key])}" for key, label in labels.items() if explain[key]]
    if words:
        words.append(f"{explain['coverage']:.0%} of the query in and around it")
    return list(filter(None, (" · ".join(channels), " · ".join(words), _sum(explain))))


def _sum(explain: Record) -> str:
    total = prod(explain["factors"].values(), start=sum(explain["parts"].values()))
    parts = [f"{name} {part:.2f}" for name, part in explain["parts"].items() if round(part, 2)]
    factors = [f"{name} {factor:.2f}" for name, factor in explain["factors"].items()]
    terms = " + ".join(parts) or "0"
    if factors and len(parts) > 1:
        terms = f"({terms})"
    return f"score {min(total, 1.0):.2f} = {' × '.join([terms, *factors])}"


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
    """Text of a document, with the matched words; a terminal shows some lines of it."""

    text: str
    spans: Spans = ()
    indent: int = 0
    rows: int = 3


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
