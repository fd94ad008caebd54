"""Make a session with a client; tools/drive_clients.py makes the others that are recorded."""

import re
from pathlib import Path

from tests.clients_real.clients import Client, lines
from tests.clients_real.scenes import ARCHIVED, MEND, SECRET, asked

CLAUDE = ("-p", "--allowedTools", "Bash,Edit,Read,Agent", "--permission-mode", "acceptEdits")


def transcripts(client: Client) -> list[Path]:
    """Transcripts of any client, in order of their start."""
    found = [
        path for path in client.home.rglob("*.json*") if path.parent.name == "chats" or "-shop" in path.parent.name
    ]
    return sorted([*found, *client.home.rglob("rollout-*.jsonl")], key=_start)


def _start(path: Path) -> str:
    """Return the first timestamp of a transcript."""
    found = re.search(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z", path.read_text(encoding="utf-8"))
    return found[0] if found else ""


def claude_mended(client: Client) -> Path:
    """A turn with tools, a second turn in another process."""
    client.run(*CLAUDE, asked(MEND, "mend"))
    (path,) = transcripts(client)
    client.run(*CLAUDE, "--resume", path.stem, asked(SECRET, "secret"))
    return path


def codex_id(path: Path) -> str:
    payload = lines(path)[0]["payload"]
    assert isinstance(payload, dict)
    return str(payload["id"])


def codex_archived(client: Client) -> Path:
    before = set(transcripts(client))
    client.run("exec", asked(ARCHIVED, "archived"))
    (path,) = set(transcripts(client)) - before
    client.run("archive", codex_id(path))
    return client.home / ".codex/archived_sessions" / path.name
