"""Sessions of clients that are read by tables (`entries`): recorded ones, and what the recordings lack."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients_real.scenes import MEND
from tests.sources.sessions.claude import Json
from tests.sources.sessions.recorded import RECORDED, copied
from tests.sources.sessions.test_codex import calls, said
from tests.sources.sessions.test_every_client import recorded
from tests.sources.sessions.test_recorded import FORKED, MENDED, read
from vault_index.config import Config
from vault_index.sources.sessions.amp import Amp
from vault_index.sources.sessions.client import Conversation
from vault_index.sources.sessions.clients import KNOWN, folders_of, open_client
from vault_index.sources.sessions.cline import Cline, Roo
from vault_index.sources.sessions.copilot import Copilot
from vault_index.sources.sessions.entries import EntryClient
from vault_index.sources.sessions.model import Attachment, Message
from vault_index.sources.sessions.pi import Pi
from vault_index.sources.sessions.qwen import Qwen
from vault_index.sources.sessions.render import finished

TOOLS: dict[type[EntryClient], tuple[str, list[str]]] = {
    Amp: ("0.0.1767830505-ga62310", ["Read", "edit_file", "Bash"]),
    Cline: ("3.0.65", ["read_files", "editor", "run_commands"]),
    Copilot: ("1.0.102", ["view", "edit", "bash"]),
    Pi: ("", ["read", "edit", "bash"]),
    Qwen: ("0.15.10", ["read_file", "edit", "run_shell_command"]),
    Roo: ("", ["readFile", "appliedDiff", "execute_command"]),
}
every_client = pytest.mark.parametrize("kind", TOOLS)


def written(folder: Path, kind: type[EntryClient], lines: list[Any]) -> Conversation:
    """Write the longest recorded session with other lines, and read it."""
    recorded(kind)[2](folder, lines)
    client = kind(folder)
    (listed,) = client.listing().sessions.values()
    return client.read(listed, ())


@pytest.mark.parametrize("name", [name for name in KNOWN if (RECORDED / name).is_dir()])
def test_client_is_found_without_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.delenv(KNOWN[name].variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    *_, last = folders_of(name)  # of an extension, in the last editor
    copied(name, last)
    assert open_client(name, Config()).listing().sessions


@every_client
def test_reader_reads_a_recorded_session(kind: type[EntryClient]) -> None:
    version, tools = TOOLS[kind]
    found = read(kind(RECORDED / kind.name))
    session, messages = next(one for one in found if one[0].title == MEND and not one[0].forked_from)
    assert (session.project, session.version) == ("shop", version)
    assert said(messages)[:4] == MENDED
    resumed = ["user", "assistant"] if kind is not Cline else []
    assert [one.partition(":")[0] for one in said(messages)[4:]] == resumed
    assert [(one.tool, Path(one.target).name, one.exit) for one in calls(messages)] == [
        (tools[0], "app.py", None),
        (tools[1], "app.py", None),
        (tools[2], "no-such-shelf", 2),
    ]
    assert sum(one.tokens for one in messages) == (4 + len(resumed) // 2) * 120
    forks = [said(messages)[-2:] for one, messages in found if one.forked_from == session.id]
    assert forks == ([FORKED] if kind is Pi else [])


@pytest.mark.parametrize("kind", [Copilot, Pi, Qwen])
def test_reader_counts_rewound_messages(tmp_path: Path, kind: type[EntryClient]) -> None:
    _, lines, _ = recorded(kind)
    before = said(written(tmp_path, kind, lines).messages)
    *_, prompt = (line for line in lines if "user" in (line["type"].partition(".")[0], role_of(line)))
    talk = written(tmp_path, kind, [*lines, {**prompt, "uuid" if kind is Qwen else "id": "other"}])
    assert said(talk.messages) == before[:-1]
    assert talk.problems == ["2 rewound messages"]


def role_of(line: Json) -> object:
    return line.get("message", {}).get("role") if line["type"] == "message" else None


UNKNOWN: dict[type[EntryClient], tuple[Json, str]] = {
    Amp: ({"messages": [{"role": "user", "content": "Hi"}, {"role": "oracle"}]}, "messages of role 'oracle'"),
    Cline: ({"version": 2}, "unknown version 2"),
    Copilot: ({"data": {"sessionId": "a", "version": 2}}, "unknown session version 2"),
    Pi: ({"version": 4}, "unknown session version 4"),
    Qwen: ({"type": "oracle"}, "skipped unknown records of type 'oracle'"),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_reader_reports_an_unknown_version(tmp_path: Path, kind: type[EntryClient]) -> None:
    _, (first, *lines), write = recorded(kind)
    more, told = UNKNOWN[kind]
    write(tmp_path, [{**first, **more}, *lines])
    listing = kind(tmp_path).listing()
    (listed,) = listing.sessions.values()
    assert told in " ".join((*listing.problems, *kind(tmp_path).read(listed, ()).problems))


def shown(folder: Path, kind: type[EntryClient], *more: Json) -> tuple[str, list[Message]]:
    """Return the title and the messages after some lines that are added to a recorded session."""
    _, lines, _ = recorded(kind)
    before = len(written(folder, kind, lines).messages)
    talk = written(folder, kind, [*lines, *more])
    assert talk.problems == []
    return talk.session.title, talk.messages[before:]


def test_amp_reads_summaries_commands_and_subagents(tmp_path: Path) -> None:
    _, (thread,), _ = recorded(Amp)
    ran = {"type": "manual_bash_invocation", "args": {"cmd": "make"}, "toolRun": {"result": {"exitCode": 1}}}
    call = {"type": "tool_use", "id": "a", "name": "Task", "input": {"description": "Find uses"}}
    run = {"status": "done", "result": "One use.", "progress": {"threadID": "T-1"}}
    more = [
        {"role": "info", "content": [ran]},
        {"role": "user", "content": [{"type": "text", "text": "By the client."}], "source": {"type": "x"}},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "toolUseID": "a", "run": run}]},
        {"role": "info", "content": [{"type": "summary", "summary": {"type": "message", "summary": "We looked."}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "half an ans"}], "state": {"type": "streaming"}},
    ]
    messages = written(tmp_path, Amp, [{**thread, "messages": more}]).messages
    assert said(finished(messages)) == ["summary: We looked."]
    assert [(one.target, one.exit, one.child) for one in calls(messages)] == [
        ("make", 1, ""),
        ("Find uses", None, "T-1"),
    ]


def test_copilot_reads_summaries_files_and_failures(tmp_path: Path) -> None:
    _, messages = shown(
        tmp_path,
        Copilot,
        {"type": "user.message", "data": {"content": "Look.", "attachments": [{"displayName": "a.png"}]}},
        {"type": "user.message", "data": {"content": "A skill.", "source": "skill-pdf"}},
        {"type": "assistant.message", "data": {"toolRequests": [{"toolCallId": "c", "name": "view", "arguments": {}}]}},
        {"type": "tool.execution_complete", "data": {"toolCallId": "c", "error": {"message": "no such file"}}},
        {"type": "abort", "data": {"reason": "user_initiated"}},
        {"type": "session.compaction_complete", "data": {"summaryContent": "We looked."}},
    )
    assert said(messages) == ["user: Look.", "summary: We looked."]
    assert messages[0].parts[1:] == (Attachment("a.png"),)
    assert [(one.status, one.error) for one in calls(messages)] == [("error", "no such file")]
    assert messages[2].error == "user_initiated"


def test_pi_reads_names_summaries_shell_commands_and_errors(tmp_path: Path) -> None:
    command = {"role": "bashExecution", "command": "make", "output": "", "exitCode": 1}
    title, messages = shown(
        tmp_path,
        Pi,
        {"type": "session_info", "id": "a", "name": "The shelf"},
        {"type": "message", "id": "b", "message": command},
        {"type": "message", "id": "c", "message": {"role": "assistant", "content": [], "errorMessage": "overloaded"}},
        {"type": "custom_message", "id": "d", "content": "By an extension."},
        {"type": "compaction", "id": "e", "summary": "We looked."},
    )
    assert title == "The shelf"
    assert [(one.tool, one.target, one.exit) for one in calls(messages)] == [("bash", "make", 1)]
    assert (messages[1].error, said(messages)) == ("overloaded", ["summary: We looked."])


def test_qwen_reads_titles_summaries_and_subagents(tmp_path: Path) -> None:
    files = [{"text": "\n--- Content from referenced files ---"}, {"text": "x = 1"}]
    notice = {"role": "user", "parts": [{"text": "A notice."}]}
    snapshot = [{"role": "user", "parts": [{"text": "We looked."}]}, {"role": "model", "parts": [{"text": "Yes."}]}]
    title, messages = shown(
        tmp_path,
        Qwen,
        {"type": "system", "subtype": "custom_title", "systemPayload": {"customTitle": "The shelf"}},
        {"type": "user", "subtype": "notification", "message": notice},
        {"type": "user", "message": {"parts": [{"text": "What is it?"}, {"inlineData": {}}, *files]}},
        {"type": "system", "subtype": "chat_compression", "systemPayload": {"compressedHistory": snapshot}},
    )
    assert (title, said(messages)) == ("The shelf", ["user: What is it?", "summary: We looked."])
    (file,) = tmp_path.rglob("*.jsonl")
    helper = file.parents[1] / "subagents" / file.stem / "agent-x-1.jsonl"
    helper.parent.mkdir(parents=True)
    helper.write_bytes(file.read_bytes())
    agent = Qwen(tmp_path).listing().sessions[f"{file.stem}-agent-x-1"]
    assert agent.session.parent == file.stem


def test_cline_reads_older_tasks_and_subagents(tmp_path: Path) -> None:
    found = read(Cline(RECORDED / "cline-2.18"))
    session, messages = next(one for one in found if one[0].title == MEND)
    assert (session.directory, sum(one.tokens for one in messages)) == ("/home/user/demo/shop", 560)
    assert said(messages) == [MENDED[0], MENDED[-1]]  # it does not show an answer with a tool
    assert [(one.tool, one.target.partition(" ")[0], one.exit) for one in calls(messages)] == [
        ("readFile", "app.py", None),
        ("editedExistingFile", "app.py", None),
        ("execute_command", "python3", 2),
    ]
    _, (record,), write = recorded(Cline)
    parent = write(tmp_path, [record]).parent.name
    (tmp_path / "sessions" / parent / "helper.messages.json").write_text(
        json.dumps({**record, "sessionId": "child", "origin": {"parentThreadId": parent}}), "utf-8"
    )
    assert Cline(tmp_path).listing().sessions["child"].session.parent == parent


def test_roo_reads_summaries_questions_servers_and_unknown_kinds(tmp_path: Path) -> None:
    ((_, messages),) = (one for one in read(Roo(RECORDED / "roo")) if one[0].title != MEND)
    assert [one.speaker for one in messages] == ["user", "assistant", "summary", "user", "assistant"]
    more = [
        {"ts": 1, "type": "say", "say": "text", "text": "Look."},
        {"ts": 2, "type": "ask", "ask": "followup", "text": json.dumps({"question": "Where?"})},
        {"ts": 3, "type": "ask", "ask": "use_mcp_server", "text": json.dumps({"toolName": "find", "arguments": "{}"})},
        {"ts": 4, "type": "say", "say": "text", "text": "I lo", "partial": True},
        {"ts": 5, "type": "say", "say": "oracle", "text": "?"},
    ]
    file = tmp_path / "tasks/a/ui_messages.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(more), "utf-8")
    client = Roo(tmp_path)
    talk = client.read(client.listing().sessions["a"], ())
    assert (said(talk.messages), [one.tool for one in calls(talk.messages)]) == (
        ["user: Look.", "assistant: Where?"],
        ["find"],
    )
    assert talk.problems == ["Roo Code: skipped unknown messages of type 'oracle'"]
