"""Memories through the daemon: written before its other work, and pruned by it if the settings say so."""

import os
import threading
from collections.abc import Iterator

import pytest

from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.waiting import PATIENCE, until
from tests.world import World, opened_world
from vault_index.errors import UsageError

HOUSEKEEPING = '[memory]\nauto_prune = true\narchive_after = "2 years"\n'


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A daemon with an expired and an unused memory."""
    with opened_world(tmp_path_factory.mktemp("memories"), HOUSEKEEPING) as world:
        world.write("a.md", "# Alpha\n\nthe aardvark\n")
        world.write("80-memory/over.md", "---\nexpires: 2020-01-01\n---\nOver.\n")
        world.write("80-memory/lasting.md", "---\nexpires: 2999-01-01\n---\nNot over.\n")
        world.write("80-memory/old.md", "---\ncreated: 2010-01-01\nupdated: 2010-01-01\n---\nLong ago.\n")
        os.utime(world.vault / "80-memory/old.md", times=(1.3e9, 1.3e9))
        world.daemon()
        yield world


def test_daemon_memory_is_searchable_once_the_write_is_answered(running: World) -> None:
    stored = running.ask("add", text="The buffalo likes mud.", tags=["animals"])
    assert stored["path"] in running.found("buffalo")
    running.ask("update", ref=stored["id"][:8], content="And grass.", append=True)
    assert running.found("grass") == {stored["path"]}
    again = running.ask("add", text="The buffalo likes mud.\n\nAnd grass.", title="The buffalo likes mud")
    assert again["duplicate_of"]
    with pytest.raises(UsageError, match="only memories can be changed"):
        running.ask("delete", ref="a.md")
    running.ask("delete", ref=[stored["id"]])
    assert running.found("buffalo") == set()
    # The watcher also reports the daemon's own writes, and the daemon finds nothing new in them.
    assert running.ask("sync", embed=False)["changed"] == 0
    assert running.ask("status")["watch"]["missed"] == 0


def test_daemon_prunes_and_archives_if_configured(running: World) -> None:
    until(lambda: (running.vault / ".trash/80-memory/over.md").exists())
    until(lambda: "archived: " in (running.vault / "80-memory/old.md").read_text("utf-8"))
    until(lambda: [one["path"] for one in running.ask("list", state="archived")["results"]] == ["80-memory/old.md"])
    assert "archived: " not in (running.vault / "80-memory/lasting.md").read_text("utf-8")


def test_daemon_embeds_a_memory_in_the_background_with_a_server(world: World) -> None:
    arrived = threading.Event()

    def hold(request: Request, reply: Reply) -> Reply:
        if any("likes mud" in text for text in request.texts):
            arrived.wait(PATIENCE)
        return reply

    with EmbeddingServer(dimensions=64) as server:
        chosen = f'"openai"\nbase_url = "{server.base_url}"\nmodel = "toy"\ndimensions = 64'
        settings = world.home.config_file.read_text("utf-8").replace('"none"', chosen)
        world.home.config_file.write_text(settings, "utf-8")
        world.daemon(NO_PROXY="127.0.0.1", OPENAI_API_KEY="sk-test")
        until(lambda: server.texts != [] and world.ask("status")["index"]["pending"] == 0)
        server.fail_always(hold)
        stored = world.ask("add", text="The buffalo likes mud.")  # a write does not wait for the server
        assert stored["degraded"] == ["vector: pending for 1 of its passages"]
        assert world.ask("status")["index"]["pending"] == 1
        found = world.ask("search", query="buffalo")
        assert (found["results"][0]["path"], found["degraded"]) == (
            stored["path"],
            ["vector: pending for 1 of 2 passages"],
        )
        arrived.set()
        until(lambda: world.ask("status")["index"]["pending"] == 0)
        text = (world.vault / stored["path"]).read_text("utf-8")
        world.write(stored["path"], text.replace("type: note", "type: note\ntags: [animals]"))
        until(lambda: any("[animals]" in text for text in server.texts))
        until(lambda: world.ask("file_status", ref=stored["path"])["pending"] == 0)
        assert world.ask("search", query="buffalo")["degraded"] == []
