"""`related` and `timeline` for people: tables like that of `list`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.text import Text

from vault_index.output.page import Page
from vault_index.output.short import counted, short_ids, when

Record = Mapping[str, Any]


def _related(page: Page, result: Record) -> None:
    for reason in result["degraded"]:
        page.line((f"Degraded: {_one(reason)}", "yellow"))
    anchor, records = result["anchor"], result["results"]
    if not records:
        more = "more " if result["total"] else ""
        page.line((f"Nothing {more}is related to “{_one(anchor['title'])}”.", "bold"))
        page.line(("Drop a filter, or ask for what you look for: vault-index search", "dim"))
        return
    page.line("Related to ", (_one(anchor["title"]), "bold"), (f" · {_one(anchor['path'])}", "dim"))
    page.gap()
    ids = short_ids(record["id"] for record in records)
    rows: list[Sequence[str | Text]] = [
        [
            ids[record["id"]],
            _relations(record["relations"]),
            "" if record["cosine"] is None else f"{record['cosine']:.2f}",
            _one(record["title"]),
            page.link(_one(record["path"]), _one(record["link"])),
        ]
        for record in records
    ]
    columns = [("id", "dim", 0), ("relation", "green", 0), ("cosine#", "dim", 0), ("title", "bold", 3)]
    page.columns([*columns, ("path", "cyan", 4 if page.width >= 110 else 3)], rows)
    page.gap()
    page.line((f"{len(records):,} of {counted(result['total'], 'document')}", "dim"))


def _relations(relations: Sequence[str]) -> str:
    """That a linked document is near as well is what its cosine says."""
    linked = [relation for relation in relations if relation != "near"]
    return ", ".join(linked or relations)


def _timeline(page: Page, result: Record) -> None:
    anchor = result["anchor"]
    records = [*result["before"], anchor, *result["after"]]
    ids = short_ids(record["id"] for record in records)
    types = [record["type"] or (record["kind"] if record["kind"] == "session" else "") for record in records]
    typed = any(types)
    columns = [("", "green", 0), ("created", "dim", 0), ("id", "dim", 0)]
    columns += [("type", "green", 0)] if typed else []
    rows = []
    for number, record in enumerate(records):
        here = number == len(result["before"])
        row: list[str | Text] = ["▸" if here else "", when(record["created"]), ids[record["id"]]]
        row += [types[number]] if typed else []
        row += [Text(_one(record["title"]), "bold" if here else "")]
        row += [page.link(_one(record["path"]), _one(record["link"]))]
        rows.append(row)
    page.columns([*columns, ("title", "", 3), ("path", "cyan", 4 if page.width >= 110 else 3)], rows)
    if len(records) == 1:
        page.gap()
        page.line(("Nothing stands before or after it. Drop a filter, or raise --depth-before, --depth-after.", "dim"))


def _one(text: str) -> str:
    return " ".join(text.split())


AROUND: dict[str, Callable[[Page, Record], None]] = {"related": _related, "timeline": _timeline}
