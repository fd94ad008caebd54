"""Whatever runs or fails: the log contains no word of a note, a query or a key."""

import signal
from contextlib import suppress
from typing import Any

from tests.waiting import until
from tests.world import World
from vault_index.errors import VaultIndexError

KEY = "sk-veryprivatekey123456"
WORDS = ("xylophone", "quagmire", "zeppelin", "marzipan", "rutabaga", KEY)
"""Each word occurs in exactly one of the inputs below."""
SERVER = f"""provider = "openai"
api_key = "{KEY}"
base_url = "http://127.0.0.1:9/v1"
model = "m"
dimensions = 8
max_retries = 0"""


def test_log_contains_no_word_of_a_note_a_query_or_a_key(world: World) -> None:
    config = world.home.config_file
    config.write_text(config.read_text("utf-8").replace('provider = "none"', SERVER), "utf-8")
    world.write("broken.md", "---\ntitle: [xylophone\n---\nThe xylophone.\n")
    world.write("board.canvas", '{"nodes": [{"type": "text", "text": "zeppelin"')
    (world.vault / "latin.md").write_bytes(b"The zeppelin \xff flies.\n")
    daemon = world.daemon()
    world.write("a.md", "# Changed\n\nThe quagmire.\n")
    until(lambda: "a.md" in world.found("quagmire"))
    stored = world.ask("add", text="The marzipan.")
    asked: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": '"rutabaga AND (', "mode": "hybrid"}),
        ("search", {"query": "rutabaga", "limit": "rutabaga"}),
        ("why", {"query": "rutabaga", "ref": "a.md"}),
        ("get", {"ref": "rutabaga"}),
        ("recall", {"query": "rutabaga"}),
        ("update", {"ref": stored["id"], "content": "More marzipan.", "section": "rutabaga"}),
        ("capture", {"text": "*Remember*: the marzipan is out of date."}),
        ("sync", {}),
        ("embed", {}),
        ("doctor", {}),
    ]
    for method, params in asked:
        with suppress(VaultIndexError):
            world.ask(method, **params)
    config.write_text(f'[embedding]\napi_key = ["{KEY}"]\n', "utf-8")
    daemon.send_signal(signal.SIGHUP)
    until(lambda: "code=config" in world.log())
    daemon.end()
    logged = world.log() + world.home.daemon_log.read_text("utf-8")
    assert "event=stopped" in logged
    assert "code=embedder" in logged
    assert [word for word in WORDS if word in logged] == []
