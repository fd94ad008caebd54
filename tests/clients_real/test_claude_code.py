"""Facts about Claude Code's transcripts that the readers rely on."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.clients_real import sessions
from tests.clients_real.clients import Client, lines
from tests.clients_real.scenes import DONE, FIRST, MEND, OTHER, SECOND, SECRET, SUMMARY, TALK
from vault_index.sources.sessions.claude_code import ClaudeCode


@pytest.fixture(scope="module")
def mended(claude_code: Client) -> Path:
    return sessions.claude_mended(claude_code)


def _texts(path: Path, role: str) -> list[str]:
    texts = []
    for line in lines(path):
        content: Any = line["message"]["content"] if line["type"] == role else ""  # type: ignore[index]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts += [block["text"] for block in blocks if block["type"] == "text" and block["text"]]
    return [sessions.plain(text) for text in texts]


def test_claude_code_resume_appends_to_the_session_file(mended: Path) -> None:
    assert _texts(mended, "user") == [MEND, SECRET]
    assert _texts(mended, "assistant")[-2:] == [DONE, TALK["secret"]]
    assert stat.S_IMODE(mended.stat().st_mode) == 0o600


def test_claude_code_writes_one_line_per_content_block(mended: Path) -> None:
    said = [line["message"] for line in lines(mended) if line["type"] == "assistant"]
    assert all(isinstance(message, dict) and len(message["content"]) == 1 for message in said)
    ids = [message["id"] for message in said if isinstance(message, dict)]
    assert len(set(ids)) < len(ids)


def test_claude_code_marks_a_failed_command_as_an_error(mended: Path) -> None:
    results: list[Any] = [line["message"] for line in lines(mended) if "toolUseResult" in line]
    failed = [block for message in results for block in message["content"] if block.get("is_error")]
    assert [block["content"].splitlines()[0] for block in failed] == ["Exit code 2"]


def test_claude_code_fork_repeats_parent_lines_under_its_own_id(claude_code: Client, mended: Path) -> None:
    before = {line["uuid"] for line in lines(mended) if line["type"] in {"user", "assistant"}}
    forked = sessions.claude_forked(claude_code, mended)
    told = [line for line in lines(forked) if line["type"] in {"user", "assistant"}]
    assert before <= {line["uuid"] for line in told}
    assert {line["sessionId"] for line in told} == {forked.stem}


def test_claude_code_compaction_keeps_earlier_lines(claude_code: Client, mended: Path) -> None:
    before = mended.read_bytes()
    sessions.claude_compacted(claude_code, mended)
    assert mended.read_bytes().startswith(before)
    new = lines(mended)[len(before.splitlines()) :]
    (boundary,) = [line for line in new if line.get("subtype") == "compact_boundary"]
    (summary,) = [line for line in new if line.get("isCompactSummary")]
    assert boundary["parentUuid"] is None
    assert boundary["logicalParentUuid"] in {line.get("uuid") for line in lines(mended)}
    assert summary["parentUuid"] == boundary["uuid"]
    assert SUMMARY in json.dumps(summary, ensure_ascii=False).replace("\\n", "\n")


def test_claude_code_subagent_names_its_parent_call(claude_code: Client) -> None:
    session = sessions.claude_delegated(claude_code)
    (subagent,) = (session.parent / session.stem / "subagents").glob("agent-*.jsonl")
    told = json.loads(subagent.with_suffix(".meta.json").read_text())
    calls: list[Any] = [line["message"] for line in lines(session) if line["type"] == "assistant"]
    uses = [block["id"] for message in calls for block in message["content"] if block["type"] == "tool_use"]
    assert uses == [told["toolUseId"]]
    of_it = [line for line in lines(subagent) if line["type"] in {"user", "assistant"}]
    assert all(line["isSidechain"] and line["sessionId"] == session.stem for line in of_it)


def test_claude_code_rewind_keeps_the_old_branch(claude_code: Client) -> None:
    session = sessions.claude_rewound(claude_code)
    assert _texts(session, "user")[:3] == [FIRST, SECOND, OTHER]
    second, other = (line for line in lines(session) if line["type"] == "user" and _is(line, SECOND, OTHER))
    assert second["parentUuid"] == other["parentUuid"]
    titles = [line["customTitle"] for line in lines(session) if line["type"] == "custom-title"]
    assert set(titles) == {"Books and boxes"}
    history = lines(claude_code.home / ".claude/history.jsonl")
    assert [sessions.plain(str(line["display"])) for line in history][:3] == [FIRST, SECOND, OTHER]
    assert {line["sessionId"] for line in history} == {session.stem}


def _is(line: dict[str, Any], *prompts: str) -> bool:
    content = line["message"]["content"]
    return isinstance(content, str) and sessions.plain(content) in prompts


def test_claude_code_purge_is_recorded_in_history_and_project_list(claude_code: Client, mended: Path) -> None:
    client = ClaudeCode(claude_code.home / ".claude")
    listed = client.listing().sessions[mended.stem]
    assert not client.deleted(listed)
    claude_code.run("purge", "--yes", str(claude_code.project))
    assert not mended.parent.exists()
    assert not (claude_code.home / ".claude/history.jsonl").read_text().strip()
    projects = json.loads((claude_code.home / ".claude.json").read_text())["projects"]
    assert str(claude_code.project) not in projects
    assert client.deleted(listed) == bool(projects)
