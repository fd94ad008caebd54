"""What commands that change the index have done or would do, for people."""

from collections.abc import Callable, Mapping
from typing import Any

from vault_index.output.page import Page
from vault_index.output.short import counted, duration
from vault_index.output.state import joined, show_problems

Record = Mapping[str, Any]
_FAILED_SHOWN = 20


def _sync(page: Page, report: Record) -> None:
    changes = [f"{report[key]:,} {key}" for key in ("added", "changed", "moved", "removed") if report[key]]
    scanned = counted(report["scanned"], "file")
    page.line(
        _verdict(report),
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
    show_problems(page, report)
    if report["pending"] and not report.get("problems"):
        page.line(("The vectors that are pending: vault-index embed", "dim"))


def _verdict(report: Record) -> tuple[str, str]:
    if report["failed"]:
        return "Done", "bold"
    return ("Text is up to date" if report["pending"] else "Up to date"), "bold green"


def _init(page: Page, answer: Record) -> None:
    report = answer["sync"]
    if answer["source"]:
        known = "Added" if answer["added"] else "Known already:"
        page.line((f"{known} ", ""), (answer["source"], "bold"), f" · {answer['vault']}")
    if answer.get("opencode"):
        page.line(("Sessions of OpenCode", "bold"), f" · {answer['opencode']}")
    if report:
        _sync(page, report)
    page.gap()
    steps = [] if report else [("vault-index sync", "index it")]
    steps.append(('vault-index search "…"', "ask it something"))
    steps += [] if answer["daemon"] else [("vault-index service install", "keep it up to date from now on")]
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
        show_problems(page, answer)


def _embed_plan(page: Page, plan: Record) -> None:
    if plan["provider"] == "none":
        page.line(("No embedder is set up: search works by keywords.", "bold"))
        page.line(("Set one: vault-index config set embedding.provider local", "dim"))
        return
    to_do = plan["chunks"] - plan["cached"]
    page.line(("What embedding would cost", "bold"))
    page.pairs(
        [
            ("embedder", joined(plan["provider"], plan["model"], plan["endpoint"])),
            ("without vector", counted(plan["chunks"], "chunk")),
            ("cached", f"{plan['cached']:,}, free of cost" if plan["cached"] else ""),
            ("kept local", f"{plan['kept_local']:,}, never sent" if plan["kept_local"] else ""),
            ("changed", f"{plan['unread']:,}, for the next sync to read again" if plan["unread"] else ""),
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
            ("embedder", joined(status["provider"], status["model"], status["endpoint"])),
            ("dimensions", f"{status['dimensions']}" if status["dimensions"] else ""),
            ("vectors", f"{status['vectors']:,} of {counted(status['chunks'], 'chunk')}"),
            ("pending", f"{status['pending']:,}" if status["pending"] else ""),
            ("kept local", f"{status['kept_local']:,}" if status["kept_local"] else ""),
            ("today", _today(status)),
            ("building", f"vectors of {status['building']}" if status["building"] else ""),
        ]
    )


REPORTS: Mapping[str, Callable[[Page, Record], None]] = {
    "init": _init,
    "sync": _sync,
    "rebuild": _sync,
    "embed": _embed,
}
