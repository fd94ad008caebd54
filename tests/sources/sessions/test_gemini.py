"""Lines as Gemini CLI 0.61 writes them, and the single object of earlier versions."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.sources.sessions import test_codex
from tests.sources.sessions.test_codex import calls, said
from vault_index.sources.sessions.gemini import Gemini
from vault_index.sources.sessions.model import Attachment, Message, Reasoning, Session

ID = "fcdca28e-c48c-4aba-ad5e-6958a9f29886"
CHILD = "aadca28e-c48c-4aba-ad5e-6958a9f29886"
FOLDER = "/home/user/shop"
HASH = hashlib.sha256(FOLDER.encode()).hexdigest()
Line = dict[str, Any]


def head(**more: object) -> Line:
    time = "2026-11-23T00:30:02.955Z"
    return {"sessionId": ID, "projectHash": HASH, "startTime": time, "lastUpdated": time, "kind": "main", **more}


def message(id_: str, kind: str, content: object, second: int = 3, **more: object) -> Line:
    return {"id": id_, "timestamp": f"2026-11-23T00:30:{second:02}.074Z", "type": kind, "content": content, **more}


def changed(**more: object) -> Line:
    return {"$set": more}


def ran(id_: str, command: str, said: str, status: str = "success") -> Line:
    answer = [{"functionResponse": {"id": id_, "name": "run_shell_command", "response": {"output": said}}}]
    args = {"command": command, "description": "what it is for"}
    return {"id": id_, "name": "run_shell_command", "args": args, "result": answer, "status": status}


RECORD = Path(__file__).with_name("gemini.jsonl")
CONVERSATION: list[Line] = [json.loads(one) for one in RECORD.read_text("utf-8").splitlines()]
CONTEXT, ANSWER = CONVERSATION[1]["$set"]["messages"][0], CONVERSATION[4]


def write(
    folder: Path, lines: Iterable[Line], name: str = "session-2026-11-23T00-30-fcdca28e.jsonl", *, project: str = "shop"
) -> Path:
    file = folder / "tmp" / project / "chats" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".json":
        file.write_text(json.dumps(next(iter(lines)), indent=2), "utf-8")
    else:
        file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines), "utf-8")
    return file


def read(folder: Path, id_: str = ID, include: Iterable[str] = ()) -> tuple[Session, list[Message], list[str]]:
    return test_codex.read(folder, id_, include, Gemini)


def test_gemini_session_is_its_last_state(tmp_path: Path) -> None:
    file = write(tmp_path, CONVERSATION)
    (file.parents[1] / ".project_root").write_text(FOLDER, "utf-8")
    session, messages, problems = read(tmp_path)
    assert said(messages) == ["user: Bitte den Login reparieren 🙂", "assistant: I look first.", "assistant: Fixed."]
    assert {(one.output, one.diff) for one in calls(messages)} == {("", "")}
    assert (session.title, session.directory, session.project) == ("Login repaired", FOLDER, "shop")
    assert session.updated - session.created == 57_045
    assert [(one.model, one.tokens) for one in messages] == [("", 0), ("gemini-2.5-flash", 83), ("", 0)]
    assert problems == []


def test_gemini_reads_thoughts_output_and_diffs_on_request(tmp_path: Path) -> None:
    write(tmp_path, CONVERSATION)
    _, messages, _ = read(tmp_path, include=("reasoning", "output", "diffs"))
    reasoning = [part.text for one in messages for part in one.parts if isinstance(part, Reasoning)]
    assert reasoning == ["Login\n\nThe comparison is inverted."]
    assert [(one.output, one.diff) for one in calls(messages)] == [("Output: no\nExit Code: 2", ""), ("", "-a\n+b")]


def test_gemini_reads_the_older_form_alike(tmp_path: Path) -> None:
    whole = head(summary="Login repaired", messages=[CONTEXT, *(CONVERSATION[number] for number in (2, 5, 6, 7))])
    write(tmp_path, [whole], "session-2026-11-23T00-30-fcdca28e.json", project=HASH)
    (tmp_path / "projects.json").write_text(json.dumps({"projects": {"/home/user/other": "x", FOLDER: "shop"}}))
    session, messages, problems = read(tmp_path)
    older = session.title, session.directory, messages, problems
    # A newer client continues it in the newer form, and keeps the older file.
    going_on = [*CONVERSATION, message("e", "user", "And now?", second=9)]
    write(tmp_path, going_on, project=HASH)
    session, messages, problems = read(tmp_path)
    assert (session.title, session.directory, messages[:-1], problems) == older
    assert said(messages)[-1] == "user: And now?"


def test_gemini_finds_the_project_by_mark_list_or_folder(tmp_path: Path) -> None:
    file = write(tmp_path / "marked", CONVERSATION, project="shop-1")
    (file.parents[1] / ".project_root").write_text(FOLDER + "\n", "utf-8")
    assert read(tmp_path / "marked")[0].directory == FOLDER
    write(tmp_path / "listed", CONVERSATION, project="shop-1")
    (tmp_path / "listed/projects.json").write_text(json.dumps({"projects": {FOLDER: "shop-1", "b": 3}}))
    assert read(tmp_path / "listed")[0].directory == FOLDER
    write(tmp_path / "named", CONVERSATION)
    assert read(tmp_path / "named")[0].project == "shop"
    write(tmp_path / "hashed", CONVERSATION, project=HASH)
    assert read(tmp_path / "hashed")[0].directory == ""


def test_gemini_compaction_is_a_summary_and_earlier_turns_stay(tmp_path: Path) -> None:
    snapshot = message("s", "user", [{"text": "<state_snapshot>We fixed it.</state_snapshot>"}])
    taken = message("k", "gemini", [{"text": "Got it. Thanks for the additional context!"}])
    masked = message("d", "gemini", [{"text": "[masked]"}])
    again = message("z", "gemini", [{"text": "I look first."}])
    write(tmp_path, [*CONVERSATION, changed(messages=[snapshot, taken, masked, again]), message("e", "user", "On")])
    _, messages, problems = read(tmp_path)
    assert said(messages)[3:] == ["summary: <state_snapshot>We fixed it.</state_snapshot>", "user: On"]
    assert problems == []


def test_gemini_prompt_is_the_typed_text(tmp_path: Path) -> None:
    whole = [{"text": "Look at @a.py"}, {"text": "\n--- Content from referenced files ---\nx = 1"}]
    hooked = "<hook_context>FROM A HOOK</hook_context>\n\nNeu"
    picture = [{"text": "What is that?"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]
    answer = [{"functionResponse": {"id": "t1", "response": {"output": "SECRET"}}}]
    lines = [
        message("1", "user", whole, displayContent="Look at @a.py"),
        message("2", "user", [{"text": hooked}, {"text": "<hook_context>B</hook_context>"}], displayContent=hooked),
        message("3", "user", picture),
        message("4", "user", answer),
        message("5", "user", "/help"),
        message("6", "user", "/home/user is full, why?"),
    ]
    write(tmp_path, [head(), *lines])
    _, messages, problems = read(tmp_path)
    typed = ["Look at @a.py", "Neu", "What is that?", "/home/user is full, why?"]
    assert said(messages) == [f"user: {text}" for text in typed]
    assert messages[2].parts[1] == Attachment("image/png")
    assert problems == []


def test_gemini_subagent_is_a_separate_session(tmp_path: Path) -> None:
    asked = {"id": "t", "name": "invoke_agent", "args": {"query": "find it"}, "status": "success", "agentId": CHILD}
    write(tmp_path, [head(), message("a", "user", "Go"), message("b", "gemini", "", toolCalls=[asked])])
    lines = [head(sessionId=CHILD, kind="subagent"), message("a", "user", "find it"), message("b", "gemini", "There.")]
    write(tmp_path, lines, f"{ID}/{CHILD}.jsonl")
    session, messages, _ = read(tmp_path, CHILD)
    assert (session.parent, session.project) == (ID, "shop")
    assert said(messages) == ["user: find it", "assistant: There."]
    assert [(one.target, one.child) for one in calls(read(tmp_path)[1])] == [("find it", CHILD)]
    # In older clients it had the id of its parent session.
    whole = head(kind="subagent", messages=[message("a", "user", "old")])
    write(tmp_path, [whole], "session-2026-01-01T00-00-fcdca28e.json")
    client = Gemini(tmp_path)
    older = f"{ID}-session-2026-01-01T00-00-fcdca28e"
    assert set(client.listing().sessions) == {ID, CHILD, older}
    assert client.listing().sessions[older].session.parent == ID


def test_gemini_ignores_the_empty_twin_of_a_resumed_session(tmp_path: Path) -> None:
    write(tmp_path, CONVERSATION)
    twin = [head(), changed(messages=[CONTEXT]), message("x", "info", "resumed")]
    write(tmp_path, twin, "session-2026-11-24T00-30-fcdca28e.jsonl")
    session, messages, _ = read(tmp_path)
    assert (session.title, len(messages)) == ("Login repaired", 3)


def test_gemini_calls_have_their_outcome(tmp_path: Path) -> None:
    args = {"file_path": "x"}
    failed = {"id": "1", "name": "read_file", "args": args, "status": "error", "resultDisplay": "not there"}
    stopped = ran("2", "sleep 9", "", status="cancelled")
    ours = {**ran("3", "x", "SECRET"), "name": "mcp_vault-index_memory_search", "args": {"query": "x"}}
    lines = [message("a", "user", "Go"), message("b", "gemini", "", toolCalls=[failed, stopped, ours])]
    write(tmp_path, [head(), *lines])
    _, messages, _ = read(tmp_path, include=["output"])
    outcomes = [(one.target, one.status, one.error) for one in calls(messages)]
    assert outcomes == [("x", "error", "not there"), ("sleep 9", "interrupted", ""), ("", "completed", "")]
    assert "SECRET" not in repr(messages)


def test_gemini_names_each_unknown_kind_once(tmp_path: Path) -> None:
    strange = [message("x", "oracle", "1"), message("y", "oracle", "2"), {"$merge": 1}, {"$merge": 2}]
    write(tmp_path, [*CONVERSATION, *strange])
    _, messages, problems = read(tmp_path)
    assert len(messages) == 3
    assert problems == [
        "Gemini CLI: skipped unknown lines with $merge",
        "Gemini CLI: skipped unknown messages of type 'oracle'",
    ]


def test_gemini_names_files_without_a_session(tmp_path: Path) -> None:
    write(tmp_path, CONVERSATION)
    file = write(tmp_path, [head(messages=[message("a", "user", "Go")])], "session-2026-01-01T00-00-00000000.json")
    outside = b'{"sessionId": "../../etc", "messages": [{"type": "user", "content": "x"}]}'
    for content in (b"", b"{", outside, file.read_bytes()[:-9]):
        file.write_bytes(content)
        listing = Gemini(tmp_path).listing()
        assert set(listing.sessions) == {ID}
        assert [str(file) in one for one in listing.problems] == [True]
