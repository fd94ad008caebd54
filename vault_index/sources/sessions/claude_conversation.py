"""Read the lines of a Claude Code session, and drop the branches that the user rewound.

Each line names its parent. A rewind adds another prompt under the same parent; the first prompt and
its descendants then no longer count. Other branches come from parallel calls, hooks, retries and
client faults. They stay, in the order of the file.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from vault_index.sources.sessions.append_only import AppendOnlyConversation
from vault_index.sources.sessions.claude_blocks import (
    LONGEST_TYPE,
    SYNTHETIC,
    answer_parts,
    call_in,
    message_parts,
    results_in,
    tokens_in,
    unknown_in,
)
from vault_index.sources.sessions.json_access import Json, left_out, object_of, text_of, time_of
from vault_index.sources.sessions.model import Message, Session

PASSED_OVER = b'{"type":"api-request'
"""Beginning of lines with whole API requests, which are nine tenths of a short session."""
_CHAINED = frozenset(("user", "assistant", "system", "attachment", "progress"))
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
"""Line types with titles, best first, and the key of the title."""
_NOTES = re.compile(
    "agent-(color|name|setting)|api-request[a-z-]*|artifact-[a-z-]+|atis-latch|attribution-snapshot|bridge-session"
    "|content-replacement|continued-in|cost-state|data-flow-(incomplete|records)|derived-from|dev-mods|ended-by-model"
    "|file-history-(delta|snapshot)|fork-context-ref|frame-link|history-suppression|host-row|hybrid-organization"
    "|isolation-latch|last-prompt|memory-mode|mode|observer-ref|permission-mode|pr-link|queue-operation|relocated"
    "|repl-mode|resume-head-vouch|session-owner|tag|tools-used|worktree-state"
)
"""Internal line types as of 2.1.330. Others are reported, because they may hold messages."""


def is_chained(value: Json, side: bool) -> bool:
    """Return whether a line belongs to the tree.

    Old versions stored the lines of subagents in the same file.
    """
    return text_of(value, "type") in _CHAINED and (side or value.get("isSidechain") is not True)


@dataclass(slots=True)
class _Line:
    size: int
    parent: int
    """Index of the parent line; -1 for the first line."""
    typed: bool
    """Whether the line is a prompt, to which the user may rewind."""
    message: Message | None
    waiting: int = 0
    """Number of calls without a result."""


class ClaudeConversation(AppendOnlyConversation):
    """A session: the tree of lines, with their messages."""

    skipped = PASSED_OVER

    def __init__(self, session: Session, file: Path, include: Collection[str]) -> None:
        super().__init__(session, file, include)
        self._lines: list[_Line] = []
        self._places: dict[str, int] = {}
        self._calls: dict[str, tuple[_Line, int, Json]] = {}
        """Line, index of the part, and block of each call without a result, by id."""
        self._prompt = self._answer = ""
        self._counted = self._time = self._updated = self._subagents = 0
        self._titles: dict[str, str] = {}
        self._side = file.stem.startswith("agent-")

    def parse(self, begin: int, end: int, value: Json) -> None:
        """Add one line to the tree."""
        kind = text_of(value, "type")
        if kind in _CHAINED:
            if is_chained(value, self._side):
                self._add(begin, end, value)
            else:
                self._subagents += kind == "assistant" or bool(message_parts(value)[1])
        elif kind in _TITLES:
            # A summary may belong to another session.
            if kind != "summary" or text_of(value, "leafUuid") in self._places:
                self._titles[kind] = text_of(value, _TITLES[kind])
        elif not _NOTES.fullmatch(kind):
            self.report(f"lines of type {kind[:LONGEST_TYPE]!r}", begin)

    def finish(self, session: Session, problems: list[str]) -> tuple[Session, list[Message]]:
        """Return the session, and the messages that were not rewound."""
        kept, rewound = list[Message](), 0
        for line, is_rewound in zip(self._lines, self._rewound(), strict=True):
            if line.message and is_rewound:
                rewound += 1
            elif line.message:
                kept.append(line.message)
        problems += [*left_out(self._subagents, "subagent"), *left_out(rewound)]
        title = next(filter(None, map(self._titles.get, _TITLES)), session.title)
        return replace(session, title=title, updated=max(session.updated, self._updated)), kept

    def _add(self, begin: int, end: int, value: Json) -> None:
        kind, uuid = value["type"], text_of(value, "uuid")
        if uuid in self._places:
            if self._lines[self._places[uuid]].size != end - begin:
                self.report("different lines with one id", begin)
            return
        id_ = uuid or f"line-{begin}"
        parent = self._parent_of(value)
        self._time = time_of(value, "timestamp") or self._time
        self._updated = max(self._updated, self._time)
        for what in unknown_in(value):
            self.report(what, begin)
        speaker, parts = message_parts(value)
        message = Message(
            id=id_,
            answers="",
            speaker=speaker,
            created=self._time,
            finished=True,
            agent=text_of(value, "attributionAgent"),
            model=text_of(value, "message", "model").replace(SYNTHETIC, ""),
            error="",
            parts=parts,
        )
        results = results_in(value)
        prompted = bool(parts) and speaker == "user"
        line = _Line(end - begin, parent, prompted and not results, message if parts else None)
        self._places[id_] = len(self._lines)
        self._lines.append(line)
        if prompted:
            self._prompt = id_
        if kind == "assistant":
            self._add_answer(line, value, message)
        for result in results:
            self._answer_call(result, object_of(value, "toolUseResult"))

    def _add_answer(self, line: _Line, value: Json, message: Message) -> None:
        parts, error, calls = answer_parts(value, self.include)
        line.message = replace(
            message,
            answers=self._prompt,
            speaker="assistant",
            finished=not calls,
            error=error,
            parts=parts,
            tokens=self._new_tokens(value, message.id),
        )
        line.waiting = len(calls)
        self._calls |= {call: (line, *of_call) for call, of_call in calls.items()}

    def _parent_of(self, value: Json) -> int:
        above = text_of(value, "parentUuid")
        if not above and (
            value.get("subtype") == "compact_boundary" or value.get("isCompactSummary") is True
        ):
            # Keep the lines before a compaction.
            above = text_of(value, "logicalParentUuid") or "unknown"
        follows = above or not text_of(value, "uuid")
        return self._places.get(above, len(self._lines) - 1 if follows else -1)

    def _new_tokens(self, value: Json, id_: str) -> int:
        """Return the tokens of a block; each block carries those of the whole answer."""
        answer, counted = text_of(value, "message", "id") or id_, tokens_in(value)
        before = self._counted if answer == self._answer else 0
        self._answer, self._counted = answer, max(counted, before)
        return max(0, counted - before)

    def _answer_call(self, result: Json, details: Json) -> None:
        if (known := self._calls.pop(text_of(result, "tool_use_id"), None)) is not None:
            line, place, block = known
            assert line.message is not None
            parts = [*line.message.parts]
            parts[place] = call_in(block, result, details, self.include)
            line.waiting -= 1
            line.message = replace(line.message, parts=tuple(parts), finished=not line.waiting)

    def _rewound(self) -> list[bool]:
        """Return for each line whether it is a rewound prompt or a descendant of one.

        A prompt stays if it has a descendant newer than the prompt that replaced it.
        """
        lines, prompts = self._lines, dict[int, int]()
        rewound = [False for _ in lines]
        latest = [place if line.typed else -1 for place, line in enumerate(lines)]
        for place in reversed(range(len(lines))):
            if (above := lines[place].parent) >= 0:
                latest[above] = max(latest[above], latest[place])
        for place, line in enumerate(lines):
            if line.typed:
                before = prompts.setdefault(line.parent, place)
                rewound[before] = latest[before] < place
                prompts[line.parent] = place
        for place, line in enumerate(lines):
            rewound[place] |= line.parent >= 0 and rewound[line.parent]
        return rewound
