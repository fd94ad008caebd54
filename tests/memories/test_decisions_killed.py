"""Decisions that write several files, killed around every one: what is half done is seen in review, undone to the
very bytes, or finished by deciding again."""

import re
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.api.vaults import fresh_rows, rows
from tests.kills import OF_FILES, killed, moments
from tests.memories.versions import said_in
from tests.memories.waiting import COUNTS, Author, all_files, files_of, here, is_draft, is_whole, make_waiting, marks
from vault_index.errors import NotFoundError

FIRST, *OTHERS = REFS = ["80-memory/inbox/alike-0.md", "80-memory/note/alike-2.md", "80-memory/note/alike-4.md"]
"""The first waits in the inbox, so that it is moved as well; none is like another: only what was begun brings them
together."""
_UPDATED = re.compile(rb"^updated: .*\n", re.MULTILINE)


def prepared(folder: Path) -> dict[str, bytes]:
    """A place that can be copied elsewhere, in which nothing can be undone; its files."""
    vault = folder / "vault"
    (vault / "80-memory/inbox").mkdir(parents=True)
    (folder / "home").mkdir(mode=0o700)
    (folder / "home/config.toml").write_text('[sources.vault]\npath = "../vault"\n[embedding]\nprovider = "none"\n')
    make_waiting(vault, here(folder), Author(), {kind: 3 if kind == "alike" else 0 for kind in COUNTS})
    (vault / "80-memory/note/alike-0.md").rename(vault / FIRST)
    here(folder)("sync")
    return files_of(vault)


def said(vault: Path) -> dict[str, bytes]:
    """What the memories say, but for the moment at which that was written."""
    return {path: _UPDATED.sub(b"", data) for path, data in files_of(vault).items()}


def decide(folder: Path, action: str) -> object:
    return here(folder)("decide", action=action, ref=REFS)


def undo(folder: Path) -> object:
    """There may be nothing that was done, or nothing any more."""
    with suppress(NotFoundError):
        return here(folder)("undo")
    return None


def loses_nothing(folder: Path, before: dict[str, bytes]) -> None:
    files = {path: data for path, data in all_files(folder / "vault") if not is_draft(path)}
    assert all(map(is_whole, files.values()))
    kept = "\n".join([b"\n".join(files.values()).decode(), *said_in(folder / "home/state.db")])
    assert marks(kept) >= marks(b"\n".join(before.values()).decode())


def is_indexed(folder: Path) -> None:
    here(folder)("sync")
    assert rows(folder / "home/index.db") == fresh_rows(folder)
    assert not [path for path, _ in all_files(folder / "vault") if is_draft(path)]


@pytest.mark.parametrize("action", ["merge", "supersede", "delete"])
def test_what_a_kill_left_half_done_is_undone_or_finished(tmp_path: Path, action: str) -> None:
    before, done = prepared(tmp_path / "before"), tmp_path / "done"
    shutil.copytree(tmp_path / "before", done)
    left = set()
    for moment in moments(partial(decide, done, action), 1000, 1, OF_FILES):
        folder = Path(shutil.copytree(tmp_path / "before", tmp_path / f"killed-{moment}"))
        killed(partial(decide, folder, action), moment, OF_FILES)
        loses_nothing(folder, before)
        state = frozenset(said(folder / "vault").items())
        other = Path(shutil.copytree(folder, tmp_path / f"finished-{moment}"))
        undo(folder)
        assert files_of(folder / "vault") == before
        if state not in left:
            left.add(state)
            is_indexed(folder)
            decide(folder, action)
            with suppress(NotFoundError):  # it was done
                decide(other, action)
            for again in (folder, other):
                assert said(again / "vault") == said(done / "vault")
                is_indexed(again)
        shutil.rmtree(folder)
        shutil.rmtree(other)
    assert len(left) > len(REFS)


@pytest.mark.parametrize("action", ["merge", "delete"])
def test_an_undo_that_was_killed_is_finished_by_the_next(tmp_path: Path, action: str) -> None:
    before, done = prepared(tmp_path / "done"), tmp_path / "done"
    decide(done, action)
    undone = Path(shutil.copytree(done, tmp_path / "undone"))
    for moment in moments(partial(undo, undone), 1000, 1, OF_FILES):
        folder = Path(shutil.copytree(done, tmp_path / f"killed-{moment}"))
        killed(partial(undo, folder), moment, OF_FILES)
        loses_nothing(folder, before)
        undo(folder)
        assert files_of(folder / "vault") == before
        shutil.rmtree(folder)
    undo(done)
    is_indexed(done)


@pytest.mark.parametrize("action", ["merge", "supersede"])
def test_review_shows_what_is_half_done_until_it_is_finished(tmp_path: Path, action: str) -> None:
    prepared(tmp_path / "before")
    done = Path(shutil.copytree(tmp_path / "before", tmp_path / "done"))
    shown = []
    for moment in moments(partial(decide, done, action), 1000, 1, OF_FILES):
        folder = Path(shutil.copytree(tmp_path / "before", tmp_path / f"killed-{moment}"))
        killed(partial(decide, folder, action), moment, OF_FILES)
        files, ask = files_of(folder / "vault"), here(folder)
        lacking = [path for path in OTHERS if b"superseded_by" not in files[path]]
        if b"supersedes" in files.get(FIRST, b"") and lacking and len(lacking) not in shown:
            shown.append(len(lacking))
            for _ in lacking:
                ask("sync")
                [begun, *_] = ask("review", reason="duplicate")["results"]
                paths = [one["path"] for one in begun["memories"]]
                assert (Path(paths[0]).name, paths[1] in lacking) == (Path(FIRST).name, True)
                ask("decide", action=action, ref=paths)
            assert said(folder / "vault").keys() == said(done / "vault").keys()
        shutil.rmtree(folder)
    assert shown == [2, 1]
