"""Histories under attack: kills, permanent deletes, and repositories that are broken or would run programs."""

import random
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import fresh_rows, rows
from tests.kills import killed, moments
from tests.memories.versions import Repository, blobs_in, traces_of
from tests.memories.waiting import Ask, all_files, files_of, here, is_draft, new_home, undo_what_can_be
from tests.world import World, opened_world
from vault_index.errors import NotFoundError

ID = "11111111-1111-4111-8111-111111111111"
PATH = "80-memory/note/heron.md"
KILLS = 6
"""Number of kill moments tried for each command."""


def memory(body: str) -> bytes:
    return f"---\nid: {ID}\ntype: note\ntitle: Heron\ncreated: 2026-01-01\n---\n{body}\n".encode()


def save(vault: Path, data: bytes) -> None:
    """Replace the file, as editors do."""
    (vault / PATH).parent.mkdir(parents=True, exist_ok=True)
    draft = vault / f"{PATH}.tmp"
    draft.write_bytes(data)
    draft.replace(vault / PATH)


def check_versions(ask: Ask, vault: Path, texts: list[bytes]) -> None:
    """Check the first versions, and that each can be restored."""
    for number, text in enumerate(texts, 1):
        ask("revert", ref=ID, to=str(number))
        assert (vault / PATH).read_bytes() == text


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with opened_world(tmp_path) as world:
        yield world


# --- kills ---------------------------------------------------------------------------------------------------------

SEEN_BY_A_SYNC = memory("Saved before the sync.")
KILLED: dict[str, dict[str, Any]] = {
    "update": {"ref": ID, "content": "By a command."},
    "revert": {"ref": ID, "to": "1"},
    "undo": {},
    "delete": {"ref": ID},
    "sync": {},
}


@pytest.mark.parametrize("method", KILLED)
def test_history_keeps_every_version_and_a_whole_file_after_a_kill(tmp_path: Path, method: str) -> None:
    before = tmp_path / "before"
    new_home(before)
    texts = [memory("One."), memory("Two.")]
    for text in texts:
        save(before / "vault", text)
        here(before)("sync")
    here(before)("update", ref=ID, add_tags="bird")
    texts.append((before / f"vault/{PATH}").read_bytes())
    if method == "sync":
        save(before / "vault", SEEN_BY_A_SYNC)

    def work() -> None:
        here(folder)(method, **KILLED[method])

    folder = Path(shutil.copytree(before, tmp_path / "done"))
    for moment in moments(work, KILLS, seed=18):
        folder = Path(shutil.copytree(before, tmp_path / f"killed-{moment}"))
        killed(work, moment)
        check_after_a_kill(folder, texts)


def check_after_a_kill(folder: Path, texts: list[bytes]) -> None:
    """Check that no file is half written, that every version exists, and that undo restores the first state."""
    ask, vault = here(folder), folder / "vault"
    files = {path: data for path, data in all_files(vault) if not is_draft(path)}
    assert all(data.startswith(b"---\n") and data.endswith(b".\n") for data in files.values())
    assert {*texts} <= {*files.values(), *blobs_in(folder / "home/state.db")}
    ask("sync")
    numbers = [one["number"] for one in reversed(ask("history", ref=ID, limit=200)["results"])]
    assert numbers[:3] == [1, 2, 3]
    assert len({*numbers}) == len(numbers)
    check_versions(ask, vault, texts)
    undo_what_can_be(ask)
    assert (vault / PATH).read_bytes() in (texts[1], SEEN_BY_A_SYNC)
    assert not [path for path, _ in all_files(vault) if is_draft(path)]
    ask("sync")
    assert rows(folder / "home/index.db") == fresh_rows(folder)


def test_undo_from_four_clients_reverts_each_change_once(world: World) -> None:
    world.daemon()
    for number in range(8):
        world.ask("add", text=f"Fact {number} of the heron.")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: world.ask("undo"), range(8)))
    assert len({str(answer["results"]) for answer in answers}) == 8
    assert files_of(world.vault) == {}


# --- permanent deletes ---------------------------------------------------------------------------------------------

SECRET = "the quokka of Rottnest wears a cerulean scarf"


@pytest.mark.parametrize(("daemon", "words"), [(False, 12_000), (True, 3)], ids=["alone", "with a daemon"])
def test_delete_permanent_leaves_no_trace(world: World, tmp_path: Path, daemon: bool, words: int) -> None:
    if daemon:
        world.daemon()
    ask, vault = world.ask if daemon else here(tmp_path), world.vault
    chance = random.Random(words)
    prose = " ".join(f"{chance.getrandbits(40):x}" for _ in range(words))
    ask("sync")
    save(vault, memory(f"{SECRET} {prose}"))
    ask("sync")
    texts = [(vault / PATH).read_bytes()]
    for method, params in (
        ("update", {"content": "One.", "append": True}),
        ("update", {"content": "Two.", "append": True}),
        ("archive", {}),
    ):
        ask(method, ref=ID, **params)
        texts.append((vault / PATH).read_bytes())
    ask("undo")
    texts.append(memory(f"{SECRET} by hand {prose}"))
    save(vault, texts[-1])
    ask("sync")
    ask("revert", ref=ID, to="1")
    ask("delete", ref=ID)
    ask("undo")
    ask("add", text="Something else that stays.")
    assert traces_of(SECRET.encode(), texts, tmp_path / "home")
    ask("delete", ref=ID, permanent=True)
    assert traces_of(SECRET.encode(), texts, tmp_path) == []
    with pytest.raises(NotFoundError):
        ask("history", ref=ID)
    undo_what_can_be(ask)
    assert traces_of(SECRET.encode(), texts, tmp_path) == []


# --- a vault that is a repository ----------------------------------------------------------------------------------

COMMITTED = [memory("In the first commit."), memory("In the second, with CR.").replace(b"\n", b"\r\n")]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("template"))
    for text in COMMITTED:
        save(repository.folder, text)
        repository.commit("A commit: \x1b[31mred", {})
    return repository


def copied(template: Repository, folder: Path) -> Path:
    """Make the vault of a new home a copy of the repository."""
    vault = new_home(folder)
    return Path(shutil.copytree(template.folder, vault, dirs_exist_ok=True))


def arm(vault: Path, canary: Path) -> Path:
    """Set every program that git would run for the repository to one that writes to the canary."""
    program = canary.with_name("program")
    program.write_text(f'#!/bin/sh\necho "$0 $@" >> "{canary}"\ncat\n', "utf-8")
    program.chmod(0o755)
    names = """
        core.fsmonitor core.pager core.editor core.sshCommand core.gitProxy core.askPass core.alternateRefsCommand
        pager.log pager.show pager.diff pager.cat-file diff.external diff.evil.command diff.evil.textconv
        filter.evil.clean filter.evil.smudge filter.evil.process gpg.program gpg.ssh.program gpg.x509.program
        credential.helper uploadpack.packObjectsHook interactive.diffFilter merge.evil.driver sequence.editor
        trailer.evil.command trailer.evil.cmd
    """
    settings = dict.fromkeys(names.split(), str(program)) | {
        "core.hooksPath": str(vault / "hooks"),
        "filter.evil.required": "true",
        "log.showSignature": "true",
        "alias.log": f"!{program}",
        "alias.show": f"!{program}",
        "extensions.partialClone": "evil",
        "remote.evil.promisor": "true",
        "remote.evil.url": f"ext::{program}",
        "protocol.ext.allow": "always",
    }
    with (vault / ".git/config").open("a", encoding="utf-8") as file:
        for name, value in settings.items():
            section, _, key = name.rpartition(".")
            kind, _, subsection = section.partition(".")
            file.write(f'[{kind} "{subsection}"]\n' if subsection else f"[{kind}]\n")
            file.write(f'\t{key} = "{value}"\n')
    (vault / "hooks").mkdir()
    for hook in ("post-index-change", "reference-transaction", "fsmonitor-watchman", "post-checkout", "pre-auto-gc"):
        shutil.copy(program, vault / "hooks" / hook)
        shutil.copy(program, vault / ".git/hooks" / hook)
    for attributes in (vault / ".gitattributes", vault / ".git/info/attributes"):
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text("* filter=evil diff=evil merge=evil\n", "utf-8")
    return program


def test_history_runs_no_program_of_the_repository(
    template: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, canary, ask = copied(template, tmp_path), tmp_path / "canary", here(tmp_path)
    program = arm(vault, canary)
    monkeypatch.setenv("GIT_PAGER", str(program))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(program))
    first, second = template.commits
    ask("sync")
    found = [one["commit"] for one in ask("history", ref=ID)["results"] if one.get("commit")]
    assert found == [second, first]
    difference = ask("diff", ref=ID, before=first, after=second[:8])["text"]
    assert "-In the first commit." in difference
    assert "+In the second" in difference
    for commit, text in zip(template.commits, COMMITTED, strict=True):
        ask("revert", ref=ID, to=commit[:10])
        assert (vault / PATH).read_bytes() == text
    ask("undo")
    assert (vault / PATH).read_bytes() == COMMITTED[0]
    assert not canary.exists(), canary.read_text()
    subprocess.run(["git", "-C", str(vault), "diff"], capture_output=True, check=False)
    assert canary.exists(), "git itself would have run none"


@pytest.mark.parametrize("broken", ["no commit", "torn objects", "a file for .git", "a loop of alternates", "no git"])
def test_history_survives_an_unreadable_repository(
    template: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    vault, ask = copied(template, tmp_path), here(tmp_path)
    match broken:
        case "no commit":
            (vault / ".git/refs/heads/main").unlink()
        case "torn objects":
            for path in (vault / ".git/objects").rglob("*"):
                if path.is_file():
                    path.chmod(0o600)
                    path.write_bytes(b"torn")
        case "a file for .git":
            shutil.rmtree(vault / ".git")
            (vault / ".git").write_text("gitdir: /nowhere/at/all\n")
        case "a loop of alternates":
            (vault / ".git/objects/info/alternates").write_text(f"{vault}/.git/objects\n")
        case "no git":
            monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    texts = [COMMITTED[1], memory("Two.")]
    for text in texts:
        save(vault, text)
        ask("sync")
    check_versions(ask, vault, texts)
    assert list(files_of(vault)) == [PATH]
