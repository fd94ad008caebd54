"""Recorded sessions of every client: kept, then forgotten, without credentials or private words in any file."""

import json
import shutil
from pathlib import Path

import pytest

from tests.indexer.test_session_secrets import SECRETS, forms_of
from tests.memories.test_forget import files_with
from tests.sources.sessions.fake import home_at
from tests.sources.sessions.recorded import RECORDED, made
from vault_index import VaultIndex
from vault_index.config.edit import set_value
from vault_index.sources.sessions.clients import KNOWN

CLIENTS = {"cline-2.18": "cline", "codex-0.104": "codex"} | {
    name: name for name, known in KNOWN.items() if name != "opencode" and not known.imported
}
SAID = "Bitte den Login reparieren"
PRIVATE = "quarkspiel"


@pytest.mark.parametrize(("folder", "client"), CLIENTS.items())
def test_recorded_sessions_are_kept_without_secrets_and_forgotten(tmp_path: Path, folder: str, client: str) -> None:
    data = tmp_path / "client"
    shutil.copytree(RECORDED / folder, data)
    keys = [secret for name, (secret, _) in SECRETS.items() if name not in ("private key", "assigned password")]
    told = f"{SAID} <private>{PRIVATE}</private> with {' and '.join(keys)} now"
    for file in [*data.rglob("*.json*"), *data.rglob("*.sql"), *data.rglob("*.md")]:
        text = file.read_text("utf-8")
        file.write_text(text.replace(SAID, told), "utf-8")
    made(data)
    home = home_at(tmp_path)
    for name, setting in (("enabled", "true"), ("data", str(data)), ("include", "reasoning,output,diffs")):
        set_value(home, f"sessions.{client}.{name}", setting)

    def leaked() -> set[str]:
        kept = [(file, file.read_bytes()) for file in home.data_dir.rglob("*") if file.is_file()]
        forms = {form for secret in (PRIVATE, *keys) for form in forms_of(secret)}
        return {str(file.relative_to(home.data_dir)) for file, said in kept if any(form in said for form in forms)}

    with VaultIndex.open(home) as index:
        index.sync()
        sessions = index.list(kind="session", limit=100).results
        assert index.search("Login reparieren", kind="session").results
        kept = {file.stem for file in (home.sessions_dir / client).rglob("[!.]*.md")}
        assert kept >= {Path(one.path).stem for one in sessions} - partial(data, client)
        assert leaked() == set()
        shutil.rmtree(data)
        index.rebuild()
        assert index.search("Login reparieren", kind="session").results
        assert leaked() == set()
        index.forget(client=client)
        assert index.list(kind="session").total == 0
        assert list((home.sessions_dir / client).rglob("[!.]*.md")) == []
    assert files_with(home, "Login reparieren", "inverted", "Grüße 🙂") == set()


def partial(data: Path, client: str) -> set[str]:
    """In Claude Code, prompts of a deleted session: they are not kept."""
    if client != "claude-code":
        return set()
    files = {file.stem for file in data.rglob("*.jsonl")}
    return {json.loads(line)["sessionId"] for line in (data / "history.jsonl").read_text("utf-8").splitlines()} - files
