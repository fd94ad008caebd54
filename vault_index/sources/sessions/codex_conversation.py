"""Convert the lines of a Codex rollout to messages."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from vault_index.sources.sessions.append_only import AppendOnlyConversation
from vault_index.sources.sessions.codex_calls import (
    Call,
    parse_call,
    parse_event,
    parse_nested_call,
    parse_result,
)
from vault_index.sources.sessions.context import words_in_prompt
from vault_index.sources.sessions.json_access import (
    Json,
    between,
    left_out,
    millis_of,
    object_of,
    objects_of,
    text_of,
    time_of,
    title_of,
    tokens_of,
    tool_call,
)
from vault_index.sources.sessions.model import (
    Attachment,
    Message,
    Part,
    Reasoning,
    Session,
    Speaker,
    Text,
    first_prompt,
)

_LINES = {
    *(
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "token_usage_record",
    ),
    *(
        "security_risk_score",
        "realtime_item",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    ),
}
_CLIENTS_OWN = {
    *(
        "additional_tools",
        "tool_search_call",
        "tool_search_output",
        "ghost_snapshot",
        "compaction",
    ),
    *(
        "compaction_summary",
        "compaction_trigger",
        "context_compaction",
        "configuration_update",
        "other",
    ),
}
_CALLS = {"function_call", "custom_tool_call", "local_shell_call"}
_CALLS_AND_ANSWERS = {"web_search_call", "image_generation_call"}
_ANSWERS = {"function_call_output", "custom_tool_call_output"}
_USAGE = ("input_tokens", "cached_input_tokens", "output_tokens")
_ENDS = {"task_started", "task_complete", "turn_aborted", "error"}


@dataclass(slots=True)
class _Entry:
    message: Message
    call: Call = "", {}, {}
    waits: bool = False
    """Whether its call has no result yet."""


Lines = Callable[[Path, str, list[str], int], Iterator[tuple[int, int, Json]]]


class CodexConversation(AppendOnlyConversation):
    """A session, read in one pass. A call that waits for its result delays the next messages."""

    def __init__(
        self,
        session: Session,
        file: Path,
        include: Collection[str],
        lines: Lines,
        skips_copies: bool = False,
    ) -> None:
        super().__init__(session, file, include)
        self._read_lines = lines
        self.skips_copies = skips_copies
        """Whether to skip the copied beginning of a fork."""
        self.has_own_turn = False
        """Whether a fork has a turn of its own: its id begins with a later time than the fork's."""
        self._copied = False
        self._entries: list[_Entry] = []
        self._calls: dict[str, _Entry] = {}
        """Calls of the current turn by id."""
        self._answer: _Entry | None = None
        """The message to which token counts belong."""
        self._waiting: list[_Entry] = []
        """Calls of the current turn that may lack a result."""
        self._rewound = 0
        """Number of messages that were rolled back."""
        self._in_rewound_turn = False
        self._model = self._summary = self._first_prompt = ""
        self._total: int | None = None
        self._tokens = 0
        """Tokens that belong to the next answer."""
        self._time = 0

    def continues(self, file: Path) -> bool:
        """Return whether a file still begins with the parsed lines; False for compressed files."""
        return file.suffix != ".zst" and super().continues(file)

    def lines(self, offset: int) -> Iterator[tuple[int, int, Json]]:
        """Yield the lines of all files of the session."""
        return self._read_lines(self.file, self.session.id, self._faults, offset)

    def parse(self, begin: int, end: int, value: Json) -> None:
        """Add one line."""
        self._time = time_of(value, "timestamp") or self._time
        # The first versions had no envelope.
        kind = text_of(value, "type") if "payload" in value else "response_item"
        payload = object_of(value, "payload") or value
        if self._is_copy(kind, payload):
            return
        event = text_of(payload, "type") if kind == "event_msg" else ""
        if ends := kind == "compacted" or event in _ENDS:
            self._end_calls()
        if (ends or kind == "response_item") and not any(one.waits for one in self._waiting):
            self._answer = None
        self._line(kind, payload, value, begin)

    def finish(self, session: Session, problems: list[str]) -> tuple[Session, list[Message]]:
        """Return the session and the messages that were not rolled back."""
        messages, waits = list[Message](), False
        for entry in self._entries:
            waits |= entry.waits
            messages.append(replace(entry.message, finished=False) if waits else entry.message)
        problems += left_out(self._rewound)
        title, updated = title_of(self._first_prompt), max(self._time, session.created)
        return replace(session, title=title, updated=updated), messages

    def _is_copy(self, kind: str, payload: Json) -> bool:
        """Return whether a fork copied a line.

        Copies reach from the original's metadata to the first turn of the fork.
        """
        own_turn = text_of(payload, "turn_id") > self.session.id
        self.has_own_turn |= own_turn
        if kind == "session_meta" and text_of(payload, "id") != self.session.id:
            self._copied = self.skips_copies
        elif own_turn:
            self._copied = False
        return self._copied

    def _line(self, kind: str, payload: Json, line: Json, begin: int) -> None:
        time = time_of(line, "timestamp") or time_of(payload, "timestamp") or self.session.created
        if kind == "turn_context":
            self._model = text_of(payload, "model") or self._model
        elif kind == "response_item":
            self._item(payload, line, begin, time)
        elif kind == "compacted":
            summary = self._summary or words_in_prompt("codex", text_of(payload, "message"))
            self._add("summary", [Text(summary)] if summary.strip() else [], begin, time)
            self._summary = ""
        elif kind == "event_msg":
            self._event(payload, begin, time)
        elif kind not in _LINES:
            self.report(f"lines of type {kind!r}", begin)

    def _item(self, item: Json, line: Json, begin: int, time: int) -> None:
        kind = text_of(item, "type")
        if kind == "message":
            self._message(item, line, begin, time)
        elif kind == "agent_message":
            if self.session.parent and text_of(item, "recipient") != "/root":
                self._add("user", _texts(item), begin, time)
        elif kind == "reasoning":
            if "reasoning" in self.include:
                thoughts = [Reasoning(one.text) for one in _texts(item)]
                self._add("assistant", thoughts, begin, time)
        elif kind in _CALLS or kind in _CALLS_AND_ANSWERS:
            self._add_call(
                text_of(item, "call_id"), parse_call(item), begin, time, waits=kind in _CALLS
            )
        elif kind in _ANSWERS:  # else its call was unreadable, or is before the offset
            entry = self._calls.get(text_of(item, "call_id"))
            if entry is not None and entry.waits:
                self._update_call(entry, **parse_result(item))
                entry.waits = False
        elif kind not in _CLIENTS_OWN and "type" in item:
            self.report(f"items of type {kind!r}", begin)

    def _message(self, item: Json, line: Json, begin: int, time: int) -> None:
        role = text_of(item, "role")
        if object_of(line, "metadata").get("compaction_output") is True:
            self._summary = "\n".join(one.text for one in _texts(item))
        elif role == "assistant":
            self._add("assistant", _texts(item), begin, time)
        elif role == "user":
            self._add("user", self._prompt(item, objects_of(item, "content")), begin, time)

    def _prompt(self, item: Json, content: list[Json]) -> list[Part]:
        first_text = text_of(content[0], "text").lstrip() if content else ""
        if first_text.startswith("<user_shell_command>"):
            command, result = (
                between(first_text, f"<{tag}>", f"</{tag}>").strip("\n")
                for tag in ("command", "result")
            )
            return [
                tool_call(
                    "shell", {"command": command}, self.include, **parse_result({"output": result})
                )
            ]
        kinds = object_of(item, "internal_chat_message_metadata_passthrough").get(
            "content_item_kinds"
        )
        known_kinds = (
            kinds
            if isinstance(kinds, list) and len(kinds) == len(content)
            else ["user"] * len(content)
        )
        parts: list[Part] = []
        for one, kind in zip(content, known_kinds, strict=True):
            if not str(kind).startswith(("user", "unknown")):
                continue
            if text := words_in_prompt("codex", text_of(one, "text")):
                parts.append(Text(text))
            elif "image" in text_of(one, "type"):
                parts.append(Attachment("image"))
        return parts

    def _add(
        self, speaker: Speaker, parts: Sequence[Part], begin: int, time: int, error: str = ""
    ) -> _Entry | None:
        if not parts and not error:
            return None
        mine = speaker == "assistant"
        if speaker == "user":
            self._end_calls()
            self._in_rewound_turn = False
        message = Message(
            id=f"{self.session.id}-{begin:x}",
            answers=self.session.id if mine else "",  # one turn lies between two prompts
            speaker=speaker,
            created=time,
            finished=True,
            agent="",
            model=self._model if mine else "",
            error=error,
            parts=tuple(parts),
            tokens=self._tokens if mine else 0,
        )
        self._first_prompt = self._first_prompt or first_prompt([message])
        self._tokens = 0 if mine else self._tokens
        entry = _Entry(message)
        if self._in_rewound_turn:
            self._rewound += 1
        else:
            self._entries.append(entry)
        self._answer = entry
        return entry

    def _add_call(self, id_: str, call: Call, begin: int, time: int, *, waits: bool) -> None:
        tool, given, fields = call
        if not waits and fields["status"] == "running":
            fields["status"] = "completed"
        parts = [tool_call(tool, given, self.include, **fields)]
        if (entry := self._add("assistant", parts, begin, time)) is not None:
            entry.call, entry.waits = call, waits
            self._waiting.append(entry)
            if id_:
                self._calls[id_] = entry

    def _update_call(self, entry: _Entry, **more: object) -> None:
        tool, given, fields = entry.call
        fields |= more
        entry.message = replace(
            entry.message, parts=(tool_call(tool, given, self.include, **fields),)
        )

    def _end_calls(self) -> None:
        """End the calls of a turn; those without a result were interrupted."""
        for entry in self._waiting:
            entry.waits = False
        self._waiting.clear()
        self._calls.clear()

    def _roll_back(self, prompts: int) -> None:
        """Remove the last prompts, with all that followed."""
        places = [at for at, one in enumerate(self._entries) if one.message.speaker == "user"]
        if places and prompts > 0:
            first = places[-prompts:][0]
            self._rewound += len(self._entries) - first
            del self._entries[first:]
            self._in_rewound_turn = True
            self._answer = None

    def _event(self, event: Json, begin: int, time: int) -> None:
        kind = text_of(event, "type")
        item = object_of(event, "item") if kind == "item_completed" else event
        if kind == "token_count":
            self._count(object_of(event, "info"))
        elif kind == "thread_rolled_back":
            self._roll_back(millis_of(event, "num_turns") or 0)
        elif kind in ("turn_aborted", "error"):
            self._add(
                "assistant",
                [],
                begin,
                time,
                text_of(event, "reason") or text_of(event, "message") or kind,
            )
        elif (
            entry := self._calls.get(text_of(item, "call_id") or text_of(item, "id"))
        ) is not None:
            self._update_call(entry, **parse_event(item))
        elif (
            any(one.waits for one in self._waiting)
            and (call := parse_nested_call(item)) is not None
        ):
            self._add_call(text_of(item, "id"), call, begin, time, waits=False)

    def _count(self, info: Json) -> None:
        """Add the growth of the token total, because the client repeats counts."""
        total, last = object_of(info, "total_token_usage"), object_of(info, "last_token_usage")
        if not total:
            return
        grown = tokens_of(last if self._total is None else total, *_USAGE) - (self._total or 0)
        self._total = tokens_of(total, *_USAGE)
        if self._answer is not None and (message := self._answer.message).speaker == "assistant":
            self._answer.message = replace(message, tokens=message.tokens + max(0, grown))
        else:
            self._tokens += max(0, grown)


def _texts(item: Json) -> list[Text]:
    blocks = (*objects_of(item, "summary"), *objects_of(item, "content"))
    return [Text(text) for one in blocks if (text := text_of(one, "text"))]
