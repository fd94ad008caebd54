"""Killed decisions and undos: no text is lost, and the next undo or the repeated decision completes them."""

import re
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.api.vaults import fresh_rows, rows, write
from tests.kills import OF_FILES, killed, moments
from tests.memories.versions import origin_in
from tests.memories.waiting import (
    Author,
    all_files,
    files_of,
    here,
    is_draft,
    is_whole,
    marks,
    new_home,
)
from vault_index.errors import NotFoundError, UsageError

FIRST, *OTHERS = REFS = ["80-memory/inbox/heron.md", "80-memory/note/coot.md", "80-memory/note/tern.md"]
"""The first lies in the inbox, so a decision moves it. No two are similar, so only the decision joins them."""
KILLS = 5
"""Number of kill moments tried for a decision that writes one file."""
_UPDATED = re.compile(rb"^updated: .*\n", re.MULTILINE)


def prepared(folder: Path) -> dict[str, bytes]:
    """Make a home that can be copied, without a change to undo; return its files."""
    vault, author = new_home(folder), Author()
    for number, path in enumerate(REFS):
        text = author.marked(author.sentence())
        front = f"id: 00000000-0000-4000-8000-{number:012}\ntitle: {text[:5]}\ncreated: 2026-11-20\nown: kept"
        write(vault, {path: f"---\n{front}\n---\n{text}\n"})
    here(folder)("sync")
    return files_of(vault)


def contents(vault: Path) -> dict[str, bytes]:
    """The memories without the time of their last change."""
    return {path: _UPDATED.sub(b"", data) for path, data in files_of(vault).items()}


def decide(folder: Path, action: str, refs: list[str] = REFS, **more: str) -> object:
    return here(folder)("decide", action=action, ref=refs, **more)


def undo(folder: Path) -> object:
    """Undo the last change, if there is one."""
    with suppress(NotFoundError):
        return here(folder)("undo")
    return None


def check_texts(folder: Path, before: dict[str, bytes]) -> None:
    """Check that no file is half written, and that every text is in a file or in the state."""
    files = {path: data for path, data in all_files(folder / "vault") if not is_draft(path)}
    assert all(map(is_whole, files.values()))
    kept = "\n".join([b"\n".join(files.values()).decode(), *origin_in(folder / "home/state.db")])
    assert marks(kept) >= marks(b"\n".join(before.values()).decode())


def check_index(folder: Path) -> None:
    here(folder)("sync")
    assert rows(folder / "home/index.db") == fresh_rows(folder)
    assert not [path for path, _ in all_files(folder / "vault") if is_draft(path)]


DECISIONS = {
    "accept": ([FIRST], {}),
    "edit": ([FIRST], {"text": "---\nid: 00000000-0000-4000-8000-000000000000\n---\nx0001 anew end0001.\n"}),
    "archive": (OTHERS, {}),
}


@pytest.mark.parametrize("action", DECISIONS)
def test_undo_reverts_a_killed_decision(tmp_path: Path, action: str) -> None:
    before = prepared(tmp_path / "before")
    refs, more = DECISIONS[action]
    done = Path(shutil.copytree(tmp_path / "before", tmp_path / "done"))
    for moment in moments(partial(decide, done, action, refs, **more), KILLS, seed=18):
        folder = Path(shutil.copytree(tmp_path / "before", tmp_path / f"killed-{moment}"))
        killed(partial(decide, folder, action, refs, **more), moment)
        check_texts(folder, before)
        with suppress(NotFoundError, UsageError):  # it was completed
            decide(folder, action, refs, **more)
        for _ in range(2):
            undo(folder)
        assert files_of(folder / "vault") == before
        check_index(folder)


@pytest.mark.parametrize("action", ["merge", "delete"])
def test_undo_or_repeat_completes_a_killed_decision(tmp_path: Path, action: str) -> None:
    before, done = prepared(tmp_path / "before"), tmp_path / "done"
    shutil.copytree(tmp_path / "before", done)
    left = set()
    for moment in moments(partial(decide, done, action), 1000, 1, OF_FILES):
        folder = Path(shutil.copytree(tmp_path / "before", tmp_path / f"killed-{moment}"))
        killed(partial(decide, folder, action), moment, OF_FILES)
        check_texts(folder, before)
        state = frozenset(contents(folder / "vault").items())
        other = Path(shutil.copytree(folder, tmp_path / f"finished-{moment}"))
        undo(folder)
        assert files_of(folder / "vault") == before
        if state not in left:
            left.add(state)
            check_index(folder)
            decide(folder, action)
            with suppress(NotFoundError):  # it was completed
                decide(other, action)
            for again in (folder, other):
                assert contents(again / "vault") == contents(done / "vault")
                check_index(again)
        shutil.rmtree(folder)
        shutil.rmtree(other)
    assert len(left) > len(REFS)


@pytest.mark.parametrize("action", ["merge", "delete"])
def test_undo_completes_a_killed_undo(tmp_path: Path, action: str) -> None:
    before, done = prepared(tmp_path / "done"), tmp_path / "done"
    decide(done, action)
    undone = Path(shutil.copytree(done, tmp_path / "undone"))
    for moment in moments(partial(undo, undone), 1000, 1, OF_FILES):
        folder = Path(shutil.copytree(done, tmp_path / f"killed-{moment}"))
        killed(partial(undo, folder), moment, OF_FILES)
        check_texts(folder, before)
        undo(folder)
        assert files_of(folder / "vault") == before
        shutil.rmtree(folder)
    undo(done)
    check_index(done)
