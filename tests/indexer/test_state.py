"""What a damaged state database stops, and what continues."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.api.vaults import opened, paths_found, write
from tests.embeddings.server import EmbeddingServer
from tests.indexer.test_sessions import open_index
from tests.indexer.test_vectors import NOTES, codes, server as server, use
from tests.sources.opencode.stores import Client
from tests.store.test_state import without_a_table, zeroed
from vault_index.errors import StateDamagedError

Damage = Callable[[Path], None]


def lost(path: Path) -> None:
    for file in path.parent.glob("state.db*"):
        file.unlink()


SOME = [zeroed, without_a_table, lost]
"""Detected on opening, detected on reading, and missing."""


@pytest.mark.parametrize("damage", SOME)
def test_state_damage_stops_sending_but_not_searching(tmp_path: Path, server: EmbeddingServer, damage: Damage) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", NOTES)
        use(index, server)
        index.sync()
        index.get("00.md")
    damage(tmp_path / "home" / "state.db")
    write(tmp_path / "vault", {"new.md": "A willow stands here.\n"})
    asked = len(server.requests)
    with opened(tmp_path) as index:
        report = index.sync()
        assert (report.added, report.pending, codes(report.problems)) == (1, 1, ["state_damaged"])
        assert "doctor --fix" in report.problems[0].hint
        assert codes(index.embed().problems) == ["state_damaged"]
        answer = index.search("willow")
        assert (answer.results[0].path, "state.db" in answer.degraded[0]) == ("new.md", True)
        assert "willow" in index.get("new.md").results[0].content
        assert index.list().total == len(NOTES) + 1
        assert index.recall("willow").text
        assert index.add("The willow is old.", title="Willow").id
        for ask in (index.privacy, index.embed_status, index.embed_plan):
            with pytest.raises(StateDamagedError, match=r"state\.db is damaged"):
                ask()
        assert codes(index.status().problems) == ["state_damaged"]
        assert len(server.requests) == asked
        fixed = index.repair()
        assert (fixed.problems, fixed.fixed[0].code) == ((), "state_damaged")
        assert "rows of sent" in fixed.fixed[0].message
        assert index.sync().pending == 0
        assert len(server.requests) > asked
        assert index.status().problems == ()


@pytest.mark.parametrize("mirror", ["", "sessions"])
@pytest.mark.parametrize("damage", SOME)
def test_state_damage_stops_reading_sessions(client: Client, tmp_path: Path, damage: Damage, mirror: str) -> None:
    client.begin("A heron at the lake")
    with open_index(tmp_path, mirror=mirror) as index:
        index.sync()
    damage(tmp_path / "home" / "state.db")
    client.assistant("It is an egret")
    write(tmp_path / "vault", {"new.md": "A willow stands here.\n"})
    with open_index(tmp_path, mirror=mirror) as index:
        for places in ([client.path], None):
            assert codes(index.sync(places).problems) == ["state_damaged"]
        assert paths_found(index, "egret") == []
        assert len(paths_found(index, "heron")) == 1
        assert paths_found(index, "willow") == ["new.md"]
        assert index.repair().healthy
        assert len(paths_found(index, "egret")) == 1


def test_state_repair_keeps_the_daily_limit(tmp_path: Path, server: EmbeddingServer) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", NOTES)
        use(index, server)
        index.sync()
        spent = index.embed_status().spent_today
        use(index, server, daily_token_limit=str(spent))
    with closing(apsw.Connection(str(tmp_path / "home" / "state.db"))) as connection:
        connection.execute("DROP TABLE usage")
    write(tmp_path / "vault", {"new.md": "A willow stands here.\n"})
    with opened(tmp_path) as index:
        assert codes(index.repair().fixed) == ["state_damaged"]
        assert index.embed_status().spent_today == spent
        assert "daily limit" in index.embed().problems[0].message


def test_state_lost_under_an_open_index_stops_sending(tmp_path: Path, server: EmbeddingServer) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", NOTES)
        use(index, server)
        index.sync()
        assert index.search("oak").degraded == ()
        asked = len(server.requests)
        lost(index.home.state_db)
        write(tmp_path / "vault", {"new.md": "A willow stands here.\n"})
        assert codes(index.sync().problems) == ["state_damaged"]
        assert "state.db" in index.search("oak").degraded[0]
        assert len(server.requests) == asked
        assert not index.home.state_db.exists()


def test_state_loss_does_not_stop_the_local_model(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        write(tmp_path / "vault", NOTES)
        index.sync()
        lost(index.home.state_db)
        write(tmp_path / "vault", {"new.md": "A willow stands here.\n"})
        assert (index.sync().pending, index.search("willow").degraded) == (0, ())


def test_cache_damage_is_refilled_without_a_request(tmp_path: Path, server: EmbeddingServer) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", NOTES)
        use(index, server)
        index.sync()
        sent, ledger = len(server.texts), index.privacy()
    data = bytearray((tmp_path / "home" / "cache.db").read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)  # it opens, and fails when read
    (tmp_path / "home" / "cache.db").write_bytes(data)
    write(tmp_path / "vault", {"new.md": "A willow stands here.\n"})
    with opened(tmp_path) as index:
        report = index.sync()
        assert ("cache_rebuilt" in codes(report.problems), report.pending) == (True, 0)
        assert len(server.texts) == sent + 1
        index.home.index_db.unlink()
    with opened(tmp_path) as index:
        report = index.sync()
        assert (report.pending, report.problems, len(server.texts)) == (0, (), sent + 1)
        assert set(ledger.results) < set(index.privacy().results)
