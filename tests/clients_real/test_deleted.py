"""What the clients record when their user deletes a session: the readers rely on it."""

import json

from tests.clients_real import sessions
from tests.clients_real.clients import Client
from vault_index.models import FileStamp
from vault_index.sources.sessions.claude_code import ClaudeCode
from vault_index.sources.sessions.codex import Codex
from vault_index.sources.sessions.model import Listed, Session


def test_claude_code_purge_is_recorded_in_history_and_project_list(claude_code: Client) -> None:
    mended = sessions.claude_mended(claude_code)
    client = ClaudeCode(claude_code.home / ".claude")
    listed = client.listing().sessions[mended.stem]
    assert not client.deleted(listed)
    claude_code.run("purge", "--yes", str(claude_code.project))
    assert not mended.parent.exists()
    projects = json.loads((claude_code.home / ".claude.json").read_text())["projects"]
    assert str(claude_code.project) not in projects
    assert client.deleted(listed) == bool(projects)


def test_codex_archive_moves_and_delete_removes_a_session(codex: Client) -> None:
    sessions.codex_archived(codex)  # an empty list of sessions proves no deletion
    archived = sessions.codex_archived(codex)
    assert not list((codex.home / ".codex/sessions").rglob(archived.name))
    held = Session(sessions.codex_id(archived), "", "", "", "", "", 0, 0)
    listed = Listed(held, FileStamp(0, 0, 0), 1, 0)
    assert not Codex(codex.home / ".codex").deleted(listed)  # the answer if its file disappeared now
    codex.run("delete", "--force", sessions.codex_id(archived))
    assert not archived.exists()
    assert Codex(codex.home / ".codex").deleted(listed)
