"""What the program says of itself, for people: sync and embed reports, plans, status, statistics."""

from collections.abc import Callable, Mapping
from typing import Any

from vault_index.output.page import Page
from vault_index.output.short import counted, duration, moment, size

Record = Mapping[str, Any]
_FAILED_SHOWN = 20


def _sync(page: Page, report: Record) -> None:
    changes = [f"{report[key]:,} {key}" for key in ("added", "changed", "moved", "removed") if report[key]]
    scanned = counted(report["scanned"], "file")
    page.line(
        ("Up to date", "bold green") if not report["failed"] else ("Done", "bold"),
        f" in {duration(report['seconds'])}: {scanned}, {', '.join(changes) or 'nothing changed'}.",
    )
    vectors = [
        f"{report[key]:,} {words}"
        for key, words in (("embedded", "embedded"), ("cached", "from the cache"), ("pending", "pending"))
        if report[key]
    ]
    if report["chunks"] or vectors:
        page.line((f"{counted(report['chunks'], 'chunk')}{_of(vectors)}", "dim"))
    if report["failed"]:
        page.gap()
        page.line((f"{counted(len(report['failed']), 'file')} could not be read:", "yellow"))
        for failure in report["failed"][:_FAILED_SHOWN]:
            page.line((failure["path"], "cyan"), f"  {failure['error']}", indent=2)
        if len(report["failed"]) > _FAILED_SHOWN:
            page.line((f"… and {len(report['failed']) - _FAILED_SHOWN:,} more; --json names all", "dim"), indent=2)
    _problems(page, report)
    if report["pending"] and not report.get("problems"):
        page.line(("The vectors that are pending: vault-index embed", "dim"))


def _init(page: Page, answer: Record) -> None:
    report = answer["sync"]
    if answer["source"]:
        known = "Added" if answer["added"] else "Known already:"
        page.line((f"{known} ", ""), (answer["source"], "bold"), f" · {answer['vault']}")
    if report:
        _sync(page, report)
    page.gap()
    steps = [] if report else [("vault-index sync", "index it")]
    steps.append(('vault-index search "…"', "ask it something"))
    steps += [] if answer["daemon"] else [("vault-index watch", "keep it up to date while you write")]
    steps.append(("vault-index status", "see how it is doing"))
    page.line(("Next", "bold"))
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        page.line((command.ljust(width + 2), "cyan"), (purpose, "dim"), indent=2)


def _of(vectors: list[str]) -> str:
    return f"; vectors: {', '.join(vectors)}" if vectors else ""


def _embed(page: Page, answer: Record) -> None:
    """`embed` answers with a plan, a status or a report; their keys tell them apart."""
    if "price" in answer:
        _embed_plan(page, answer)
    elif "building" in answer:
        _embed_status(page, answer)
    else:
        done = [f"{answer['embedded']:,} embedded", f"{answer['cached']:,} from the cache"]
        pending = f", {answer['pending']:,} pending" if answer["pending"] else ""
        head = ("Vectors are complete", "bold green") if not answer["pending"] else ("Vectors", "bold")
        page.line(head, f" in {duration(answer['seconds'])}: {', '.join(done)}{pending}.")
        _problems(page, answer)


def _embed_plan(page: Page, plan: Record) -> None:
    if plan["provider"] == "none":
        page.line(("No embedder is set up: search works by keywords.", "bold"))
        page.line(("Set one: vault-index config set embedding.provider local", "dim"))
        return
    to_do = plan["chunks"] - plan["cached"]
    page.line(("What embedding would cost", "bold"))
    page.pairs(
        [
            ("embedder", _joined(plan["provider"], plan["model"], plan["endpoint"])),
            ("without vector", counted(plan["chunks"], "chunk")),
            ("cached", f"{plan['cached']:,}, free of cost" if plan["cached"] else ""),
            ("kept local", f"{plan['kept_local']:,}, never sent" if plan["kept_local"] else ""),
            ("to embed", f"{counted(to_do, 'chunk')}, {counted(plan['tokens'], 'token')}"),
            ("price", _price(plan["price"], plan["provider"])),
            ("today", _today(plan)),
        ],
        indent=2,
    )
    page.line(("Go ahead with: vault-index embed" if to_do else "Nothing to do.", "dim"))


def _price(price: float | None, provider: str) -> str:
    if price is None:
        return "unknown; set embedding.price_per_million to have it estimated"
    if not price:
        return "nothing" if provider != "openai" else "less than $0.01"
    return f"about ${price:.2f}" if price >= 0.01 else "less than $0.01"


def _today(record: Record) -> str:
    limit = record["daily_token_limit"]
    if not limit and not record["spent_today"]:
        return ""
    return f"{counted(record['spent_today'], 'token')} spent" + (f" of {limit:,}" if limit else "")


def _embed_status(page: Page, status: Record) -> None:
    page.pairs(
        [
            ("embedder", _joined(status["provider"], status["model"], status["endpoint"])),
            ("dimensions", f"{status['dimensions']}" if status["dimensions"] else ""),
            ("vectors", f"{status['vectors']:,} of {counted(status['chunks'], 'chunk')}"),
            ("pending", f"{status['pending']:,}" if status["pending"] else ""),
            ("kept local", f"{status['kept_local']:,}" if status["kept_local"] else ""),
            ("today", _today(status)),
            ("building", f"vectors of {status['building']}" if status["building"] else ""),
        ]
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
            ("watch", _joined(watch["backend"], last_event, compared, missed)),
            ("index", f"{counted(index['documents'], 'document')}, {counted(index['chunks'], 'chunk')}, {vectors}"),
            ("size", size(index["bytes"])),
            ("embedder", _joined(embedder["provider"], embedder["model"], dimensions, ready)),
        ]
    )
    page.gap()
    if status["sources"]:
        columns = [("source", "bold", 0), ("path", "cyan", 0), ("documents#", "", 0), ("chunks#", "", 0)]
        failing = any(source["failed"] for source in status["sources"])
        columns += [("failed#", "yellow", 0)] if failing else []
        rows = [
            [source["name"], source["path"], f"{source['documents']:,}", f"{source['chunks']:,}"]
            + ([f"{source['failed']:,}"] if failing else [])
            for source in status["sources"]
        ]
        page.columns(columns, rows)
    else:
        page.line(("No sources yet: vault-index source add ~/Vault", "dim"))
    _problems(page, status)


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


def _problems(page: Page, record: Record) -> None:
    for problem in record.get("problems") or ():
        page.gap()
        page.line(("! ", "yellow"), problem["message"])
        if problem["hint"]:
            page.line((problem["hint"], "dim"), indent=2)


def any_report(page: Page, record: Record) -> None:
    """Any answer: its scalars as pairs, its records as columns."""
    page.pairs([(_label(key), _cell(value)) for key, value in record.items() if not _is_table(value)])
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


def _label(key: str) -> str:
    return key.replace("_", " ")


def _joined(*parts: str | None) -> str:
    return " · ".join(part for part in parts if part)


REPORTS: Mapping[str, Callable[[Page, Record], None]] = {
    "init": _init,
    "sync": _sync,
    "rebuild": _sync,
    "embed": _embed,
    "stats": _stats,
    "status": _status,
}
