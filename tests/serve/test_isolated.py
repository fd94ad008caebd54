"""An isolated token has an index of its own: it answers as a home does that indexes that part of the vault alone."""

import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.embeddings.server import EmbeddingServer
from tests.sources.opencode.stores import Client
from tests.waiting import until
from tests.world import World
from vault_index import VaultIndex
from vault_index.access import Tokens
from vault_index.api import call, to_json
from vault_index.callers import Caller, Scope, caller_to_json
from vault_index.config import find_home
from vault_index.errors import BusyError, ForbiddenError, UsageError, VaultIndexError

FOLDER = "work/acme"
WORDS = [
    "kelp",
    "otter",
    "tide",
    "reef",
    "shoal",
    "harbour",
    "lantern",
    "mast",
    "rope",
    "gull",
    "sextant",
    "anchor",
    "ballast",
    "keel",
    "rudder",
    "galley",
]
_OWN = ("took_ms", "bytes", "indexed")
"""What no two indexes of the same files have in common: times, and how their pages lie on the disk."""


def caller(*, writes: bool = False, **scope: Any) -> Caller:
    return Caller("friend", writes, Scope(**{"folders": (FOLDER,), "isolated": True, **scope}))


def served(world: World, who: Caller, method: str, **params: Any) -> Any:
    """Asked again while the index is being made."""
    while True:
        client = world.connected()
        assert client is not None
        with client, suppress(BusyError):
            return plain(client.call("served", {"caller": caller_to_json(who), "method": method, "params": params}))


def plain(answer: Any) -> Any:
    if isinstance(answer, dict):
        marked = str(answer.get("text", "")).startswith("<vault-index-recall")
        own = (*_OWN, "tokens") if marked else _OWN
        return {key: plain(value) for key, value in answer.items() if key not in own}
    if isinstance(answer, str):
        return re.sub(r'token="[0-9a-f]+"', "", answer)  # random marks, which cost more or fewer tokens
    return [plain(one) for one in answer] if isinstance(answer, list) else answer


def token(world: World, who: Caller) -> None:
    Tokens(world.home.tokens_file).add(who, created=1.0)


def status_of(world: World) -> list[dict[str, Any]]:
    return [dict(one) for one in world.ask("status")["daemon"].get("isolated", [])]


def settled(world: World, who: Caller) -> bool:
    """Whether both indexes have a vector of every text."""
    return not world.ask("stats")["pending"] and not served(world, who, "stats")["pending"]


def answers_as(world: World, alone: VaultIndex, method: str, params: dict[str, Any]) -> bool:
    return bool(served(world, caller(), method, **params) == plain(to_json(call(alone, method, params))))


def lists(world: World, everything: dict[str, Any]) -> bool:
    return bool(served(world, caller(), "list", limit=1000) == everything)


class Vault:
    """Notes and memories that link to each other across the border of the part."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.random = world, random.Random(seed)
        self.folders = (FOLDER, f"{FOLDER}/deep/er", "work", "work/acmeandmore", "private", f"{FOLDER}/80-memory", "")
        self.paths: list[str] = []
        for _ in range(24):
            self.write(self.new_path())

    def new_path(self) -> str:
        folder = self.random.choice(self.folders)
        name = f"{self.random.choice(WORDS)} {self.random.randrange(1000)}.md"
        return f"{folder}/{name}".lstrip("/")

    def write(self, path: str) -> None:
        other = self.random.choice(self.paths).rpartition("/")[2][:-3] if self.paths else "nothing"
        words = " ".join(self.random.choices(WORDS, k=30))
        tags = self.random.sample(WORDS, 2)
        front = f"---\ntags: [{tags[0]}, in/{tags[1]}]\nproject: {self.random.choice(WORDS)}\n---\n"
        self.world.write(path, f"{front}# {words[:20]}\n\n{words}\n\n## More\n\nSee [[{other}]] and {words[::-1]}.\n")
        self.paths = sorted({*self.paths, path})

    def change(self) -> None:
        for path in self.random.sample(self.paths, 4):
            self.write(path)
        for path in self.random.sample(self.paths, 4):
            (self.world.vault / path).unlink()
            self.paths.remove(path)
        for path in self.random.sample(self.paths, 6):
            to = self.new_path()
            (self.world.vault / to).parent.mkdir(parents=True, exist_ok=True)
            (self.world.vault / path).rename(self.world.vault / to)
            self.paths = sorted({*self.paths, to} - {path})

    def alone(self, folder: Path) -> VaultIndex:
        """The index of a home that has a copy of the part, and nothing else."""
        copy, home = folder / self.world.vault.name, find_home(folder / "home")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.world.vault / FOLDER, copy / FOLDER)
        home.data_dir.mkdir(mode=0o700, exist_ok=True)
        settings = self.world.home.config_file.read_text("utf-8")
        home.config_file.write_text(settings.replace(str(self.world.vault), str(copy)))
        return VaultIndex.open(home)


def questions(vault: Vault) -> Iterator[tuple[str, dict[str, Any]]]:
    for words in ("kelp", "otter lantern reef", "sextnat anchr", '"rope gull"', "tag:kelp", "project:reef", "keel*"):
        yield "search", {"query": words, "explain": True}
        yield "search", {"query": words, "mode": "text", "limit": 50}
    yield "list", {"limit": 1000}
    yield "list", {"tags": "in", "sort": "title"}
    yield "tags", {}
    yield "stats", {}
    yield "stats", {"agents": True}
    yield "review", {}
    yield "recall", {"query": "the harbour and the tide"}
    for path in vault.paths:
        if path.startswith(f"{FOLDER}/"):
            yield "related", {"ref": path}
            yield "timeline", {"ref": path}
            yield "get", {"ref": path, "full": True}
            yield "why", {"query": "kelp", "ref": path}


def local(world: World) -> None:
    settings = world.home.config_file.read_text("utf-8")
    world.home.config_file.write_text(settings.replace('"none"', '"local"'), "utf-8")


@pytest.mark.parametrize("provider", ["local", "none"])
def test_it_answers_as_an_index_of_that_part_alone(world: World, tmp_path: Path, provider: str) -> None:
    if provider == "local":
        local(world)
    vault = Vault(world, 1)
    token(world, caller())
    world.daemon()
    for _ in range(3):
        with vault.alone(tmp_path / "alone") as alone:
            alone.sync()
            everything = plain(to_json(call(alone, "list", {"limit": 1000})))
            assert everything["total"] > 4
            until(partial(lists, world, everything))
            until(lambda: settled(world, caller()))
            # The words of a text are counted a moment after it is listed.
            until(partial(answers_as, world, alone, "search", {"query": "kelp", "explain": True}))
            for method, params in questions(vault):
                expected = plain(to_json(call(alone, method, params)))
                assert served(world, caller(), method, **params) == expected, (method, params)
        vault.change()


def test_it_says_nothing_of_what_lies_elsewhere(world: World) -> None:
    world.write(f"{FOLDER}/in.md", "otter [[out]]")
    world.write("out.md", "otter zebra")
    world.write("work/acme.md", "zebra")
    (world.vault / FOLDER / "link.md").symlink_to("../../out.md")
    (world.vault / FOLDER / "up").symlink_to("../")
    (world.vault / FOLDER / "root").symlink_to("../../")
    token(world, caller())
    world.daemon()
    assert [one["path"] for one in served(world, caller(), "list")["results"]] == [f"{FOLDER}/in.md"]
    assert served(world, caller(), "search", query="zebra")["results"] == []


def test_spending_and_privacy_hold_for_all_of_them(world: World) -> None:
    world.write(f"{FOLDER}/private/p.md", "otter secret")
    with EmbeddingServer() as server:
        settings = world.home.config_file.read_text("utf-8").replace(
            'provider = "none"',
            f'provider = "openai"\nbase_url = "{server.base_url}"\nmodel = "m"\ndimensions = 32\napi_key = "k"',
        )
        source = f"[sources.{world.vault.name}]\n"
        settings = settings.replace(source, f'{source}local_only = ["{FOLDER}/private"]\n')
        world.home.config_file.write_text(settings, "utf-8")
        for number in range(5):
            world.write(f"{FOLDER}/{number}.md", f"otter number {number}")
        token(world, caller())
        world.daemon()
        until(lambda: settled(world, caller()))
        for number in range(3, 8):
            world.write(f"{FOLDER}/{number}.md", f"otter again {number}")
        until(lambda: len(served(world, caller(), "search", query="again", mode="text")["results"]) == 5)
        until(lambda: settled(world, caller()))
        hits = served(world, caller(), "search", query="otter", mode="vector")["results"]
        assert len(hits) == 8
        sent = Counter(server.texts)
        assert set(sent.values()) == {1}
        assert not any("secret" in text for text in sent)
        ledger = world.ask("status", privacy=True)["results"]
        assert sum(row["texts"] for row in ledger) == len(sent)
        limited = settings.replace("dimensions", "daily_token_limit = 1\ndimensions")
        world.home.config_file.write_text(limited, "utf-8")
        world.ask("reload")
        answer = served(world, caller(), "search", query="whatever")
        assert "daily limit" in str(answer["degraded"])
        assert sum(Counter(server.texts).values()) == len(sent)


def test_it_goes_with_its_last_token(world: World) -> None:
    world.write(f"{FOLDER}/in.md", "otter")
    tokens = Tokens(world.home.tokens_file)
    world.daemon()
    assert not world.home.isolated_dir.exists()
    for name in ("one", "two"):
        tokens.add(caller()._replace(name=name), created=1.0)
    world.ask("reload")
    until(lambda: [one["tokens"] for one in status_of(world)] == [["one", "two"]])
    (folder,) = world.home.isolated_dir.iterdir()
    tokens.revoke("one")
    world.ask("reload")
    until(lambda: [one["tokens"] for one in status_of(world)] == [["two"]])
    assert served(world, caller(), "search", query="otter")["results"]
    tokens.revoke("two")
    world.ask("reload")
    until(lambda: not folder.exists())
    assert status_of(world) == []
    with pytest.raises(UsageError, match="no token"):
        served(world, caller(), "search", query="otter")


def test_what_a_daemon_left_is_removed_by_the_next(world: World) -> None:
    token(world, caller())
    daemon = world.daemon()
    until(lambda: served(world, caller(), "list")["total"] == 0)
    daemon.kill()
    daemon.wait()
    (folder,) = world.home.isolated_dir.iterdir()
    world.home.tokens_file.unlink()
    world.daemon()
    until(lambda: not folder.exists())


def test_new_settings_hold_for_it(world: World) -> None:
    world.write(f"{FOLDER}/in.md", "otter")
    world.write(f"{FOLDER}/draft.md", "otter")
    token(world, caller())
    world.daemon()
    assert served(world, caller(), "list")["total"] == 2
    settings = world.home.config_file.read_text("utf-8")
    source = f"[sources.{world.vault.name}]\n"
    world.home.config_file.write_text(settings.replace(source, f'{source}exclude = ["draft.md"]\n'), "utf-8")
    world.ask("reload")
    until(lambda: served(world, caller(), "list")["total"] == 1)


def test_what_is_deleted_for_good_leaves_nothing_in_it(world: World) -> None:
    scope = caller(folders=("80-memory",), writes=True)
    token(world, scope)
    world.daemon()
    stored = served(world, scope, "add", text="The buffalo likes mud.")
    assert served(world, scope, "search", query="buffalo")["results"]
    until(lambda: world.found("buffalo") == {stored["path"]})  # the whole index follows by its watch
    world.ask("delete", ref=[stored["id"]], permanent=True)
    until(lambda: served(world, scope, "list")["total"] == 0)
    until(lambda: settled(world, scope))
    files = [file for folder in world.home.isolated_dir.iterdir() for file in folder.iterdir()]
    assert files
    assert not any(b"buffalo" in file.read_bytes() for file in files)


def test_who_writes_by_it_writes_there_alone_and_the_whole_follows(world: World) -> None:
    scope = caller(folders=("80-memory/note",), writes=True)
    token(world, scope)
    token(world, other := caller(writes=True)._replace(name="other"))
    world.daemon()
    stored = served(world, scope, "add", text="The buffalo likes mud.")
    assert served(world, scope, "get", ref=stored["id"])["results"][0]["path"] == stored["path"]
    served(world, scope, "update", ref=stored["id"], content="And grass.", append=True)
    until(lambda: world.found("grass") == {stored["path"]})
    with pytest.raises(ForbiddenError):  # the whole knows what it said, too
        served(world, scope, "delete", ref=[stored["id"]], permanent=True)
    served(world, scope, "delete", ref=[stored["id"]])
    assert served(world, scope, "list")["total"] == 0
    decision = served(world, scope, "add", text="A decision.", type="decision")
    assert decision["path"].startswith("80-memory/note/")
    before = {file for file in world.vault.rglob("*") if file.is_file()}
    with pytest.raises(VaultIndexError):
        served(world, scope, "add", text="A note.", path="80-memory/decision/x")
    with pytest.raises(VaultIndexError):
        served(world, other, "add", text="Nothing of mine lies there.")
    assert {file for file in world.vault.rglob("*") if file.is_file()} == before


def test_sessions_are_in_it_as_its_scope_says_and_forgotten_with_the_whole(world: World, tmp_path: Path) -> None:
    (tmp_path / "opencode").mkdir()
    with world.home.config_file.open("a", encoding="utf-8") as settings:
        settings.write(f'\n[opencode]\nenabled = true\ndata = "{tmp_path}/opencode"\n')
    world.write(f"{FOLDER}/in.md", "otter")
    sessions, notes = caller(folders=(), sources=("opencode",)), caller(folders=(), sources=(world.vault.name,))
    for number, who in enumerate((sessions, notes)):
        token(world, who._replace(name=f"number{number}"))
    with closing(Client(tmp_path / "opencode/opencode.db")) as client:
        client.session(title="Work")
        client.user("What does the buffalo like?")
        client.assistant("The buffalo likes mud in the morning.")
        world.daemon()
        assert {one["kind"] for one in served(world, notes, "list")["results"]} == {"note"}
        (session,) = served(world, sessions, "list")["results"]
        assert session["kind"] == "session"
        world.ask("forget", ref=[session["id"]])
        until(lambda: served(world, sessions, "list")["total"] == 0)
        files = [file for folder in world.home.isolated_dir.iterdir() for file in folder.iterdir()]
        assert not any(b"buffalo" in file.read_bytes() for file in files)
