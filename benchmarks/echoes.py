"""Measure whether hits answer or only repeat the question, in a month of sessions.

    python -m benchmarks.echoes [--seed 1] [--asks 2] [--worst N]

Twenty questions recur in other words, asked from a running session: with `search` and `recall`,
with and without the session's name. A hit is an echo if it shows only the question, a repetition of
it, or output of our own tools. Exits with 1 if a figure misses its limit.
"""

import json
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from benchmarks.machine import arguments, describe
from benchmarks.month import (
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
WAYS = ("search", "search, unnamed", "recall", "recall, unnamed")
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


class Bench:
    """A home that follows a month of sessions."""

    def __init__(self, folder: Path, month: Month) -> None:
        self.month = month
        self.judge = Judge(month)
        self.vault = folder / "vault"
        self.data = folder / "share"
        write_vault(self.vault)
        write_sessions(self.data, month)
        self.home = _home(folder / "home", self.vault, self.data)

    def measure(self, index: VaultIndex, asks: int, seed: int) -> dict[str, Count]:
        """Ask all questions in all ways and count the answers."""
        counts = {name: Count() for name in WAYS}
        chance = random.Random(seed)
        with closing(apsw.Connection(str(self.data / "opencode.db"))) as connection:
            for question in QUESTIONS:
                for _ in range(asks):
                    self._ask(index, connection, question, varied(chance, question), counts)
        return counts

    def _ask(
        self,
        index: VaultIndex,
        connection: apsw.Connection,
        question: Question,
        wording: str,
        counts: dict[str, Count],
    ) -> None:
        session, own = self.month.current(question, wording, int(time.time() * 1000))
        with connection:
            insert(connection, session)
        index.sync()
        folder = folder_of(question.project)
        for name, current in (("search", session.id), ("search, unnamed", _UNNAMED)):
            found = index.search(
                wording, limit=FIRST, directory=[folder], exclude_session=current
            ).results
            self.judge_hits(index, counts[name], question, found, session.id)
        for name, block in (
            ("recall", index.recall(wording, project=folder, session=session.id)),
            (
                "recall, unnamed",
                index.recall(wording, project=folder, directory=[folder], session=_UNNAMED),
            ),
        ):
            self.judge_block(counts[name], question, block, session.id, own)
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


def _home(folder: Path, vault: Path, data: Path) -> Home:
    home = find_home(folder)
    create_config(home, vault, provider="local", memory_dir=None)
    set_value(home, "sessions.opencode.data", str(data))
    set_value(home, "sessions.opencode.enabled", "true")
    return home


def run(folder: Path, seed: int, asks: int) -> dict[str, dict[str, Count]]:
    """Measure one month."""
    month = Month(seed, int(time.time()) // 86_400 * 86_400_000)  # equal all day
    bench = Bench(folder, month)
    found = {}
    for name, include in INCLUDES.items():
        set_value(bench.home, "sessions.opencode.include", json.dumps(list(include)))
        with VaultIndex.open(bench.home) as index:
            if not include:
                for memory in MEMORIES:
                    index.add(memory["text"], **{k: v for k, v in memory.items() if k != "text"})
            index.sync()
            found[name] = bench.measure(index, asks, seed)
    return found


def print_figures(name: str, counts: dict[str, Count], worst: int) -> None:
    """Print the figures as a table."""
    print(f"\n{name:28}{'asks':>6}{'echoes':>8}{'weak':>6}{'own':>6}{'right':>11}")
    for way, count in counts.items():
        right = f"{count.right} of {count.answered}"
        kinds = ", ".join(f"{kind} {number}" for kind, number in sorted(count.echoes.items()))
        print(
            f"  {way:26}{count.asks:>6}{count.echoes.total():>8}{count.weak:>6}{count.own:>6}"
            f"{right:>11}   {kinds}"
        )
    for way, count in counts.items():
        for line in count.seen[:worst]:
            print(f"    {way}: {line}")


def missed(found: dict[str, dict[str, Count]]) -> list[str]:
    """Return the figures that miss their limit."""
    lines = []
    for name, counts in found.items():
        for way, count in counts.items():
            if count.echoes or count.own:
                lines.append(f"{name}, {way}: echoes, or quotes of the session that asks")
            if way.startswith("search") and count.right < RIGHT * count.answered:
                lines.append(f"{name}, {way}: {count.right} of {count.answered} answers first")
    return lines


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--asks", type=int, default=2, help="wordings a question (default: 2)")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="print N faults each")
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory(prefix="vx-") as temporary:
        found = run(Path(temporary), options.seed, options.asks)
    for name, counts in found.items():
        print_figures(name, counts, options.worst)
    if faults := missed(found):
        raise SystemExit("\n".join(["", *faults]))


if __name__ == "__main__":
    main()
