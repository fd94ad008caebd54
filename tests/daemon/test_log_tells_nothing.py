"""Whatever is done and goes wrong: no word of a note, of a query or of a key gets into the log."""

import json
import logging
from pathlib import Path

import pytest

from tests.daemon.test_run import Place, place as place
from tests.waiting import until
from vault_index.errors import VaultIndexError

KEY = "sk-veryprivatekey123456"
WORDS = ("xylophone", "quagmire", "zeppelin", "marzipan", "rutabaga", KEY)
"""Each is written, asked or set in one of the ways below, and nowhere else."""


def test_no_word_of_a_note_a_query_or_a_key_is_logged(place: Place, tmp_path: Path) -> None:
    config = place.home.config_file
    config.write_text(
        config.read_text("utf-8").replace(
            'provider = "none"',
            f'provider = "openai"\napi_key = "{KEY}"\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
            "dimensions = 8\nmax_retries = 0",
        ),
        "utf-8",
    )
    place.write("broken.md", "---\ntitle: [xylophone\n---\nThe xylophone.\n")
    place.write("board.canvas", '{"nodes": [{"type": "text", "text": "zeppelin"')
    (place.vault / "latin.md").write_bytes(b"The zeppelin \xff flies.\n")
    place.started(VAULT_INDEX_WATCH_RECONCILE="15")
    place.write("a.md", "# Changed\n\nThe quagmire.\n")
    until(lambda: "a.md" in place.found("quagmire"))
    client = place.connected()
    assert client is not None
    with client:
        stored = client.call("add", {"text": "The marzipan."})
        assert isinstance(stored, dict)
        for method, params in (
            ("search", {"query": '"rutabaga AND (', "mode": "hybrid"}),
            ("search", {"query": "rutabaga", "limit": "rutabaga"}),
            ("why", {"query": "rutabaga", "ref": "a.md"}),
            ("get", {"ref": "rutabaga"}),
            ("recall", {"query": "rutabaga"}),
            ("update", {"ref": stored["id"], "content": "More marzipan.", "section": "rutabaga"}),
            ("capture", {"text": "*Remember*: the marzipan is out of date."}),
            ("sync", {}),
            ("embed", {}),
            ("status", {}),
            ("doctor", {}),
        ):
            try:
                client.call(method, params)
            except VaultIndexError:
                continue
    config.write_text(f'[embedding]\napi_key = ["{KEY}"]\n', "utf-8")
    place.daemons[-1].send_signal(1)
    until(lambda: "code=config" in place.log())
    place.daemons[-1].terminate()
    place.daemons[-1].wait(20)
    logged = place.log() + place.home.daemon_log.read_text("utf-8")
    assert "event=stopped" in logged
    assert "code=embedder" in logged
    assert [word for word in WORDS if word in logged] == []


def test_the_log_may_be_json(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    from vault_index.daemon.log import log_event, logging_to

    with logging_to(place.home.daemon_log, "info", "json"):
        log_event(logging.getLogger("vault_index.daemon"), logging.INFO, "ready", pid=1)
    assert json.loads(place.home.daemon_log.read_text("utf-8"))["pid"] == 1
