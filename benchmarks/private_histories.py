"""Random histories of what is private and when, against a server that records: nothing private may reach it.

    python benchmarks/private_histories.py [--seed 1] [--count 2000] [--seconds S] [--without A,B] [--jobs 2]

Every text holds a marker of its own. Before each call a model, written from the documentation alone, says from the
files on the disk and the settings of that moment which markers may leave; whatever else the server reads is a finding.
"""

import os
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.attack import Attack, Story, exit_with, options, run
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.sources.opencode.stores import Client
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import add_source, create_config, set_value
from vault_index.errors import VaultIndexError

MARKER = re.compile(r"zq[0-9a-f]{8}")
CREDENTIAL = re.compile(r"ghp_[A-Za-z0-9]{36}")
FOLDERS = ("", "public", "private", "public/private", "80-memory/note", "80-memory/private")
PROJECTS = ("/home/user/api", "/home/user/client-one", "/home/user/secret")
LOCAL = ("[]", '["private/"]', '["public/"]', '["*.draft.md"]', '["80-memory/"]', "true")
LOCAL_PROJECTS = ("[]", '["secret"]', '["client-*", "secret"]', '["/home/user/secret"]', "true")
ACTIONS = (
    "note", "move note", "link note", "delete note", "local_only", "exclude", "project local_only", "ignore file",
    "memory", "import", "capture", "recall", "search", "search in project", "search inside a folder", "session",
    "mirror", "edit mirrored", "unreadable settings", "other embedder", "second vault", "without source",
    "credential in note", "credential in query", "private part", "meanwhile", "proxy",
)  # fmt: skip


class Model:
    """What the documentation says may leave, of the files as they are."""

    def __init__(self, vault: Path) -> None:
        self.roots = {"vault": vault}
        self.local: dict[str, object] = {}
        self.exclude: dict[str, list[str]] = {}
        self.projects: object = []
        self.sessions: dict[str, str] = {}
        """Markers of sessions, with the folder of the project."""
        self.mirror = ""
        self.closed = False
        """The settings cannot be read, or name another embedder."""

    def covers_project(self, named: str) -> bool:
        if isinstance(self.projects, bool):
            return False  # all sessions, but not every project
        name, folder = os.path.basename(named), named if "/" in named else ""
        return any(
            bool(folder) and (folder == one or folder.startswith(f"{one}/")) if "/" in one else fnmatchcase(name, one)
            for one in list_of(self.projects)
        )

    def keeps_session(self, folder: str) -> bool:
        return self.projects is True or self.covers_project(folder)

    def may_leave(self) -> set[str]:
        if self.closed:
            return set()
        found: set[str] = set()
        for name, root in self.roots.items():
            for path in filter(Path.is_file, self._files(root)):
                text = path.read_text("utf-8", "replace")
                if self._leaves(name, root, path, text):
                    found.update(MARKER.findall(text))
        home = {marker for marker, folder in self.sessions.items() if self.keeps_session(folder)}
        free = set() if self.mirror else set(self.sessions)
        return (found | free) - home

    def _files(self, root: Path) -> Iterator[Path]:
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from (Path(folder, name) for name in names if name.endswith((".md", ".canvas")))

    def _leaves(self, source: str, root: Path, path: Path, text: str) -> bool:
        inside = path.relative_to(root).as_posix()
        real = os.path.relpath(os.path.realpath(path), os.path.realpath(root))
        if real.startswith("..") or self.local.get(source) is True:
            return False
        local, exclude = list_of(self.local.get(source, [])), self.exclude.get(source, [])
        if any(covered(one, name) for one in local for name in (inside, real)):
            return False
        if any(covered(one, inside) for one in exclude):
            return False
        project = re.search(r"^project: *[\"']?([^\"'\n]+)", text, re.MULTILINE)
        return not (inside.startswith("80-memory/") and project and self.covers_project(project[1].strip()))


def list_of(patterns: object) -> list[str]:
    return [str(one) for one in patterns] if isinstance(patterns, list) else []


def covered(pattern: str, path: str) -> bool:
    """As in `.gitignore`, for the patterns that are used here: `name/` and `*.ending`."""
    *folders, name = path.split("/")
    return pattern.rstrip("/") in folders if pattern.endswith("/") else fnmatchcase(name, pattern)


class PrivateHistory:
    def __init__(self, story: Story, folder: Path, without: frozenset[str], stack: ExitStack) -> None:
        self.story, self.folder, self.vault = story, folder, folder / "vault"
        self.random = random.Random(story.seed)
        self.server = stack.enter_context(EmbeddingServer(dimensions=16))
        self.proxy = stack.enter_context(EmbeddingServer(dimensions=16))
        self.model = Model(self.vault)
        self.kinds: dict[str, str] = {}
        self._without = without
        self._seen = 0
        for name in ("HTTP_PROXY", "http_proxy"):
            os.environ.pop(name, None)
        os.environ["OPENAI_API_KEY"] = "sk-test"
        os.environ["NO_PROXY"] = "127.0.0.1"
        self.vault.mkdir()
        (self.vault / "keep.md").write_text("So that the vault is never empty.\n")
        self.home = find_home(folder / "home")
        create_config(self.home, self.vault, provider="none", memory_dir=None)
        (folder / "opencode").mkdir()
        self.client = Client(folder / "opencode/opencode.db")
        for project in PROJECTS:
            self.client.run(
                "INSERT INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES (?, ?, 0, 0, '[]')",
                os.path.basename(project), project,
            )  # fmt: skip
        stack.callback(self.client.close)
        for key, value in {
            "embedding.base_url": self.server.base_url, "embedding.model": "toy", "embedding.dimensions": "16",
            "embedding.max_retries": "0", "embedding.batch_texts": "2", "embedding.provider": "openai",
            "opencode.data": str(folder / "opencode"), "opencode.enabled": "true",
        }.items():  # fmt: skip
            set_value(self.home, key, value)
        self.index = VaultIndex.open(self.home)

    def marker(self, kind: str) -> str:
        word = f"zq{self.random.getrandbits(32):08x}"
        self.kinds[word] = kind
        return word

    def step(self) -> None:
        actions: dict[str, Callable[[], str]] = {
            name: getattr(self, "_" + name.replace(" ", "_")) for name in ACTIONS if name not in self._without
        }
        name = self.random.choice(list(actions))
        said = actions[name]()
        if said:
            self.story.did(f"{name}: {said}")
            self.story.counts[f"action: {name}"] += 1
        if self.random.random() < 0.3:
            self._reopen()
        if self.random.random() < 0.6:
            self.ask("sync", lambda: self.index.sync(embed=self.random.random() < 0.7))
        if self.random.random() < 0.3:
            self.ask("embed", lambda: self.index.embed())

    def ask(self, what: str, call: Callable[[], object], query: set[str] = frozenset()) -> None:  # type: ignore[assignment]
        """Do it, and compare what arrived with what may leave: by the state before and after, for the call itself may
        write files."""
        allowed = self.model.may_leave() | (set() if self.model.closed else query)
        try:
            call()
        except VaultIndexError as error:
            self.story.did(f"{what}: {type(error).__name__} {error.message[:90]}")
        self.check(what, allowed | self.model.may_leave())

    def check(self, what: str, allowed: set[str]) -> None:
        texts = self.server.texts[self._seen :]
        self._seen += len(texts)
        self.story.counts["texts received"] += len(texts)
        for text in texts:
            plain = unquote(text).encode("ascii", "backslashreplace").decode("unicode_escape", "replace").lower()
            for marker in sorted({*MARKER.findall(text.lower()), *MARKER.findall(plain)} - allowed):
                self.story.found(f"{self.kinds[marker]} left by {what}", f"{marker} in {text[:200]!r}")
            if CREDENTIAL.search(text):
                self.story.found(f"credential left by {what}", text[:200])
            if self.model.closed:
                self.story.found(f"sent against the settings by {what}", text[:200])
        if self.proxy.requests:
            self.story.found("text for this machine went to a proxy", repr(self.proxy.requests[0].body)[:200])
            self.proxy.requests.clear()

    # --- files -----------------------------------------------------------------------------------------------

    def _note(self) -> str:
        path = self._place()
        marker = self.marker("note")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# About {marker.upper() if self.random.random() < 0.2 else marker}\n\nIt holds {marker}.\n")
        return f"{path.relative_to(self.vault)} {marker}"

    def _move_note(self) -> str:
        path, new = self._any(), self._place()
        if path is None or new.exists():
            return ""
        new.parent.mkdir(parents=True, exist_ok=True)
        path.rename(new)
        return f"{path.relative_to(self.vault)} -> {new.relative_to(self.vault)}"

    def _link_note(self) -> str:
        path, new = self._any(), self._place()
        if path is None or new.exists() or new.is_symlink():
            return ""
        new.parent.mkdir(parents=True, exist_ok=True)
        new.symlink_to(path)
        return f"{new.relative_to(self.vault)} -> {path.relative_to(self.vault)}"

    def _delete_note(self) -> str:
        if (path := self._any()) is None:
            return ""
        path.unlink()
        return str(path.relative_to(self.vault))

    def _credential_in_note(self) -> str:
        path = self._place()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Use {self._credential()} for it.\n")
        return str(path.relative_to(self.vault))

    def _ignore_file(self) -> str:
        pattern = self.random.choice(["private/", "*.draft.md", "# nothing"])
        (self.vault / ".vaultignore").write_text(pattern + "\n")
        self._ignored = [] if pattern.startswith("#") else [pattern]
        self.model.exclude["vault"] = self._excluded + self._ignored
        return pattern

    _excluded: list[str] = []  # noqa: RUF012
    _ignored: list[str] = []  # noqa: RUF012

    # --- settings --------------------------------------------------------------------------------------------

    def _local_only(self) -> str:
        value = self.random.choice(LOCAL)
        return self._set("local_only", value, lambda: self.model.local.update(vault=_value(value)), "vault")

    def _exclude(self) -> str:
        value = self.random.choice(['["private/"]', "[]", '["*.draft.md"]'])

        def model() -> None:
            self._excluded = list_of(_value(value))
            self.model.exclude["vault"] = self._excluded + self._ignored

        return self._set("exclude", value, model, "vault")

    def _project_local_only(self) -> str:
        value = self.random.choice(LOCAL_PROJECTS)
        return self._set("opencode.local_only", value, lambda: setattr(self.model, "projects", _value(value)))

    def _mirror(self) -> str:
        value = self.random.choice(["", "mirror"])
        return self._set("opencode.mirror", value, lambda: setattr(self.model, "mirror", value))

    def _unreadable_settings(self) -> str:
        """For a moment, in which much is asked of an index that is open."""
        text = self.home.config_file.read_bytes()
        self.home.config_file.write_bytes(self.random.choice([b"[sources", b"\xff\xfe", b"embeding = 1\n"]))
        return self._closed(lambda: self.home.config_file.write_bytes(text))

    def _other_embedder(self) -> str:
        text = self.home.config_file.read_bytes()
        key, value = self.random.choice([("provider", "none"), ("base_url", "http://127.0.0.1:9/v1")])
        set_value(self.home, f"embedding.{key}", value)
        return f"{key} {self._closed(lambda: self.home.config_file.write_bytes(text))}"

    def _closed(self, back: Callable[[], object]) -> str:
        self.model.closed = True
        self.ask("embed with other settings", lambda: self.index.embed())
        for what, call in self._questions(self.marker("query")).items():
            self.ask(f"{what} with other settings", call)
        back()
        self.model.closed = False
        return "for a while"

    def _second_vault(self) -> str:
        if "other" in self.model.roots:
            return ""
        root = self.folder / "other"
        root.mkdir()
        (root / "a.md").write_text(f"It holds {self.marker('note of a local vault')}.\n")
        local = self.random.random() < 0.7
        add_source(self.home, "other", root, {"local_only": True} if local else None)
        self.model.roots["other"] = root
        self.model.local["other"] = local
        self._reopen()
        return f"local_only {local}"

    def _without_source(self) -> str:
        """A source leaves the settings while its rows are there, and comes back."""
        if "other" not in self.model.roots:
            return ""
        text, root = self.home.config_file.read_text("utf-8"), self.model.roots.pop("other")
        self.home.config_file.write_text(re.sub(r"\[sources\.other\][^\[]*", "", text), "utf-8")
        self.ask("embed without the source", lambda: self.index.embed())
        self.home.config_file.write_text(text, "utf-8")
        self.model.roots["other"] = root
        return "for a while"

    def _meanwhile(self) -> str:
        """Everything becomes private while the first request is under way."""
        before: set[str] = set()

        def keep(request: Request, reply: Reply) -> Reply:
            before.update(self.model.may_leave())  # sessions are files by now
            set_value(self.home, "local_only", "true", "vault")
            set_value(self.home, "opencode.local_only", "true")
            return reply

        if self.model.local.get("vault") is True and self.model.projects is True:
            return ""
        requests = len(self.server.requests)
        self.server.fail_next(keep)
        try:
            self.index.sync()
        except VaultIndexError as error:
            self.story.did(error.message[:80])
        done = len(self.server.requests) > requests
        self.server._failures.clear()
        first = (
            {word for text in self.server.requests[requests].texts for word in MARKER.findall(text)} if done else set()
        )
        if done:
            self.model.local["vault"], self.model.projects = True, True
        self.check("sync while it becomes private", before & first | self.model.may_leave())
        return f"{done}"

    def _proxy(self) -> str:
        """The environment of many companies, where the server on this machine is not meant."""
        os.environ["HTTP_PROXY"] = self.proxy.base_url.removesuffix("/v1")
        del os.environ["NO_PROXY"]
        try:
            self._reopen()
            self._note()
            self.ask("sync", lambda: self.index.sync())
        finally:
            os.environ["NO_PROXY"] = "127.0.0.1"
            del os.environ["HTTP_PROXY"]
            self._reopen()
        return "for a while"

    # --- agents ----------------------------------------------------------------------------------------------

    def _memory(self) -> str:
        project, marker = self._project(), self.marker("memory of a project")
        self.ask("add", lambda: self.index.add(f"{marker} is decided.", project=project, source="vault"))
        return f"{project} {marker}"

    def _import(self) -> str:
        project, marker = self._project(), self.marker("memory of a project")
        folder = self.folder / "import"
        folder.mkdir(exist_ok=True)
        (folder / "one.md").write_text(f"---\ntype: note\nproject: {project}\n---\n{marker} is known.\n")
        self.ask("import", lambda: self.index.import_(folder, source="vault"))
        shutil.rmtree(folder)
        return f"{project} {marker}"

    def _capture(self) -> str:
        project, marker = self._project(), self.marker("memory of a project")
        text = f"*Remember*: we use {marker} for the cache.\n"
        self.ask("capture", lambda: self.index.capture(text, project=project, source="vault"))
        return f"{project} {marker}"

    def _recall(self) -> str:
        project, marker = self._project(), self.marker("query of a project")
        free = set() if self.model.covers_project(project) else {marker}
        self.ask("recall", lambda: self.index.recall(f"what is {marker}", project=project), free)
        return f"{project} {marker}"

    def _search(self) -> str:
        marker = self.marker("query")
        self.ask("search", lambda: self.index.search(f"what is {marker}"), {marker})
        return marker

    def _search_in_project(self) -> str:
        project, marker = self._project(), self.marker("query in a project")
        free = set() if self.model.covers_project(project) else {marker}
        self.ask("search in a project", lambda: self.index.search(f"what is {marker}", project=project), free)
        return f"{project} {marker}"

    def _search_inside_a_folder(self) -> str:
        """Of a project, or of a folder in it or beside it."""
        folder = self.random.choice(PROJECTS) + self.random.choice(["", "/src", "-old"])
        marker = self.marker("query inside a folder")
        held = self.model.projects is True and any(
            folder == one or folder.startswith(f"{one}/") for one in self.model.sessions.values()
        )
        private = held or self.model.covers_project(folder)
        what, call = self.random.choice(list(self._questions(f"what is {marker}", folder).items()))
        self.ask(f"{what} inside a folder", call, set() if private else {marker})
        return f"{what} {folder} {marker}"

    def _credential_in_query(self) -> str:
        text = f"why does {self._credential()} fail"
        what, call = self.random.choice(list(self._questions(text).items()))
        self.ask(what, call)
        return what

    def _session(self) -> str:
        folder, marker = self.random.choice(PROJECTS), self.marker("session of a project")
        session = f"ses_{self.client.tick()}"
        self.model.sessions[marker] = folder
        self.client.session(session, f"Session {marker}", directory=folder, project_id=os.path.basename(folder))
        self.client.user(f"It holds {marker}.", session=session)
        return f"{folder} {marker}"

    def _private_part(self) -> str:
        marker = self.marker("private part")
        session = f"ses_{self.client.tick()}"
        self.client.session(session, "A session")
        self.client.user(f"One <private>\nthe {marker}\n</private> two.", session=session)
        return marker

    def _edit_mirrored(self) -> str:
        """A reader takes out of a mirrored session what says where it was held."""
        files = sorted((self.vault / "mirror").rglob("*.md"))
        if not files:
            return ""
        path, key = self.random.choice(files), self.random.choice(["project", "directory", "session", "id", "source"])
        path.write_text(re.sub(rf"^{key}:.*\n", "", path.read_text("utf-8"), flags=re.MULTILINE), "utf-8")
        new = self.vault / path.name
        if self.random.random() < 0.3 and not new.exists():
            path.rename(new)
        return f"{path.name} without {key}"

    # --- what it is made of ----------------------------------------------------------------------------------

    def _questions(self, text: str, folder: str = "") -> dict[str, Callable[[], object]]:
        return {
            "search": lambda: self.index.search(text, directory=folder),
            "recall": lambda: self.index.recall(text, directory=folder),
            "timeline": lambda: self.index.timeline(query=text, directory=folder),
            "why": lambda: self.index.why(text, "keep.md", directory=folder),
        }

    def _set(self, key: str, value: str, model: Callable[[], object], source: str = "") -> str:
        set_value(self.home, key, value, source)
        model()
        return f"{key} = {value}"

    def _reopen(self) -> None:
        self.index.close()
        self.index = VaultIndex.open(self.home)
        self.story.did("opened anew")

    def _any(self) -> Path | None:
        found = sorted(path for path in self.vault.rglob("*.md") if path.name != "keep.md" and not path.is_symlink())
        return self.random.choice(found) if found else None

    def _place(self) -> Path:
        name = self.random.choice(["a.md", "b.md", "c.draft.md", "d.md"])
        return self.vault / self.random.choice(FOLDERS) / name

    def _project(self) -> str:
        project = self.random.choice(PROJECTS)
        return os.path.basename(project) if self.random.random() < 0.5 else project

    def _credential(self) -> str:
        return "ghp_" + "".join(self.random.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789", k=36))


def _value(text: str) -> object:
    return True if text == "true" else re.findall(r'"([^"]*)"', text)


def tell(story: Story, folder: Path, without: frozenset[str]) -> None:
    with ExitStack() as stack:
        history = PrivateHistory(story, folder, without, stack)
        stack.callback(lambda: history.index.close())
        history._note()
        history.ask("sync", lambda: history.index.sync())
        for _ in range(history.random.randint(4, 14)):
            history.step()


def main() -> None:
    chosen = options(__doc__, 2000, ACTIONS)
    exit_with(run(Attack(tell, frozenset(filter(None, chosen.without.split(",")))), chosen))


if __name__ == "__main__":
    main()
