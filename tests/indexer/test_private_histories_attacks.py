"""Random histories against a recording server:

nothing private arrives, and everything free does. The test knows the origin of each marker, because it made the text:
it reads neither settings nor files.
"""

import io
import json
import os
import random
import re
import unicodedata
import uuid
from collections.abc import Callable
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from benchmarks.attack import Attack, Story
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.seeds import seeds
from tests.sources.opencode.stores import Client
from tests.sources.sessions.claude import Writer
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.api.json_api import parameters
from vault_index.callers import Scope
from vault_index.cli import main
from vault_index.config import find_home
from vault_index.config.edit import add_source, create_config, set_value
from vault_index.errors import VaultIndexError
from vault_index.mcp_server.toolbox import answer_tool

MARKER = re.compile(r"zq[a-z]{10}")
CREDENTIAL = re.compile(r"ghp_[A-Za-z0-9]{36}")
PROJECTS = {
    "My-App": "clients/My-App", "Client One": "clients/deep/Client One", "secret_plan": "jobs/secret_plan",
    "Büro-Plan": "jobs/Büro-Plan", "open-tool": "code/open-tool",
}  # fmt: skip
"""The folders of the projects, which are git worktrees."""
FREE = "elsewhere"
"""A folder outside every scope, without sessions."""
SCOPES = {
    "~/clients": {"My-App", "Client One"}, "HOME/clients/My-App": {"My-App"}, "My-App": {"My-App"},
    "my app": {"My-App"}, "MY_*": {"My-App"}, "client-*": {"Client One"}, "Client One": {"Client One"},
    "~/jobs/secret_plan/": {"secret_plan"}, "Secret Plan": {"secret_plan"}, "büro*": {"Büro-Plan"},
    "~/jobs": {"secret_plan", "Büro-Plan"},
}  # fmt: skip
"""Values of a client's `local_only`, and the projects that each covers."""
PATTERNS = {
    "private/": ("(^|/)private/", (
        "private", "private/", "./private", "private/**", "private/*.md", "**/private/**", "PRIVATE", "*rivate/*",
        "priv*/**", "private/a.md", "/private", "Private/*",
    )),
    "*.draft.md": (r"\.draft\.md$", ("*.draft.md", "**/*.draft.md", "c.draft.md", "public/c.draft.md", "*.DRAFT.*")),
    "/public/inner": ("^public/inner/", ("public/inner", "public/inn*", "public/inner/**", "./public/inner/a.md")),
}  # fmt: skip
"""Values of the vault's `local_only` and `exclude`: the paths that each covers, and `path` filters that cover it."""
FOLDERS = ("", "public/", "public/inner/", "private/", "public/private/", "80-memory/note/", "../other/")


@dataclass(eq=False)
class Text:
    """A text with a marker of its own."""

    kind: str
    projects: set[str] = field(default_factory=set)
    inside: set[str] = field(default_factory=set)
    """The projects in whose folders or sessions it was typed."""
    clients: set[str] = field(default_factory=set)
    """The clients of its sessions."""
    places: set[str] = field(default_factory=set)
    """The patterns and the source that a query filters by."""
    path: str = ""
    """Within the vault."""
    gone: bool = False
    """It is in no file, or may never leave."""
    unsure: bool = False
    """It was private once or is undecidable: it need not arrive."""
    linked: bool = False


class History:
    def __init__(self, story: Story, folder: Path, stack: ExitStack) -> None:
        self.story, self.top, self.user, self.vault = story, folder, folder / "user", folder / "vault"
        self.random = random.Random(story.seed)
        self.texts: dict[str, Text] = {}
        self.arrived: set[str] = set()
        self.patterns: dict[str, list[str]] = {"local_only": [], "exclude": []}
        self.scopes: dict[str, list[str]] = {"opencode": [], "claude-code": []}
        self.whole = {"opencode": False, "claude-code": self.chance(0.3), "vault": False, "other": False}
        """Clients and sources that are private as a whole, including a client without settings."""
        self.sessions: dict[str, tuple[str, str, str]] = {}
        """The project, the client and the folder of each session."""
        self.read: dict[str, tuple[str, str, str]] = {}
        """Sessions that a sync has read."""
        self.doing, self.closed, self.mirrored = "", False, False
        os.environ.update(HOME=str(self.user), OPENAI_API_KEY="sk-test", NO_PROXY="127.0.0.1")
        os.environ["CLAUDE_CONFIG_DIR"] = str(folder / "claude")
        for name, place in {**PROJECTS, "": FREE}.items():
            (self.user / place / "src").mkdir(parents=True)
            (self.user / place / ".git").mkdir()
            (self.user / place / ".git/HEAD").write_text("ref: refs/heads/main\n")
            (self.user / f"link {name}").symlink_to(self.user / place)
        for place in ("claude/projects", "opencode", "import", *(f"vault/{name}" for name in FOLDERS)):
            (folder / place).mkdir(parents=True, exist_ok=True)
        self.server = stack.enter_context(Recorder(self))
        self.client = Client(folder / "opencode/opencode.db")
        stack.callback(self.client.close)
        (self.vault / "keep.md").write_text("Somebody asks why this is found.\n")
        self.home = find_home(folder / "home")
        create_config(self.home, self.vault, provider="none", memory_dir=None)
        for key, value in {
            "embedding.base_url": self.server.base_url, "embedding.model": "toy", "embedding.dimensions": "16",
            "embedding.max_retries": "0", "embedding.batch_texts": "2", "embedding.provider": "openai",
            "sessions.opencode.data": str(folder / "opencode"), "agents.start_daemon": "false",
            **({} if self.whole["claude-code"] else {"sessions.claude-code.enabled": "true"}),
        }.items():  # fmt: skip
            set_value(self.home, key, value)
        add_source(self.home, "other", folder / "other", None)
        self.open: Callable[[], VaultIndex] = lambda: stack.enter_context(VaultIndex.open(self.home))
        self.index = self.open()

    # --- expectations ------------------------------------------------------------------------------------------------

    def private(self, text: Text) -> str:
        """Why a text may not leave now; empty if it may."""
        local = self.patterns["local_only"]
        scopes = [scope for scopes in self.scopes.values() for scope in scopes]
        covered = {project for scope in scopes for project in SCOPES[scope]}
        kept = local if text.linked else local + self.patterns["exclude"]
        source = "other" if text.path.startswith("../") else "vault"
        whole = {name for name, private in self.whole.items() if private}
        reasons = {
            "settings": self.closed, "gone": text.gone, "project": text.projects & covered,
            "inside": text.inside & covered, "client": text.clients & whole, "place": text.places & {*local, *whole},
            "path": source == "vault" and any(re.search(PATTERNS[one][0], text.path) for one in kept),
            "vault": text.path and source in whole,
            "unknown": "unknown" in text.places and [*local, *scopes, *whole],
        }  # fmt: skip
        return next((reason for reason, holds in reasons.items() if holds), "")

    def judge(self, sent: str) -> None:
        self.story.counts["texts received"] += 1
        by = self.doing.split(":")[0]
        if CREDENTIAL.search(sent):
            self.story.found(f"credential left by {by}", sent[:200])
        for marker in MARKER.findall(unquote(sent).lower()):
            if marker in self.texts and (reason := self.private(self.texts[marker])):
                self.story.found(f"{self.texts[marker].kind} left by {by}: {reason}", sent[:200])
            self.arrived.add(marker)

    def settle(self) -> None:
        """Record the texts that are private now: they need not arrive."""
        for text in self.texts.values():
            text.unsure |= bool(self.private(text)) or (any(self.whole.values()) and bool(text.projects | text.inside))

    def did(self, step: str) -> None:
        self.doing = step
        self.story.did(step)
        self.story.counts[f"did {step.split(':')[0]}"] += 1
        self.settle()

    def do(self, call: Callable[[], object]) -> None:
        try:
            call()
        except VaultIndexError as error:
            self.story.did(f"{type(error).__name__} {error.message[:120]}")
        self.settle()

    # --- words and spellings -----------------------------------------------------------------------------------------

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def text(self, kind: str, **what: Any) -> str:
        marker = "zq" + "".join(self.random.choices("bcdfghklmnprstvw", k=10))
        self.texts[marker] = Text(kind, **what)
        return marker

    def credential(self) -> str:
        return "ghp_" + "".join(self.random.choices("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789", k=36))

    def hidden(self, between: str) -> str:
        return f"<private>{between}{self.text('private part', gone=True)}{between}</private>"

    def project(self, none: float = 0.2) -> str:
        return "" if self.chance(none) else self.random.choice(list(PROJECTS))

    def name(self, project: str, between: str = "-_ ") -> str:
        name = self.random.choice(between).join(re.split("[-_ ]", project))
        name = self.random.choice((str, str.lower, str.upper, str.title))(name)
        return unicodedata.normalize(self.random.choice(("NFC", "NFD")), name)

    def folder(self, project: str) -> str:
        place = f"{self.user}/{PROJECTS.get(project, FREE)}"
        return self.random.choice((place, f"{place}/src", f"{self.user}/link {project}"))

    def spelled(self, project: str) -> str:
        name = self.name(project)
        links = (f"[[{name}]]", f"[[folder/{name}|x]]", f"[[{name}#Part]]")
        return self.random.choice((name, name, *links, self.folder(project), f"~/{PROJECTS[project]}"))

    def tag(self, project: str) -> str:
        return f"project/{self.name(project, '-_')}"

    def head(self, project: str) -> str:
        """The frontmatter that names the owner of a note; its text follows."""
        if not project:
            return self.random.choice(("", "---\ntags: [food]\n---\n"))
        key, tag = self.random.choice(("project", "Project", "PROJECT")), self.tag(project)
        quoted = json.dumps(self.spelled(project), ensure_ascii=False)
        return self.random.choice((
            f"---\n{key}: {quoted}\n---\n", f"---\n{key}: [{quoted}]\n---\n", f"---\ntags: [a, {tag}]\n---\n",
            f"---\n{key}: {self.name(project)}\n---\n", f"---\ntags:\n  - '#{tag}'\n---\n", f"---\nTags: {tag}\n---\n",
            f"#{tag} ", f"Read this. #food #{tag}\n\n", f"---\ndirectory: {self.folder(project)}\n---\n",
        ))  # fmt: skip

    # --- files -------------------------------------------------------------------------------------------------------

    def at(self, path: str) -> list[Text]:
        return [text for text in self.texts.values() if text.path == path and not text.gone]

    def some_path(self, kinds: str = "note memory") -> str:
        found = [text.path for text in self.texts.values() if text.path and not text.gone and text.kind in kinds]
        return self.random.choice(found) if found else ""

    def note(self) -> None:
        project, clients = self.project(), set()
        head = self.head(project)
        if self.read and self.chance(0.1):
            session, (project, client, _) = self.random.choice(list(self.read.items()))
            clients, head = {client}, f"---\nsession: {session}\n---\n"
        path = self.random.choice(FOLDERS) + self.random.choice(("a.md", "b.md", "c.draft.md", "d.md"))
        if os.path.lexists(self.vault / path):
            return
        marker = self.text("note", projects={project} - {""}, clients=clients, path=path, unsure=bool(clients))
        about = f"# About {marker}\n\n" if self.chance(0.5) else ""
        secret = f" Use {self.credential()} for it." if self.chance(0.1) else ""
        (self.vault / path).write_text(f"{head}{about}It holds {marker}.{secret}\n", "utf-8")
        self.did(f"note: {path} {(self.vault / path).read_text('utf-8')!r}")

    def edit(self) -> None:
        """Replace the words of a note, which keeps its project."""
        if path := self.some_path("note"):
            [old] = self.at(path)
            words = (self.vault / path).read_text("utf-8")
            marker = self.text("note", projects=old.projects, clients=old.clients, path=path)
            for known in set(MARKER.findall(words)):
                words = words.replace(known, marker)
            self.texts[marker].unsure, self.texts[marker].linked, old.gone = old.unsure, old.linked, True
            (self.vault / path).write_text(words, "utf-8")
            self.did(f"edit: {path} {words!r}")

    def move(self) -> None:
        path, link = self.some_path(), self.chance(0.3)
        new = self.random.choice(FOLDERS) + os.path.basename(path)
        if not path or os.path.lexists(self.vault / new) or "../" in path + new:
            return
        for text in self.at(path):
            text.path, text.linked, text.unsure = path if link else new, text.linked or link, text.unsure or link
        (self.vault / new).symlink_to(self.vault / path) if link else (self.vault / path).rename(self.vault / new)
        self.did(f"{'link' if link else 'move'}: {path} -> {new}")

    def delete(self) -> None:
        if path := self.some_path():
            (self.vault / path).unlink()
            for text in self.at(path):
                text.gone = True
            self.did(f"delete: {path}")

    def strip(self) -> None:
        """A user removes what our commands wrote into a file, except its id."""
        files = [
            *(self.vault / "mirror").rglob("*.md"),
            *(self.vault / path for path in [self.some_path("memory")] if path),
        ]
        if files:
            file, names = self.random.choice(sorted(files)), ("project", "session", "(?!id:)[a-z_]+", "tags|project")
            keys = self.random.choice(names)
            head, mark, rest = file.read_text("utf-8").partition("\n---\n")
            head = re.sub(rf"^({keys}):.*(\n *- .*)*(\n|\Z)", "", head, flags=re.MULTILINE).rstrip("\n")
            file.write_text(head + mark + rest, "utf-8")
            for marker in MARKER.findall(head + rest):
                self.texts[marker].unsure = True
            self.did(f"strip: {keys} of {file.name}")

    # --- sessions ----------------------------------------------------------------------------------------------------

    def session(self) -> None:
        project, client = self.project(0), self.random.choice(list(self.scopes))
        folder = f"{self.user}/{PROJECTS[project]}{self.random.choice(('', '/src'))}"
        marker = self.text("session", projects={project}, clients={client}, unsure=self.mirrored)
        said, id_ = f"It holds {marker}. {self.hidden(chr(10))} And {self.credential()}.", f"ses_{self.client.tick()}"
        if client == "opencode":
            self.client.session(id_, f"Session {marker}", directory=folder)
            self.client.user(said, session=id_)
        else:
            id_ = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
            writer = Writer(self.top / "claude", id_, re.sub("[^A-Za-z0-9]", "-", folder))
            writer.prompt(said, cwd=folder)
            writer.write()
        self.sessions[id_] = (project, client, folder)
        self.did(f"session: {client} {id_} in {folder} {marker}")

    def sweep(self) -> None:
        """Claude Code no longer has a session, which is kept here if it was read."""
        if files := sorted((self.top / "claude").rglob("*.jsonl")):
            file = self.random.choice(files)
            self.texts[MARKER.findall(file.read_text("utf-8"))[0]].unsure = True
            file.unlink()
            self.did(f"sweep: {file.name}")

    # --- queries and memories ----------------------------------------------------------------------------------------

    def ask(self, method: str, door: str, folder: str, session: str, given: dict[str, Any]) -> None:
        """Query through one of the entry points: Python, the command line, an agent's tool, a token of `serve`."""
        self.did(f"{method}: by {door} in {folder!r} {session} {given}")
        params, index, known = dict(given), self.index, parameters(method)
        if "scope" in params:
            index = VaultIndex(index._runtime.within(params.pop("scope"), "token"))
        if door == "mcp":
            name = "store" if method == "add" else method
            call = {"arguments": params, "directory": folder, "session": session, "name": f"memory_{name}"}
            self.do(lambda: answer_tool(partial(dispatch, index), call))
        elif door == "cli":
            self.do(lambda: self.command(method, folder, session, params))
        else:
            where = {"directory": folder, "exclude_session": session, "session": session}
            params |= {key: value for key, value in where.items() if value and key in known and key not in params}
            self.do(lambda: dispatch(index, method, params))

    def command(self, method: str, folder: str, session: str, params: dict[str, Any]) -> None:
        words = [str(params.pop(name)) for name in ("query", "text", "ref") if name in params]
        if method == "timeline":
            words = [f"--query={words[0]}"]
        elif method == "capture":
            (self.top / "said").write_text(words[0])
            words = [str(self.top / "said")]
        options = [
            f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}") for key, value in params.items()
        ]
        if session:
            os.environ["VAULT_INDEX_SESSION"] = session
        with chdir(folder), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            code = main([method, *words, *options, "--home", str(self.home.data_dir)])
        os.environ.pop("VAULT_INDEX_SESSION", None)
        self.story.did(f"exit {code} {said.getvalue()}")

    def where(self, text: Text) -> tuple[str, str]:
        """The folder and the session of a query."""
        project, session = self.project(), ""
        if self.read and self.chance(0.2):
            session, (held, client, _) = self.random.choice(list(self.read.items()))
            text.inside.add(held)
            text.clients.add(client)
        text.inside |= {project} - {""}
        folder = self.folder(project)
        real = os.path.realpath(folder) + "/"
        for _, client, held in self.read.values():
            text.clients |= {client} if real.startswith(f"{held}/") else set()
        return folder, session

    def aim(self, text: Text) -> tuple[tuple[str, ...], dict[str, str]]:
        """A filter, as written in a query and as an option."""
        kind = self.random.choice(("project", "path", "source", "session" if self.read else "project"))
        if kind == "project":
            text.projects.add(project := self.project(0))
            name, tag = self.spelled(project), self.tag(project)
            quoted = json.dumps(name, ensure_ascii=False)
            keys = f"project:{quoted}", f"[project:{quoted}]", f"[Project:{quoted}]", f"tag:{tag}", f"[tags:{tag}]"
            return keys, {"project": name, "tags": tag, "any_tag": f"food,{tag}", "property": f"project:{name}"}
        if kind == "path":
            text.places.add(pattern := self.random.choice(list(PATTERNS)))
            path = self.random.choice(PATTERNS[pattern][1])
            return (f'path:"{path}"', f'(path:"{path}")'), {"path": path}
        if kind == "source":
            text.places.add("other")
            return ("source:other",), {"source": "other"}
        id_, (project, client, _) = self.random.choice(list(self.read.items()))
        text.projects.add(project)
        text.clients.add(client)
        options = dict.fromkeys(("session", "exclude_session"), id_)
        return (f"session:{id_}", f"session:{id_[:-1]}", f"[session:{id_}]"), {**options, "property": f"session:{id_}"}

    def query(self) -> None:
        method, door = self.random.choice(("search", "recall", "timeline", "why")), self.random.choice(DOORS)
        door = "cli" if door == "mcp" and method not in ("search", "recall") else door
        text = self.texts[marker := self.text("query", unsure=True)]
        hidden = self.random.choice(list(self.texts))  # the correction of a misspelled word may be private
        cut, folder, session = self.random.randrange(3, 11), "", ""
        words, params = [f"what is {marker}"], dict[str, Any]({"ref": "keep.md"} if method == "why" else {})
        private = self.hidden(self.random.choice((" ", "\n")))
        words += self.random.choice(([], [], [hidden[:cut] + hidden[cut + 1 :]], [private], [self.credential()]))
        if door == "token":
            project = self.project(0)
            params["scope"], aims, value = self.random.choice((
                (Scope(projects=(self.name(project),)), text.projects, project),
                (Scope(sources=("other",)), text.places, "other"),
                (Scope(folders=("private",)), text.places, "private/"),
            ))  # fmt: skip
            aims.add(value)
        elif door == "api" and self.chance(0.2):
            text.places.add("unknown")
        else:
            folder, session = self.where(text)
        if self.chance(0.6) and (len(words) == 1 or method != "recall"):  # it reads a long message as words
            written, options = self.aim(text)
            known = parameters(method).keys() - ({"session", "exclude_session"} if session else set())
            options = {key: value for key, value in options.items() if key in known}
            if options and self.chance(0.5):
                params |= [self.random.choice(list(options.items()))]
            else:
                words.append(self.random.choice(written))
        self.ask(method, door, folder, session, {"query": " ".join(self.random.sample(words, len(words))), **params})

    def memory(self) -> None:
        method, door = self.random.choice(("add", "add", "update", "capture", "import")), self.random.choice(DOORS[:3])
        path, project = self.some_path("memory"), self.project(0.4)
        text = self.texts[marker := self.text("memory", projects={project} - {""}, path="80-memory/note/new.md")]
        params = {"project": self.spelled(project)} if project else {}
        if method == "import":
            (self.top / "import/one.md").write_text(f"{self.head(project)}{marker} is known.\n", "utf-8")
            self.did(f"import: {(self.top / 'import/one.md').read_text('utf-8')!r}")
            self.do(lambda: self.index.import_(self.top / "import", source="vault"))
        elif method == "update" and path:
            text.path, folder, session = path, *self.where(text)
            before = [(other, other.projects, other.inside, other.clients) for other in self.at(path)]
            for other in self.at(path):  # from now on the document belongs to both
                text.projects |= other.projects
                text.inside |= other.inside
                text.clients |= other.clients
                other.projects, other.inside, other.clients = text.projects, text.inside, text.clients
            mode: dict[str, Any] = {"mode": "append"} if door == "mcp" else {"append": True}
            self.ask(method, door, folder, session, {"ref": path, "content": f"Also {marker}.", **mode, **params})
            if marker not in (self.vault / path).read_text("utf-8"):  # it was refused
                for other, *origin in before:
                    other.projects, other.inside, other.clients = origin
        elif method == "capture":
            folder, session = self.where(text)
            params |= {"session": session} if session else {}
            said = f"*Remember*: we use {marker} for the cache.\n"
            self.ask(method, "cli", folder, session, {"text": said, **params})
        else:
            params = {"tags": self.tag(project)} if project and self.chance(0.3) else params
            key = "content" if door == "mcp" else "text"
            self.ask("add", door, *self.where(text), {key: f"{marker} is decided.", **params})
        files = [
            file for file in self.vault.rglob("*.md") if not file.is_symlink() and marker in file.read_text("utf-8")
        ]
        text.path = files[0].relative_to(self.vault).as_posix() if files else ""
        text.unsure |= not files or "inbox" in text.path

    # --- settings ----------------------------------------------------------------------------------------------------

    def settings(self) -> None:
        what = self.random.choice(("local_only", "local_only", "exclude", "project", "project", "source", "mirror"))
        if what == "project":
            client = self.random.choice(list(self.scopes))
            self.whole[client] = whole = self.chance(0.15)
            self.scopes[client] = [] if whole else self.random.sample(list(SCOPES), k=self.random.randint(0, 2))
            named = [scope.replace("HOME", str(self.user)) for scope in self.scopes[client]]
            self.set(f"sessions.{client}.local_only", "true" if whole else json.dumps(named, ensure_ascii=False))
        elif what == "source":
            self.whole["other"] = not self.whole["other"]
            self.set("local_only", str(self.whole["other"]).lower(), "other")
        elif what == "mirror":
            self.mirrored = True
            for text in self.texts.values():
                text.unsure |= text.kind == "session"
            self.set("sessions.mirror", self.random.choice(("", "mirror")))
        else:
            self.whole["vault"] &= what == "exclude"
            self.patterns[what] = self.random.sample(list(PATTERNS), k=self.random.randint(0, 2))
            self.set(what, json.dumps(self.patterns[what]), "vault")

    def set(self, key: str, value: str, source: str = "") -> None:
        self.did(f"set: {source} {key} = {value}")
        set_value(self.home, key, value, source)

    def shut(self) -> None:
        """For a while the settings are unreadable, or name another embedder."""
        text = self.home.config_file.read_bytes()
        if self.chance(0.5):
            self.home.config_file.write_bytes(self.random.choice([b"[sources", b"\xff\xfe", b"embeding = 1\n"]))
        else:
            set_value(self.home, "embedding.base_url", "http://127.0.0.1:9/v1")
        self.closed = True
        self.did("shut: the settings are others")
        self.do(lambda: self.index.embed())
        self.do(lambda: self.index.search(f"what is {self.text('query')}", directory=f"{self.user}/{FREE}"))
        self.home.config_file.write_bytes(text)
        self.closed = False

    def meanwhile(self) -> None:
        """Everything becomes private during the first request."""

        def keep(request: Request, reply: Reply) -> Reply:
            for name in self.whole:
                where = (
                    ("local_only", "true", name)
                    if name in ("vault", "other")
                    else (f"sessions.{name}.local_only", "true")
                )
                set_value(self.home, *where)
            self.whole = dict.fromkeys(self.whole, True)
            self.scopes = {client: [] for client in self.scopes}
            return reply

        self.did("meanwhile: everything becomes private in the first request")
        self.server.fail_next(keep)
        self.do(lambda: self.index.sync())
        self.server._failures.clear()

    # --- the run -----------------------------------------------------------------------------------------------------

    def sync(self) -> None:
        if self.chance(0.2):
            self.index.close()
            for file in self.home.data_dir.glob("index.db*") if self.chance(0.3) else ():
                file.unlink()
            self.did(f"open: the index is there: {self.home.index_db.exists()}")
            self.index = self.open()
        embed = self.chance(0.7)
        self.did(f"sync: embed {embed}")
        self.do(lambda: self.index.sync(embed=embed))
        self.read = dict(self.sessions)

    def end(self) -> None:
        self.did("end: sync, and a query")
        self.index.sync()
        documents = [text for text in self.texts.values() if text.path and not self.private(text)]
        marker = self.text("free query", unsure=not documents)
        self.index.search(f"what is {marker}", directory=f"{self.user}/{FREE}")
        for marker, text in self.texts.items():
            if not (text.unsure or self.private(text) or marker in self.arrived):
                self.story.found(f"{text.kind} kept", f"{marker} {text}")


class Recorder(EmbeddingServer):
    def __init__(self, history: History) -> None:
        super().__init__(dimensions=16)
        self.history = history

    def answer(self, request: Request) -> Reply:
        for text in request.texts:
            self.history.judge(text)
        return super().answer(request)


DOORS = ("api", "cli", "mcp", "token")
ACTIONS = {
    History.note: 6, History.edit: 1, History.move: 2, History.delete: 1, History.strip: 1, History.session: 3,
    History.sweep: 1, History.sync: 12, History.query: 8, History.memory: 6, History.settings: 3, History.shut: 0.5,
    History.meanwhile: 0.3,
}  # fmt: skip
"""Actions and their weights."""


def tell(story: Story, folder: Path, without: frozenset[str] = frozenset()) -> None:
    """`without` holds the numbers of steps to skip; the others stay as they are."""
    with ExitStack() as stack:
        history = History(story, folder, stack)
        count = history.random.randint(12, 30)
        some = history.random.choices(list(ACTIONS), list(ACTIONS.values()), k=count)
        first = (History.settings, History.settings, History.note, History.session, History.sync)
        for number, action in enumerate((*first, *some)):
            history.random.seed(f"{story.seed} {number}")
            if str(number) not in without:
                action(history)
                history.settle()
        history.end()


@pytest.mark.parametrize("seed", seeds(50))
def test_gate_sends_everything_free_and_nothing_private(seed: int) -> None:
    story = Attack(tell)(seed)
    assert not story.findings, "\n".join([f"seed {seed}", *story.steps])
    assert story.counts["did end"]


@pytest.mark.parametrize(("judged", "kind"), [("gone", "note left by"), ("", "note kept")])
def test_gate_attack_detects_a_wrong_verdict(judged: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(History, "private", lambda *_: judged)
    stories = [Attack(tell)(seed) for seed in range(1, 6)]
    assert any(found.startswith(kind) for story in stories for found, _ in story.findings)
