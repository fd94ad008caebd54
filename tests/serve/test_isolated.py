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

from tests.daemon.fake_index import until
from tests.daemon.test_run import Place, place as place
from tests.embeddings.server import EmbeddingServer
from tests.sources.opencode.stores import Client
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


def served(place: Place, who: Caller, method: str, **params: Any) -> Any:
    """Asked again while the index is being made."""
    while True:
        client = place.connected()
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


def token(place: Place, who: Caller) -> None:
    Tokens(place.home.tokens_file).add(who, created=1.0)


def status_of(place: Place) -> list[dict[str, Any]]:
    return [dict(one) for one in place.ask("status")["daemon"].get("isolated", [])]


def settled(place: Place, who: Caller) -> bool:
    """Whether both indexes have a vector of every text."""
    return not place.ask("stats")["pending"] and not served(place, who, "stats")["pending"]


def answers_as(place: Place, alone: VaultIndex, method: str, params: dict[str, Any]) -> bool:
    return bool(served(place, caller(), method, **params) == plain(to_json(call(alone, method, params))))


def lists(place: Place, everything: dict[str, Any]) -> bool:
    return bool(served(place, caller(), "list", limit=1000) == everything)


class Vault:
    """Notes and memories that link to each other across the border of the part."""

    def __init__(self, place: Place, seed: int) -> None:
        self.place, self.random = place, random.Random(seed)
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
        self.place.write(path, f"{front}# {words[:20]}\n\n{words}\n\n## More\n\nSee [[{other}]] and {words[::-1]}.\n")
        self.paths = sorted({*self.paths, path})

    def change(self) -> None:
        for path in self.random.sample(self.paths, 4):
            self.write(path)
        for path in self.random.sample(self.paths, 4):
            (self.place.vault / path).unlink()
            self.paths.remove(path)
        for path in self.random.sample(self.paths, 6):
            to = self.new_path()
            (self.place.vault / to).parent.mkdir(parents=True, exist_ok=True)
            (self.place.vault / path).rename(self.place.vault / to)
            self.paths = sorted({*self.paths, to} - {path})

    def alone(self, folder: Path) -> VaultIndex:
        """The index of a home that has a copy of the part, and nothing else."""
        copy, home = folder / self.place.vault.name, find_home(folder / "home")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.place.vault / FOLDER, copy / FOLDER)
        home.data_dir.mkdir(mode=0o700, exist_ok=True)
        settings = self.place.home.config_file.read_text("utf-8")
        home.config_file.write_text(settings.replace(str(self.place.vault), str(copy)))
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


def local(place: Place) -> None:
    settings = place.home.config_file.read_text("utf-8")
    place.home.config_file.write_text(settings.replace('"none"', '"local"'), "utf-8")


@pytest.mark.parametrize("provider", ["local", "none"])
def test_it_answers_as_an_index_of_that_part_alone(place: Place, tmp_path: Path, provider: str) -> None:
    if provider == "local":
        local(place)
    vault = Vault(place, 1)
    token(place, caller())
    place.started()
    for _ in range(3):
        with vault.alone(tmp_path / "alone") as alone:
            alone.sync()
            everything = plain(to_json(call(alone, "list", {"limit": 1000})))
            assert everything["total"] > 4
            until(partial(lists, place, everything))
            until(lambda: settled(place, caller()))
            # The words of a text are counted a moment after it is listed.
            until(partial(answers_as, place, alone, "search", {"query": "kelp", "explain": True}))
            for method, params in questions(vault):
                expected = plain(to_json(call(alone, method, params)))
                assert served(place, caller(), method, **params) == expected, (method, params)
        vault.change()


def test_it_says_nothing_of_what_lies_elsewhere(place: Place) -> None:
    place.write(f"{FOLDER}/in.md", "otter [[out]]")
    place.write("out.md", "otter zebra")
    place.write("work/acme.md", "zebra")
    (place.vault / FOLDER / "link.md").symlink_to("../../out.md")
    (place.vault / FOLDER / "up").symlink_to("../")
    (place.vault / FOLDER / "root").symlink_to("../../")
    token(place, caller())
    place.started()
    assert [one["path"] for one in served(place, caller(), "list")["results"]] == [f"{FOLDER}/in.md"]
    assert served(place, caller(), "search", query="zebra")["results"] == []


def test_spending_and_privacy_hold_for_all_of_them(place: Place) -> None:
    place.write(f"{FOLDER}/private/p.md", "otter secret")
    with EmbeddingServer() as server:
        settings = place.home.config_file.read_text("utf-8").replace(
            'provider = "none"',
            f'provider = "openai"\nbase_url = "{server.base_url}"\nmodel = "m"\ndimensions = 32\napi_key = "k"',
        )
        source = f"[sources.{place.vault.name}]\n"
        settings = settings.replace(source, f'{source}local_only = ["{FOLDER}/private"]\n')
        place.home.config_file.write_text(settings, "utf-8")
        for number in range(5):
            place.write(f"{FOLDER}/{number}.md", f"otter number {number}")
        token(place, caller())
        place.started()
        until(lambda: settled(place, caller()))
        for number in range(3, 8):
            place.write(f"{FOLDER}/{number}.md", f"otter again {number}")
        until(lambda: len(served(place, caller(), "search", query="again", mode="text")["results"]) == 5)
        until(lambda: settled(place, caller()))
        hits = served(place, caller(), "search", query="otter", mode="vector")["results"]
        assert len(hits) == 8
        sent = Counter(server.texts)
        assert set(sent.values()) == {1}
        assert not any("secret" in text for text in sent)
        ledger = place.ask("status", privacy=True)["results"]
        assert sum(row["texts"] for row in ledger) == len(sent)
        limited = settings.replace("dimensions", "daily_token_limit = 1\ndimensions")
        place.home.config_file.write_text(limited, "utf-8")
        place.ask("reload")
        answer = served(place, caller(), "search", query="whatever")
        assert "daily limit" in str(answer["degraded"])
        assert sum(Counter(server.texts).values()) == len(sent)


def test_it_goes_with_its_last_token(place: Place) -> None:
    place.write(f"{FOLDER}/in.md", "otter")
    tokens = Tokens(place.home.tokens_file)
    place.started()
    assert not place.home.isolated_dir.exists()
    for name in ("one", "two"):
        tokens.add(caller()._replace(name=name), created=1.0)
    place.ask("reload")
    until(lambda: [one["tokens"] for one in status_of(place)] == [["one", "two"]])
    (folder,) = place.home.isolated_dir.iterdir()
    tokens.revoke("one")
    place.ask("reload")
    until(lambda: [one["tokens"] for one in status_of(place)] == [["two"]])
    assert served(place, caller(), "search", query="otter")["results"]
    tokens.revoke("two")
    place.ask("reload")
    until(lambda: not folder.exists())
    assert status_of(place) == []
    with pytest.raises(UsageError, match="no token"):
        served(place, caller(), "search", query="otter")


def test_what_a_daemon_left_is_removed_by_the_next(place: Place) -> None:
    token(place, caller())
    daemon = place.started()
    until(lambda: served(place, caller(), "list")["total"] == 0)
    daemon.kill()
    daemon.wait()
    (folder,) = place.home.isolated_dir.iterdir()
    place.home.tokens_file.unlink()
    place.started()
    until(lambda: not folder.exists())


def test_new_settings_hold_for_it(place: Place) -> None:
    place.write(f"{FOLDER}/in.md", "otter")
    place.write(f"{FOLDER}/draft.md", "otter")
    token(place, caller())
    place.started()
    assert served(place, caller(), "list")["total"] == 2
    settings = place.home.config_file.read_text("utf-8")
    source = f"[sources.{place.vault.name}]\n"
    place.home.config_file.write_text(settings.replace(source, f'{source}exclude = ["draft.md"]\n'), "utf-8")
    place.ask("reload")
    until(lambda: served(place, caller(), "list")["total"] == 1)


def test_what_is_deleted_for_good_leaves_nothing_in_it(place: Place) -> None:
    scope = caller(folders=("80-memory",), writes=True)
    token(place, scope)
    place.started()
    stored = served(place, scope, "add", text="The buffalo likes mud.")
    assert served(place, scope, "search", query="buffalo")["results"]
    until(lambda: place.found("buffalo") == {stored["path"]})  # the whole index follows by its watch
    place.ask("delete", ref=[stored["id"]], permanent=True)
    until(lambda: served(place, scope, "list")["total"] == 0)
    until(lambda: settled(place, scope))
    files = [file for folder in place.home.isolated_dir.iterdir() for file in folder.iterdir()]
    assert files
    assert not any(b"buffalo" in file.read_bytes() for file in files)


def test_who_writes_by_it_writes_there_alone_and_the_whole_follows(place: Place) -> None:
    scope = caller(folders=("80-memory/note",), writes=True)
    token(place, scope)
    token(place, other := caller(writes=True)._replace(name="other"))
    place.started()
    stored = served(place, scope, "add", text="The buffalo likes mud.")
    assert served(place, scope, "get", ref=stored["id"])["results"][0]["path"] == stored["path"]
    served(place, scope, "update", ref=stored["id"], content="And grass.", append=True)
    until(lambda: place.found("grass") == {stored["path"]})
    with pytest.raises(ForbiddenError):  # the whole knows what it said, too
        served(place, scope, "delete", ref=[stored["id"]], permanent=True)
    served(place, scope, "delete", ref=[stored["id"]])
    assert served(place, scope, "list")["total"] == 0
    decision = served(place, scope, "add", text="A decision.", type="decision")
    assert decision["path"].startswith("80-memory/note/")
    before = {file for file in place.vault.rglob("*") if file.is_file()}
    with pytest.raises(VaultIndexError):
        served(place, scope, "add", text="A note.", path="80-memory/decision/x")
    with pytest.raises(VaultIndexError):
        served(place, other, "add", text="Nothing of mine lies there.")
    assert {file for file in place.vault.rglob("*") if file.is_file()} == before


def test_sessions_are_in_it_as_its_scope_says_and_forgotten_with_the_whole(place: Place, tmp_path: Path) -> None:
    (tmp_path / "opencode").mkdir()
    with place.home.config_file.open("a", encoding="utf-8") as settings:
        settings.write(f'\n[opencode]\nenabled = true\ndata = "{tmp_path}/opencode"\n')
    place.write(f"{FOLDER}/in.md", "otter")
    sessions, notes = caller(folders=(), sources=("opencode",)), caller(folders=(), sources=(place.vault.name,))
    for number, who in enumerate((sessions, notes)):
        token(place, who._replace(name=f"number{number}"))
    with closing(Client(tmp_path / "opencode/opencode.db")) as client:
        client.session(title="Work")
        client.user("What does the buffalo like?")
        client.assistant("The buffalo likes mud in the morning.")
        place.started()
        assert {one["kind"] for one in served(place, notes, "list")["results"]} == {"note"}
        (session,) = served(place, sessions, "list")["results"]
        assert session["kind"] == "session"
        place.ask("forget", ref=[session["id"]])
        until(lambda: served(place, sessions, "list")["total"] == 0)
        files = [file for folder in place.home.isolated_dir.iterdir() for file in folder.iterdir()]
        assert not any(b"buffalo" in file.read_bytes() for file in files)
