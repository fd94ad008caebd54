"""The day of a note's first commit is its date of creation if nothing else gives one."""

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from vault_index.sources import git
from vault_index.sources.git import GitDates, commits_of

IN_2021, IN_2022, IN_2023 = (datetime(year, 5, 1, 12, tzinfo=UTC).timestamp() for year in (2021, 2022, 2023))

ALLOWED = ("-c", "protocol.file.allow=always")


@pytest.fixture(autouse=True)
def asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_FRESH_SECONDS", -1.0)


def run(folder: Path, *arguments: str, at: float = IN_2021) -> None:
    who = {"NAME": "A", "EMAIL": "a@example.org", "DATE": f"@{at:.0f} +0000"}
    own = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **own, **quiet}, check=True, capture_output=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`old.md` of 2021, moved to `notes/moved note.md` in 2022 when `notes/ö.md` was added."""
    folder = tmp_path_factory.mktemp("git") / "repository"
    write(folder, {"old.md": "Old words.\n", "other.txt": "x"})
    run(folder, "init", "--initial-branch", "main")
    run(folder, "add", ".")
    run(folder, "commit", "-m", "one")
    (folder / "notes").mkdir()
    run(folder, "mv", "old.md", "notes/moved note.md", at=IN_2022)
    write(folder, {"notes/ö.md": "New words.\n"})
    run(folder, "add", ".", at=IN_2022)
    run(folder, "commit", "-m", "two", at=IN_2022)
    return folder


@pytest.fixture
def repository(made: Path, tmp_path: Path) -> Path:
    """A copy of the repository, for a test that changes it."""
    return shutil.copytree(made, tmp_path / "repository")


def test_git_dates_follow_a_file_to_its_first_commit(repository: Path) -> None:
    dates = GitDates(str(repository))
    assert (dates.of("notes/moved note.md"), dates.of("notes/ö.md"), dates.of("nothing.md")) == (IN_2021, IN_2022, None)
    inside = GitDates(str(repository / "notes"))  # it was moved there in 2022
    assert (inside.of("moved note.md"), inside.of("ö.md")) == (IN_2022, IN_2022)
    assert dates.of("later.md") is None
    write(repository, {"later.md": "Later.\n"})
    run(repository, "add", ".", at=IN_2023)
    run(repository, "commit", "-m", "three", at=IN_2023)
    assert (dates.of("later.md"), dates.of("notes/ö.md")) == (IN_2023, IN_2022)


@pytest.mark.parametrize(
    ("commands", "place", "known"),
    [
        ([["pack-refs", "--all"], ["gc"], ["checkout", "--detach"]], "", IN_2021),
        ([["worktree", "add", "../other"]], "../other", IN_2021),
        ([["clone", "--depth", "1", "file://{}", "../other"]], "../other", IN_2022),
        ([["init", "../other"], ["-C", "../other", *ALLOWED, "submodule", "add", "{}", "sub"]],
         "../other/sub", IN_2021),
    ],
    ids=["packed and detached", "worktree", "shallow clone", "submodule"],
)  # fmt: skip
def test_git_dates_read_every_layout(repository: Path, commands: list[list[str]], place: str, known: float) -> None:
    for command in commands:
        run(repository, *(word.format(repository) for word in command))
    assert GitDates(str(repository / place)).of("notes/moved note.md") == known


def test_git_dates_are_unknown_without_a_history(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "empty", {"notes/ö.md": "x"})
    assert GitDates(str(tmp_path / "empty")).of("notes/ö.md") is None
    run(tmp_path / "empty", "init")
    assert GitDates(str(tmp_path / "empty")).of("notes/ö.md") is None
    (repository / ".git/objects").rename(repository / ".git/elsewhere")
    assert GitDates(str(repository)).of("notes/ö.md") is None
    (repository / ".git/elsewhere").rename(repository / ".git/objects")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert GitDates(str(repository)).of("notes/ö.md") is None


def test_git_dates_run_no_program_of_the_repository(repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n", "utf-8")
    program.chmod(0o755)
    programs = {
        "core": ("fsmonitor", "pager", "sshCommand"), "gpg": ("program",), "diff": ("external",),
        'filter "x"': ("clean",),
    }  # fmt: skip
    with (repository / ".git/config").open("a", encoding="utf-8") as config:
        for section, keys in programs.items():
            config.write(f"[{section}]\n" + "".join(f'{key} = "{program}"\n' for key in keys))
        config.write(f'[log]\nshowSignature = true\n[core]\nhooksPath = "{tmp_path}"\n')
    (repository / ".gitattributes").write_text("* filter=x diff=x\n", "utf-8")
    assert GitDates(str(repository)).of("notes/ö.md") == IN_2022
    assert not ran.exists()


def test_git_dates_take_no_argument_from_head(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "words").write_text(f"--output={tmp_path}/written", "utf-8")
    for head in ("--output={}", "ref: {}", "ref: refs/heads/../../../words", "ref:", "", "f" * git._MOST_BYTES * 2):
        (repository / ".git/HEAD").write_text(head.format(tmp_path / "written"), "utf-8")
        assert GitDates(str(repository)).of("notes/ö.md") is None, head[:100]
        assert not (tmp_path / "written").exists(), head[:100]


@pytest.mark.parametrize(
    ("name", "target"),
    [
        (".git", "{}/.git"), (".git/HEAD", "/dev/zero"), (".git/HEAD", "{}/.git/HEAD"), (".git/refs", "{}/.git/refs"),
        (".git/objects", "{}/.git/objects"), (".git/objects/pack", "{}/.git/objects/pack"),
    ],
)  # fmt: skip
def test_git_dates_follow_no_link_out_of_a_repository(made: Path, repository: Path, name: str, target: str) -> None:
    (repository / name).rename(repository / "before")
    (repository / name).symlink_to(target.format(made))
    assert commits_of(str(repository), "notes/ö.md") == []
    assert GitDates(str(repository)).of("notes/ö.md") is None


@pytest.mark.parametrize(
    ("name", "text"),
    [(".git", "gitdir: {}/.git"), (".git/commondir", "{}/.git"), (".git/objects/info/alternates", "{}/.git/objects")],
)
def test_git_dates_use_no_other_repository(made: Path, repository: Path, tmp_path: Path, name: str, text: str) -> None:
    if name == ".git":
        (repository / name).rename(repository / "before")
    (repository / name).write_text(text.format(made), "utf-8")
    assert commits_of(str(repository), "notes/ö.md") == []
    assert GitDates(str(repository)).of("notes/ö.md") is None


def test_git_dates_do_not_copy_an_endless_list_of_shallow_commits(repository: Path) -> None:
    (repository / ".git/shallow").symlink_to("/dev/zero")
    assert GitDates(str(repository)).of("notes/ö.md") == IN_2022


def test_created_is_not_the_day_of_a_clone(repository: Path, tmp_path: Path) -> None:
    run(tmp_path, "clone", str(repository), str(tmp_path / "vault"))
    write(tmp_path / "vault", {"2020-01-02 dated.md": "Dated.\n", "said.md": "---\ncreated: 2019-03-04\n---\nSaid.\n"})
    write(tmp_path / "vault", {"new.md": "New.\n"})
    os.utime(tmp_path / "vault/new.md", (IN_2023, IN_2023))
    with opened(tmp_path) as index:
        index.sync()
        created = {one.path: datetime.fromisoformat(one.created).year for one in index.list().results}
        assert created == {
            "said.md": 2019, "2020-01-02 dated.md": 2020, "notes/moved note.md": 2021, "notes/ö.md": 2022,
            "new.md": 2023,
        }  # fmt: skip
        (tmp_path / "vault/notes/ö.md").write_text("Newer words.\n", "utf-8")
        index.sync([tmp_path / "vault/notes/ö.md"])
        assert [one.path for one in index.timeline("notes/ö.md").before][-1] == "notes/moved note.md"
