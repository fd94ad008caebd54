"""`forget`: afterwards no file of ours contains text of the sessions."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sources.sessions.fake import Fake, opened, write
from tests.sources.sessions.test_archive import EGRET, HERON, STORK, drop, found, home, talks
from vault_index.config import Home
from vault_index.config.edit import set_value
from vault_index.errors import NotFoundError, UsageError
from vault_index.results.status import SentRecord
from vault_index.store.cache import Cache
from vault_index.store.state import State

__all__ = ["home", "talks"]  # fixtures
DEEP = "quarkspiel"
"""A word of a single session."""


def files_with(home: Home, *needles: str) -> set[str]:
    """Files of ours with any of these words, as written or in lower case."""
    forms = {form.encode() for needle in needles for form in (needle, needle.lower())}
    return {
        file.name
        for file in home.data_dir.rglob("*")
        if file.is_file() and any(form in file.read_bytes() for form in forms)
    }


@pytest.mark.parametrize("swept", [False, True])
def test_forget_removes_a_session_from_every_file_for_good(home: Home, talks: Path, *, swept: bool) -> None:
    set_value(home, "embedding.provider", "local")
    write(
        talks, "0199-quark", f"The {DEEP} begins at noon.", "Noon it is.", title=f"About {DEEP}", cwd="/home/user/lab"
    )
    with opened(home) as index:
        assert found(index, DEEP) == [1]
        assert {"index.db", "0199-quark.md", ".heads.json"} <= files_with(home, DEEP)
        if swept:
            drop(talks, "0199-quark")
            index.sync()
        vectors = vectors_in(home)
        (told,) = index.forget(["0199-quark"], dry_run=True).results
        assert (told.outcome, told.title, found(index, DEEP)) == ("would be forgotten", f"About {DEEP}", [1])
        (told,) = index.forget(["0199-quark"]).results
        assert (told.outcome, found(index, DEEP, "heron")) == ("forgotten", [0, 1])
        assert files_with(home, DEEP, "Noon it is", "/home/user/lab") == set()
        assert vectors_in(home) < vectors
        write(talks, "0199-quark", f"More of the {DEEP}.")  # its client continues it
        index.sync()
        assert found(index, DEEP) == [0]
        (codex,) = [one for one in index.status().sources if one.name == "codex"]
        assert (codex.documents, codex.found, codex.current) == (3, 3, 3)
        index.rebuild()
        assert found(index, DEEP, "heron") == [0, 1]
    with opened(home) as index:
        assert found(index, DEEP) == [0]
    assert files_with(home, DEEP, "/home/user/lab") == set()


def vectors_in(home: Home) -> int:
    with closing(Cache(home.cache_db)) as cache:
        return int(cache.value("SELECT count(*) FROM embedding"))


def test_forget_removes_the_mirrored_note_and_the_path_from_the_ledger(home: Home, talks: Path, tmp_path: Path) -> None:
    set_value(home, "sessions.codex.enabled", "true")
    set_value(home, "sessions.mirror", "sessions")
    write(talks, "0199-quark", f"The {DEEP} begins.", title=f"About {DEEP}")
    with opened(home) as index:
        (note,) = index.list(session="0199-quark").results
        file = tmp_path / "vault" / note.path
        assert DEEP in file.read_text("utf-8")
        with closing(State(home.state_db)) as state:
            paths = (note.path, "(forgotten)")
            state.record_sent([SentRecord("2026-11-22", "http://e", "m", "vault", path, 2, 30) for path in paths])
        index.forget("0199-quark")
        index.sync()
        assert (file.exists(), found(index, DEEP)) == (False, [0])
    assert files_with(home, DEEP) == set()
    with closing(State(home.state_db)) as state:
        assert [(one.path, one.texts, one.tokens) for one in state.sent()] == [("(forgotten)", 4, 60)]


def test_forget_chooses_sessions_by_reference_and_filters(home: Home, talks: Path) -> None:
    write(talks, "0199-lab", "A lab.", cwd="/home/user/lab")
    write(talks, "0199-old", "An old one.", at=1_600_000_000_000)
    with opened(home) as index:

        def chosen(*refs: str, **filters: Any) -> set[str]:
            return {Path(one.path).stem for one in index.forget(refs, dry_run=True, **filters).results}

        assert chosen(project="lab") == {"0199-lab"}
        assert chosen(before="2025-01-01") == {"0199-old"}
        assert chosen(client="codex", project="api") == {HERON, EGRET, STORK, "0199-old"}
        assert chosen(client="opencode") == set()
        assert chosen(f"api/{HERON}.md", "0199-lab") == {HERON, "0199-lab"}
        wrong: list[tuple[tuple[str, ...], str | None]] = [((), None), ((HERON,), "api")]
        for refs, project in wrong:
            with pytest.raises(UsageError):
                index.forget(refs, project=project)
        with pytest.raises(NotFoundError):
            index.forget("x1")
        with pytest.raises(UsageError, match="not a session"):
            index.forget("note.md")
        assert index.list(kind="session").total == 5
        index.forget(project="lab")
        write(talks, "0199-new", "A new one in the lab.", cwd="/home/user/lab")
        index.sync()
        assert chosen(project="lab") == {"0199-new"}  # later sessions are read


def test_forget_includes_the_sessions_of_subagents(home: Home, talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Fake.head
    monkeypatch.setattr(
        Fake, "head", lambda *args: (one := plain(*args)) and replace(one, parent=HERON if one.id == EGRET else "")
    )
    with opened(home) as index:
        index.rebuild()
        assert {Path(one.path).stem for one in index.forget(HERON).results} == {HERON, EGRET}
