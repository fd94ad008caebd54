"""Lines as Codex CLI 0.169 writes them (`paginated`), and as its sources describe earlier versions."""

import json
from collections.abc import Iterable, Mapping
from gzip import GzipFile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from vault_index.sources.sessions import codex
from vault_index.sources.sessions.codex import Codex
from vault_index.sources.sessions.files import FileClient
from vault_index.sources.sessions.model import Attachment, Message, Reasoning, Session, Text, ToolCall

OLD = "01a205c9-8763-7bd1-97a2-3ffe7498704f"
NEW = "01a205d0-0000-7bd1-97a2-3ffe7498704f"
LATER = "01a205d1-0000-7bd1-97a2-3ffe7498704f"
Line = dict[str, Any]


def line(kind: str, payload: Mapping[str, object], second: int = 0) -> Line:
    return {"timestamp": f"2026-11-23T00:24:{second:02}.305Z", "ordinal": 1, "type": kind, "payload": dict(payload)}


def meta(id_: str = OLD, **more: object) -> Line:
    told = {"cwd": "/home/user/shop", "cli_version": "0.169.0", "source": "cli", "history_mode": "paginated"}
    return line("session_meta", {"id": id_, "timestamp": "2026-11-23T00:23:43.224Z", **told, **more})


def event(kind: str, second: int = 0, **more: object) -> Line:
    return line("event_msg", {"type": kind, **more}, second)


def item(kind: str, second: int = 0, **more: object) -> Line:
    return line("response_item", {"type": kind, **more}, second)


def user(*texts: str, second: int = 0, kinds: list[str] | None = None) -> Line:
    more = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds}} if kinds else {}
    content = [{"type": "input_text", "text": text} for text in texts]
    return item("message", second, role="user", content=content, **more)


def assistant(text: str, second: int = 0) -> Line:
    return item("message", second, role="assistant", content=[{"type": "output_text", "text": text}])


def call(id_: str, command: str, second: int = 0) -> Line:
    return item("function_call", second, name="exec_command", arguments=json.dumps({"cmd": command}), call_id=id_)


def output(id_: str, said: object, second: int = 0) -> Line:
    return item("function_call_output", second, call_id=id_, output=said)


def ran(id_: str, code: int, said: str = "") -> Line:
    return output(id_, f"Chunk ID: 1b7c6e\nWall time: 0.0 seconds\nProcess exited with code {code}\nOutput:\n{said}")


def turn(model: str = "gpt-5.5", id_: str = OLD) -> Line:
    return line("turn_context", {"turn_id": id_, "cwd": "/home/user/shop", "model": model})


def tokens(total: int, last: int) -> Line:
    def used(count: int) -> dict[str, int]:
        return {"input_tokens": count, "cached_input_tokens": 10, "output_tokens": 5}

    return event("token_count", info={"total_token_usage": used(total), "last_token_usage": used(last)})


def write(
    folder: Path, lines: Iterable[Line], id_: str = OLD, *, day: str = "2026/11/23", time: str = "00-23-43"
) -> Path:
    name = f"rollout-2026-11-23T{time}-{id_}.jsonl"
    file = folder / "sessions" / day / name if day else folder / "archived_sessions" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), "utf-8")
    return file


def read(
    folder: Path, id_: str = OLD, include: Iterable[str] = (), kind: type[FileClient] = Codex
) -> tuple[Session, list[Message], list[str]]:
    client = kind(folder)
    listed = client.session(id_)
    assert listed is not None
    read = client.read(listed, set(include))
    return read.session, read.messages, read.problems


def said(messages: Iterable[Message]) -> list[str]:
    return [f"{one.speaker}: {part.text}" for one in messages for part in one.parts if isinstance(part, Text)]


def calls(messages: Iterable[Message]) -> list[ToolCall]:
    return [part for one in messages for part in one.parts if isinstance(part, ToolCall)]


RECORD = Path(__file__).with_name("codex.jsonl")
CONVERSATION: list[Line] = [json.loads(one) for one in RECORD.read_text("utf-8").splitlines()]


def test_codex_reads_reasoning_output_and_diffs_on_request(tmp_path: Path) -> None:
    write(tmp_path, CONVERSATION)
    _, messages, _ = read(tmp_path, include=("reasoning", "output", "diffs"))
    reasoning = [part.text for one in messages for part in one.parts if isinstance(part, Reasoning)]
    assert reasoning == ["The comparison is inverted."]
    assert calls(messages)[0].output == "stored = 1\n"
    assert calls(messages)[1].diff.startswith("*** Begin Patch")
    assert [one.target for one in calls(messages)] == ["cat app.py", "src/app.py, new.py", "ls /nowhere"]
    assert sum(one.tokens for one in messages) == (100 - 10 + 5) + (250 - 100)  # repeated text is counted once


def test_codex_skips_text_that_the_client_writes_for_the_user(tmp_path: Path) -> None:
    own = (
        "<user_instructions>be brief</user_instructions>", "<turn_aborted>\nThe user interrupted</turn_aborted>",
        "# AGENTS.md instructions for /home/user/shop\n\n<INSTRUCTIONS>x</INSTRUCTIONS>",
        "<skill>\n<name>x</name></skill>", "<subagent_notification>{}</subagent_notification>",
    )  # fmt: skip
    mine = [user("<xml> is mine", "and this"), user("no", "yes", kinds=["goal.context", "user.text"])]
    write(tmp_path, [meta(), *map(user, own), *mine])
    _, messages, problems = read(tmp_path)
    assert said(messages) == ["user: <xml> is mine", "user: and this", "user: yes"]
    assert problems == []


def test_codex_names_an_image(tmp_path: Path) -> None:
    whole = user("<image name=[Image #1]>", "</image>", "What is that?")
    whole["payload"]["content"].insert(1, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"})
    write(tmp_path, [meta(), whole])
    session, messages, _ = read(tmp_path)
    assert messages[0].parts == (Attachment("image"), Text("What is that?"))
    assert session.title == "What is that?"


def test_codex_compaction_is_a_summary_without_repetition(tmp_path: Path) -> None:
    preface = "Another language model started to solve this problem and … to assist with your own analysis:\n"
    history = [user("First")["payload"], user(preface + "We fixed it.")["payload"]]
    newer = {**assistant("We fixed it."), "metadata": {"compaction_output": True}}
    lines = [meta(), user("First"), assistant("Done."), newer]
    older = line("compacted", {"message": preface + "Older.", "replacement_history": history})
    sealed = line("compacted", {"message": "", "replacement_history": [{"type": "compaction"}]})
    lines += [line("compacted", {"message": preface + "We fixed it.", "replacement_history": history}), older, sealed]
    write(tmp_path, [*lines, user("Second")])
    _, messages, problems = read(tmp_path)
    assert said(messages)[2:] == ["summary: We fixed it.", "summary: Older.", "user: Second"]
    assert problems == []


def test_codex_pairs_parallel_calls_and_marks_unfinished_ones(tmp_path: Path) -> None:
    lines = [meta(), user("Go"), call("a", "one"), call("b", "two"), ran("b", 1), ran("a", 0), call("c", "three")]
    write(tmp_path, lines)
    assert [one.finished for one in read(tmp_path)[1]][-2:] == [True, False]  # the last call runs
    write(tmp_path, [*lines, event("turn_aborted", reason="interrupted"), user("Again")])
    _, messages, _ = read(tmp_path)
    outcomes = [(one.target, one.exit, one.status) for one in calls(messages)]
    assert outcomes == [("one", 0, "completed"), ("two", 1, "completed"), ("three", None, "running")]
    assert [one.error for one in messages if one.error] == ["interrupted"]
    assert all(one.finished for one in messages)
    assert said(messages) == ["user: Go", "user: Again"]


def test_codex_reads_tool_results_of_every_version(tmp_path: Path) -> None:
    answers: list[tuple[object, tuple[int | None, str, str]]] = [
        ('{"output": "boom", "metadata": {"exit_code": 3, "duration_seconds": 0.1}}', (3, "completed", "boom")),
        ({"content": "no such tool", "success": False}, (None, "error", "no such tool")),
        ([{"type": "input_text", "text": "Exit code: 4\nOutput:\nx"}], (4, "completed", "x")),
        ("aborted by user after 2.0s", (None, "interrupted", "aborted by user after 2.0s")),
        ("Output:\nExit code: 9\n", (None, "completed", "Exit code: 9\n")),
    ]
    lines = [line for at, (told, _) in enumerate(answers) for line in (call(str(at), "x"), output(str(at), told))]
    write(tmp_path, [meta(), user("Go"), *lines])
    _, messages, _ = read(tmp_path, include=["output"])
    assert [(one.exit, one.status, one.output) for one in calls(messages)] == [known for _, known in answers]


def test_codex_names_the_target_of_calls_in_every_form(tmp_path: Path) -> None:
    shell = item("function_call", name="shell", call_id="a", arguments='{"command": ["bash", "-lc", "make"]}')
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a.py\n*** End Patch\nEOF"
    lines = [
        meta(),
        user("Go"),
        shell,
        item("local_shell_call", call_id="b", status="completed", action={"type": "exec", "command": ["ls", "-l"]}),
        item("function_call", name="shell", call_id="c", arguments=json.dumps({"command": ["bash", "-lc", patch]})),
        item("web_search_call", status="completed", action={"type": "search", "query": "sqlite wal"}),
        item("function_call", name="view_image", call_id="d", arguments='{"path": "a.png"}'),
        item("function_call", name="spawn_agent", call_id="e", arguments='{"message": "look for it"}'),
        *(output(one, "ok") for one in "abcd"),
        output("e", json.dumps({"agent_id": NEW})),
        user(
            "<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 1\nDuration: 0.1\nOutput:\nx\n"
            "</result>\n</user_shell_command>"
        ),
    ]
    write(tmp_path, lines)
    _, messages, problems = read(tmp_path)
    assert [(one.tool, one.target, one.child) for one in calls(messages)] == [
        ("shell", "make", ""), ("local_shell", "ls -l", ""), ("apply_patch", "a.py", ""),
        ("web_search", "sqlite wal", ""), ("view_image", "a.png", ""), ("spawn_agent", "look for it", NEW),
        ("shell", "ls", ""),
    ]  # fmt: skip
    assert (messages[-1].speaker, calls(messages)[-1].exit) == ("user", 1)
    assert problems == []


def test_codex_reads_calls_made_by_a_script(tmp_path: Path) -> None:
    ran_in = {"type": "CommandExecution", "id": "x1", "command": ["/bin/bash", "-lc", "cat a"], "exit_code": 0}
    changed = {"type": "FileChange", "id": "x2", "changes": {"/home/user/shop/a": {"unified_diff": "-a\n+b"}}}
    asked = {"type": "McpToolCall", "id": "x3", "server": "wiki", "tool": "lookup", "arguments": {"query": "b"}}
    known = {"type": "CommandExecution", "id": "a", "command": ["/bin/bash", "-lc", "ls"], "exit_code": 7}
    script = "await tools.apply_patch(`*** Begin Patch\n*** Update File: a\n-a\n+b\n*** End Patch`)"
    lines = [meta(), user("Go"), item("custom_tool_call", name="exec", call_id="s", input=script)]
    lines += [event("item_completed", item=one) for one in (ran_in, changed, asked)]
    lines += [item("custom_tool_call_output", call_id="s", output="ok"), call("a", "ls")]
    lines += [event("item_completed", item=known), output("a", "no code here")]
    write(tmp_path, [*lines, event("item_completed", item=ran_in)])
    _, messages, _ = read(tmp_path, include=["diffs"])
    assert [(one.tool, one.target, one.exit, one.diff) for one in calls(messages)] == [
        ("exec", script, None, ""), ("exec_command", "cat a", 0, ""),
        ("apply_patch", "/home/user/shop/a", None, "-a\n+b"), ("lookup", "b", None, ""),
        ("exec_command", "ls", 7, ""),
    ]  # fmt: skip


def test_codex_keeps_nothing_of_our_own_tool_results(tmp_path: Path) -> None:
    script = item("custom_tool_call", name="exec", call_id="a", input="await tools.memory_search({query: 'x'})")
    lines = [meta(), user("Go"), script, item("custom_tool_call_output", call_id="a", output="SECRET NOTE")]
    lines += [call("b", "vx search x"), output("b", "SECRET NOTE")]
    write(tmp_path, lines)
    _, messages, _ = read(tmp_path, include=["output", "diffs"])
    assert "SECRET NOTE" not in repr(messages)
    assert [one.target for one in calls(messages)] == ["", "vx search"]


def test_codex_skips_rewound_turns(tmp_path: Path) -> None:
    turns = [user("One"), assistant("1"), user("Two"), assistant("2"), user("Three"), assistant("3")]
    rolled = event("thread_rolled_back", num_turns=2)
    write(tmp_path, [meta(history_mode="legacy"), *turns, rolled, user("Four"), assistant("4")])
    _, messages, problems = read(tmp_path)
    assert said(messages) == ["user: One", "assistant: 1", "user: Four", "assistant: 4"]
    assert problems == ["4 rewound messages"]


def test_codex_fork_begins_after_its_original(tmp_path: Path) -> None:
    original = [meta(history_mode="legacy"), event("task_started", turn_id=OLD), user("One"), assistant("1")]
    write(tmp_path, original)
    fork = meta(NEW, forked_from_id=OLD, history_mode="legacy")
    own = [event("task_started", turn_id=LATER), user("Other"), assistant("2")]
    write(tmp_path, [fork, *original, *own], NEW, time="00-40-00")
    session, messages, _ = read(tmp_path, NEW)
    assert session.forked_from == OLD
    assert said(messages) == ["user: Other", "assistant: 2"]
    # Without the original, only the fork has the copies.
    next(tmp_path.glob(f"sessions/**/*{OLD}.jsonl")).unlink()
    _, messages, _ = read(tmp_path, NEW)
    assert said(messages) == ["user: One", "assistant: 1", "user: Other", "assistant: 2"]


def test_codex_subagent_names_its_parent_and_internal_agents_are_skipped(tmp_path: Path) -> None:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": OLD, "depth": 1, "agent_role": "explorer"}}}
    asked = item("agent_message", author="/root", recipient="/root/a", content=[{"type": "input_text", "text": "Find"}])
    write(tmp_path, [meta(NEW, source=spawned), asked, assistant("Found.")], NEW)
    write(tmp_path, [meta(LATER, source={"subagent": {"other": "guardian"}}), assistant("ok")], LATER)
    session, messages, problems = read(tmp_path, NEW)
    assert session.parent == OLD
    assert said(messages) == ["user: Find", "assistant: Found."]
    assert set(Codex(tmp_path).listing().sessions) == {NEW}
    assert problems == []


def test_codex_title_is_the_name_given_by_the_user(tmp_path: Path) -> None:
    write(tmp_path, CONVERSATION)
    client = Codex(tmp_path)
    unnamed = client.session(OLD)
    index = tmp_path / "session_index.jsonl"
    rows = [{"id": OLD, "thread_name": "First name"}, {"id": OLD, "thread_name": "Login"}, {"id": 3}]
    index.write_text("".join(json.dumps(one) + "\n" for one in rows) + "{half", "utf-8")
    session, _, problems = read(tmp_path)
    assert session.title == "Login"
    assert problems == []
    named = client.session(OLD)
    assert unnamed is not None
    assert named is not None
    assert unnamed.stamp != named.stamp


def test_codex_reads_the_first_versions_without_frames(tmp_path: Path) -> None:
    head: Line = {"id": OLD, "timestamp": "2025-06-23T00:23:43.224Z", "instructions": None, "git": {}}
    said_then = [user("One")["payload"], {"record_type": "state"}, assistant("1")["payload"]]
    write(tmp_path, [head, *said_then])
    session, messages, problems = read(tmp_path)
    assert said(messages) == ["user: One", "assistant: 1"]
    assert session.created == messages[0].created == 1750638223224
    assert problems == []


def test_codex_names_each_unknown_kind_once(tmp_path: Path) -> None:
    strange = [item("hologram", x=1), item("hologram", x=2), line("dream", {"a": 1}), line("dream", {"a": 2})]
    write(tmp_path, [meta(history_mode="quantum"), user("One"), *strange])
    client = Codex(tmp_path)
    assert client.listing().problems == ("Codex: unknown history_mode 'quantum', parts may be missing",)
    _, messages, problems = read(tmp_path)
    assert said(messages) == ["user: One"]
    assert [one.partition(": skipped unknown ")[2].partition(",")[0] for one in problems] == [
        "items of type 'hologram'", "lines of type 'dream'"
    ]  # fmt: skip


def packed(file: Path) -> Path:
    other = file.with_name(file.name + ".zst")
    with GzipFile(other, "wb", mtime=0) as out:
        out.write(file.read_bytes())
    return other


def test_codex_reads_compressed_sessions_if_python_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gzip stands for Zstandard here, which comes with Python 3.14."""
    write(tmp_path, CONVERSATION)
    before = read(tmp_path)
    file = next(tmp_path.glob("sessions/**/*.jsonl"))
    other = packed(file)
    monkeypatch.setattr(codex, "_zstd", SimpleNamespace(open=GzipFile))
    assert Codex(tmp_path).listing().sessions[OLD].place == str(file)
    file.unlink()
    assert read(tmp_path) == before
    other.write_bytes(other.read_bytes()[:-400])
    _, messages, problems = read(tmp_path)
    assert len(messages) < len(before[1])
    assert ["cannot decompress" in one for one in problems] == [True]


def test_codex_reports_unreadable_compressed_sessions_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codex, "_zstd", None)
    for id_ in (OLD, NEW):
        file = write(tmp_path, [meta(id_), user("One")], id_)
        packed(file)
        file.unlink()
    write(tmp_path, [meta(LATER), user("One")], LATER)
    listing = Codex(tmp_path).listing()
    assert set(listing.sessions) == {LATER}
    assert len(listing.problems) == 1
    assert "zstd -d" in listing.problems[0]


def test_codex_takes_a_lost_first_line_from_the_file_name(tmp_path: Path) -> None:
    file = write(tmp_path, CONVERSATION)
    lines = file.read_bytes().split(b"\n")
    file.write_bytes(b"\n".join([b'{"timestamp": "2026-', *lines[1:]]))
    session, messages, problems = read(tmp_path)
    assert (session.id, session.directory) == (OLD, "/home/user/shop")
    assert len(said(messages)) == 3
    assert ["the line at byte 0 cannot be read" in one for one in problems] == [True]
