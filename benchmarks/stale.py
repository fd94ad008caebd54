"""Measure whether current facts rank before outdated ones.

    python -m benchmarks.stale [--part dev|measured] [--failures]

All memories of a part (`data/stale_facts/README.md`) are added to one vault, the oldest first.
Measured are:

- named: whether the answer of `add` (`replaces`) names the memory that the new one replaces, and
  none if it replaces none
- stored: whether an outdated memory ranks before the current one, in search and recall, without a
  hint by the user
- superseded: the same, after `update NEW --supersedes OLD`
- demoted: of two current memories the older one answers: whether one of them is marked as replaced
  (`newer`), or the older one ranks behind the other only because of the rule (`before.json` has
  the ranks without it)

Failures are listed for `dev` only; otherwise they are counted by kind. Exits with 1 if a figure
misses its limit.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.machine import arguments, describe
from vault_index import VaultIndex
from vault_index.config.edit import create_config
from vault_index.config.home import find_home

DATA = Path(__file__).resolve().parent / "data/stale_facts"
PARTS = ("dev", "measured")
WAYS = ("search hybrid", "search text", "recall")
RIGHT, WRONG, STALE, SUPERSEDED, DEMOTED = 0.80, 0.05, 0.15, 0.01, 0.02
_HITS = 10
_MARK = "older: see"
"""How a recalled block marks a memory that another one replaces; what it is follows."""
_ALIKE = 0.4
"""From so much of their words in common, a change is in the words of what it changes."""

What = Literal["chain", "pair", "unrelated"]
Key = tuple[str, int]
"""A memory: the id of its item, and its place in it from 0, the oldest."""


class Memory(NamedTuple):
    """A memory of an item."""

    text: str
    front: Mapping[str, Any]

    def file(self) -> str:
        """As it is added: with its frontmatter, where the day is as well."""
        head = "".join(
            f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in self.front.items()
        )
        return f"---\n{head}---\n{self.text}\n"

    @property
    def words(self) -> set[str]:
        """Return the words of the memory."""
        said = (self.front.get("title", ""), self.text, *self.front.get("facts", ()))
        return set(re.findall(r"\w+", " ".join(said).casefold()))


@dataclass(frozen=True, slots=True)
class Item:
    """Memories about one subject, with a question."""

    what: What
    id: str
    memories: tuple[Memory, ...]
    question: str = ""
    kind: str = ""

    @property
    def last(self) -> Key:
        """The current memory."""
        return self.id, len(self.memories) - 1

    def kind_of(self, step: int) -> str:
        """The kind of one of its memories, by which failures are counted."""
        if self.what != "chain" or not step:
            return self.kind or ("first of a chain" if self.what == "chain" else self.what)
        old, new = self.memories[step - 1].words, self.memories[step].words
        return (
            "in the same words" if len(old & new) >= _ALIKE * len(old | new) else "in other words"
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """The memories that an answer found, best first, and those marked as replaced."""

    order: tuple[Key, ...]
    marked: frozenset[Key] = frozenset()

    def before(self, one: Key, other: Key) -> bool:
        """Whether `one` is there and stands before `other`, or without it."""
        return one in self.order and (
            other not in self.order or self.order.index(one) < self.order.index(other)
        )


Answers = Mapping[str, Answer]
"""By the id of the item that is asked for."""


@dataclass(slots=True)
class Figure:
    """A share, with its limit."""

    name: str
    limit: float | None = None
    least: bool = False
    asked: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    """How many were counted, by kind."""
    missing: Counter[str] = field(default_factory=Counter)
    """How many were not, by kind; if `limit` is a minimum, these are the failures."""
    notes: list[str] = field(default_factory=list)
    """The failures in words."""

    def count(self, counted: bool, kind: str, note: str) -> None:
        """Count one case."""
        self.asked += 1
        (self.kinds if counted else self.missing)[kind] += 1
        if counted != self.least:
            self.notes.append(f"{kind}: {note}")

    @property
    def share(self) -> float:
        """The share of counted cases."""
        return self.kinds.total() / max(self.asked, 1)

    @property
    def failed(self) -> bool:
        """Whether the share misses its limit."""
        return self.limit is not None and (
            self.share < self.limit if self.least else self.share > self.limit
        )


def read_part(part: str) -> list[Item]:
    """Read the items of a part."""
    lines = (DATA / f"{part}.jsonl").read_text("utf-8").splitlines()
    return [_item(json.loads(line)) for line in lines]


def _item(said: Mapping[str, Any]) -> Item:
    memories = tuple(
        Memory(one["text"], {key: value for key, value in one.items() if key != "text"})
        for one in said["memories"]
    )
    return Item(said["what"], said["id"], memories, said.get("question", ""), said.get("kind", ""))


def in_order(items: Iterable[Item]) -> list[tuple[Key, Memory]]:
    """All memories, the oldest first."""
    found = [
        ((item.id, step), memory) for item in items for step, memory in enumerate(item.memories)
    ]
    return sorted(found, key=lambda one: (one[1].front["created"], one[0]))


# --- what is judged -------------------------------------------------------------------------------


def judge_names(items: Sequence[Item], names: Mapping[Key, Key | None]) -> list[Figure]:
    """Judge which memory each new one was said to replace; a memory outside the part is wrong."""
    right = Figure("the right one, of changes", RIGHT, least=True)
    wrong = Figure("another one, of memories of chains", WRONG)
    pairs = Figure("any, of the second that holds", WRONG)
    first = Figure("any, of the first that holds", WRONG)
    unrelated = Figure("any, of unrelated additions", WRONG)
    for item in items:
        for step, memory in enumerate(item.memories):
            name, kind = names[item.id, step], item.kind_of(step)
            told = f"{item.id} {_short(memory.text)} -> {_told(items, name)}"
            own = name is not None and name[0] == item.id
            if item.what != "chain":
                {"unrelated": unrelated, "pair": pairs if step else first}[item.what].count(
                    name is not None, kind, told
                )
                continue
            wrong.count(name is not None and not own, kind, told)
            if step:
                right.count(name == (item.id, step - 1), kind, told)
    return [right, wrong, pairs, first, unrelated]


def judge_stale(items: Sequence[Item], answers: Answers, limit: float) -> list[Figure]:
    """Count the questions with an outdated memory before the current one."""
    stale = Figure("a stale one first", limit)
    found = Figure("the one that holds is first of all")
    for item in items:
        if item.what != "chain":
            continue
        answer, kind = answers[item.id], item.kind_of(item.last[1])
        olds = [(item.id, step) for step in range(item.last[1])]
        before = [old for old in olds if answer.before(old, item.last)]
        stale.count(
            bool(before),
            kind,
            f"{item.id} {item.question} -> {', '.join(_told(items, one) for one in before)}",
        )
        found.count(answer.order[:1] == (item.last,), kind, item.id)
    return [stale, found]


def judge_pairs(items: Sequence[Item], answers: Answers, without: Sequence[str]) -> list[Figure]:
    """Count the pairs with a demoted older memory.

    `without` has the pairs in which the older one was not first without the rule, so that order
    says nothing.
    """
    demoted = Figure("wrongly demoted", DEMOTED)
    marked = Figure("one of the two is marked", DEMOTED)
    behind = Figure("the older one, that answers, is behind")
    for item in items:
        if item.what != "pair":
            continue
        answer, told = answers[item.id], f"{item.id} {item.question}"
        older, newer = (item.id, 0), item.last
        mark = bool({older, newer} & answer.marked)
        after = answer.before(newer, older)
        moved = after and item.id not in without
        demoted.count(mark or moved, item.kind, told)
        marked.count(mark, item.kind, told)
        behind.count(after, item.kind, told)
    return [demoted, marked, behind]


def _told(items: Sequence[Item], key: Key | None) -> str:
    if key is None:
        return "none"
    found = [item.memories[key[1]] for item in items if item.id == key[0]]
    return f"{key[0]}.{key[1]} {_short(found[0].text)}" if found else key[0]


def _short(text: str) -> str:
    return json.dumps(text if len(text) <= 90 else f"{text[:90]}…", ensure_ascii=False)


# --- what is asked --------------------------------------------------------------------------------


class Bench:
    """A vault with all memories of a part."""

    def __init__(self, index: VaultIndex, items: Sequence[Item]) -> None:
        self.index = index
        self.items = items
        self.ids: dict[Key, str] = {}
        self.keys: dict[str, Key] = {}

    def add_all(self) -> dict[Key, Key | None]:
        """The memory that each was said to replace."""
        names: dict[Key, Key | None] = {}
        for key, memory in in_order(self.items):
            stored = self.index.add(memory.file(), force=True)  # some mention a password
            assert stored.created, (key, stored)
            names[key] = self.keys[stored.near[0].id] if stored.near else None
            self.ids[key], self.keys[stored.id] = stored.id, key
        return names

    def supersede_all(self) -> None:
        """Mark every replaced memory as superseded."""
        for item in self.items:
            for step in range(1, len(item.memories)) if item.what == "chain" else ():
                self.index.update(self.ids[item.id, step], supersedes=[self.ids[item.id, step - 1]])

    def ask_all(self, what: What) -> dict[str, dict[str, Answer]]:
        """Return the answers by way of asking and item."""
        items = [item for item in self.items if item.what == what]
        return {way: {item.id: self.ask(way, item.question) for item in items} for way in WAYS}

    def ask(self, way: str, question: str) -> Answer:
        """Ask one question in one way."""
        if way == "recall":
            return self._recalled(question)
        mode: Literal["text", "hybrid"] = "text" if way == "search text" else "hybrid"
        found = self.index.search(question, mode=mode, limit=_HITS, per_document=1).results
        hits = [hit for hit in found if not hit.weak]
        marked = (self.keys[hit.id] for hit in hits if getattr(hit, "newer", None))
        return Answer(tuple(self.keys[hit.id] for hit in hits), frozenset(marked))

    def _recalled(self, question: str) -> Answer:
        block = self.index.recall(question)
        order = tuple(dict.fromkeys(self.keys[one.id] for one in block.sources))
        marked = marked_places(block.text)
        return Answer(
            order,
            frozenset(
                self.keys[one.id]
                for one in block.sources
                if any(one.path in place or one.id in place for place in marked)
            ),
        )


def marked_places(block: str) -> list[str]:
    """What stands before the mark of an older one in the lines of a recalled block: where it is."""
    return [line.partition(_MARK)[0] for line in block.splitlines() if _MARK in line]


Table = dict[str, list[Figure]]
"""Figures by what was measured, and by which way of asking."""


def measure(index: VaultIndex, items: Sequence[Item], before: Mapping[str, Sequence[str]]) -> Table:
    """Measure one part."""
    bench = Bench(index, items)
    table = {"named by add": judge_names(items, bench.add_all())}
    chains, pairs = bench.ask_all("chain"), bench.ask_all("pair")
    for way in WAYS:
        table[f"stored, {way}"] = judge_stale(items, chains[way], STALE)
    for way in WAYS:
        table[f"both hold, {way}"] = judge_pairs(items, pairs[way], before[way])
    bench.supersede_all()
    for way, answers in bench.ask_all("chain").items():
        table[f"superseded, {way}"] = judge_stale(items, answers, SUPERSEDED)
    return table


def run(folder: Path, items: Sequence[Item], before: Mapping[str, Sequence[str]]) -> Table:
    """Measure with a new home."""
    (folder / "vault").mkdir()
    home = find_home(folder / "home")
    create_config(home, folder / "vault", provider="local", memory_dir=None)
    with VaultIndex.open(home) as index:
        return measure(index, items, before)


def print_table(table: Table) -> None:
    """Print the figures as a table."""
    for where, figures in table.items():
        print(f"\n{where}")
        for one in figures:
            bar = "" if one.limit is None else f"{'>=' if one.least else '<='} {one.limit:.0%}"
            counts = (one.missing if one.least else one.kinds).most_common()
            kinds = ", ".join(f"{kind} {number}" for kind, number in counts if kind)
            counted = f"{one.kinds.total():>5} of {one.asked:>5}{one.share:>8.1%}"
            print(f"  {one.name:40}{counted} {bar:8}{'!' if one.failed else ' '} {kinds}".rstrip())


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=PARTS, default="dev")
    parser.add_argument("--failures", action="store_true", help="list the failures (dev only)")
    options = parser.parse_args()
    print(describe())
    before = json.loads((DATA / "before.json").read_text("utf-8"))[options.part]
    with tempfile.TemporaryDirectory(prefix="vx-") as temporary:
        table = run(Path(temporary), read_part(options.part), before)
    print_table(table)
    figures = [one for group in table.values() for one in group if one.limit is not None]
    if options.failures and options.part == "dev":
        print("", *(f"{one.name}: {note}" for one in figures for note in one.notes), sep="\n")
    raise SystemExit(any(one.failed for one in figures))


if __name__ == "__main__":
    main()
