"""Answers for people at a terminal; everything that came from notes is cleaned before a line is laid out."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from rich.text import Text

from vault_index.output.carried import CARRIED
from vault_index.output.clean import clean_all
from vault_index.output.explain import explanation_lines, reading_lines
from vault_index.output.memories import MEMORIES
from vault_index.output.page import Page
from vault_index.output.related import AROUND
from vault_index.output.reports import REPORTS
from vault_index.output.short import (
    counted,
    duration,
    lines,
    matches,
    metadata,
    moment,
    passage,
    place,
    query_words,
    short_ids,
)
from vault_index.output.state import STATES, any_report

Record = Mapping[str, Any]

_WORTH_A_LOOK = 0.5
"""Of the best score. Of 1,371 sure answers of five judged sets none had its right documents all below that."""


def render_human(method: str, result: Record, *, width: int, color: bool, links: bool) -> str:
    page = Page(width, color=color, links=links)
    shapes = {"search": _search, "why": _why, "get": _get, "list": _list, "tags": _tags, "recall": _recall}
    shapes |= {**AROUND, **CARRIED, **MEMORIES, **REPORTS, **STATES}
    shapes.get(method, any_report)(page, cast(Record, clean_all(result)))
    return page.text()


# --- search ----------------------------------------------------------------------------------------------------


def _search(page: Page, result: Record) -> None:
    query = _one(result["query"])
    hits = result["results"]
    for old, new in result["corrections"].items():
        page.line((f"Read “{_one(old)}” as “{_one(new)}”.", "yellow"))
    for reason in result["degraded"]:
        page.line((f"Degraded: {_one(reason)}", "yellow"))
    reading = reading_lines(result.get("reading"))
    for line in reading:
        page.line((_one(line), "dim"), hang=2)
    if result["confidence"] == "none" and not (hits and reading):
        page.line((f"Nothing in the vault answers “{query}”.", "bold"))
        if hits:
            page.line((f"{counted(len(hits), 'passage')} came nearest; --explain or --json shows them.", "dim"))
        _what_else(page)
        return
    if not hits:
        page.line((f"Nothing found for “{query}”.", "bold"))
        _what_else(page)
        return
    if result["corrections"] or result["degraded"] or reading:
        page.gap()
    words = query_words(result["query"], result["corrections"])
    ids = short_ids(hit["id"] for hit in hits)
    least = hits[0]["score"] * _WORTH_A_LOOK
    behind = next((number for number, hit in enumerate(hits) if hit["score"] < least), None)
    for number, hit in enumerate(hits):
        if number == behind:
            page.line(("From here on hits score less than half of the first: hardly an answer.", "dim"))
            page.gap()
        _hit(page, hit, ids[hit["id"]], words)
        page.gap()
    weak = {"low": " · weak matches: maybe none answers", "none": " · none of them answers"}
    took = duration(result["took_ms"] / 1000)
    told = f"{counted(len(hits), 'hit')} · {result['mode']} · {took}"
    page.line((told, "dim"), (weak.get(result["confidence"], ""), "yellow"))


def _why(page: Page, result: Record) -> None:
    for old, new in result["corrections"].items():
        page.line((f"Read “{_one(old)}” as “{_one(new)}”.", "yellow"))
    for reason in result["degraded"]:
        page.line((f"Degraded: {_one(reason)}", "yellow"))
    page.line(
        ("Found: " if result["found"] else "Not found: ", "bold green" if result["found"] else "bold yellow"),
        (_one(result["title"] or ""), "bold"),
        (f"{' · ' if result['title'] else ''}{_one(place(result))}", "cyan"),
        hang=2,
    )
    for reason in result["reasons"]:
        page.line(f"- {_one(reason['message'])}", hang=2)
        if reason["hint"]:
            page.line((_one(reason["hint"]), "dim"), indent=2)
    if result["hit"]:
        page.gap()
        hit = result["hit"]
        _hit(page, hit, short_ids([hit["id"]])[hit["id"]], query_words(result["query"], result["corrections"]))
    reading = reading_lines(result["reading"])
    if reading:
        page.gap()
    for line in reading:
        page.line((_one(line), "dim"), hang=2)


def _what_else(page: Page) -> None:
    page.line(("Try fewer or other words, or drop a filter. What there is: vault-index tags, vault-index list.", "dim"))


def _hit(page: Page, hit: Record, short: str, words: tuple[str, ...]) -> None:
    under = [_one(heading) for heading in hit["headings"] if heading != hit["title"]]
    page.line(
        (f"{hit['score']:.2f}  ", "green"),
        (_one(hit["title"]), "bold"),
        *((f" › {heading}", "") for heading in under),
        hang=6,
        limit=2,
    )
    tags = "".join(f" #{_one(tag)}" for tag in hit["tags"])
    where = page.link(_one(place({**hit, "lines": hit["focus"]})), _one(hit["link"]), "cyan")
    page.line(where, (f" · {short}", "dim"), (f" ·{tags}" if tags else "", "magenta"), indent=6)
    source = " ".join((hit["snippet"] or hit["digest"] or "").split())
    if source:
        text = passage(source, words, budget=3 * (min(page.width, 100) - 6) / 4)
        shown = Text(text)
        for start, end in matches(text, words):
            shown.stylize("bold yellow", start, end)
        page.line(shown, indent=6, limit=3)
    if hit["also"]:
        page.line((f"also in {', '.join(_one(other) for other in hit['also'])}", "dim"), indent=6, limit=1)
    if hit["changed_since_index"]:
        page.line(("changed since it was indexed", "yellow"), indent=6)
    for line in explanation_lines(hit.get("explain")):
        page.line((_one(line), "dim"), indent=6, hang=2)


# --- documents -------------------------------------------------------------------------------------------------


def _get(page: Page, result: Record) -> None:
    texts = result["results"]
    ids = short_ids(text["id"] for text in texts)
    for number, text in enumerate(texts):
        if number:
            page.gap()
        page.line((_one(text["title"]), "bold"))
        page.line(
            (f"{_one(text['path'])}:{lines(text)}", "cyan"),
            (f" · {ids[text['id']]} · {counted(text['tokens'], 'token')}", "dim"),
        )
        page.pairs(metadata(text.get("metadata") or {}))
        page.gap()
        page.raw(text["content"].rstrip("\n"))
        if text["next"]:
            page.gap()
            page.line((f"Goes on: vault-index get {_one(text['next'])}", "dim"))


def _recall(page: Page, result: Record) -> None:
    for reason in result["degraded"]:
        page.line((f"Degraded: {_one(reason)}", "yellow"))
    if result["text"]:
        page.raw(result["text"])
    else:
        page.line(("There is nothing to recall.", "bold"))


def _list(page: Page, result: Record) -> None:
    records = result["results"]
    if not records:
        page.line(("No documents." if not result["total"] else "No more documents.", "bold"))
        page.line(("Drop a filter, or bring the index up to date: vault-index sync", "dim"))
        return
    ids = short_ids(record["id"] for record in records)
    if all(record["kind"] == "session" for record in records):
        _sessions(page, records, ids)
    else:
        _documents(page, records, ids)
    page.gap()
    page.line((f"{len(records):,} of {counted(result['total'], 'document')}", "dim"))


def _documents(page: Page, records: Sequence[Record], ids: Mapping[str, str]) -> None:
    typed = any(record["type"] for record in records)
    wide = page.width >= 110
    columns = [("id", "dim", 0), ("created", "dim", 0)]
    columns += [("type", "green", 0)] if typed else []
    columns += [("title", "bold", 3), ("path", "cyan", 4 if wide else 3)]
    columns += [("tags", "magenta", 2)] if wide else []
    rows = []
    for record in records:
        row: list[str | Text] = [ids[record["id"]], moment(record["created"])[:10]]
        row += [record["type"] or ""] if typed else []
        row += [_one(record["title"]), page.link(_one(record["path"]), _one(record["link"]))]
        row += [" ".join(f"#{_one(tag)}" for tag in record["tags"])] if wide else []
        rows.append(row)
    page.columns(columns, rows)


def _sessions(page: Page, records: Sequence[Record], ids: Mapping[str, str]) -> None:
    """Their paths are ids, and say nothing that the project and the title do not."""
    columns = [("id", "dim", 0), ("updated", "dim", 0), ("project", "green", 1), ("title", "bold", 3)]
    rows: list[list[str | Text]] = [
        [
            ids[record["id"]],
            moment(record["updated"]),
            _one(record["project"] or ""),
            page.link(_one(record["title"]), _one(record["link"])),
            f"{record['turns'] or 0:,}",
            f"{record['tokens']:,}",
        ]
        for record in records
    ]
    page.columns([*columns, ("turns#", "", 0), ("tokens#", "dim", 0)], rows)


def _tags(page: Page, result: Record) -> None:
    records = result["results"]
    if not records:
        page.line(("No tags.", "bold"))
        page.line(("Tags come from the frontmatter (tags: [a, b]) and from #tags in the text.", "dim"))
        return
    most = max(record["count"] for record in records)
    widest = max(len(record["tag"]) for record in records)
    room = min(max(min(page.width - widest - 14, 40), 4), most)
    rows = [
        (f"#{_one(record['tag'])}", f"{record['count']:,}", "▪" * max(1, round(room * record["count"] / most)))
        for record in records
    ]
    page.columns([("tag", "magenta", 0), ("count#", "", 0), ("", "dim", 0)], rows)
    if result["total"] > len(records):
        page.gap()
        page.line((f"{len(records):,} of {counted(result['total'], 'tag')}", "dim"))


def _one(text: str) -> str:
    return " ".join(text.split())
