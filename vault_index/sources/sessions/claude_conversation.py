"""Read the lines of a Claude Code session, and drop the branches that the user rewound.

Each line names its parent. A rewind adds another prompt under the same parent; the first prompt and
its descendants then no longer count. Other branches come from parallel calls, hooks, retries and
client faults. They stay, in the order of the file.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from vault_index.sources.sessions.append_only import AppendOnlyConversation
from vault_index.sources.sessions.claude_blocks import (
    SYNTHETIC,
    answer_parts,
    ids_in,
    message_parts,
    tokens_in,
    unknown_in,
)
from vault_index.sources.sessions.json_access import Json, left_out, read_object, text_of, time_of
from vault_index.sources.sessions.model import Message, Session, Speaker

_LONGEST_TYPE = 40
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
    begin: int
    end: int
    id: str
    parent: int
    """Index of the parent line; -1 for the first line."""
    prompt: str
    """Id of the last prompt before the line."""
    created: int
    has_parts: bool = False
    answer: str = ""
    """Id of the answer that the block belongs to."""
    tokens: int = 0
    calls: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    """Ids of the calls with a result in this line."""
    results: list["_Line"] = field(default_factory=list)
    typed: bool = False
    """Whether the line is a prompt, to which the user may rewind."""
    message: Message | None = None
    """None if it is not parsed yet, or has a new result."""


class ClaudeConversation(AppendOnlyConversation):
    """A session, read in two passes: first the tree of lines, then the messages."""

    skipped = PASSED_OVER

    def __init__(self, session: Session, file: Path, include: Collection[str]) -> None:
        super().__init__(session, file)
        self._include = include
        self._unknown: set[str] = set()
        self._lines: list[_Line] = []
        self._places: dict[str, int] = {}
        self._owners: dict[str, _Line] = {}
        """Lines by the ids of their calls."""
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
            self._report(f"lines of type {kind[:_LONGEST_TYPE]!r}", begin)

    def finish(self, session: Session, problems: list[str]) -> tuple[Session, list[Message]]:
        """Return the session, and the messages that were not rewound, calls with their results."""
        problems += left_out(self._subagents, "subagent")
        shown = [
            (line, rewound)
            for line, rewound in zip(self._lines, self._rewound(), strict=True)
            if line.has_parts or line.answer
        ]
        problems += left_out(sum(rewound for _, rewound in shown))
        with self.file.open("rb") as file:
            messages = [
                self._message(line, file, problems) for line, rewound in shown if not rewound
            ]
        title = next(filter(None, map(self._titles.get, _TITLES)), session.title)
        updated = max(session.updated, self._updated)
        return replace(session, title=title, updated=updated), messages

    def _message(self, line: _Line, file: IO[bytes], problems: list[str]) -> Message:
        """Return the message of a line. It is parsed again only if it has a new result."""

        def value_of(one: _Line) -> Json:
            file.seek(one.begin)
            what = f"{self.file}: the line at byte {one.begin}"
            return read_object(file.read(one.end - one.begin), what, problems) or {}

        if line.message is None:
            value, error = value_of(line), ""
            speaker: Speaker = "assistant"
            if line.has_parts:
                speaker, parts = message_parts(value)
            else:
                results = [value_of(result) for result in line.results]
                parts, error = answer_parts(value, results, self._include)
            given = {call for result in line.results for call in result.gives}
            line.message = Message(
                id=line.id,
                answers="" if line.has_parts else line.prompt,
                speaker=speaker,
                created=line.created,
                finished=given.issuperset(line.calls),
                agent=text_of(value, "attributionAgent"),
                model=text_of(value, "message", "model").replace(SYNTHETIC, ""),
                error=error,
                parts=parts,
                tokens=line.tokens,
            )
        return line.message

    def _add(self, begin: int, end: int, value: Json) -> None:
        lines, kind, id_ = self._lines, value["type"], text_of(value, "uuid")
        if id_ in self._places:
            known = lines[self._places[id_]]
            if known.end - known.begin != end - begin:
                self._report("different lines with one id", begin)
            return
        above = text_of(value, "parentUuid")
        if not above and (
            value.get("subtype") == "compact_boundary" or value.get("isCompactSummary") is True
        ):
            # Keep the lines before a compaction.
            above = text_of(value, "logicalParentUuid") or "unknown"
        parent = self._places.get(above, len(lines) - 1 if above or not id_ else -1)
        self._time = time_of(value, "timestamp") or self._time
        self._updated = max(self._updated, self._time)
        line = _Line(begin, end, id_ or f"line-{begin}", parent, self._prompt, self._time)
        self._places[line.id] = len(lines)
        lines.append(line)
        speaker, parts = message_parts(value)
        line.has_parts = bool(parts)
        if parts and speaker == "user":
            self._prompt = line.id
        if kind in ("user", "assistant"):
            for what in unknown_in(value):
                self._report(what, begin)
            line.gives = ids_in(value, "tool_result", "tool_use_id")
            line.typed = line.has_parts and speaker == "user" and not line.gives
        if kind == "assistant":
            line.answer, line.calls, counted = (
                text_of(value, "message", "id") or line.id,
                ids_in(value, "tool_use", "id"),
                tokens_in(value),
            )
            # Each block carries the tokens of the whole answer.
            before = self._counted if line.answer == self._answer else 0
            line.tokens = max(0, counted - before)
            self._answer, self._counted = line.answer, max(counted, before)
        self._owners |= dict.fromkeys(line.calls, line)
        for owner in filter(None, map(self._owners.get, line.gives)):
            owner.results.append(line)
            owner.message = None

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

    def _report(self, what: str, begin: int) -> None:
        if what not in self._unknown:
            self._unknown.add(what)
            self._faults.append(f"{self.file}: skipped unknown {what}, first at byte {begin}")
