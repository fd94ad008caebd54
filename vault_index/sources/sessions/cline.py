"""Read the sessions of Cline and of Roo Code, which began as a copy of Cline.

The command (since 3.0) and newer extensions of Cline write
`<folder>/sessions/<id>/<id>.messages.json`, beside a description of the session (`<id>.json`).
Roo Code, and earlier versions of Cline, write `<folder>/tasks/<id>/ui_messages.json`: a list of
what they showed. Both rewrite the file on each change. (cline/cline:
sdk/packages/core/src/services/session-data.ts, sdk/packages/shared/src/llms/messages.ts,
apps/vscode/src/shared/ExtensionMessage.ts; RooCodeInc/Roo-Code: packages/types/src/message.ts,
src/core/task-persistence)
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from vault_index.sources.sessions.entries import (
    IGNORED,
    Block,
    Call,
    Entry,
    EntryClient,
    Reading,
    Result,
)
from vault_index.sources.sessions.files import Layout
from vault_index.sources.sessions.json_access import (
    Json,
    id_in,
    list_of,
    millis_of,
    object_from,
    object_in,
    object_of,
    objects_of,
    text_of,
    time_of,
    tokens_of,
)
from vault_index.sources.sessions.model import Part, Reasoning, Session, Speaker, Text

_BLOCKS = {
    "text": Block("text"),
    "thinking": Block("thought", "thinking"),
    "image": Block("file", "mediaType"),
    "file": Block("file", "path"),
    "media": Block("file", "media.mediaType"),
    "tool_use": Block("call", "name", "id", "input"),
    "tool_result": Block("result", "content", "tool_use_id", error="is_error", exit="exit"),
    "redacted_thinking": IGNORED,
}
_VERSION = 1
_SPEAKERS: dict[str, Speaker] = {
    "task": "user",
    "user_feedback": "user",
    "condense_context": "summary",
}
_CALLS = {"command", "tool", "use_mcp_server"}
_ANSWERS = {
    "act_mode_respond", "completion_result", "followup", "plan_completion_result",
    "plan_mode_respond", "subtask_result", "text",
}  # fmt: skip
_KNOWN = {
    *_SPEAKERS, *_ANSWERS, *_CALLS, "command_output", "reasoning",
    "api_req_deleted", "api_req_failed", "api_req_finished", "api_req_rate_limit_wait",
    "api_req_retried", "api_req_retry_delayed", "auto_approval_max_req_reached",
    "browser_action", "browser_action_launch", "browser_action_result", "checkpoint_created",
    "checkpoint_saved", "clineignore_error", "codebase_search_result",
    "command_permission_denied", "compaction", "condense", "condense_context_error",
    "conditional_rules_applied", "deleted_api_reqs", "diff_error", "error",
    "hook_output_stream", "hook_status", "image", "info", "load_mcp_documentation",
    "mcp_notification", "mcp_server_request_started", "mcp_server_response",
    "mistake_limit_reached", "new_task", "report_bug", "resume_completed_task", "resume_task",
    "rooignore_error", "shell_integration_warning", "shell_integration_warning_with_suggestion",
    "sliding_window_truncation", "subagent", "subagent_usage", "summarize_task",
    "task_progress", "too_many_tools_warning", "use_subagents", "user_edit_todos",
    "user_feedback_diff",
}  # fmt: skip
"""The others are remarks of the client, or repeat other messages."""
_FOLDER = re.compile(r"^# Current (?:Working|Workspace) Directory \((.+)\) Files$", re.MULTILINE)
_ADDED = "\n<environment_details>"
_PROMPT = re.compile(r"</?user_input[^<>]*>")
_EXIT = re.compile(r"(?:[Ee]xit|exited with) code:? (-?\d{1,9})\b")


class Cline(EntryClient):
    """The client for Cline."""

    name = "cline"
    layout = Layout(
        ("sessions", "tasks"),
        re.compile("[^/]+"),
        re.compile(r"^[^/]+/([\w-]+\.messages|ui_messages)\.json"),
    )

    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session of a file."""
        if file.name == "ui_messages.json":
            return self._task(record, file)
        id_ = id_in(text_of(record, "sessionId"))
        if not id_:
            problems.append(f"{file}: skipped, it has no valid session id")
            return None
        if (version := millis_of(record, "version")) != _VERSION:
            problems.append(f"{file}: unknown version {version}, parts may be missing")
        about = object_in(file.with_name(f"{file.parent.name}.json"))
        times = (millis_of(one, "ts") for one in objects_of(record, "messages"))
        created = time_of(about, "started_at") or next(filter(None, times), 0)
        parent = id_in(text_of(record, "origin", "parentThreadId"))
        return Session(
            id=id_,
            title="" if parent else text_of(about, "metadata", "title"),
            directory=text_of(about, "cwd"),
            worktree=text_of(about, "workspace_root"),
            parent=parent,
            version=text_of(record, "origin", "version"),
            created=created,
            updated=created,
        )

    def _task(self, record: Json, file: Path) -> Session | None:
        """Return the session of a list of shown messages."""
        messages = objects_of(record, "messages")
        created = next(filter(None, (millis_of(one, "ts") for one in messages)), 0)
        about = object_in(file.with_name("history_item.json"))
        id_ = id_in(text_of(about, "id")) or id_in(file.parent.name)
        shown = (text_of(one, "text") for one in messages if _kind(one) == "api_req_started")
        requests = (_json(text, "request") for text in shown)
        places = (_FOLDER.search(text) for text in requests)
        folder = text_of(about, "workspace") or next((one[1] for one in places if one), "")
        parent = id_in(text_of(about, "parentTaskId"))
        return Session(id_, "", folder, "", parent, "", created, created) if id_ else None

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert all messages of a session."""
        messages = objects_of(record, "messages")
        shown = "version" not in record
        return _shown(messages, reading) if shown else _stored(messages, reading)


class Roo(Cline):
    """The client for Roo Code."""

    name = "roo"
    layout = Cline.layout._replace(below=("tasks",))


def _stored(messages: Iterable[Json], reading: Reading) -> Iterator[Entry]:
    for one in messages:
        if object_of(one, "metadata").get("displayOnly") is True:  # an error of the client
            continue
        usage = object_of(one, "metrics")
        for block in objects_of(one, "content"):
            _join_results(block)
        parts = reading.parts(one.get("content"), _BLOCKS)
        yield Entry(
            id=text_of(one, "id"),
            speaker="user" if one.get("role") == "user" else "assistant",
            time=millis_of(one, "ts") or 0,
            parts=[*map(_plain, parts)],
            model=text_of(one, "modelInfo", "id"),
            tokens=tokens_of(usage, "inputTokens", "", "outputTokens"),
        )


def _join_results(block: Json) -> None:
    """Join the results of a tool that takes several files or commands."""
    text = text_of(block, "content")
    answer = object_from(text) if text else {}
    results = [answer] if answer else objects_of(block, "content")
    if any("success" in one for one in results):
        texts = [text_of(one, "result") or text_of(one, "error") for one in results]
        block["content"] = "\n".join(texts)
        block["is_error"] = any(one.get("success") is False for one in results)
    if block.get("name") == "run_commands":
        block["exit"] = _exit(text_of(block, "content"))


def _plain(part: Part | Call | Result) -> Part | Call | Result:
    """Remove the tags around a prompt, and name the first file or the commands of a call."""
    if isinstance(part, Text):
        return Text(_PROMPT.sub("", part.text))
    if isinstance(part, Call):
        first = next(iter(objects_of(part.given, "files")), {})
        named = " && ".join(map(str, list_of(part.given, "commands")))
        return part._replace(given={"command": named, **first, **part.given})
    return part


def _shown(messages: Sequence[Json], reading: Reading) -> Iterator[Entry]:
    call, tokens = "", 0
    for number, one in enumerate(messages):
        kind, text = _kind(one) if number else "task", text_of(one, "text")
        if one.get("partial") is True:
            continue
        call = str(number) if kind in _CALLS else call
        speaker, time = _SPEAKERS.get(kind, "assistant"), millis_of(one, "ts") or 0
        parts, model = _parts(kind, text, call, one), text_of(one, "modelInfo", "modelId")
        entry = Entry("", None, speaker, time, parts, model)
        if kind == "api_req_started":
            tokens = tokens_of(object_from(text), "tokensIn", "", "tokensOut")
        elif kind in _ANSWERS | _CALLS and entry.parts:
            entry.tokens, tokens = tokens, 0
        elif kind not in _KNOWN:
            reading.report(f"messages of type {kind!r}")
        yield entry


def _parts(kind: str, text: str, call: str, message: Json) -> list[Part | Call | Result]:
    if kind in _CALLS:
        return [_call(call, kind, text)._replace(result={"status": "completed"})]
    if kind == "command_output":
        return [_result(call, text)]
    if kind == "api_req_started":  # with the result of the call before
        request = _json(text, "request").partition(_ADDED)[0]
        return [_result(call, request)] if request else []
    if kind == "reasoning":
        return [Reasoning(text)]
    if kind == "condense_context":
        text = text_of(message, "contextCondense", "summary")
    elif kind in _ANSWERS:
        text = _json(text, "question") or _json(text, "response") or text
    return [Text(text)] if text and kind in _SPEAKERS.keys() | _ANSWERS else []


def _kind(message: Json) -> str:
    return text_of(message, "say") or text_of(message, "ask")


def _json(text: str, key: str) -> str:
    """Return a string of a text that may be a JSON object."""
    return text_of(object_from(text), key) if text[:1] == "{" else ""


def _call(id_: str, kind: str, text: str) -> Call:
    if kind == "command":
        return Call(id_, "execute_command", {"command": text})
    given = object_from(text)
    tool = text_of(given, "tool") or text_of(given, "toolName") or "use_mcp_server"
    return Call(id_, tool, {**given, "pattern": text_of(given, "regex")})


def _result(call: str, output: str) -> Result:
    return Result(call, {"status": "completed", "exit": _exit(output), "output": output})


def _exit(output: str) -> int | None:
    """Return the exit code of a command in the text for the model."""
    found = _EXIT.search(output)
    return int(found[1]) if found else None
