"""Whoever upgrades has an index as the program made it before the last change: the next sync makes it one of today. A
change of what rows are made of that forgot to raise ROWS_VERSION fails here."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest

from tests.api.vaults import fresh_rows, opened, rows, write
from tests.store.test_upgrade import NOTES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def previous(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as the commit before the last one that changed it has it."""
    words = ["git", "-C", str(ROOT), "log", "-2", "--format=%H", "--", "vault_index"]
    try:
        commits = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        commits = []
    if len(commits) < 2:
        pytest.skip("needs git, and a clone with more than one commit")
    folder = tmp_path_factory.mktemp("previous")
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commits[1], "vault_index"], capture_output=True, check=True
    )
    subprocess.run(["tar", "-x", "-C", str(folder)], input=packed.stdout, check=True)
    return folder


@pytest.mark.parametrize(("provider", "vault"), [("none", "fixtures/vault"), ("local", "")])
def test_an_index_of_the_previous_commit_is_carried_over(
    previous: Path, tmp_path: Path, provider: str, vault: str
) -> None:
    if vault:
        copytree(ROOT / vault, tmp_path / "vault")
    else:
        write(tmp_path / "vault", NOTES)
    with opened(tmp_path, provider=provider) as index:
        home = index.home
    environ = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    made = [sys.executable, "-m", "vault_index", "sync", "--home", str(home.data_dir)]
    subprocess.run(made, cwd=previous, env=environ, check=True, capture_output=True)
    assert home.index_db.exists()
    with opened(tmp_path, provider=provider) as index:
        report = index.sync()
        assert (report.embedded, report.pending, report.removed, report.failed) == (0, 0, 0, ())
        assert [problem.code for problem in index.doctor(deep=True).problems if problem.code != "frontmatter"] == []
        assert rows(home.index_db) == fresh_rows(tmp_path, provider=provider)
