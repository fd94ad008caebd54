"""How things stand, for people: status, statistics, settings, and any answer without a form of its own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.text import Text

from vault_index.output.page import Page
from vault_index.output.short import counted, duration, moment, size

Record = Mapping[str, Any]
_DOING = {"text": "indexing", "embed": "embedding"}
_HARD_SHOWN = 20
_HARD_HINT = (
    "Easier to find: give the note an alias of telling words (aliases: […] in its frontmatter), or a title that no"
    " other note could have."
)


def _stats(page: Page, stats: Record) -> None:
    if "documents" not in stats:
        any_report(page, stats)
        return
    kinds = [
        counted(stats[key], noun, plural)
        for key, noun, plural in (
            ("notes", "note", ""),
            ("memories", "memory", "memories"),
            ("sessions", "session", ""),
        )
        if stats[key]
    ]
    page.pairs(
        [
            ("documents", f"{stats['documents']:,}" + (f"  ({', '.join(kinds)})" if kinds else "")),
            ("chunks", f"{stats['chunks']:,}"),
            ("tags", f"{stats['tags']:,}"),
            ("agents", f"{stats['agents']:,}"),
            ("vectors pending", f"{stats['pending']:,}" if stats["pending"] else ""),
            ("model", stats["model"] or "none (keywords only)"),
            ("size", size(stats["bytes"])),
            ("indexed", moment(stats["indexed"]) or "never; start with: vault-index sync"),
        ]
    )
    for key, value in stats.items():  # what --tags and --agents add
        if isinstance(value, list) and value:
            page.gap()
            any_report(page, {key: value})


def _status(page: Page, status: Record) -> None:
    if "results" in status:
        _privacy(page, status)
        return
    daemon, index, embedder, watch = (status[key] for key in ("daemon", "index", "embedder", "watch"))
    since = f" since {moment(daemon['since'])}" if daemon["since"] else ""
    running = f"running{since} (pid {daemon['pid']})" if daemon["running"] else "not running (vault-index watch)"
    vectors = f"{index['vectors']:,} vectors" + (f", {index['pending']:,} pending" if index["pending"] else "")
    ready = "" if embedder["ready"] else "not ready"
    dimensions = f"{embedder['dimensions']} dimensions" if embedder["dimensions"] else ""
    last_event = f"last change {moment(watch['last_event'])}" if watch["last_event"] else ""
    compared = f"last comparison {moment(watch['last_reconcile'])}" if watch["last_reconcile"] else ""
    missed = f"{watch['missed']:,} missed" if watch["missed"] else ""
    page.line(("vault-index ", "bold"), (status["version"], "bold"))
    page.gap()
    page.pairs(
        [
            ("daemon", running),
            ("doing", _work(daemon.get("work"))),
            ("watch", joined(watch["backend"], last_event, compared, missed)),
            ("index", f"{counted(index['documents'], 'document')}, {counted(index['chunks'], 'chunk')}, {vectors}"),
            ("size", size(index["bytes"])),
            ("embedder", joined(embedder["provider"], embedder["model"], dimensions, ready)),
            *_spent(status.get("spent") or ()),
        ]
    )
    page.gap()
    if status["sources"]:
        columns = [("source", "bold", 0), ("path", "cyan", 0), ("documents#", "", 0), ("chunks#", "", 0)]
        columns += [("up to date#", "", 0)]
        failing = any(source["failed"] for source in status["sources"])
        columns += [("failed#", "yellow", 0)] if failing else []
        rows = [
            [source["name"], source["path"], f"{source['documents']:,}", f"{source['chunks']:,}", _coverage(source)]
            + ([f"{source['failed']:,}"] if failing else [])
            for source in status["sources"]
        ]
        page.columns(columns, rows)
    else:
        page.line(("No sources yet: vault-index source add ~/Vault", "dim"))
    show_problems(page, status)


def _work(work: Record | None) -> str:
    if work is None:
        return ""
    far = f"{work['done']:,} of {work['total']:,}" if work["total"] else f"{work['done']:,}"
    rate = f"{work['rate']:,.0f}/s" if work["rate"] >= 10 else f"{work['rate']:.1f}/s"
    seconds = work["seconds_left"]
    left = "" if seconds is None else f"{duration(seconds) if seconds >= 60 else f'{seconds} s'} left"
    return joined(f"{_DOING.get(work['stage'], work['stage'])} {far}", rate, left)


def _coverage(source: Record) -> str:
    found, current = source.get("found"), source.get("current", 0)
    if found is None:
        return "gone"
    return "all" if found == current == source["documents"] else f"{current:,} of {found:,}"


def _spent(days: Sequence[Record]) -> list[tuple[str, str]]:
    """A line a day, the heading beside the first."""
    heads = ["sent", *[""] * len(days)]
    return [
        (head, joined(day["day"], counted(day["tokens"], "token"), _dollars(day["price"])))
        for head, day in zip(heads, days, strict=False)
    ]


def _dollars(price: float | None) -> str:
    return "price unknown" if price is None else f"about ${price:.2f}" if price >= 0.01 else "less than $0.01"


def _file_status(page: Page, file: Record) -> None:
    words = {"indexed": "indexed", "behind": "indexed as it was before", "gone": "indexed, but gone"}
    page.line((_one(file["path"]), "bold"), f" · {words.get(file['state'], 'not indexed')}")
    vectors = f"{file['vectors']:,} of {file['chunks']:,}"
    page.pairs(
        [
            ("source", file["source"]),
            ("title", _one(file["title"] or "")),
            ("kind", file["kind"] or ""),
            ("id", file["id"] or ""),
            ("lines", f"{file['lines']:,}" if file["lines"] else ""),
            ("chunks", f"{file['chunks']:,}" if file["id"] else ""),
            (
                "vectors",
                joined(vectors, f"{file['pending']:,} pending" if file["pending"] else "") if file["id"] else "",
            ),
        ],
        indent=2,
    )
    show_problems(page, file)


def _privacy(page: Page, ledger: Record) -> None:
    if not ledger["results"]:
        page.line(("Nothing has left this machine.", "bold green"))
        return
    columns = [("day", "dim", 0), ("to", "", 2), ("what", "cyan", 3), ("texts#", "", 0), ("tokens#", "", 0)]
    rows = [
        [
            sent["day"],
            sent["endpoint"],
            f"{sent['source']}: {sent['path']}" if sent["source"] else sent["path"],
            f"{sent['texts']:,}",
            f"{sent['tokens']:,}",
        ]
        for sent in ledger["results"]
    ]
    page.columns(columns, rows)
    page.gap()
    page.line((f"{len(rows):,} of {counted(ledger['total'], 'entry', 'entries')}", "dim"))


def _doctor(page: Page, report: Record) -> None:
    problems, recall = report["problems"], report["recall"]
    for fixed in report.get("fixed") or ():
        page.line(("Mended: ", "green"), fixed["message"])
    found = "left" if report.get("fixed") else "found"
    page.line((f"{counted(len(problems), 'problem')} {found}." if problems else f"No problems {found}.", "bold"))
    show_problems(page, report)
    page.gap()
    if recall is None:
        page.line(("How well notes are found by what they are called: vault-index doctor --recall", "dim"))
    else:
        _recall(page, recall)


def _recall(page: Page, recall: Record) -> None:
    if not recall["queries"]:
        page.line(("No notes are indexed, so there is nothing to look for: vault-index sync", "dim"))
        return
    asked = f"{counted(recall['documents'], 'note')}, {counted(recall['queries'], 'question')}"
    page.line(("Notes looked for by what they are called", "bold"), f" · {asked}, {duration(recall['seconds'])}")
    rows = [(one["named_by"], f"{one['queries']:,}", f"{one['recall_5']:.0%}") for one in recall["classes"]]
    rows += [("all", f"{recall['queries']:,}", f"{recall['recall_5']:.0%}")]
    page.columns([("by", "", 0), ("questions#", "", 0), ("in the first five hits#", "", 0)], rows)
    if recall["hard"]:
        page.gap()
        _hard_to_find(page, recall["hard"])


def _hard_to_find(page: Page, hard: Sequence[Record]) -> None:
    page.line((f"Hard to find ({len(hard):,})", "bold yellow"))
    columns = [("question", "bold", 3), ("note", "cyan", 4), ("by", "", 0), ("hit#", "", 0)]
    rows = [
        [_one(one["query"]), _one(one["path"]), one["named_by"], "none" if one["rank"] is None else str(one["rank"])]
        for one in hard[:_HARD_SHOWN]
    ]
    page.columns(columns, rows)
    if len(hard) > len(rows):
        page.line((f"… and {len(hard) - len(rows):,} more; --json names all", "dim"))
    page.line((_HARD_HINT, "dim"))


def _settings(page: Page, answer: Record) -> None:
    rows = [
        [Text(row["key"], "dim" if row["origin"] == "default" else "bold"), _setting(row["value"]), row["origin"]]
        for row in answer["results"]
    ]
    page.columns([("setting", "", 0), ("value", "", 0), ("from", "dim", 0)], rows)


def _setting(value: Any) -> str:
    """As `config set` takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(value) if isinstance(value, list) else str(value)


def show_problems(page: Page, record: Record) -> None:
    """Each with what mends it."""
    for problem in record.get("problems") or ():
        page.gap()
        page.line(("! ", "yellow"), problem["message"])
        if problem["hint"]:
            page.line((problem["hint"], "dim"), indent=2)


def any_report(page: Page, record: Record) -> None:
    """Any answer: its scalars as pairs, its records as columns."""
    shown = {key: value for key, value in record.items() if key != "total" or "results" not in record}
    page.pairs([(_label(key), _cell(value)) for key, value in shown.items() if not _is_table(value)])
    for key, value in record.items():
        if _is_table(value):
            keys = list(dict.fromkeys(name for row in value for name in row))
            if key != "results":
                page.line((_label(key), "bold"))
            page.columns(
                [(_label(name), "", 0) for name in keys], [[_cell(row.get(name)) for name in keys] for row in value]
            )


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{_label(key)} {_cell(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_cell(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _one(text: str) -> str:
    return " ".join(text.split())


def _label(key: str) -> str:
    return key.replace("_", " ")


def joined(*parts: str | None) -> str:
    """The parts there are, between dots."""
    return " · ".join(part for part in parts if part)


STATES: Mapping[str, Callable[[Page, Record], None]] = {
    "stats": _stats,
    "status": _status,
    "file_status": _file_status,
    "doctor": _doctor,
    "config_list": _settings,
}
