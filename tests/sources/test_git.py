"""The day a note was first committed counts where nothing else says when it was created."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from vault_index.sources import git
from vault_index.sources.git import GitDates

IN_2021, IN_2022, IN_2023 = (datetime(year, 5, 1, 12, tzinfo=UTC).timestamp() for year in (2021, 2022, 2023))


@pytest.fixture(autouse=True)
def asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_FRESH_SECONDS", -1.0)


def run(folder: Path, *arguments: str, at: float = IN_2021) -> None:
    who = {"NAME": "A", "EMAIL": "a@example.org", "DATE": f"@{at:.0f} +0000"}
    own = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in who.items()}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **own, **quiet}, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """`old.md` of 2021, moved to `notes/moved note.md` in 2022 when `notes/ö.md` was added."""
    folder = tmp_path / "repository"
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


def test_a_file_has_its_first_commit_under_any_name(repository: Path) -> None:
    dates = GitDates(str(repository))
    assert (dates.of("notes/moved note.md"), dates.of("notes/ö.md"), dates.of("nothing.md")) == (IN_2021, IN_2022, None)
    inside = GitDates(str(repository / "notes"))  # into which it was moved in 2022
    assert (inside.of("moved note.md"), inside.of("ö.md")) == (IN_2022, IN_2022)


def test_what_is_committed_later_is_read_as_well(repository: Path) -> None:
    dates = GitDates(str(repository))
    assert dates.of("later.md") is None
    write(repository, {"later.md": "Later.\n"})
    run(repository, "add", ".", at=IN_2023)
    run(repository, "commit", "-m", "three", at=IN_2023)
    assert (dates.of("later.md"), dates.of("notes/ö.md")) == (IN_2023, IN_2022)


@pytest.mark.parametrize("how", ["packed", "detached", "clone", "shallow", "worktree"])
def test_wherever_the_repository_keeps_what_it_knows(repository: Path, tmp_path: Path, how: str) -> None:
    folder = tmp_path / "other"
    if how == "packed":
        folder = repository
        run(repository, "pack-refs", "--all")
        run(repository, "gc")
    elif how == "detached":
        folder = repository
        run(repository, "checkout", "--detach")
    elif how == "worktree":
        run(repository, "worktree", "add", str(folder))
    else:
        run(tmp_path, "clone", *(["--depth", "1"] if how == "shallow" else []), f"file://{repository}", str(folder))
    known = IN_2022 if how == "shallow" else IN_2021
    assert GitDates(str(folder)).of("notes/moved note.md") == known


@pytest.mark.parametrize("broken", ["no git", "no repository", "no commit", "no objects"])
def test_without_a_history_there_are_no_dates(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    folder = repository
    if broken == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    elif broken == "no objects":
        (repository / ".git/objects").rename(repository / ".git/elsewhere")
    else:
        folder = tmp_path / "empty"
        write(folder, {"notes/ö.md": "x"})
        if broken == "no commit":
            run(folder, "init")
    assert GitDates(str(folder)).of("notes/ö.md") is None


def test_nothing_that_the_repository_names_is_run(repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n", "utf-8")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "gpg.program", "core.pager", "diff.external", "filter.x.clean", "core.sshCommand"):
        run(repository, "config", key, str(program))
    run(repository, "config", "log.showSignature", "true")
    run(repository, "config", "core.hooksPath", str(tmp_path))
    (repository / ".gitattributes").write_text("* filter=x diff=x\n", "utf-8")
    assert GitDates(str(repository)).of("notes/ö.md") == IN_2022
    assert not ran.exists()


@pytest.mark.parametrize("head", ["--output={}", "ref: {}", "ref: refs/heads/../../../words", "ref:", ""])
def test_a_head_that_is_no_commit_is_no_argument(repository: Path, tmp_path: Path, head: str) -> None:
    (tmp_path / "words").write_text(f"--output={tmp_path}/written", "utf-8")
    (repository / ".git/HEAD").write_text(head.format(tmp_path / "written"), "utf-8")
    assert GitDates(str(repository)).of("notes/ö.md") is None
    assert not (tmp_path / "written").exists()


def test_a_clone_is_no_day_of_its_notes(repository: Path, tmp_path: Path) -> None:
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
