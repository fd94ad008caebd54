"""The history of memories under attack: each version that was indexed can be had back, byte for byte."""

import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, rows
from tests.cli.process import vx
from tests.daemon.fake_index import until
from tests.daemon.test_run import Place, end, place as place
from tests.kills import killed, moments
from tests.memories.versions import blobs_in, traces_of
from tests.memories.waiting import Ask, all_files, files_of, here, undo_what_can_be
from vault_index import VaultIndex
from vault_index.api import dispatch
from vault_index.errors import ConflictError, NotFoundError, UsageError

ID = "11111111-1111-4111-8111-111111111111"
PATH = "80-memory/note/heron.md"
KEPT = 50
KILLS = 6
"""How many of the moments at which each command can be killed."""


def memory(body: str, uid: str = ID, **more: str) -> bytes:
    front = {"id": uid, "type": "note", "title": "Heron", "created": "2026-01-01T00:00:00+00:00", **more}
    return ("---\n" + "".join(f"{key}: {value}\n" for key, value in front.items()) + f"---\n{body}\n").encode()


def put(vault: Path, data: bytes, path: str = PATH) -> None:
    """As editors save: whole, under another name first."""
    (vault / path).parent.mkdir(parents=True, exist_ok=True)
    draft = vault / f"{path}.tmp"
    draft.write_bytes(data)
    draft.replace(vault / path)


class World:
    """A vault, and whoever keeps its index: a daemon, or a sync after each change."""

    def __init__(self, place: Place, *, daemon: bool) -> None:
        self.place, self.vault = place, place.vault
        self.ask: Ask = here(place.vault.parent)
        (self.vault / "a.md").unlink()
        self.ask("sync")
        if daemon:
            place.started()
            self.ask = place.ask

    def settle(self) -> None:
        """See what was done by hand."""
        self.ask("sync", embed=False)

    def save(self, data: bytes, path: str = PATH) -> None:
        """Saved by hand, and seen."""
        put(self.vault, data, path)
        self.settle()

    def kept(self) -> set[bytes]:
        """Everything that is kept beside the files."""
        return set(blobs_in(self.place.home.state_db))

    def history(self, ref: str = ID) -> list[dict[str, Any]]:
        """Every version of ours that says anything, oldest first."""
        results = self.ask("history", ref=ref, limit=200)["results"]
        return [one for one in reversed(results) if one["number"] is not None and one["bytes"]]

    def read(self, path: str = PATH) -> bytes:
        return (self.vault / path).read_bytes()

    def back(self, number: int, ref: str = ID) -> bytes:
        """What a file says that was put back as it was in that version."""
        return self.read(self.ask("revert", ref=ref, to=str(number))["path"])

    def all_back(self, texts: list[bytes]) -> None:
        """The versions are these, and each can be had back in its place."""
        found = self.history()
        assert len(found) == len(texts)
        for version, text in zip(found, texts, strict=True):
            assert self.back(version["number"]) == self.read() == text

    def had_back(self, text: bytes, *refs: str) -> bool:
        """Whether a text can be had back by one of the names, whichever its version is known by."""
        for ref in refs:
            with suppress(NotFoundError):
                if any(self.back(version["number"], ref) == text for version in self.history(ref)):
                    return True
        return False

    def end(self) -> None:
        """The index is that of a fresh build."""
        for daemon in self.place.daemons:
            assert end(daemon) == 0
        folder = self.vault.parent
        here(folder)("sync")
        assert rows(self.place.home.index_db) == fresh_rows(folder)


@pytest.fixture(params=[False, True], ids=["alone", "with a daemon"])
def world(request: pytest.FixtureRequest, place: Place) -> Iterator[World]:
    world = World(place, daemon=request.param)
    yield world
    world.end()


@pytest.fixture
def alone(place: Place) -> World:
    return World(place, daemon=False)


SHAPES = {
    "CRLF": memory("One.\n\nTwo.").replace(b"\n", b"\r\n"),
    "a byte order mark": b"\xef\xbb\xbf" + memory("With a mark."),
    "no final newline": memory("No newline").removesuffix(b"\n"),
    "mixed ends of lines": memory("One.\r\nTwo.\rThree.\n\n\n   "),
    "no valid UTF-8": memory("Latin").replace(b"Latin", b"caf\xe9 \xff\xfe"),
    "controls": memory("A \x00 NUL, \x0c a form feed, \x1b[31m, \u2028 and \ufeff."),
    "a decomposed letter": memory("cafe\u0301 and caf\u00e9"),
    "broken frontmatter": memory("Broken.").replace(b"type: note", b"type: [note"),
    "1 MB": memory("\n".join(f"Line {n} of a long memory, {n * 7919 % 104729}." for n in range(28_000))),
    "no body": memory("").removesuffix(b"\n"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_comes_back_byte_for_byte(alone: World, shape: str) -> None:
    texts = [memory("Before."), SHAPES[shape], memory("After.")]
    for text in texts:
        alone.save(text)
    assert {*texts} <= alone.kept()
    if shape == "broken frontmatter":  # nobody can tell its id, so that version is one of its path
        texts = [alone.back(version["number"]) for version in alone.history()]
        assert {memory("Before."), memory("After.")} <= {*texts}
    else:
        alone.all_back(texts)
    alone.end()


def test_edits_by_hand_are_versions_with_who_and_when(world: World) -> None:
    texts = [memory(f"Edit {number}.") for number in range(4)]
    for text in texts:
        world.save(text)
    found = world.history()
    assert [version["by"] for version in found] == ["by hand"] * 4
    assert [version["number"] for version in found] == sorted({version["number"] for version in found})
    assert [version["seen"] for version in found] == sorted(version["seen"] for version in found)
    world.ask("update", ref=ID, content="By a command.", by="ann")
    last = world.history()[-1]
    assert (last["by"], last["action"]) == ("ann", "update")
    world.all_back([*texts, world.read()])


def test_the_daemon_keeps_what_it_hears_of(place: Place) -> None:
    world = World(place, daemon=True)
    texts = [memory(f"Edit {number}.") for number in range(3)]
    for text in texts:
        put(world.vault, text)
        until(lambda text=text: text in world.kept())  # type: ignore[misc]
    world.all_back(texts)
    world.end()


def test_what_nobody_saw_is_no_version(alone: World) -> None:
    alone.save(memory("Seen."))
    put(alone.vault, memory("Not seen."))
    alone.save(memory("Seen, too."))
    alone.save(memory("Seen, too."))
    os.utime(alone.vault / PATH)
    alone.settle()
    alone.all_back([memory("Seen."), memory("Seen, too.")])


def test_what_a_command_overwrites_is_kept_though_nobody_saw_it(alone: World) -> None:
    alone.save(memory("Seen."))
    put(alone.vault, memory("Saved a moment ago."))
    alone.ask("update", ref=ID, content="And more.", append=True)
    put(alone.vault, memory("Saved just now."))
    alone.ask("revert", ref=ID, to="1")
    assert alone.read() == memory("Seen.")
    assert {memory("Seen."), memory("Saved a moment ago."), memory("Saved just now.")} <= alone.kept()


def test_a_rename_goes_on_with_the_history(world: World) -> None:
    world.save(memory("One."))
    (world.vault / PATH).rename(world.vault / "80-memory/note/egret.md")
    world.settle()
    world.save(memory("Two."), "80-memory/note/egret.md")
    (world.vault / "80-memory/note").rename(world.vault / "80-memory/birds")
    world.settle()
    path = "80-memory/birds/egret.md"
    world.save(memory("Three."), path)
    found = world.history()
    texts = dict.fromkeys((memory("One."), memory("Two."), memory("Three.")))
    assert found[0]["path"] == PATH
    assert found[-1]["path"] == path
    assert {world.back(version["number"]) for version in found} == texts.keys()
    assert list(files_of(world.vault)) == [path]


def test_a_memory_without_an_id_keeps_its_versions_through_a_rename(world: World) -> None:
    """They are had back by its new path, or by the id that it had at the old one."""
    texts = [f"# Heron\n\nIt nests in the {place}.\n".encode() for place in ("reeds", "alders", "willows")]
    world.save(texts[0])
    world.save(texts[1])
    old, path = world.ask("list", kind="memory")["results"][0]["id"], "80-memory/note/egret.md"
    (world.vault / PATH).rename(world.vault / path)
    world.settle()
    world.save(texts[2], path)
    assert {*texts} <= world.kept()
    assert world.had_back(texts[1], path, old)
    assert world.had_back(texts[0], path, old)


@pytest.mark.parametrize("data", [b"", b"\n", b"---\n---\n"], ids=["no bytes", "a newline", "an empty frontmatter"])
def test_a_file_that_was_emptied_is_had_back(world: World, data: bytes) -> None:
    world.save(memory("All of it."))
    put(world.vault, data)
    world.settle()
    assert world.had_back(memory("All of it."), ID, PATH)
    assert [hit["id"] for hit in world.ask("list", kind="memory")["results"]] == [ID]


def test_a_file_that_was_deleted_and_put_back(world: World) -> None:
    world.save(memory("One."))
    world.save(memory("Two."))
    (world.vault / PATH).unlink()
    world.settle()
    assert len(world.history()) == 2
    assert world.ask("get", ref=world.ask("revert", ref=ID, to="1")["path"])["results"]
    assert world.read() == memory("One.")
    (world.vault / PATH).unlink()
    world.settle()
    world.save(memory("Two."))
    assert {world.back(version["number"]) for version in world.history()} == {memory("One."), memory("Two.")}


def test_a_deleted_memory_is_put_back_and_that_is_undone(world: World) -> None:
    world.save(memory("One."))
    world.ask("update", ref=ID, content="Two.")
    two = world.read()
    world.ask("delete", ref=ID)
    assert world.history()[-1]["number"] == 2
    world.ask("revert", ref=ID, to="2")
    assert world.read() == two
    world.ask("undo")
    assert PATH not in files_of(world.vault)
    world.ask("undo")
    assert world.read() == two
    world.ask("undo")
    assert world.read() == memory("One.")


def test_an_id_that_was_changed_by_hand_begins_another_history(world: World) -> None:
    other = ID.replace("1", "2")
    world.save(memory("One."))
    world.save(memory("One.", other))
    world.save(memory("Two.", other))
    for text in (memory("Two.", other), memory("One.", other), memory("One.")):
        assert world.had_back(text, other, ID)


def test_the_last_fifty_are_kept_and_the_rest_is_told(alone: World) -> None:
    texts = [memory(f"Edit {number}: {number * 7919}.") for number in range(60)]
    for text in texts:
        alone.save(text)
    answer = alone.ask("history", ref=ID, limit=200)
    assert (answer["total"], answer["forgotten"]) == (KEPT, 10)
    assert [version["number"] for version in answer["results"]] == list(range(60, 10, -1))
    with pytest.raises((NotFoundError, UsageError), match="10"):
        alone.ask("revert", ref=ID, to="10")
    for number in range(11, 61, 7):  # each makes one version more, and the oldest falls out
        assert alone.back(number) == texts[number - 1]
    assert memory("Edit 0: 0.") not in alone.kept()


# --- two machines ---------------------------------------------------------------------------------------------------


def test_copies_with_one_id_have_each_what_it_said(world: World) -> None:
    copy = "80-memory/note/heron (conflicted copy).md"
    names = {PATH: "Mine", "80-memory/note/heron 2.md": "Theirs", copy: "A copy that is passed over"}
    for path, who in names.items():
        put(world.vault, memory(f"{who}, at first."), path)
    world.settle()
    for path, who in names.items():
        put(world.vault, memory(f"{who}, in the end."), path)
    world.settle()
    for path, who in list(names.items())[:2]:
        first = next(version for version in world.history(path) if version["path"] == path)
        assert world.back(first["number"], path) == world.read(path) == memory(f"{who}, at first.")
    assert world.read(copy) == memory("A copy that is passed over, in the end.")
    undo_what_can_be(world.ask)
    assert world.read() == memory("Mine, in the end.")
    assert world.read("80-memory/note/heron 2.md") == memory("Theirs, in the end.")


def test_a_merge_of_two_machines_is_a_version_among_others(world: World) -> None:
    world.save(memory("Base."))
    world.ask("update", ref=ID, content="Mine.")
    mine = world.read()
    marked = mine.replace(b"Mine.\n", b"<<<<<<< HEAD\nMine.\n=======\nTheirs.\n>>>>>>> theirs\n")
    world.save(marked)
    world.save(memory("Merged."))
    put(world.vault, memory("Theirs."), "80-memory/note/heron.sync-conflict-20260101-120000-ABCDEFG.md")
    world.settle()
    world.all_back([memory("Base."), mine, marked, memory("Merged.")])
    undo_what_can_be(world.ask)  # the reverts; what the update wrote was changed by hand
    assert world.read() == memory("Merged.")


def test_files_of_another_machine_are_not_what_an_undo_takes_back(world: World) -> None:
    world.save(memory("Mine."))
    world.ask("update", ref=ID, content="Changed here.")
    put(world.vault, memory("Changed there."))  # a sync brings it
    with pytest.raises(ConflictError, match=r"heron\.md"):
        world.ask("undo")
    assert world.read() == memory("Changed there.")


# --- kills ----------------------------------------------------------------------------------------------------------

SEEN_BY_A_SYNC = memory("Saved before the sync.")
KILLED: dict[str, dict[str, Any]] = {
    "update": {"ref": ID, "content": "By a command."},
    "revert": {"ref": ID, "to": "1"},
    "undo": {},
    "delete": {"ref": ID},
    "archive": {"ref": ID},
    "sync": {},
}


@pytest.mark.parametrize("method", KILLED)
def test_a_kill_leaves_every_version_and_a_whole_file(tmp_path: Path, method: str) -> None:
    before = tmp_path / "before"
    (before / "vault").mkdir(parents=True)
    (before / "home").mkdir(mode=0o700)
    (before / "home/config.toml").write_text('[sources.vault]\npath = "../vault"\n[embedding]\nprovider = "none"\n')
    texts = [memory("One."), memory("Two.")]
    for text in texts:
        put(before / "vault", text)
        here(before)("sync")
    here(before)("update", ref=ID, add_tags="bird")
    texts.append((before / f"vault/{PATH}").read_bytes())
    if method == "sync":
        put(before / "vault", SEEN_BY_A_SYNC)

    def work() -> None:
        here(folder)(method, **KILLED[method])

    folder = Path(shutil.copytree(before, tmp_path / "done"))
    for moment in moments(work, KILLS, seed=18):
        folder = Path(shutil.copytree(before, tmp_path / f"killed-{moment}"))
        killed(work, moment)
        check_after_a_kill(folder, texts)


def check_after_a_kill(folder: Path, texts: list[bytes]) -> None:
    """Nothing is half, every version is there, and going on works, back to what was there at the beginning."""
    ask, vault = here(folder), folder / "vault"
    files = {path: data for path, data in all_files(vault) if not is_draft(path)}
    assert all(data.startswith(b"---\n") and data.endswith(b".\n") for data in files.values())
    assert {*texts} <= {*files.values(), *blobs_in(folder / "home/state.db")}
    ask("sync")
    found = [one["number"] for one in reversed(ask("history", ref=ID, limit=200)["results"])]
    assert found[:3] == [1, 2, 3]
    assert len({*found}) == len(found)
    for number, text in enumerate(texts, 1):
        ask("revert", ref=ID, to=str(number))
        assert (vault / PATH).read_bytes() == text
    undo_what_can_be(ask)
    assert (vault / PATH).read_bytes() in (texts[1], SEEN_BY_A_SYNC)
    assert not [path for path, _ in all_files(vault) if is_draft(path)]
    ask("sync")
    assert rows(folder / "home/index.db") == fresh_rows(folder)


def is_draft(path: str) -> bool:
    return Path(path).name.startswith(".vault-index-")


# --- forgotten for good ---------------------------------------------------------------------------------------------

SECRET = b"the quokka of Rottnest wears a cerulean scarf"


@pytest.mark.parametrize("size", [1, 4_000], ids=["short", "long"])
def test_a_memory_that_is_deleted_for_good_leaves_no_trace(world: World, tmp_path: Path, size: int) -> None:
    chance = random.Random(size)
    prose = " ".join(f"{chance.getrandbits(40):x}" for _ in range(size * 3))
    world.ask("sync")
    world.save(memory(f"{SECRET.decode()} {prose}"))
    texts = [world.read()]
    for words in ("One.", "Two."):
        world.ask("update", ref=ID, content=words, append=True)
        texts.append(world.read())
    world.ask("archive", ref=ID)
    texts.append(world.read())
    world.ask("undo")
    world.save(memory(f"{SECRET.decode()} by hand {prose}"))
    texts.append(world.read())
    world.ask("revert", ref=ID, to="1")
    world.ask("delete", ref=ID)
    world.ask("undo")
    other = world.ask("add", text="Something else that stays.")
    assert traces_of(SECRET, texts, tmp_path / "home")  # else this finds nothing
    world.ask("delete", ref=ID, permanent=True)
    assert traces_of(SECRET, texts, tmp_path) == []
    with pytest.raises(NotFoundError):
        world.ask("history", ref=ID)
    undo_what_can_be(world.ask)
    assert traces_of(SECRET, texts, tmp_path) == []
    assert other["id"]


# --- a vault in a repository ----------------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "core.fsmonitor=false")
    return subprocess.run(
        ["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True, timeout=60
    ).stdout


def armed(repository: Path, canary: Path) -> None:
    """Have a repository name a program, which leaves a mark, wherever git takes one."""
    program = canary.with_name("program")
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> "{canary}"\ncat\n', "utf-8")
    program.chmod(0o755)
    settings = """
        core.fsmonitor core.pager core.editor core.sshCommand core.gitProxy core.askPass core.alternateRefsCommand
        pager.log pager.show pager.diff pager.cat-file diff.external diff.evil.command diff.evil.textconv
        filter.evil.clean filter.evil.smudge filter.evil.process gpg.program gpg.ssh.program gpg.x509.program
        credential.helper uploadpack.packObjectsHook interactive.diffFilter merge.evil.driver sequence.editor
        trailer.evil.command trailer.evil.cmd
    """
    for name in settings.split():
        git(repository, "config", name, str(program))
    for name, value in {
        "core.hooksPath": str(repository / "hooks"),
        "filter.evil.required": "true",
        "log.showSignature": "true",
        "alias.log": f"!{program}",
        "alias.show": f"!{program}",
        "extensions.partialClone": "evil",
        "remote.evil.promisor": "true",
        "remote.evil.url": f"ext::{program}",
        "protocol.ext.allow": "always",
    }.items():
        git(repository, "config", name, value)
    hooks = repository / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"):
        shutil.copy(program, hooks / hook)
        shutil.copy(program, repository / ".git/hooks" / hook)
    (repository / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    (repository / ".git/info").mkdir(exist_ok=True)
    (repository / ".git/info/attributes").write_text("* filter=evil diff=evil merge=evil\n")


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")


@needs_git
@pytest.mark.parametrize("folder", ["", "notes"], ids=["the vault", "a folder above"])
def test_commits_are_shown_and_no_program_of_the_repository_is_run(
    tmp_path: Path, place: Place, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    canary = tmp_path / "canary"
    place.vault.rename(tmp_path / "old")
    repository = tmp_path / "repository"
    vault = repository / folder if folder else repository
    vault.mkdir(parents=True)
    place.vault = vault
    place.home.config_file.write_text(f'[sources.vault]\npath = "{vault}"\n[embedding]\nprovider = "none"\n', "utf-8")
    git(repository, "init", "--quiet")
    texts = [memory("In the first commit."), memory("In the second, with CR.").replace(b"\n", b"\r\n")]
    hashes = []
    for text in texts:
        put(vault, text)
        git(repository, "add", "--all")
        git(repository, "commit", "--quiet", "--message", "A commit: \x1b[31mred")
        hashes.append(git(repository, "rev-parse", "HEAD").strip())
    armed(repository, canary)
    monkeypatch.setenv("GIT_PAGER", str(tmp_path / "program"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(tmp_path / "program"))
    environment = {"VAULT_INDEX_HOME": str(place.home.data_dir)}

    def ask(method: str, **params: Any) -> dict[str, Any]:
        with VaultIndex.open(place.home) as index:
            return dispatch(index, method, params)

    ask("sync")
    commits = [one for one in ask("history", ref=ID)["results"] if one.get("commit")]
    assert [one["commit"] for one in commits] == [
        one[: len(shown["commit"])] for one, shown in zip(reversed(hashes), commits, strict=True)
    ]
    assert {one["by"] for one in commits} == {"Ann"}
    shown = vx("history", ID, "--human", environ=environment)
    assert shown.returncode == 0, shown.stderr
    difference = ask("diff", ref=ID, before=hashes[0], after=hashes[1][:8])["text"]
    assert "-In the first commit." in difference
    assert "+In the second" in difference
    ask("revert", ref=ID, to=hashes[0][:10])
    assert (vault / PATH).read_bytes() == texts[0]
    ask("revert", ref=ID, to=hashes[1])
    assert (vault / PATH).read_bytes() == texts[1]
    ask("undo")
    assert (vault / PATH).read_bytes() == texts[0]
    assert not canary.exists(), canary.read_text()


@needs_git
def test_the_programs_would_have_been_run(tmp_path: Path) -> None:
    """Else the test above proves nothing."""
    repository = tmp_path / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet")
    put(repository, memory("Text."))
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "One")
    armed(repository, tmp_path / "canary")
    put(repository, memory("Other text."))
    for words in (["status"], ["diff"], ["log", "-p", "--textconv"]):
        subprocess.run(["git", "-C", str(repository), *words], capture_output=True, timeout=60, check=False)
    assert (tmp_path / "canary").exists()


@needs_git
@pytest.mark.parametrize("broken", ["no commit", "a torn object", "a file for .git", "a loop of alternates", "no git"])
def test_a_repository_that_cannot_be_read_leaves_the_versions(
    alone: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, broken: str
) -> None:
    vault = alone.vault
    git(vault, "init", "--quiet")
    alone.save(memory("One."))
    if broken != "no commit":
        git(vault, "add", "--all")
        git(vault, "commit", "--quiet", "--message", "One")
    match broken:
        case "a torn object":
            for path in (vault / ".git/objects").rglob("*"):
                if path.is_file():
                    path.chmod(0o600)
                    path.write_bytes(b"torn")
        case "a file for .git":
            (vault / ".git").rename(tmp_path / "elsewhere")
            (vault / ".git").write_text("gitdir: /nowhere/at/all\n")
        case "a loop of alternates":
            (vault / ".git/objects/info/alternates").write_text(f"{vault}/.git/objects\n")
        case "no git":
            (tmp_path / "bin").mkdir()
            monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    alone.save(memory("Two."))
    alone.all_back([memory("One."), memory("Two.")])
