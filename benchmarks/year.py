"""Simulate a year of memories that are changed, captured, reviewed, archived and undone.

    python benchmarks/year.py [--memories 10000] [--changes 3000] [--provider local] [--runs 5]
                              [--json FILE]

The memories are generated facts about services, each with its own subject and some prose. 200 of
them are queried before and after the year, in other words: their files may be renamed, but their
text stays, so they should still be found.

Prints the sizes of the databases, the size of a version, the time of each command as a process,
with and without a daemon, and how many questions find their memory first and among the first five.
Commands that this version does not have are skipped. The same seed gives the same year; only its
last day is a parameter.
"""

import argparse
import itertools
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.generated import Author
from benchmarks.indexing import Bench
from benchmarks.machine import describe
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.api.methods import METHODS
from vault_index.config.edit import create_config
from vault_index.config.home import find_home
from vault_index.errors import VaultIndexError

QUESTIONS = 200
DECISIONS = 200
_SYLLABLES = (
    "bar ben bod dal der fin gas hul jor kam kel lun mav nir pol quin ras sel tov wex yar zim"
)
_OF_A_SERVICE = 20
"""Memories about one service, each of another subject."""
_KINDS_OF_CHANGE = {
    "update": 35,
    "append": 12,
    "tags": 8,
    "supersede": 15,
    "edit by hand": 20,
    "rename": 10,
}
_TYPES = ("note", "decision", "bugfix", "feature", "pattern", "discovery", "learning", "warning")
_DECIDED: dict[str, tuple[str, ...]] = {
    "unreviewed": ("accept", "accept", "accept", "edit", "archive", "delete"),
    "duplicate": ("merge", "keep"),
    "contradiction": ("supersede", "keep"),
    "expired": ("delete", "archive"),
    "outdated": ("archive", "keep"),
    "unopened": ("archive", "keep", "keep"),
}


class Subject(NamedTuple):
    """A kind of fact."""

    title: str
    says: str
    """Of a service and a value."""
    asks: str


SUBJECTS = tuple(
    (Subject(*one) for one in (
        (
            "Retries", "A call of {s} that fails is repeated {v} times.",
            "how often does {s} try again",
        ),
        (
            "Timeout", "{s} waits {v} seconds for an answer.",
            "after how many seconds does {s} give up waiting",
        ),
        ("Port", "{s} listens on port {v}.", "on which port can {s} be reached"),
        (
            "Backups", "A dump of the data of {s} is kept for {v} days.",
            "how long are the backups of {s} stored",
        ),
        ("Owner", "The team of shelf {v} looks after {s}.", "who is responsible for {s}"),
        ("Deploys", "{s} is rolled out on day {v} of the month.", "when is {s} deployed"),
        (
            "Cache", "{s} forgets what it cached after {v} minutes.",
            "how long does the cache of {s} live",
        ),
        (
            "Queue", "The queue of {s} holds {v} messages before it drops any.",
            "how many messages fit in the queue of {s}",
        ),
        (
            "Memory limit", "{s} is killed above {v} megabytes of memory.",
            "how much RAM may {s} use",
        ),
        (
            "Log level", "The logs of {s} are kept at level {v}.",
            "how verbose is the logging of {s}",
        ),
        (
            "Page size", "Lists of {s} come in pages of {v} entries.",
            "how many results does {s} return at once",
        ),
        (
            "Rate limit", "{s} takes {v} requests a minute from one client.",
            "how many calls a minute does {s} allow",
        ),
        (
            "Workers", "{s} runs {v} workers side by side.",
            "how many processes work in parallel for {s}",
        ),
        ("Currency", "Sums in {s} have {v} decimals.", "to how many places does {s} round money"),
        ("Encoding", "{s} reads files of code page {v}.", "which character set does {s} expect"),
        (
            "Sessions", "A login to {s} ends after {v} hours.",
            "when does one have to sign in to {s} again",
        ),
        (
            "Uploads", "{s} refuses uploads of more than {v} megabytes.",
            "what is the largest file for {s}",
        ),
        (
            "Batch", "{s} writes {v} rows in one transaction.",
            "how many rows does {s} commit together",
        ),
        (
            "Alerts", "Somebody is called when {s} has been down for {v} minutes.",
            "when is there an alarm for {s}",
        ),
        ("Seed", "Tests of {s} start from seed {v}.", "which random seed do the tests of {s} use"),
        ("Schema", "The schema of {s} stands at revision {v}.", "which migration is {s} at"),
        (
            "Shards", "The data of {s} is split over {v} shards.",
            "into how many partitions is {s} divided",
        ),
        ("Replicas", "Every record of {s} is on {v} machines.", "how many copies does {s} keep"),
        ("Budget", "{s} may cost {v} euros a month.", "what is the spending limit of {s}"),
        (
            "Certificate", "The certificate of {s} is renewed {v} days before it ends.",
            "when is TLS of {s} renewed",
        ),
        (
            "Flag", "Feature {v} of {s} is switched off for guests.",
            "what is disabled in {s} for anonymous users",
        ),
        ("Colour", "The charts of {s} use palette {v}.", "which colours do the graphs of {s} have"),
        (
            "Interview", "The users of {s} were asked in round {v}.",
            "in which survey were the people who use {s} heard",
        ),
        (
            "Coverage", "{s} must have {v} percent of its lines tested.",
            "how much test coverage does {s} need",
        ),
        ("Branch", "Releases of {s} are cut from line {v}.", "where do versions of {s} branch off"),
        ("Region", "{s} runs in data centre {v}.", "where is {s} hosted"),
        ("Licence", "{s} has {v} seats paid for.", "how many licences were bought for {s}"),
        (
            "Retention", "Personal data in {s} is erased after {v} weeks.",
            "when does {s} delete what it knows of people",
        ),
        ("Index", "Search in {s} is rebuilt every {v} hours.", "how often is {s} reindexed"),
        ("Compression", "{s} packs its archives at level {v}.", "how strongly does {s} compress"),
        (
            "Heartbeat", "{s} says that it is alive every {v} seconds.",
            "how often does {s} send a ping",
        ),
        (
            "Threshold", "{s} flags a score of over {v} as fraud.",
            "from which score on is something suspicious for {s}",
        ),
        ("Printer", "Labels of {s} come out of printer {v}.", "where are stickers of {s} printed"),
        (
            "Holiday", "{s} is frozen for {v} days at the turn of the year.",
            "how long is {s} closed around Christmas",
        ),
        (
            "Pool", "{s} keeps {v} connections to its database open.",
            "how large is the connection pool of {s}",
        ),
    )),
)  # fmt: skip


@dataclass(slots=True)
class Fact:
    """A fact about a service."""

    id: str
    path: str
    subject: Subject
    service: str
    value: int
    over: bool = False
    """Whether it expires, or is outdated, during the year."""
    asked: bool = False
    changed: int = 0

    @property
    def statement(self) -> str:
        """The sentence of the fact."""
        return self.subject.says.format(s=self.service, v=self.value)

    @property
    def question(self) -> str:
        """The question for the fact."""
        return self.subject.asks.format(s=self.service)


@dataclass(slots=True)
class Year:
    """A user who works with memories for a year; equal seeds give equal years."""

    index: VaultIndex
    vault: Path
    count: int
    seed: int
    facts: list[Fact] = field(default_factory=list)
    replaced: list[Fact] = field(default_factory=list)
    """The successors of superseded memories, which have the same subject."""
    did: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    chance: random.Random = field(init=False)
    author: Author = field(init=False)

    def __post_init__(self) -> None:
        self.chance, self.author = random.Random(self.seed), Author(self.seed)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Run a method."""
        return dispatch(self.index, method, params)

    # --- before -----------------------------------------------------------------------------------

    def fill(self) -> None:
        """Write the memories as files, and index them."""
        nouns = sorted({*self.author.words(4000).split()})
        names = ["".join(name) for name in itertools.product(_SYLLABLES.split(), repeat=3)]
        begun = datetime.now(UTC).replace(microsecond=0) - timedelta(days=365)
        for service in self.chance.sample(names, -(-self.count // _OF_A_SERVICE)):
            for subject in self.chance.sample(SUBJECTS, _OF_A_SERVICE):
                self.write(len(self.facts), subject, service, nouns, begun)
        facts = [fact for fact in self.facts if not fact.over]
        for fact in self.chance.sample(facts, min(QUESTIONS, len(facts) // 4)):
            fact.asked = True
        self.facts = facts
        self.ask("sync")

    def write(
        self, number: int, subject: Subject, service: str, nouns: Sequence[str], begun: datetime
    ) -> None:
        """Write the file of one memory."""
        uid, kind = (
            str(uuid.UUID(int=self.chance.getrandbits(128), version=4)),
            self.chance.choice(_TYPES),
        )
        path = f"80-memory/{kind}/{subject.title.lower().replace(' ', '-')}-{service}.md"
        created = (begun + timedelta(minutes=number * 5)).isoformat()
        front = {
            "id": uid, "type": kind, "title": f"{subject.title} of {service}",
            "tags": self.chance.sample(nouns, 2), "project": f"project-{number % 12}",
            "created": created, "updated": created, "entered_by": f"agent-{number % 7}",
        }  # fmt: skip
        over = {7: "expires", 8: "valid_until"}.get(number % 100, "")
        if over:
            front[over] = str((begun + timedelta(days=300)).date())
        fact = Fact(uid, path, subject, service, self.chance.randrange(2, 9000), over=bool(over))
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in front.items())
        (self.vault / path).parent.mkdir(parents=True, exist_ok=True)
        (self.vault / path).write_text(f"---\n{lines}---\n{self.body(fact)}\n", "utf-8")
        self.facts.append(fact)

    def body(self, fact: Fact) -> str:
        """The statement among sentences of other things; one in ten is long."""
        sentences = [
            self.author.sentence()
            for _ in range(self.chance.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 40)))
        ]
        sentences.insert(self.chance.randrange(len(sentences) + 1), fact.statement)
        return "\n\n".join(" ".join(sentences[at : at + 5]) for at in range(0, len(sentences), 5))

    # --- the year ---------------------------------------------------------------------------------

    def live(self, changes: int, told: Callable[[str, int, int], None]) -> None:
        """Do all changes of the year."""
        every = max(1, changes // 12)
        for number in range(changes):
            kind = self.chance.choices(list(_KINDS_OF_CHANGE), list(_KINDS_OF_CHANGE.values()))[0]
            self.attempt(kind, self.change, kind)
            if number % 30 == 29:
                self.attempt("undo", self.undone)
            if number % 20 == 19:
                self.attempt("archive", self.archive)
            if number % 60 == 59:
                self.attempt("delete", self.delete)
            if number % every == every - 1:
                self.attempt("capture", self.capture)
                self.review(
                    -(-DECISIONS * changes // (3000 * 12))
                    if changes < 3000
                    else -(-DECISIONS // 12)
                )
            if number % 50 == 49:
                told("changes", number + 1, changes)
        self.attempt("prune", self.ask, "prune")

    def attempt(self, kind: str, work: Callable[..., object], *given: Any, **named: Any) -> None:
        """Do one action; count it if it failed."""
        try:
            work(*given, **named)
            self.did[kind] += 1
        except VaultIndexError as error:
            self.failed[f"{kind}: {error.message[:60]}"] += 1

    def any(self, *, may_be_asked: bool = False) -> Fact:
        """Return a random fact."""
        while True:
            fact = self.chance.choice(self.facts)
            if may_be_asked or not fact.asked:
                return fact

    def change(self, kind: str) -> None:
        """Change a memory."""
        fact = self.any(may_be_asked=kind == "rename")
        fact.changed += 1
        match kind:
            case "update":
                fact.value += self.chance.randrange(1, 50)
                self.ask("update", ref=fact.id, content=self.body(fact))
            case "append":
                self.ask("update", ref=fact.id, content=self.author.sentence(), append=True)
            case "tags":
                self.ask("update", ref=fact.id, add_tags=self.author.words(1))
            case "supersede":
                new = Fact(
                    "", "", fact.subject, fact.service, fact.value + self.chance.randrange(1, 50)
                )
                title = f"{fact.subject.title} of {fact.service}"
                stored = self.ask("add", text=self.body(new), title=title, supersedes=fact.id)
                new.id, new.path = stored["id"], stored["path"]
                self.facts[self.facts.index(fact)] = new
                self.replaced = [one for one in self.replaced if one is not fact] + [new]
            case "edit by hand":
                fact.value += self.chance.randrange(1, 50)
                file = self.vault / fact.path
                head = file.read_text("utf-8").split("\n---\n")[0]
                file.write_text(f"{head}\n---\n{self.body(fact)}\n", "utf-8")
                self.ask("sync", paths=[str(file)])
            case "rename":
                old = self.vault / fact.path
                new_path = old.with_name(f"renamed-{fact.changed}-{old.name}")
                old.rename(new_path)
                fact.path = new_path.relative_to(self.vault).as_posix()
                self.ask("sync", paths=[str(old), str(new_path)])

    def undone(self) -> None:
        """A change that was a mistake."""
        fact = self.any()
        self.ask("update", ref=fact.id, content=f"A mistake: {self.author.sentence()}")
        self.ask("undo")

    def archive(self) -> None:
        """Archive a memory."""
        if "archive" in METHODS:
            self.ask("archive", ref=self.away().id)

    def delete(self) -> None:
        """Delete a memory."""
        self.ask("delete", ref=self.away().id)

    def away(self) -> Fact:
        """One that the year goes on without."""
        fact = self.any()
        self.facts.remove(fact)
        self.replaced = [one for one in self.replaced if one is not fact]
        return fact

    def capture(self) -> None:
        """Capture memories from a session."""
        told = [f"*Remember*: {self.author.sentence()} {self.author.sentence()}" for _ in range(15)]
        said = [f"We decided to use the {self.author.words(4)}." for _ in range(5)]
        self.ask("capture", text="\n\n".join(told), inbox=True)
        self.ask("capture", text="\n\n".join(said), statements=True, inbox=True)

    def review(self, decisions: int) -> None:
        """Decide some of what waits, of each reason, and leave alone what will be asked for."""
        if "review" not in METHODS:
            return
        asked, by_id = (
            {fact.id for fact in self.facts if fact.asked},
            {fact.id: fact for fact in self.facts},
        )
        for reason, actions in _DECIDED.items():
            share = decisions if reason == "unreviewed" else decisions // 4
            for item in self.ask("review", reason=reason, limit=max(1, share // 2))["results"]:
                refs, action = [one["id"] for one in item["memories"]], self.chance.choice(actions)
                if asked & {*refs} and action != "keep":
                    continue
                text = (
                    f"---\nid: {refs[0]}\ntype: note\n---\n{self.author.sentence()}\n"
                    if action == "edit"
                    else None
                )
                used = refs if action in ("merge", "supersede", "keep") else refs[:1]
                self.attempt(
                    f"review: {action}", self.ask, "decide", action=action, ref=used, text=text
                )
                for ref in used if action != "keep" else ():
                    if ref in by_id and by_id[ref] in self.facts and not by_id[ref].asked:
                        self.facts.remove(by_id[ref])
                        self.replaced = [one for one in self.replaced if one.id != ref]


class Found(NamedTuple):
    """The ranks of the queried memories."""

    first: float
    among_five: float
    questions: int


def found(index: VaultIndex, facts: Sequence[Fact]) -> Found:
    """How often the memory of a question is the first hit, and one of the first five."""
    places = []
    for fact in facts:
        hits = index.search(fact.question, limit=5, per_document=1).results
        places.append(next((at for at, hit in enumerate(hits, 1) if hit.id == fact.id), 0))
    count = max(len(places), 1)
    return Found(places.count(1) / count, sum(map(bool, places)) / count, len(places))


class Commands:
    """Each command as a process, again and again."""

    def __init__(self, bench: Bench, facts: Sequence[Fact], runs: int, author: Author) -> None:
        command = Path(sys.executable).with_name("vault-index")
        self._start = [str(command)] if command.exists() else [sys.executable, "-m", "vault_index"]
        self._bench, self._facts, self._runs, self._author = bench, facts, runs, author

    def seconds(self) -> dict[str, list[float]]:
        """Return the seconds by command; the first run does not count."""
        taken: dict[str, list[float]] = {}
        for number in range(self._runs + 1):
            fact = self._facts[number]
            for name, words in self._lines(fact):
                seconds = self._run(words)
                if number and seconds is not None:
                    taken.setdefault(name, []).append(seconds)
        return taken

    def _lines(self, fact: Fact) -> Iterator[tuple[str, list[str]]]:
        yield "search", ["search", fact.question]
        yield "recall", ["recall", fact.question]
        yield "list", ["list"]
        yield "status", ["status"]
        yield "add", ["add", f"{self._author.sentence()} {self._author.sentence()}"]
        yield "update", ["update", fact.id, "--content", self._author.sentence(), "--append"]
        yield "history", ["history", fact.id]
        yield "diff", ["diff", fact.id]
        yield "revert", ["revert", fact.id]
        yield "undo", ["undo"]
        yield "review", ["review", "--json"]
        yield "archive", ["archive", fact.id]
        yield "undo of it", ["undo"]

    def _run(self, words: list[str]) -> float | None:
        """None where there is no such command."""
        if words[0] not in METHODS:
            return None
        started = time.perf_counter()
        done = subprocess.run(
            [*self._start, *words], env=self._bench.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{' '.join(words)}: {done.stderr}")
        return time.perf_counter() - started


def sizes(home: Path) -> dict[str, int]:
    """Bytes of each database, with its log."""
    names = ("state.db", "index.db", "cache.db")
    return {
        name: sum(file.stat().st_size for file in home.glob(f"{name}*") if file.suffix != ".db-shm")
        for name in names
    }


def versions(home: Path) -> int:
    """Return the number of stored versions."""
    with closing(apsw.Connection(str(home / "state.db"))) as state:
        if not state.table_exists(None, "version"):
            return 0
        return int(state.execute("SELECT count(*) FROM version").get)


class Report:
    """What is measured, printed as it comes and kept for JSON."""

    def __init__(self) -> None:
        self.figures: dict[str, Any] = {}

    def databases(self, when: str, home: Path) -> None:
        """Print the sizes of the databases."""
        found = sizes(home) | {"versions": versions(home)}
        self.figures[f"bytes {when}"] = found
        told = ", ".join(
            f"{name} {size / 1e6:.1f} MB" for name, size in found.items() if name != "versions"
        )
        print(f"{when} the year: {told}; {found['versions']:,} versions")

    def a_version(self) -> None:
        """Print the bytes per stored version."""
        before, after = self.figures["bytes before"], self.figures["bytes after"]
        if more := after["versions"] - before["versions"]:
            self.figures["bytes a version"] = (after["state.db"] - before["state.db"]) / more
            print(
                f"  state.db grew by {self.figures['bytes a version']:.0f} bytes a version, "
                "with all that it keeps"
            )
        if after["versions"]:
            print(
                f"  {after['state.db'] / after['versions']:.0f} bytes of it for each "
                "version that there is"
            )

    def questions(self, when: str, of: str, answered: Found) -> None:
        """Print how many questions find their memory."""
        self.figures[f"{of} {when}"] = answered._asdict()
        shares = (
            f"{answered.first:.3f} first, {answered.among_five:.3f} among five, "
            f"of {answered.questions}"
        )
        print(f"{when} the year, {of}: {shares}")

    def times(self, taken: dict[str, dict[str, list[float]]]) -> None:
        """Print the times of the commands."""
        self.figures["milliseconds"] = {
            column: {
                name: round(statistics.median(seconds) * 1000, 1) for name, seconds in one.items()
            }
            for column, one in taken.items()
        }
        columns = self.figures["milliseconds"]
        print(f"\n{'median, ms':14}" + "".join(f"{name:>26}" for name in columns))
        for name in next(iter(columns.values())):
            print(
                f"{name:14}"
                + "".join(f"{column.get(name, float('nan')):>26.0f}" for column in columns.values())
            )


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Print the name and the seconds of a phase."""
    started = time.monotonic()
    print(f"{name} …", file=sys.stderr, flush=True)
    yield
    print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def run(folder: Path, options: argparse.Namespace) -> Report:
    """Simulate one year."""
    (folder / "new").mkdir()
    bench, report, home = Bench(folder / "new", folder), Report(), folder / "home"
    create_config(find_home(home), bench.vault, provider=options.provider, memory_dir=None)
    with VaultIndex.open(find_home(home)) as index:
        year = Year(index, bench.vault, options.memories, options.seed)
        with phase(f"{options.memories:,} memories are written and indexed"):
            year.fill()
        asked = [fact for fact in year.facts if fact.asked]
        with phase(f"{len(asked)} questions"):
            report.questions("before", "unchanged", found(index, asked))
    taken: dict[str, dict[str, list[float]]] = {}
    report.databases("before", home)
    measure(bench, year, options.runs, taken, "before")
    with (
        VaultIndex.open(find_home(home)) as year.index,
        phase(f"a year of {options.changes:,} changes"),
    ):
        year.live(options.changes, told)
    report.databases("after", home)
    report.a_version()
    with VaultIndex.open(find_home(home)) as index, phase("the questions again"):
        report.questions("after", "unchanged", found(index, asked))
        report.questions("after", "superseded", found(index, year.replaced[:QUESTIONS]))
    measure(bench, year, options.runs, taken, "after")
    report.times(taken)
    report.figures["did"], report.figures["failed"] = dict(year.did), dict(year.failed)
    print("\ndid: " + ", ".join(f"{name} {count}" for name, count in sorted(year.did.items())))
    for name, count in year.failed.most_common():
        print(f"failed {count} times: {name}")
    return report


def measure(
    bench: Bench, year: Year, runs: int, taken: dict[str, dict[str, list[float]]], when: str
) -> None:
    """Measure before or after the year."""
    usual = [fact for fact in year.facts if not fact.asked][-runs - 1 :]
    with phase(f"commands {when} the year"):
        commands = Commands(bench, usual, runs, Author(len(taken) + 100))
        taken[f"{when}, alone"] = commands.seconds()
        with bench.daemon():
            taken[f"{when}, with a daemon"] = commands.seconds()


def told(what: str, done: int, total: int) -> None:
    """Print progress."""
    print(f"  {what}: {done:,} of {total:,}", file=sys.stderr, flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--changes", type=int, help="default: three for ten memories")
    parser.add_argument(
        "--provider", choices=("local", "none"), default="local", help="none: without vectors"
    )
    parser.add_argument("--runs", type=int, default=5, help="how often each command is timed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    options = parser.parse_args()
    options.changes = options.memories * 3 // 10 if options.changes is None else options.changes
    print(describe())
    with tempfile.TemporaryDirectory(prefix="vx-") as temporary:
        report = run(Path(temporary), options)
    if options.json:
        options.json.write_text(json.dumps(report.figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
