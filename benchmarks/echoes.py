"""Measure whether hits answer or only repeat the question, in a month of sessions.

    python benchmarks/echoes.py [--seed 1] [--asks 2] [--provider local] [--control]
                                [--json FILE] [--worst N]

Twenty questions recur in other words, asked from a running session: with `search` and `recall`,
with and without the session's name, and as the plugin asks during compaction. A hit is an echo if
it shows only the question, a repetition of it, or output of our own tools. `--control` makes the
month without repetitions, to measure the ranking alone. Exits with 1 if a figure misses its limit.
"""

import argparse
import inspect
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import describe
from benchmarks.month import (
    DELETED,
    MEMORIES,
    QUESTIONS,
    Label,
    Month,
    Question,
    delete,
    folder_of,
    insert,
    varied,
    write_sessions,
    write_vault,
)
from vault_index import VaultIndex
from vault_index.config.edit import create_config, set_value
from vault_index.config.home import Home, find_home
from vault_index.results.search import Hit
from vault_index.results.texts import Recall

RIGHT = 0.9
"""Of the questions that were answered, this part is to have its answer first."""
FIRST = 5
"""Hits that are looked at."""
INCLUDES: dict[str, tuple[str, ...]] = {
    "what was said": (),
    "with outputs and reasoning": ("output", "reasoning"),
}
_PLUGIN = Path(__file__).resolve().parent.parent / "vault_index/opencode_plugin/plugin/vault-index"
_ASKING = "exclude_session"
"""The parameter of `search` for the current session, because `session` is a filter."""
_UNNAMED = "current"
"""The value of clients that do not know their session, such as the MCP server."""
_OURS = re.compile(r"(?:^|_)memory_(?:search|get|timeline|recall|store|update|delete|list)$")
_ITEM = re.compile(r"- ([\w.-]+):(.*)")
_NO_WORDS = re.compile(
    r"\s*(?:#+ (?:User|Assistant|Compaction summary)\b.*|`{3,}\w*|>? ?\*Reasoning\*|)\s*"
)
_SMALL = frozenset(
    re.findall(
        r"\w+",
        """a an and are at by can could did do does for get had has have hey i in is it kept look me
        of on or our ours please quick question remind s see sorry that the there to up us was we
        were will with you again tell thanks user asks asked""",
    )
)
_HEAD = re.compile(r"`([^`]+?)(?::\d+(?:-\d+)?)?`(?: ·|$)")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text without small words."""
    return frozenset(re.findall(r"[\w']+", text.casefold().replace("'s", ""))) - _SMALL


def repeats(text: str, question: Question, *, whole: bool = True) -> bool:
    """Whether a text says what is asked, and, as a whole, hardly more."""
    said = words_of(text)
    for wording in question.wordings:
        asked = words_of(wording)
        if len(said & asked) >= 0.75 * len(said | asked if whole else asked):
            return True
    return False


class Judge:
    """Knows what every line is that an answer may show."""

    def __init__(self, month: Month) -> None:
        self._month = month

    def kind(self, question: Question, path: str, lines: Iterable[str]) -> Label:
        """Return the best label of the shown lines of a document.

        Our own output comes first, then what a person said, then repetitions.
        """
        session = session_of(path)
        if not session:
            return "said"
        labels = [
            self._line(question, session, line) for line in lines if not _NO_WORDS.fullmatch(line)
        ]
        first: tuple[Label, ...] = ("result", "injected", "said")
        return next((label for label in first if label in labels), labels[0] if labels else "said")

    def _line(self, question: Question, session: str, line: str) -> Label:
        known = self._month.label(session, line)
        if known is None and (item := _ITEM.match(line)):
            ours = _OURS.search(item[1]) or item[1] in ("bash", "task")
            return "call" if ours and repeats(item[2], question, whole=False) else "said"
        known = known or self._month.label_of_part(session, line) or "restated"
        if known in ("asked", "restated"):  # of another question it is no echo
            return known if repeats(line, question, whole=known == "asked") else "said"
        return known


def session_of(path: str) -> str:
    """Return the session id in a file name; empty for other files."""
    name = path.rpartition("/")[2].removesuffix(".md")
    return name if name.startswith("ses_") else ""


@dataclass(slots=True)
class Count:
    """What was seen of one way of asking."""

    asks: int = 0
    answered: int = 0
    """Asks of questions that have an answer."""
    right: int = 0
    """Of these, whose first hit is the answer, or whose block holds it."""
    echoes: Counter[str] = field(default_factory=Counter)
    weak: int = 0
    """Echoes that are marked as weak, which only JSON shows."""
    own: int = 0
    """Times that the session which asks was quoted to itself."""
    seen: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one run."""

    counts: dict[str, Count]
    deleted: Counter[str]
    """Quotes of deleted memories that were shown, by what they are."""


def saying(method: Callable[..., Any], session: str) -> dict[str, Any]:
    """Return the parameter that names the current session; empty if the method has none."""
    if _ASKING not in inspect.signature(VaultIndex.search).parameters and session == _UNNAMED:
        return {}
    known = inspect.signature(method).parameters
    name = "session" if "budget" in known else _ASKING
    return {name: session} if name in known else {}


def said_at_compaction(method: Callable[..., Any], session: str) -> dict[str, Any]:
    """The same, if the plugin says it when a session is compacted."""
    asks = re.search(
        r"function recallText\(.*?\n\}", (_PLUGIN / "recall.ts").read_text("utf-8"), re.DOTALL
    )
    assert asks is not None
    return saying(method, session) if "session" in asks[0] else {}


class Bench:
    """A home that follows a month of sessions."""

    def __init__(
        self, folder: Path, month: Month, *, provider: str = "local", held: bool = True
    ) -> None:
        self.month = month
        self.held = held
        """Whether the session that asks is in the database."""
        self.judge = Judge(month)
        self.vault = folder / "vault"
        self.data = folder / "share"
        write_vault(self.vault)
        write_sessions(self.data, month)
        self.home = _home(folder / "home", self.vault, self.data, provider)

    def deleted_memories(self, index: VaultIndex) -> None:
        """They were there when they were quoted, and are deleted in the ways there are."""
        stored = [index.add(one.text, project=one.project, force=True) for one in DELETED]
        index.sync()
        for at, one in enumerate(stored):
            if at % 3 == 0:
                index.delete(one.id)
            elif at % 3 == 1:
                index.delete(one.id, permanent=True)
            else:
                (self.vault / one.path).unlink()
        index.sync()

    def measure(
        self, index: VaultIndex, asks: int, seed: int, questions: Sequence[Question] = QUESTIONS
    ) -> Figures:
        """Ask all questions in all ways and count the answers."""
        counts = {
            name: Count()
            for name in ("search", "search, unnamed", "recall", "recall, unnamed", "compaction")
        }
        chance = random.Random(seed)
        with closing(apsw.Connection(str(self.data / "opencode.db"))) as connection:
            for question in questions:
                for _ in range(asks):
                    self._ask(index, connection, question, varied(chance, question), counts)
        return Figures(counts, self._quotes(index))

    def _ask(
        self,
        index: VaultIndex,
        connection: apsw.Connection,
        question: Question,
        wording: str,
        counts: dict[str, Count],
    ) -> None:
        session, own = self.month.current(question, wording, int(time.time() * 1000))
        if self.held:
            with connection:
                insert(connection, session)
        index.sync()
        folder = folder_of(question.project)
        find = partial(index.search, wording, limit=FIRST, directory=[folder])
        recall = partial(index.recall, wording, project=folder)
        for name, said in (("search", session.id), ("search, unnamed", _UNNAMED)):
            self.judge_hits(
                index,
                counts[name],
                question,
                find(**saying(index.search, said)).results,
                session.id,
            )
        blocks: dict[str, dict[str, Any]] = {
            "recall": saying(index.recall, session.id),
            "recall, unnamed": {"directory": [folder], **saying(index.recall, _UNNAMED)},
            "compaction": said_at_compaction(index.recall, session.id),
        }
        for name, given in blocks.items():
            self.judge_block(counts[name], question, recall(**given), session.id, own)
        with connection:
            delete(connection, session)

    def judge_hits(
        self, index: VaultIndex, count: Count, question: Question, hits: Sequence[Hit], current: str
    ) -> None:
        """Judge the hits of a search."""
        count.asks += 1
        for at, hit in enumerate(hits):
            lines = _lines(index, hit, hit.focus)
            kind = self.judge.kind(question, hit.path, lines)
            shown = "\n".join([*lines, hit.snippet, hit.digest])
            if not session_of(hit.path):
                shown += "\n".join(_lines(index, hit, hit.lines))
            answers = bool(question.key and re.search(question.key, shown)) and kind not in (
                "result",
                "injected",
            )
            count.right += answers and at == 0
            count.own += session_of(hit.path) == current
            if kind != "said" and not answers:
                if getattr(hit, "weak", False):
                    count.weak += 1
                else:
                    count.echoes[kind] += 1
                    count.seen.append(f"{question.id} #{at + 1} {kind}: {' / '.join(lines)}")
            elif at == 0 and question.key and not answers:
                count.seen.append(f"{question.id} first, but no answer: {' / '.join(lines)}")
        count.answered += bool(question.key)

    def judge_block(
        self, count: Count, question: Question, block: Recall, current: str, own: str
    ) -> None:
        """Judge a recall block."""
        count.asks += 1
        right = False
        for path, title, lines in quotations(block.text):
            kind: str = self.judge.kind(question, path, lines)
            if session_of(path) and not lines and repeats(title, question):
                kind = "title"
            right |= (
                bool(question.key and re.search(question.key, "\n".join(lines))) and kind == "said"
            )
            count.own += session_of(path) == current or own in "\n".join(lines)
            if kind != "said":
                count.echoes[kind] += 1
                count.seen.append(f"{question.id} {kind}: {' / '.join([title, *lines])}")
        count.answered += bool(question.key)
        count.right += right

    def _quotes(self, index: VaultIndex) -> Counter[str]:
        """Every place in which a memory that is no more is still shown."""
        found: Counter[str] = Counter()
        for one in DELETED:
            asked = Question(one.id, one.project, (one.question,), one.key, (), (), "")
            for hit in index.search(one.question, limit=10).results:
                lines = _lines(index, hit, hit.focus)
                if one.key in "\n".join([*lines, hit.snippet, hit.digest, hit.title]):
                    kind = self.judge.kind(asked, hit.path, lines)
                    found[
                        "search, of our tools"
                        if kind in ("result", "injected")
                        else "search, by the agent"
                    ] += 1
            block = index.recall(one.question, project=folder_of(one.project))
            for path, title, lines in quotations(block.text):
                if one.key in "\n".join([title, *lines]):
                    kind = self.judge.kind(asked, path, lines)
                    found[
                        "recall, of our tools"
                        if kind in ("result", "injected")
                        else "recall, by the agent"
                    ] += 1
        return found


def quotations(block: str) -> list[tuple[str, str, list[str]]]:
    """The path, the title and the quoted lines of each quotation of a recall block."""
    found: list[tuple[str, str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith(">") and found:
            path, title, lines = found[-1]
            text = line.removeprefix(">").strip()
            if not lines and not title and (named := re.fullmatch(r"\*\*(.*)\*\*", text)):
                found[-1] = (path, named[1], lines)
            else:
                lines.append(text)
        elif head := _HEAD.match(line):
            found.append((head[1], "", []))
    return found


def _lines(index: VaultIndex, hit: Hit, place: Sequence[int]) -> list[str]:
    text = index.get(f"{hit.path}:{place[0]}-{place[1]}", source=hit.source).results[0].content
    return [line for line in text.splitlines() if line.strip()]


def _home(folder: Path, vault: Path, data: Path, provider: str) -> Home:
    home = find_home(folder)
    create_config(home, vault, provider=provider, memory_dir=None)
    set_value(home, "sessions.opencode.data", str(data))
    set_value(home, "sessions.opencode.enabled", "true")
    return home


def run(folder: Path, seed: int, asks: int, provider: str, *, control: bool) -> dict[str, Figures]:
    """Measure one month."""
    month = Month(
        seed, int(time.time()) // 86_400 * 86_400_000, echoes=not control
    )  # equal all day
    bench = Bench(folder, month, provider=provider, held=not control)
    found = {}
    for name, include in INCLUDES.items():
        set_value(bench.home, "sessions.opencode.include", json.dumps(list(include)))
        with VaultIndex.open(bench.home) as index:
            if not include:
                for memory in MEMORIES:
                    index.add(
                        memory["text"],
                        **{key: value for key, value in memory.items() if key != "text"},
                    )
                index.sync()
                bench.deleted_memories(index)
            index.sync()
            found[name] = bench.measure(index, asks, seed)
    return found


def print_figures(name: str, figures: Figures, worst: int) -> None:
    """Print the figures as a table."""
    print(
        f"\n{name:28}{'asks':>6}{'echoes':>8}{'weak':>6}{'own':>6}"
        f"{'answer first, in the block':>29}   kinds of echo"
    )
    for way, count in figures.counts.items():
        right = f"{count.right} of {count.answered} ({count.right / max(count.answered, 1):.2f})"
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(count.echoes.items()))
        print(
            f"  {way:26}{count.asks:>6}{count.echoes.total():>8}{count.weak:>6}{count.own:>6}"
            f"{right:>29}   {kinds}"
        )
    told = ", ".join(f"{kind} {number}" for kind, number in sorted(figures.deleted.items()))
    print(f"  quotes of deleted memories: {figures.deleted.total()}   {told}")
    for way, count in figures.counts.items():
        for line in count.seen[:worst]:
            print(f"    {way}: {line}")


def missed(found: dict[str, Figures]) -> list[str]:
    """What is not as it is wanted."""
    lines = []
    for name, figures in found.items():
        for way, count in figures.counts.items():
            if count.echoes:
                lines.append(f"{name}, {way}: {count.echoes.total()} echoes, wanted 0")
            if count.own:
                lines.append(
                    f"{name}, {way}: the session that asks is quoted {count.own} times, wanted 0"
                )
            if way.startswith("search") and count.right < RIGHT * count.answered:
                lines.append(
                    f"{name}, {way}: {count.right} of {count.answered} right "
                    f"first, wanted {RIGHT:.0%}"
                )
        if figures.deleted:
            lines.append(f"{name}: {figures.deleted.total()} quotes of deleted memories, wanted 0")
    return lines


def as_json(found: dict[str, Figures]) -> dict[str, Any]:
    """Return the figures as JSON."""
    return {
        name: {
            **{
                way: {
                    "asks": one.asks, "echoes": dict(one.echoes), "weak": one.weak, "own": one.own,
                    "answered": one.answered, "right": one.right,
                }
                for way, one in figures.counts.items()
            },
            "deleted": dict(figures.deleted),
        }
        for name, figures in found.items()
    }  # fmt: skip


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--asks", type=int, default=2, help="wordings of each question (default: 2)"
    )
    parser.add_argument("--provider", default="local", choices=("local", "none"))
    parser.add_argument("--control", action="store_true", help="without what comes back")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    parser.add_argument(
        "--worst", type=int, default=0, metavar="N", help="show N faults of each way of asking"
    )
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory(prefix="vx-") as temporary:
        found = run(
            Path(temporary), options.seed, options.asks, options.provider, control=options.control
        )
    for name, figures in found.items():
        print_figures(name, figures, options.worst)
    if options.json:
        options.json.write_text(json.dumps(as_json(found), indent=1) + "\n", "utf-8")
    if faults := missed(found):
        raise SystemExit("\n".join(["", *faults]))


if __name__ == "__main__":
    main()
