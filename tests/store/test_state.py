"""`state.db`: a loss is noticed, and the readable rows of a damaged one are kept."""

import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from vault_index.errors import CacheDamagedError, StateDamagedError
from vault_index.models import VectorSpace
from vault_index.results.status import SentRecord
from vault_index.store.cache import Cache
from vault_index.store.connection import write_meta
from vault_index.store.records import MirroredSession
from vault_index.store.state import STATE_MADE, State, mend
from vault_index.store.writer import IndexWriter

SPACE = VectorSpace("openai", "toy", 2, "https://x")
VECTOR = b"\0" * 8
SENT = [SentRecord(f"2026-11-{day}", "https://x", "toy", "vault", f"{day}.md", 2, 100) for day in range(10, 30)]
FORGOTTEN = MirroredSession("", "made of", b"w", 7, b"t", (("session", "torn"),))


def fill(path: Path) -> None:
    with closing(State(path)) as state:
        state.record_access("uid", 5.5)
        state.record_sent(SENT)
        state.put_mirrored("ses", FORGOTTEN)


def hurt(path: Path, *statements: str) -> None:
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("ignore_check_constraints", True)
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("remembered_by", ["index", "cache"])
@pytest.mark.parametrize("empty", [False, True])
def test_state_lost_is_reported_as_damage(tmp_path: Path, remembered_by: str, empty: bool) -> None:
    fill(tmp_path / "state.db")
    if remembered_by == "cache":
        Cache(tmp_path / "cache.db").close()
    else:
        with closing(IndexWriter(tmp_path / "index.db")) as writer:
            write_meta(writer, STATE_MADE, "made")
    for path in tmp_path.glob("state.db*"):
        path.unlink()
    if empty:
        (tmp_path / "state.db").touch()
    for _ in range(2):
        with closing(State(tmp_path / "state.db")) as state:
            for ask in (state.check, state.sent, state.mirrored, state.usage):
                with pytest.raises(StateDamagedError, match="missing or empty") as caught:
                    ask()
            assert "doctor --fix" in caught.value.hint
            assert state.accesses(["uid"]) == {}
    Cache(tmp_path / "cache.db").close()  # vectors do not depend on it
    assert "no old file was left" in mend(tmp_path / "state.db") or empty
    with closing(State(tmp_path / "state.db")) as state:
        assert state.sent() == []


def test_state_of_a_new_home_is_empty_in_any_order_of_opening(tmp_path: Path) -> None:
    for first in ("cache", "state"):
        if first == "cache":
            Cache(tmp_path / first / "cache.db").close()
        with closing(State(tmp_path / first / "state.db")) as state:
            assert state.sent() == []
        Cache(tmp_path / first / "cache.db").close()
        with closing(State(tmp_path / first / "state.db")) as state:
            assert state.sent() == []


def zeroed(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:4096] + bytes(4096) + data[8192:])


def without_a_table(path: Path) -> None:
    hurt(path, "DROP TABLE sent")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FILES: dict[str, Callable[[Path], object]] = {
    "garbage": lambda path: path.write_bytes(b"nothing of the kind" * 1000),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-4096]),
    "zeroed": zeroed,
    "a folder": a_folder,
}
TABLES = {"no table": "DROP TABLE sent", "no column": "ALTER TABLE sent RENAME COLUMN tokens TO other"}
VALUES = {
    "a word": "INSERT INTO sent VALUES ('2026-11-20', '', '', '', '', 1, 'none')",
    "less than nothing": "INSERT INTO sent VALUES ('2026-11-20', '', '', '', '', 1, -1000000)",
    "no JSON": "INSERT INTO mirrored VALUES ('torn', '', '', x'', 0, x'', '{')",
}
"""Damages of a whole file, of its tables, and of values in them."""


@pytest.mark.parametrize(
    ("damage", "while_open"),
    [*((damage, False) for damage in (*FILES, *TABLES, *VALUES)), *((damage, True) for damage in FILES)],
)
def test_state_damaged_is_refused_and_repaired(tmp_path: Path, damage: str, while_open: bool) -> None:
    path = tmp_path / "state.db"
    fill(path)
    Cache(tmp_path / "cache.db").close()
    with closing(State(path)) as state:
        if while_open:
            state.check()
        if damage in FILES:
            FILES[damage](path)
        else:
            hurt(path, (TABLES | VALUES)[damage])
        for ask in (state.check, state.mirrored, lambda: state.tokens_sent("2026-11-20")):
            with pytest.raises(StateDamagedError, match=r"state\.db is damaged"):
                ask()
        state.accesses(["uid"])
        said = mend(path)
        assert "state.db.damaged-" in said
        assert len(list(tmp_path.glob("state.db.damaged-*[0-9]"))) == 1
        state.check()
        kept = state.sent()
        assert set(kept) <= set(SENT)
        if damage in VALUES:
            assert kept == SENT[::-1]
        if damage not in FILES:
            assert state.mirrored() == {"ses": FORGOTTEN}
            assert state.usage() == {"uid": (1, 5.5)}
        state.record_sent(SENT[:1])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_state_repair_keeps_the_rows_around_a_damaged_page(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    many = [SentRecord("2026-11-20", "https://x", "toy", "vault", f"{n:05}.md", 1, 1) for n in range(2000)]
    with closing(State(path)) as state:
        state.record_sent(many)
    data = bytearray(path.read_bytes())
    middle = data.index(b"01000.md") // 4096 * 4096
    data[middle : middle + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    mend(path)
    with closing(State(path)) as state:
        kept = [one.path for one in state.sent()]
    assert (kept[0], kept[-1], "01000.md" in kept) == ("00000.md", "01999.md", False)
    assert len(kept) > 1800


def test_state_repair_after_a_killed_one_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.db"
    fill(path)
    Cache(tmp_path / "cache.db").close()
    with closing(State(path)) as living:  # its log is not in the file yet
        living.record_sent([SentRecord("2026-11-30", "https://x", "toy", "vault", "late.md", 1, 1)])
        with monkeypatch.context() as patch:
            patch.setattr("vault_index.store.state._merge", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                mend(path)
        with closing(State(path)) as state, pytest.raises(StateDamagedError):
            state.check()
        mend(path)
        assert "late.md" in [one.path for one in living.sent()]
        assert living.mirrored() == {"ses": FORGOTTEN}


@pytest.mark.parametrize("statement", ["DROP TABLE embedding", "ALTER TABLE space RENAME COLUMN model TO other"])
def test_cache_without_its_tables_is_damaged(tmp_path: Path, statement: str) -> None:
    Cache(tmp_path / "cache.db").close()
    hurt(tmp_path / "cache.db", statement)
    with pytest.raises(CacheDamagedError, match="damaged") as caught:
        Cache(tmp_path / "cache.db")
    assert "vault-index sync" in caught.value.hint


def test_cache_ignores_vectors_of_a_wrong_type_or_length(tmp_path: Path) -> None:
    with closing(Cache(tmp_path / "cache.db")) as cache:
        cache.put_embeddings(SPACE, {b"a": VECTOR, b"b": VECTOR, b"c": VECTOR})
        cache.execute("UPDATE embedding SET vector = x'00' WHERE key = x'61'")
        cache.execute("UPDATE embedding SET vector = 'eight ch' WHERE key = x'62'")
        assert cache.embeddings(SPACE, [b"a", b"b", b"c"]) == {b"c": VECTOR}
