"""An isolated token has an index of its own; test_scope.py compares its answers with those of a home of that part."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.embeddings.server import EmbeddingServer
from tests.waiting import until
from tests.world import World
from vault_index.access import Tokens
from vault_index.callers import Caller, Scope
from vault_index.errors import BusyError, ForbiddenError, UsageError, VaultIndexError

MEMORIES = "80-memory/note"
FRIEND = Caller("friend", True, Scope(folders=(MEMORIES,), isolated=True))


def served(world: World, method: str, /, **params: Any) -> dict[str, Any]:
    """Ask for FRIEND, again while the daemon makes the index."""

    def answered() -> dict[str, Any] | None:
        try:
            return world.ask_for(FRIEND, method, **params)
        except BusyError:
            return None

    answer = until(answered)
    assert answer is not None
    return answer


def settled(world: World) -> bool:
    """Return whether both indexes have a vector of every text."""
    return not world.ask("stats")["pending"] and not served(world, "stats")["pending"]


def files(world: World) -> list[Path]:
    return [file for file in world.home.isolated_dir.rglob("*") if file.is_file()]


def test_isolated_index_lives_as_long_as_its_token_and_forgets_what_is_deleted(new_world: World) -> None:
    world, tokens = new_world, Tokens(new_world.home.tokens_file)
    world.write(f"{MEMORIES}/in.md", "otter [[wal]]")
    (world.vault / MEMORIES / "link.md").symlink_to("../../wal.md")
    (world.vault / MEMORIES / "root").symlink_to("../../")
    tokens.add(FRIEND, created=1.0)
    world.daemon()
    assert [one["path"] for one in served(world, "list")["results"]] == [f"{MEMORIES}/in.md"]
    assert served(world, "search", query="tamarisk")["results"] == []
    stored = served(world, "add", text="The buffalo likes mud.")
    assert stored["path"].startswith(f"{MEMORIES}/")
    until(lambda: world.found("buffalo") == {stored["path"]})  # the whole index follows by its watch
    before = world.files()
    for act in ({"text": "A note.", "path": "80-memory/decision/x"}, {"text": "A note.", "path": "../wal"}):
        with pytest.raises(VaultIndexError):
            served(world, "add", **act)
    with pytest.raises(ForbiddenError):  # the whole index knows its text, too
        served(world, "delete", ref=[stored["id"]], permanent=True)
    assert world.files() == before
    world.ask("delete", ref=[stored["id"]], permanent=True)
    until(lambda: served(world, "list")["total"] == 1)
    until(lambda: settled(world))
    assert files(world)
    assert not any(b"buffalo" in file.read_bytes() for file in files(world))
    tokens.revoke("friend")
    world.ask("reload")
    until(lambda: not files(world))
    with pytest.raises(UsageError, match="no token"):
        served(world, "search", query="otter")


def test_isolated_index_of_a_killed_daemon_is_removed_by_the_next(new_world: World) -> None:
    Tokens(new_world.home.tokens_file).add(FRIEND, created=1.0)
    daemon = new_world.daemon()
    assert served(new_world, "list")["total"] == 0
    daemon.kill()
    daemon.wait()
    assert files(new_world)
    new_world.home.tokens_file.unlink()
    new_world.daemon()
    until(lambda: not files(new_world))


def test_spending_and_privacy_hold_for_isolated_indexes(new_world: World) -> None:
    world, file = new_world, new_world.home.config_file
    world.write(f"{MEMORIES}/private/p.md", "otter secret")
    with EmbeddingServer() as server:
        remote = f'provider = "openai"\nbase_url = "{server.base_url}"\nmodel = "m"\ndimensions = 32\napi_key = "k"'
        settings = file.read_text("utf-8").replace('provider = "none"', remote)
        settings = settings.replace("[sources.vault]\n", f'[sources.vault]\nlocal_only = ["{MEMORIES}/private"]\n')
        file.write_text(settings, "utf-8")
        for number in range(5):
            world.write(f"{MEMORIES}/{number}.md", f"otter number {number}")
        Tokens(world.home.tokens_file).add(FRIEND, created=1.0)
        world.daemon()
        until(lambda: settled(world))
        for number in range(3, 8):
            world.write(f"{MEMORIES}/{number}.md", f"otter again {number}")
        until(lambda: len(served(world, "search", query="again", mode="text")["results"]) == 5)
        until(lambda: len(world.ask("search", query="again", mode="text")["results"]) == 5)
        until(lambda: settled(world))
        assert len(served(world, "search", query="otter", mode="vector")["results"]) == 8
        sent = Counter(server.texts)
        assert set(sent.values()) == {1}, "both indexes need a text, and it is sent once"
        assert not any("secret" in text for text in sent)
        assert sum(row["texts"] for row in world.ask("status", privacy=True)["results"]) == len(sent)
        file.write_text(settings.replace("dimensions", "daily_token_limit = 1\ndimensions"), "utf-8")
        world.ask("reload")
        assert "daily limit" in str(served(world, "search", query="whatever")["degraded"])
        assert Counter(server.texts) == sent
