"""Random vaults and sessions with a visible part, written with the rest and without it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from tests.sources.sessions.claude import Writer
from vault_index.callers import Scope
from vault_index.config import Home, find_home

SESSIONS = "claude-code"
FOLDERS = ("work", "work/acme", "workshop", "Work", "w_rk", "80-memory", "80-memory/handoffs", "diary", "")
"""Some are prefixes of others, some are equal for `LIKE` or for a file system that ignores case."""
COMMON: list[str] = re.findall(
    r"\w+",
    "harbour ferry bicycle winter timetable storage cluster backup invoice customer garden kitchen recipe train "
    "station ticket museum painting forest river mountain weather",
)
TAGS = ("ops", "ops/storage", "travel", "food")
AUTHORS = ("build-agent", "anna")
TEXTS = (
    "The ferry to the island leaves at nine in winter and takes bicycles on the upper deck.",
    "Backups of the storage cluster are made at three in the night and kept for ninety days.",
    "Invoices of customers are numbered by the year, and none is ever deleted from the archive.",
)
"""Texts that documents on both sides may share."""
TURNS = ("The museum is closed on Mondays, so the tickets were bought for the day after.", "Nothing failed.")
"""The same for sessions and notes. Not for memories: text of a deleted memory is removed from sessions."""
VALUES = "The storage cluster listens on port {} for its backup."
_BASE = 1_780_000_000


class Words:
    """Invented words, each returned once, and none similar to another."""

    def __init__(self) -> None:
        self._random = Random(21)
        self.given: set[str] = set()

    def __call__(self) -> str:
        while True:
            # Endings that the stemmer keeps, so that answers show a word as it is written.
            word = "".join(self._random.choice("bdfgklmprtvz") + self._random.choice("aou") for _ in range(5)) + "k"
            if word not in self.given:
                self.given.add(word)
                return word


@dataclass(frozen=True)
class Item:
    """One file at one time; for a session, the path of its document."""

    key: int
    source: str
    path: str
    data: bytes
    id: str = ""
    project: str | None = None
    kind: str = "note"
    names: tuple[str, ...] = ()
    """Its other names, and words in it that a query may use."""
    title: str = ""
    parent: str = ""
    """For the session of a subagent."""

    @property
    def stem(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(".md")

    @property
    def said(self) -> str:
        return f"{self.path}\n{self.id}\n{self.data.decode('utf-8', 'replace')}"


def sees(scope: Scope, item: Item) -> bool:
    below = any(item.path.startswith(f"{folder}/") for folder in scope.folders)
    return (
        (not scope.sources or item.source in scope.sources)
        and (not scope.folders or below)
        and (not scope.projects or item.project in scope.projects)
    )


@dataclass
class Scene:
    """The items at each time, and the caller."""

    scope: Scope
    vaults: tuple[str, ...]
    stages: list[list[Item]]
    words: Words
    kept: tuple[tuple[str, ...], ...] = ()
    """Ids that the user decided to keep."""
    opened: tuple[int, ...] = ()
    """Items that the user opened before the first call."""
    provider: str = "none"
    pending: bool = False
    """Whether hidden items have no vectors yet."""
    unmounted: bool = False
    """Whether vaults that are completely hidden are missing."""

    @property
    def last(self) -> list[Item]:
        return self.stages[-1]

    def items(self) -> Iterator[Item]:
        """Including those of earlier times."""
        for stage in self.stages:
            yield from stage

    def visible(self, stage: int = -1) -> list[Item]:
        return [item for item in self.stages[stage] if sees(self.scope, item)]

    def hidden(self) -> list[Item]:
        return [item for item in self.items() if not sees(self.scope, item)]

    def crossers(self) -> set[int]:
        """Items that were on both sides of the border."""
        seen = {item.key for item in self.items() if sees(self.scope, item)}
        return seen & {item.key for item in self.hidden()}

    def canaries(self) -> set[str]:
        """Words and ids that occur in no item that the caller sees or saw."""
        known = "\n".join(
            [*(item.said for item in self.items() if sees(self.scope, item)), *self.scope.projects, *self.scope.folders]
        )
        known += "\n".join(self.scope.sources or (*self.vaults, SESSIONS))
        secret = "\n".join([*(item.said for item in self.hidden()), *self.vaults])
        found = {word for word in re.findall(r"\w+", secret) if word in self.words.given and word not in known}
        return found | {item.id[:13] for item in self.hidden() if item.id and item.id not in known}


def make_scene(random: Random, *, provider: str = "none") -> Scene:
    words = Words()
    vaults = ("vault", words())
    projects = (words(), words(), words())
    maker = _Maker(random, words, vaults, projects)
    lasting = maker.lasting() if random.random() < 0.8 else []
    stages = [maker.linked([*lasting, *(maker.item(key) for key in range(random.randint(6, 12)))])]
    for _ in range(random.randint(0, 2) if lasting else 0):
        stages.append(maker.after(stages[-1]))
    scopes = (_scope(random, vaults, projects) for _ in range(8))
    scope = max(scopes, key=lambda one: min(3, sum(sees(one, item) for item in stages[-1])))
    scene = Scene(scope, vaults, stages, words, provider=provider)
    ids = [item.id for item in stages[-1]]
    alone = [item for item in stages[-1] if ids.count(item.id) == 1]
    # Accesses of a text are counted by its id, in any file.
    scene.opened = tuple(item.key for item in alone if item.key not in scene.crossers() and random.random() < 0.2)
    memories = [item.id for item in alone if item.kind == "memory"]
    scene.kept = tuple(tuple(random.sample(memories, k)) for k in (1, 2, 2) if len(memories) > 1)
    scene.pending, scene.unmounted = (random.random() < 0.5 for _ in range(2))
    return scene


def _scope(random: Random, vaults: Sequence[str], projects: Sequence[str]) -> Scope:
    sources = random.choice([("vault",), (vaults[1],), (SESSIONS,), ("vault", SESSIONS)])
    folders = random.choice([("work",), ("work/acme",), ("80-memory",), ("work", "80-memory")])
    by = random.choice(["source", "folder", "project", "folder", "project", "source folder", "source project", "all"])
    return Scope(
        sources if "source" in by or by == "all" else (),
        folders if "folder" in by or by == "all" else (),
        tuple(projects[: random.randint(1, 2)]) if "project" in by or by == "all" else (),
    )


class _Maker:
    def __init__(self, random: Random, words: Words, vaults: Sequence[str], projects: Sequence[str]) -> None:
        self.random, self.words, self.vaults, self.projects = random, words, vaults, projects
        self.next_key = 100

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def uuid(self) -> str:
        head = self.random.choice(("5f0c", "5f0d", "77aa")) + f"{self.random.getrandbits(16):04x}"
        return f"{head}-{self.random.getrandbits(16):04x}-4c2d-9e3f-{self.random.getrandbits(48):012x}"

    def lasting(self) -> list[Item]:
        """Items that stay in each vault with a visible part: a vault that loses all counts as unmounted."""
        found = []
        for key, source in enumerate(self.vaults):
            for kind, folder in (("note", "work/acme"), ("memory", "80-memory")):
                item = self.document(key - 9, source, kind, self.projects[0])
                found.append(replace(item, path=f"{folder}/{item.stem}.md"))
        return found

    def item(self, key: int) -> Item:
        kind = self.random.choice(("note", "note", "memory", "memory", "memory", "session", "other"))
        if kind == "session":
            return self.session(key)
        source = self.random.choice((self.vaults[0], self.vaults[0], self.vaults[1]))
        if kind == "other":
            return self.other(key, source)
        return self.document(key, source, kind)

    def place(self, kind: str) -> str:
        folder = self.random.choice([one for one in FOLDERS if (one[:2] == "80") == (kind == "memory")])
        if self.chance(0.3):
            folder = f"{folder}/{self.words()}".lstrip("/")
        name = f"{self.words()} {self.words()}" if self.chance(0.2) else self.words()
        return f"{folder}/{name}.md".lstrip("/")

    def document(self, key: int, source: str, kind: str, project: str | None = None) -> Item:
        word, chance, choice = self.words, self.chance, self.random.choice
        title, alias, tag, author = word(), word(), f"{choice(TAGS)}/{word()}", choice((word(), *AUTHORS))
        project = project or choice((None, *self.projects))
        field, value, concept, bead, file = word(), word(), word(), f"bd-{word()}", f"src/{word()}.py"
        front: dict[str, Any] = {"title": title, "aliases": [alias, word()], "tags": [tag, choice(TAGS), word()]}
        front |= {"project": project} if project else {}
        front |= {field: f"{value} {word()}", "entered_by": author} if chance(0.7) else {}
        id_ = ""
        if kind == "memory":
            id_ = self.uuid()
            front |= {"id": id_, "type": choice(("note", "decision", "bugfix")), "confidence": choice(("high", "low"))}
            front |= {"subtitle": f"{word()} {word()}", "digest": word()} if chance(0.5) else {}
            front |= {"facts": [f"The {word()} is {word()}."], "concepts": [concept], "files_read": [file]}
            front |= {"bead_id": bead, "created": f"2026-0{self.random.randint(1, 9)}-0{self.random.randint(1, 9)}"}
            front |= {"expires": "2026-02-01"} if chance(0.15) else {}
            front |= {"valid_until": "2026-02-01"} if chance(0.15) else {}
            front |= {"archived": "2026-03-01"} if chance(0.15) else {}
            if chance(0.3):  # contains only text that others share
                front = {name: front[name] for name in ("id", "project") if name in front}
                said = choice((*TEXTS, VALUES.format(self.random.randint(1000, 9999))))
                return Item(key, source, self.place(kind), _memory(front, said), id_, project, kind)
        body = "\n\n".join(
            (
                f"# {title}" if chance(0.5) else f"About {word()}.",
                f"{self.sentence()} #{choice(TAGS)}/{word()} {word()}:: {word()}",
                f"## {word()}\n\n{self.sentence()} ^{word()}",
                choice((*TEXTS, *(TURNS if kind == "note" else ()), self.sentence())),
            )
        )
        names = (alias, tag, author, f"{field}:{value}", concept, bead, file)
        return Item(key, source, self.place(kind), _memory(front, body), id_, project, kind, names, title)

    def sentence(self) -> str:
        some = [*self.random.sample(COMMON, 3), self.words(), self.words()]
        if self.chance(0.4):  # similar to a word of the other side
            like = self.random.choice(COMMON)
            some += [like[: self.random.randrange(2, len(like))] + like[-2:]] * self.random.choice((1, 1, 9))
        return f"The {' '.join(some)}."

    def other(self, key: int, source: str) -> Item:
        """A file that is read with a fault, or not at all."""
        word = self.words
        folder = self.random.choice([one for one in FOLDERS if one])
        path, data = self.random.choice(
            (
                (f"{folder}/{word()}.md", f"---\ntags: [{word()}\ntitle: {word()}: {word()}\n---\n{self.sentence()}\n"),
                (f"{folder}/{word()}.canvas", f'{{"nodes": [{{"type": "text", "text": "{word()}"'),
                (f"{folder}/{word()}.canvas", f'{{"nodes": [{{"id": "1", "type": "text", "text": "{word()}"}}]}}'),
                (f"{folder}/{word()}.md", f"{word()} \udcff\udcfe {self.sentence()}\n"),
                (f"{folder}/.{word()}.md", self.sentence()),
                (f"{folder}/{word()}.txt", self.sentence()),
                (f".trash/{folder}/{word()}.md", self.sentence()),
                (f"{folder}/{word()}.md", ""),
            )
        )
        return Item(key, source, path, data.encode("utf-8", "surrogateescape"), kind="other")

    def session(self, key: int, parent: Item | None = None) -> Item:
        word = self.words
        project = self.random.choice(self.projects)
        id_ = f"{self.uuid()[:24]}{key:012x}"
        if parent:
            project, id_ = str(parent.project), f"agent-{word()}"
        path = f"{project}/{id_}.md"
        writer = Writer(Path(), parent.stem if parent else id_, f"-home-user-{project}", id_[6:] if parent else "")
        told: dict[str, Any] = {"cwd": f"/home/user/{project}"}
        time = _BASE + 1000 * key
        writer.prompt(f"{word()}: {self.sentence()}", timestamp=_iso(time), **told)
        writer.answer(self.random.choice((*TURNS, self.sentence())), timestamp=_iso(time + 60), **told)
        for call, tool, asked in (
            ("t1", "Edit", {"file_path": f"/home/user/{project}/src/{word()}.py"}),
            ("t2", "Bash", {"command": f"make {word()}"}),
        ):
            block = {"type": "tool_use", "id": call, "name": tool, "input": asked}
            writer.answer(block, timestamp=_iso(time + 90), **told)
            writer.result(call, "no", failed=tool == "Bash", timestamp=_iso(time + 95), **told)
        data = b"\n".join(writer.lines) + b"\n"
        return Item(key, SESSIONS, path, data, id_, project, "session", parent=parent.stem if parent else "")

    def linked(self, items: list[Item]) -> list[Item]:
        """With links, embeds and successors across all borders, subagents, and files with equal text."""
        items = list(items)
        documents = [n for n, item in enumerate(items) if item.kind in ("note", "memory")]
        for n in documents:
            for _ in range(self.random.randint(0, 2)):
                items[n] = self.with_link(items[n], items[self.random.choice(documents)])
        memories = [n for n, item in enumerate(items) if item.kind == "memory"]
        for older, newer in pairwise(memories):
            if self.chance(0.3):
                one, other = items[older], items[newer]
                if self.chance(0.8):
                    items[older] = _with_key(one, f"superseded_by: {other.id}")
                if self.chance(0.8):
                    items[newer] = _with_key(other, f"supersedes: [{one.id}]")
        for one in [item for item in items if item.kind == "session" and self.chance(0.4)]:
            items.append(self.session(self.key(), one))
        for n in documents:
            if self.chance(0.15):  # the same file in another place, or under its own name in another folder
                path, source = self.place(items[n].kind), self.random.choice(self.vaults)
                named = f"{path.rpartition('/')[0]}/{items[n].stem}.md".lstrip("/")
                if self.chance(0.5) and (source, named) not in [(item.source, item.path) for item in items]:
                    path = named
                items.append(replace(items[n], key=self.key(), path=path, source=source))
        return items

    def key(self) -> int:
        self.next_key += 1
        return self.next_key

    def with_link(self, item: Item, to: Item) -> Item:
        target = self.random.choice([to.stem, to.path.removesuffix(".md"), *to.names[:1], to.title or to.stem])
        link = self.random.choice(
            (f"[[{target}]]", f"[[{target}|{self.words()} {self.words()}]]", f"![[{target}]]", f"[[{target}#Some]]")
        )
        return replace(item, data=item.data + f"\nSee {link}.\n".encode())

    def after(self, items: list[Item]) -> list[Item]:
        """Some of them edited, moved, given to another project or deleted, and some new ones."""
        changed: list[Item] = []
        for item in items:
            what = self.random.choice(("", "", "", "edit", "move", "delete", "project")) if item.key >= 0 else ""
            if what == "delete":
                continue
            if item.kind in ("note", "memory"):
                if what:
                    item = replace(item, data=item.data + f"\nLater {self.words()} {self.sentence()}\n".encode())
                if what == "move":
                    item = replace(item, path=self.place(item.kind))
                if what == "project" and item.project:
                    project = self.random.choice(self.projects)
                    was, now = f"project: {item.project}\n".encode(), f"project: {project}\n".encode()
                    item = replace(item, data=item.data.replace(was, now), project=project)
            changed.append(item)
        return [*changed, *self.linked([self.item(self.key()) for _ in range(self.random.randint(0, 2))])]


def _iso(time: int) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", ".000Z")


def _memory(front: Mapping[str, Any], body: str) -> bytes:
    lines = [
        f"{key}: [{', '.join(value)}]" if isinstance(value, list) else f"{key}: {value}" for key, value in front.items()
    ]
    return ("---\n" + "\n".join(lines) + f"\n---\n{body}\n").encode()


def _with_key(item: Item, line: str) -> Item:
    return replace(item, data=item.data.replace(b"---\n", f"---\n{line}\n".encode(), 1))


def home_of(folder: Path, scene: Scene, sources: Sequence[str]) -> Home:
    """A configuration for the scene in `folder`, with these sources only."""
    home = find_home(folder / "home")
    home.data_dir.mkdir(mode=0o700, parents=True)
    told = [f'[embedding]\nprovider = "{scene.provider}"', "[agents]\nstart_daemon = false", "[watch]\nquiet = 0.02"]
    for vault in scene.vaults:
        (folder / vault).mkdir(parents=True)
        (folder / vault / "any.txt").write_text("An empty folder is told to be one.")
        if vault in sources:
            told.append(f'[sources.{vault}]\npath = "{folder / vault}"')
    (folder / "claude/projects").mkdir(parents=True)
    for client in (SESSIONS, "opencode", "codex", "gemini"):
        enabled = client == SESSIONS and client in sources
        told.append(f'[sessions.{client}]\nenabled = {str(enabled).lower()}\ndata = "{folder / "claude"}"')
    home.config_file.write_text("\n".join(told) + "\n", "utf-8")
    return home


def write_stage(folder: Path, before: Sequence[Item], now: Sequence[Item]) -> None:
    """Turn the files of one time into those of the next."""
    there = {place(folder, item) for item in now}
    for item in before:
        if place(folder, item) not in there:
            place(folder, item).unlink()
    known = {place(folder, item): item.data for item in before}
    for item in now:
        file = place(folder, item)
        if known.get(file) != item.data:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(item.data)
            moment = _BASE + 3600 * item.key + len(item.data)
            os.utime(file, (moment, moment))


def place(folder: Path, item: Item) -> Path:
    if item.kind != "session":
        return folder / item.source / item.path
    project = folder / "claude/projects" / f"-home-user-{item.project}"
    return project / (f"{item.parent}/subagents/{item.stem}.jsonl" if item.parent else f"{item.stem}.jsonl")
