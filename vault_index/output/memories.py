"""What became of memories, for people."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from vault_index.output.page import Page
from vault_index.output.short import counted, short_ids

Record = Mapping[str, Any]
_NOTHING = {
    "prune": "Nothing has expired.",
    "capture": "Nothing is marked *Remember*: in this text.",
}


def _stored(page: Page, answer: Record) -> None:
    ids = short_ids([answer["id"], *(near["id"] for near in answer["near"])])
    done = "Stored" if answer["created"] else "Known already" if answer["duplicate_of"] else "Changed"
    page.line((f"{done} ", "bold green"), (ids[answer["id"]], "bold"))
    page.line((_one(answer["path"]), "cyan"), indent=2)
    for warning in answer["warnings"]:
        page.line(("! ", "yellow"), _one(warning), hang=2)
    if answer["near"]:
        page.gap()
        page.line(("Nearly the same is said by:", "bold"))
        rows = [[ids[near["id"]], f"{near['score']:.2f}", near["title"], near["path"]] for near in answer["near"]]
        page.columns([("id", "dim", 0), ("alike#", "dim", 0), ("title", "", 3), ("path", "cyan", 3)], _lined(rows))
        new, old = ids[answer["id"]], ids[answer["near"][0]["id"]]
        page.line((f"To replace one: vault-index update {new} --supersedes {old}", "dim"))


def several(method: str, page: Page, answer: Record, *, count: bool = True) -> None:
    """What became of each of several memories, and with `count` how many they are."""
    results, failed = answer["results"], answer["failed"]
    if not results and not failed:
        page.line((_NOTHING.get(method, "Nothing was done."), "bold"))
        return
    if results:
        ids = short_ids(outcome["id"] for outcome in results if outcome["id"])
        for outcome in results:
            short = f"{ids[outcome['id']]} · " if outcome["id"] else ""
            page.line((f"{outcome['outcome']} ", "green"), (short, "dim"), (_one(outcome["title"]), "bold"), hang=2)
            if details := " · ".join(detail_texts(outcome["details"])):
                page.line((_one(details), "dim"), indent=2)
    for item in failed:
        page.line(("! ", "yellow"), (f"{_one(item['position'])}: ", "bold"), _one(item["error"]), hang=2)
    if count and (len(results) > 1 or failed):
        page.gap()
        total = counted(len(results), "memory", "memories")
        page.line((f"{total}, {len(failed)} failed" if failed else total, "dim"))


def detail_texts(details: Record) -> Iterator[str]:
    """What else there is to say of an outcome, without what is empty, and without the whole text."""
    for key, value in details.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        if shown not in (None, "") and key != "text":
            yield f"{key} {shown}"


def _lined(rows: Sequence[Sequence[str]]) -> list[Sequence[str | Text]]:
    return [[_one(cell) for cell in row] for row in rows]


def _one(text: str) -> str:
    return " ".join(text.split())


def _of(method: str) -> Callable[[Page, Record], None]:
    return lambda page, answer: several(method, page, answer)


MEMORIES: Mapping[str, Callable[[Page, Record], None]] = {
    "add": _stored,
    "update": _stored,
    **{method: _of(method) for method in ("delete", "prune", "capture")},
}
