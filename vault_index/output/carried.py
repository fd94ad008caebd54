"""Export and import for people: thousands of memories are counted, and those that need a look are named."""

from collections.abc import Callable, Mapping
from typing import Any

from vault_index.output.memories import several
from vault_index.output.page import Page
from vault_index.output.short import counted, import_in_short

Record = Mapping[str, Any]


def _import(page: Page, answer: Record) -> None:
    short = import_in_short(answer)
    if short["results"] or short["failed"]:
        several("import", page, short, count=False)
        page.gap()
    counts = [f"{number:,} {outcome}" for outcome, number in short["counts"].items()]
    page.line((", ".join(counts) or "There was nothing to import.", "bold"))
    if len(answer["results"]) > len(short["results"]) or len(answer["failed"]) > len(short["failed"]):
        page.line(("--json names all", "dim"))


def _export(page: Page, report: Record) -> None:
    page.line(
        ("Exported ", "bold green"), counted(report["memories"], "memory", "memories"), f" of {report['source']} to ",
        (report["path"], "cyan"),
    )  # fmt: skip


CARRIED: Mapping[str, Callable[[Page, Record], None]] = {"export": _export, "import": _import}
