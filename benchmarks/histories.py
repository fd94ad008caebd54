"""Run random histories of a vault; after each step the index must equal a fresh build.

    python -m benchmarks.histories [--seed 1] [--count 5000] [--seconds S]
                                   [--without A,B] [--jobs 2]

Files are edited, moved, swapped, linked and renamed, settings and sources change, memories and
sessions come and go. Then everything is synced, or the touched paths, or a daemon follows. Two
histories in a hundred have a daemon, one in ten a remote embedder. The ranking must be equal too.
`--seed N --count 1` repeats a failing history. Linux only.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import apsw

from benchmarks.attack import Attack, Story, exit_with, options, run
from tests.api.vaults import rows
from tests.embeddings.server import EmbeddingServer
from tests.sources.opencode.stores import Client
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import add_source, create_config, remove_source, set_value
from vault_index.daemon.client import ping
from vault_index.errors import VaultIndexError
from vault_index.store.integrity import Checkup, Comparison

WORDS = (
    "heron", "oak", "river", "wal", "index", "docker", "kubernetes", "café", "東京", "naïve",
    "snake_case", "useEffect", "backup", "secret", "note", "apple",
)  # fmt: skip
NAMES = ("a.md", "b.md", "c.md", "A.md", "café.md", "x y.md", "board.canvas", "2026-01-02 day.md")
FOLDERS = ("", "x", "x/y", "z", "über", "80-memory/note")
QUERIES = (
    "heron", "oak river", '"wal index"', "café", "dokcer", "東京", "title:note", "tag:food backup",
    "kubern*", "apple -oak", "snake", "is:expired heron",
)  # fmt: skip
AS_OF = "2031-01-01"
"""Factors of time are the same in both answers."""
PATIENCE = 120.0
_BELIEVED_SECONDS = 0.05
_ID = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"
_WATCH = [sys.executable, "-m", "vault_index", "watch", "--quiet"]


class History:
    """A vault, an index that follows it, and what happened since the index last looked."""

    def __init__(
        self, story: Story, folder: Path, without: frozenset[str], stack: ExitStack
    ) -> None:
        self.story = story
        self.folder = folder
        self.vault = folder / "vault"
        self.random = random.Random(story.seed)
        self.touched: set[Path] = set()
        self.whole = True
        """Something happened that a sync of the touched paths need not see: settings."""
        self.memories: list[str] = []
        self.locked: list[Path] = []
        self.extra: list[str] = []
        self.embeds = False
        self.daemon: subprocess.Popen[bytes] | None = None
        self._stack = stack
        self._client: Client | None = None
        self._without = without
        self.vault.mkdir()
        (self.vault / "keep.md").write_text("So that the vault is never empty.\n")
        self.home = find_home(folder / "home")
        create_config(self.home, self.vault, provider="none", memory_dir=None)
        if self.random.random() < 0.1 and "embedder" not in without:
            self._use_embedder(stack)
        self._opened: VaultIndex | None = None

    @property
    def index(self) -> VaultIndex:
        """The index of the history, opened on first use."""
        if self._opened is None:
            self._opened = VaultIndex.open(self.home)
        return self._opened

    def close(self) -> None:
        """Close the index."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def end(self) -> None:
        """Stop the daemon and close the index."""
        self.close()
        if self._client is not None:
            self._client.close()
        if self.daemon is not None:
            self.daemon.terminate()
            self.daemon.wait()

    # --- what happens -----------------------------------------------------------------------------

    def actions(self) -> dict[str, tuple[Callable[[], str], int]]:
        """Return the actions with their weights."""
        files = {
            "create": (self._create, 12), "append": (self._append, 6), "edit": (self._edit, 6),
            "same size": (self._same_size, 3), "rename": (self._rename, 5),
            "move folder": (self._move_folder, 4), "delete": (self._delete, 4),
            "swap": (self._swap, 3), "swap folders": (self._swap_folders, 3),
            "hard link": (self._hard_link, 3), "edit by other name": (self._edit_by_other_name, 2),
            "symlink": (self._symlink, 3), "folder link": (self._folder_link, 2),
            "normal form": (self._normal_form, 3), "case": (self._case, 2),
            "not UTF-8": (self._not_utf8, 2), "chmod": (self._chmod, 2),
            "chmod folder": (self._chmod_folder, 2), "vaultignore": (self._vaultignore, 2),
            "obsidian": (self._obsidian, 1), "file to folder": (self._file_to_folder, 2),
            "ancient": (self._ancient, 2), "a while": (self._a_while, 3),
        }  # fmt: skip
        through = {
            "setting": (self._setting, 3), "add source": (self._add_source, 1),
            "remove source": (self._remove_source, 1), "rename source": (self._rename_source, 1),
            "add": (self._add, 4), "update": (self._update, 3),
            "delete memory": (self._delete_memory, 2), "session": (self._session, 3),
            "edit meanwhile": (self._edit_meanwhile, 1),
        }  # fmt: skip
        return files if self.daemon else {**files, **through}

    def step(self) -> None:
        """Do one random action."""
        actions = {
            name: found for name, found in self.actions().items() if name not in self._without
        }
        (name,) = self.random.choices(list(actions), [weight for _, weight in actions.values()])
        said = actions[name][0]()
        if said:
            self.story.did(f"{name}: {said}")
            self.story.counts[f"action: {name}"] += 1

    def _create(self) -> str:
        return self._write(self._place(), self._text())

    def _append(self) -> str:
        if (path := self._note()) is None:
            return ""
        with path.open("ab") as file:
            file.write(b"\n" + self._text())
        return self._touch(path)

    def _edit(self) -> str:
        path = self._note()
        return self._write(path, self._text()) if path else ""

    def _same_size(self) -> str:
        """Other words of as many bytes, with the old time of change, as some tools leave it."""
        if (path := self._note()) is None:
            return ""
        before, data = path.stat(), path.read_bytes()
        other = data.replace(b"heron", b"stork").replace(b"oak", b"elm")
        path.write_bytes(other if b"\n" in data else data[::-1])
        if self.random.random() < 0.5:
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return self._touch(path)

    def _rename(self) -> str:
        path, new = self._note(), self._place()
        if path is None or os.path.lexists(new):
            return ""
        new.parent.mkdir(parents=True, exist_ok=True)
        return self._move(path, new)

    def _move_folder(self) -> str:
        folder, new = self._folder(), self.vault / f"moved {self.random.randint(0, 3)}"
        if folder is None or new.exists():
            return ""
        return self._move(folder, new)

    def _delete(self) -> str:
        if (path := self._note()) is None:
            return ""
        path.unlink()
        return self._touch(path)

    def _swap(self) -> str:
        """Two files of equal size and times change their names."""
        one, other = self.vault / "twin one.md", self.vault / "twin other.md"
        if self._is_locked(one) or self._is_locked(other):
            return ""
        return self._exchange(*self._twins(one, other))

    def _swap_folders(self) -> str:
        one, other = self.vault / "left", self.vault / "right"
        if not (one.exists() and other.exists()):
            if any(map(self._is_locked, (one, other, one / "same.md", other / "same.md"))):
                return ""
            for folder in (one, other):
                folder.mkdir(exist_ok=True)
            self._twins(one / "same.md", other / "same.md")
            return f"made {self._touch(one, other)}"
        return self._exchange(one, other)

    def _hard_link(self) -> str:
        path, new = self._note(), self._place()
        if path is None or os.path.lexists(new):
            return ""
        new.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, new, follow_symlinks=False)
        return self._touch(new)

    def _edit_by_other_name(self) -> str:
        several = [path for path in self._notes() if path.stat().st_nlink > 1]
        if not several:
            return ""
        path = self.random.choice(several)
        with path.open("ab") as file:
            file.write(self._text())
        return self._touch(path)

    def _symlink(self) -> str:
        path, new = self._note(), self._place()
        if path is None or os.path.lexists(new):
            return ""
        new.parent.mkdir(parents=True, exist_ok=True)
        new.symlink_to(os.path.relpath(path, new.parent))
        return self._touch(new)

    def _folder_link(self) -> str:
        folder, new = self._folder(), self.vault / f"link {self.random.randint(0, 2)}"
        if new.is_symlink():
            new.unlink()
            return self._touch(new)
        if folder is None:
            return ""
        new.symlink_to(os.path.relpath(folder, self.vault))
        return self._touch(new)

    def _normal_form(self) -> str:
        special = [path for path in self._notes() if not path.name.isascii() and _is_utf8(path)]
        if not special:
            return self._write(self.vault / f"Müller {self.random.randint(0, 2)}.md", self._text())
        path = self.random.choice(special)
        form = "NFD" if unicodedata.is_normalized("NFC", path.name) else "NFC"
        new = path.with_name(unicodedata.normalize(form, path.name))  # type: ignore[arg-type]
        if new.exists():
            return ""
        return f"{form} {self._move(path, new)}"

    def _case(self) -> str:
        path = self._note()
        new = path.with_name(path.name.swapcase().replace(".MD", ".md")) if path else None
        return "" if path is None or new is None or new.exists() else self._move(path, new)

    def _not_utf8(self) -> str:
        name = os.fsdecode(self.random.choice([b"bad\xff.md", b"x\xfe/a.md"]))
        return self._write(self.vault / name, self._text())

    def _chmod(self) -> str:
        path = self._note()
        return self._lock(path) if path else ""

    def _chmod_folder(self) -> str:
        """Deny access to a folder; in half of the cases its notes change meanwhile."""
        folder = self._folder()
        if folder is None:
            return ""
        inside = [path for path in self._notes() if folder in path.parents]
        if inside and self.random.random() < 0.5:
            self._lock(folder)
            self.index.sync()
            folder.chmod(0o700)
            with inside[0].open("ab") as file:
                file.write(self._text())
            folder.chmod(0)
            return f"{self._touch(folder)} and {inside[0].name} changed behind it"
        return self._lock(folder)

    def _vaultignore(self) -> str:
        folder = self.random.choice([self.vault, self._folder() or self.vault])
        rules = ["a.md", "x/", "*.canvas", "!b.md", "z", "über", "/c.md", "[A-C].md"]
        lines = self.random.sample(rules, 2)
        self.whole = True
        return f"{lines} " + self._write(folder / ".vaultignore", "\n".join(lines).encode())

    def _obsidian(self) -> str:
        ignored = self.random.sample(["x/", "z/", "über", "a.md"], 1)
        self.whole = True
        data = json.dumps({"userIgnoreFilters": ignored}).encode()
        return f"{ignored} " + self._write(self.vault / ".obsidian/app.json", data)

    def _file_to_folder(self) -> str:
        path = self._note()
        if path is None:
            return ""
        path.unlink()
        return f"{self._touch(path)}, {self._write(path / 'inside.md', self._text())}"

    def _ancient(self) -> str:
        if (path := self._note()) is None:
            return ""
        os.utime(path, self.random.choice([(0, 0), (2**31, 2**31), (946684800, 946684800)]))
        return self._touch(path)

    def _a_while(self) -> str:
        """Wait until the stamps of files are old enough to be trusted, then swap folder names.

        No stamp changes when folders of similar files swap their names.
        """
        if self.daemon is not None:
            return ""
        if not (self.vault / "left").exists():
            self._swap_folders()
        time.sleep(_BELIEVED_SECONDS)
        self.index.sync()
        return f"and {self._swap_folders()}"

    def _setting(self) -> str:
        key, value, source = self.random.choice([
            ("exclude", '["x/"]', "vault"), ("exclude", "[]", "vault"),
            ("exclude", '["*.canvas", "/a.md"]', "vault"),
            ("include", '["x/**", "keep.md"]', "vault"), ("include", "[]", "vault"),
            ("max_file_bytes", "300", "vault"), ("max_file_bytes", "1000000", "vault"),
            ("local_only", '["z/"]', "vault"), ("local_only", "true", "vault"),
            ("local_only", "[]", "vault"), ("chunk.tokens", "200", ""), ("chunk.tokens", "400", ""),
            ("chunk.overlap", "0", ""), ("chunk.overlap", "20", ""), ("memory.dir", "x", ""),
            ("memory.dir", "80-memory", ""),
        ])  # fmt: skip
        if key == "local_only" and self.embeds:  # what was sent before keeps its vectors
            return ""
        self._set(key, value, source)
        return f"{key} = {value}"

    def _add_source(self) -> str:
        folder = self.folder / f"more {len(self.extra)}"
        folder.mkdir(exist_ok=True)
        (folder / "a.md").write_bytes(self._text())
        (folder / "keep.md").write_text("Kept.\n")
        self.close()
        name = f"more{len(self.extra)}"
        add_source(self.home, name, folder)
        self.extra.append(name)
        self.whole = True
        return name

    def _remove_source(self) -> str:
        names = [name for name in self._sources() if name.startswith(("more", "renamed"))]
        if not names:
            return ""
        self.close()
        remove_source(self.home, names[0])
        self.whole = True
        return names[0]

    def _rename_source(self) -> str:
        names = [name for name in self._sources() if name.startswith("more")]
        if not names:
            return ""
        self.close()
        text = self.home.config_file.read_text("utf-8")
        text = text.replace(f"[sources.{names[0]}]", f"[sources.renamed{names[0]}]")
        self.home.config_file.write_text(text, "utf-8")
        self.whole = True
        return names[0]

    def _add(self) -> str:
        text = f"{self._words(6)}.\n\n{self._words(9)}."
        project, tags = self.random.choice([None, "api"]), self._words(1)
        try:
            done = self.index.add(text, tags=tags, project=project, source="vault")
        except VaultIndexError as error:  # the folder is denied
            return f"{text!r} {error.message}"
        if done.created:
            self.memories.append(done.id)
        return f"{text!r} {done.path}"

    def _update(self) -> str:
        if not self.memories:
            return ""
        ref = self.random.choice(self.memories)
        try:
            more = self.random.random() < 0.5
            self.index.update(ref, content=self._words(12), append=more, add_tags=self._words(1))
        except VaultIndexError as error:  # moved, deleted or excluded by now
            return f"{ref}: {error.message}"
        return ref

    def _delete_memory(self) -> str:
        if not self.memories:
            return ""
        ref = self.memories.pop(self.random.randrange(len(self.memories)))
        try:
            self.index.delete(ref, permanent=self.random.random() < 0.5)
        except VaultIndexError as error:
            return f"{ref}: {error.message}"
        return ref

    def _session(self) -> str:
        if self._client is None:
            (self.folder / "opencode").mkdir()
            self._client = Client(self.folder / "opencode/opencode.db")
            self._client.session()
            self._set("sessions.opencode.data", str(self.folder / "opencode"))
            self._set("sessions.opencode.enabled", "true")
        chance, words = self.random.random(), self._words(8)
        if chance < 0.2:
            words = f"ses_{self._client.tick()}"
            self._client.session(words, self._words(2))
        elif chance < 0.6:
            self._client.user(words)
        elif chance < 0.9:
            self._client.assistant(words)
        else:
            self._client.run("DELETE FROM part WHERE rowid = (SELECT max(rowid) FROM part)")
        self.whole = True
        return words

    def _edit_meanwhile(self) -> str:
        """Somebody writes while a sync runs: the next one has to see it."""
        path = self._note()
        if path is None:
            return ""
        text = self._text()

        def edit(*_: object) -> None:
            path.write_bytes(text)

        self.index.sync(progress=edit)
        self.whole = True
        return self._touch(path)

    # --- the index follows ------------------------------------------------------------------------

    def follow(self) -> None:
        """A sync in one of its ways, and the comparison."""
        for path in filter(Path.exists, sorted(self.locked)):  # a folder before what it holds
            path.chmod(0o700 if path.is_dir() else 0o600)
        if self.locked:
            self._touch(*self.locked)
        self.locked = []
        if self.daemon is not None:
            self.story.counts["followed by the daemon"] += 1
            self._wait_for_daemon()
            return
        if self.random.random() < 0.5 and not self.whole and self.touched:
            way = "touched paths"
            self.index.sync(sorted(self.touched))
        else:
            way = "everything"
            self.index.sync()
            self.whole = False
        self.touched.clear()
        self.story.did(f"sync of {way}")
        self.story.counts[f"sync of {way}"] += 1
        for kind, detail in self.differences():
            self.story.found(f"{kind} after {way}", detail)

    def differences(self) -> Iterator[tuple[str, str]]:
        """Return the differences between the index and a fresh build."""
        with self._fresh() as fresh:
            mine, theirs = rows(self.home.index_db), rows(fresh.home.index_db)
            for table in theirs.keys() | mine.keys():
                one, other = (sorted(map(repr, found.get(table, []))) for found in (mine, theirs))
                if one != other:
                    lone = sorted(set(one) ^ set(other))[:4]
                    yield "rows differ", f"{table}: " + " | ".join(row[:300] for row in lone)
            with closing(
                Comparison(self.home.index_db, fresh.home.index_db, self._sources())
            ) as comparison:
                if found := comparison.behind():
                    yield "rows differ", f"documents: {found[:4]}"
                elif found := comparison.differing():
                    yield "rows differ", f"columns: {found[:4]}"
                elif words := comparison.words():
                    yield "rows differ", f"words: {words}"
            with closing(Checkup(self.home.index_db)) as checkup:
                if damage := checkup.damage() or checkup.terms() or checkup.vectors():
                    yield "inside damaged", damage
            yield from self._rankings(fresh)

    def _rankings(self, fresh: VaultIndex) -> Iterator[tuple[str, str]]:
        for query in self.random.sample(QUERIES, 6):
            answers = []
            for index in (self.index, fresh):
                found = index.search(query, as_of=AS_OF, include_expired=True)
                answers.append(
                    [(h.id, h.path, h.lines, h.score, h.focus, h.also) for h in found.results]
                )
            self.story.counts["rankings compared"] += 1
            mine, theirs = answers
            if mine != theirs:
                longest = range(max(map(len, answers)))
                at = next(n for n in longest if mine[n : n + 1] != theirs[n : n + 1])
                detail = f"{query!r} at {at}: {mine[at : at + 2]} | fresh {theirs[at : at + 2]}"
                yield "ranking differs", detail

    @contextmanager
    def _fresh(self) -> Iterator[VaultIndex]:
        home = find_home(self.folder / "fresh")
        home.data_dir.mkdir(mode=0o700)
        shutil.copy(self.home.config_file, home.config_file)
        try:
            with VaultIndex.open(home) as fresh:
                fresh.sync()
                self.story.counts["fresh builds"] += 1
                yield fresh
        finally:
            shutil.rmtree(home.data_dir)

    def start_daemon(self) -> None:
        """Start a daemon that follows the vault."""
        self._set("watch.quiet", "0.02")
        environment = {**os.environ, "VAULT_INDEX_HOME": str(self.home.data_dir)}
        self.close()
        self.daemon = subprocess.Popen(_WATCH, env=environment, stderr=subprocess.DEVNULL)
        _until(lambda: ping(self.home.socket_path) is not None, "the daemon does not answer")
        self.story.did("a daemon watches")

    def _wait_for_daemon(self) -> None:
        """Until it is as a fresh build; what is not there in time was missed."""
        left: list[tuple[str, str]] = []
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            time.sleep(0.2)
            try:
                left = list(self.differences())
            except (AssertionError, apsw.Error) as error:  # it is at work
                left = [("not finished", repr(error))]
            if not left:
                self.story.did("the daemon followed")
                return
        for kind, detail in left:
            self.story.found(f"{kind} with a daemon", detail)

    # --- what it is made of -----------------------------------------------------------------------

    def _use_embedder(self, stack: ExitStack) -> None:
        server = stack.enter_context(EmbeddingServer(dimensions=16))
        os.environ |= {"NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "sk-test"}
        set_value(self.home, "embedding.base_url", server.base_url)
        for key, value in (("model", "toy"), ("dimensions", "16"), ("provider", "openai")):
            set_value(self.home, f"embedding.{key}", value)
        self.embeds = True
        self.story.did("with an embedder")

    def _set(self, key: str, value: str, source: str = "") -> None:
        self.close()
        set_value(self.home, key, value, source)
        self.whole = True

    def _sources(self) -> list[str]:
        from vault_index.config import load_config

        return [source.name for source in load_config(self.home).sources]

    def _notes(self) -> list[Path]:
        found = (Path(folder, name) for folder, _, names in os.walk(self.vault) for name in names)
        return sorted(
            path
            for path in found
            if path.suffix == ".md"
            and path.name != "keep.md"
            and not (path.is_symlink() or self._is_locked(path))
        )

    def _note(self) -> Path | None:
        notes = self._notes()
        return self.random.choice(notes) if notes else None

    def _folder(self) -> Path | None:
        found = sorted(
            path
            for path in self.vault.iterdir()
            if path.is_dir()
            and not (path.is_symlink() or path in self.locked or path.name.startswith("."))
            and _is_utf8(path)
        )
        return self.random.choice(found) if found else None

    def _place(self) -> Path:
        place = self.vault / self.random.choice(FOLDERS) / self.random.choice(NAMES)
        blocked = self._is_locked(place) or any(map(Path.is_file, place.parents)) or place.is_dir()
        return self.vault / f"free {self.random.randint(0, 5)}.md" if blocked else place

    def _twins(self, one: Path, other: Path) -> tuple[Path, Path]:
        """Two files of other words and equal size and times; those that are there stay."""
        if not (one.is_file() and other.is_file()):
            for path in (one, other):
                if path.is_dir():
                    self._move(path, path.with_name(f"was {path.name}"))
            for path, word in ((one, "heron"), (other, "stork")):
                path.write_text(f"The {word} is here.\n")
                os.utime(path, (1_750_000_000, 1_750_000_000))
        return one, other

    def _exchange(self, one: Path, other: Path) -> str:
        third = self.vault / ".swap"
        for path, new in ((one, third), (other, one), (third, other)):
            self._move(path, new)
        return self._touch(one, other)

    def _move(self, path: Path, new: Path) -> str:
        """What is denied stays denied under its new name."""
        path.rename(new)
        self.locked = [
            new / place.relative_to(path) if place.is_relative_to(path) else place
            for place in self.locked
        ]
        return self._touch(path, new)

    def _is_locked(self, path: Path) -> bool:
        """Whether it is denied, by this name or another one."""
        names = path, Path(os.path.realpath(path))
        below = any(name.is_relative_to(place) for place in self.locked for name in names)
        return below or (os.path.exists(path) and not os.access(path, os.W_OK))

    def _lock(self, path: Path) -> str:
        path.chmod(0)
        self.locked.append(path)
        return self._touch(path)

    def _write(self, path: Path, data: bytes) -> str:
        if self._is_locked(path) or any(map(Path.is_file, path.parents)) or path.is_dir():
            return ""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink() and not path.exists():
            path.unlink()
        path.write_bytes(data)
        return f"{self._touch(path)} {data[:60]!r}"

    def _touch(self, *paths: Path) -> str:
        self.touched.update(paths)
        return " ".join(
            os.fsencode(os.path.relpath(path, self.vault)).decode("utf-8", "backslashreplace")
            for path in paths
        )

    def _words(self, number: int) -> str:
        return " ".join(self.random.choices(WORDS, k=number))

    def _text(self) -> bytes:
        words = self._words
        shapes: list[Callable[[], str | bytes]] = [
            lambda: words(5), lambda: "",
            lambda: f"# {words(2)}\n\n{words(20)}\n\n## {words(1)}\n\n{words(9)}",
            lambda: (
                f"---\ntags: [food, {words(1)}]\naliases: [{words(1)}]\n"
                f"title: {words(2)}\n---\n{words(9)} #tag"
            ),
            lambda: f"See [[a]] and [[{words(1)}|{words(1)}]] and ![[b#{words(1)}]].",
            lambda: f"---\ntitle: [\n---\n{words(4)}",
            lambda: (words(40) + "\n\n") * self.random.randint(2, 9),
            lambda: b"bad \xff\xfe " + words(3).encode(),
            lambda: b"half \xed\xa0\xbd " + words(3).encode(),
            lambda: '---\ntitle: "half \\uD83D"\ntags: ["\\uDE00x"]\n---\n' + words(3),
            lambda: '{"nodes": [{"id": "a", "type": "text", "text": "' + words(
                4,
            ) + ' \\ud83d [[\\ude00]] #sky"}]}',
            lambda: f"\ufeff{words(3)}\r\n\r\n{words(3)}\r\n",
            lambda: unicodedata.normalize("NFD", f"café über {words(3)}"),
            lambda: f"%%{words(2)}%% ==x== key:: {words(1)}\n```\n{words(3)}\n```\n",
            lambda: f"- {words(2)} ^block\n- {words(2)}",
            lambda: f"---\nid: {_ID}\ntype: decision\nexpires: 2020-01-01\n---\n{words(5)}",
        ]  # fmt: skip
        text = self.random.choice(shapes)()
        return text if isinstance(text, bytes) else text.encode()


def tell(story: Story, folder: Path, without: frozenset[str]) -> None:
    """Run one history."""
    with ExitStack() as stack:
        history = History(story, folder, without, stack)
        stack.callback(history.end)
        for _ in range(history.random.randint(1, 4)):
            history.step()
        if history.random.random() < 0.02 and "daemon" not in without:
            history.start_daemon()
        for _ in range(history.random.randint(2, 5)):
            for _ in range(history.random.randint(1, 4)):
                history.step()
            history.follow()
            if story.findings:
                return


def _is_utf8(path: Path) -> bool:
    return os.fsencode(path) == str(path).encode("utf-8", "replace")


def _until(done: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(0.02)


def main() -> None:
    """Run the histories."""
    chosen = options(__doc__, 5000, ["daemon", "embedder", "(any action)"])
    exit_with(run(Attack(tell, frozenset(filter(None, chosen.without.split(",")))), chosen))


if __name__ == "__main__":
    main()
