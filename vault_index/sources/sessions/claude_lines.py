"""Read the lines of a Claude Code session, and drop the branches that the user rewound.

Each line names its parent. A rewind adds another prompt under the same parent; the first prompt and
its descendants then no longer count. Other branches come from parallel calls, hooks, retries and
client faults. They stay, in the order of the file.
"""

import re
from collections.abc import Collection, Generator
from dataclasses import dataclass, field
from pathlib import Path

from vault_index.disk import os_errors_as
from vault_index.sources.sessions.claude_blocks import (
    SYNTHETIC,
    answered_in,
    ids_in,
    message_parts,
    tokens_in,
    unknown_in,
)
from vault_index.sources.sessions.client import RewoundError
from vault_index.sources.sessions.lines import objects_before, objects_in
from vault_index.sources.sessions.model import Message, Speaker
from vault_index.sources.sessions.values import Json, left_out, read_object, text_of, time_of

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
    taken_back: bool = False

    @property
    def shown(self) -> bool:
        return self.end > self.begin and (self.has_parts or bool(self.answer))


_ASSISTANT: Speaker = "assistant"


class Transcript:
    """A session, read in two passes from an offset: first the tree, then the messages."""

    def __init__(self, file: Path, problems: list[str], offset: int) -> None:
        self._file, self._problems = file, problems
        self._unknown: set[str] = set()
        self._lines: list[_Line] = []
        self._places: dict[str, int] = {}
        self._prompt = self._answer = ""
        self._counted = self._last = 0
        self._titles: dict[str, str] = {}
        self._side = file.stem.startswith("agent-")
        self.updated = 0
        if offset:
            self._go_on(offset)
        subagents = 0
        for begin, end, value in objects_in(file, problems, offset, passed_over=PASSED_OVER):
            kind = text_of(value, "type")
            if kind in _CHAINED:
                if is_chained(value, self._side):
                    self._add(begin, end, value, offset)
                else:
                    subagents += kind == "assistant" or bool(message_parts(value)[1])
            elif kind in _TITLES:
                # A summary may belong to another session.
                if kind != "summary" or text_of(value, "leafUuid") in self._places:
                    self._titles[kind] = text_of(value, _TITLES[kind])
            elif not _NOTES.fullmatch(kind):
                self._report(f"lines of type {kind[:_LONGEST_TYPE]!r}", begin)
        problems += left_out(subagents, "subagent")
        self._take_back()
        self._join_results(offset)

    @property
    def title(self) -> str:
        """The title, by the best line type of `_TITLES`; empty without one."""
        return next(filter(None, map(self._titles.get, _TITLES)), "")

    def messages(self, include: Collection[str]) -> Generator[Message]:
        """Yield the messages that were not rewound, each tool call with its result."""
        shown = [line for line in self._lines if line.shown and not line.taken_back]
        ends = [max([line.end, *(result.end for result in line.results)]) for line in shown]
        begins = [*(line.begin for line in shown[1:]), *ends[-1:]]
        with (
            os_errors_as(f"{self._file} cannot be read", "check its permissions"),
            self._file.open("rb") as file,
        ):

            def value_of(line: _Line) -> Json:
                file.seek(line.begin)
                what = f"{self._file}: the line at byte {line.begin}"
                return read_object(file.read(line.end - line.begin), what, self._problems) or {}

            for line, end, following in zip(shown, ends, begins, strict=True):
                value, speaker, error = value_of(line), _ASSISTANT, ""
                if line.has_parts:
                    speaker, parts = message_parts(value)
                else:
                    parts, error = answered_in(
                        value, [value_of(result) for result in line.results], include
                    )
                yield Message(
                    id=line.id,
                    answers="" if line.has_parts else line.prompt,
                    speaker=speaker,
                    created=line.created,
                    finished={*line.calls}
                    <= {call for result in line.results for call in result.gives},
                    agent=text_of(value, "attributionAgent"),
                    model=text_of(value, "message", "model").replace(SYNTHETIC, ""),
                    error=error,
                    parts=parts,
                    tokens=line.tokens,
                    # No resume offset if a result of this line follows the next line.
                    end=end if end <= following else 0,
                )

    def _go_on(self, offset: int) -> None:
        """Restore the state before the offset: the last line, its prompt and its token count."""
        for number, value in enumerate(objects_before(self._file, offset, PASSED_OVER)):
            if number == 0:
                if not is_chained(value, self._side) or not (id_ := text_of(value, "uuid")):
                    raise RewoundError
                self._last = time_of(value, "timestamp") or 0
                self._lines.append(
                    _Line(offset, offset, id_, -1, "", 0, answer=text_of(value, "message", "id"))
                )
                self._places[id_] = 0
            if not is_chained(value, self._side):
                continue
            if not self._answer and value.get("type") == "assistant":
                self._answer, self._counted = text_of(value, "message", "id"), tokens_in(value)
            speaker, parts = message_parts(value)
            if parts and speaker == "user":
                self._prompt = text_of(value, "uuid")
                return

    def _add(self, begin: int, end: int, value: Json, offset: int) -> None:
        lines, kind, id_ = self._lines, value["type"], text_of(value, "uuid")
        if id_ in self._places:
            known = lines[self._places[id_]]
            if known.end > known.begin and known.end - known.begin != end - begin:
                self._report("different lines with one id", begin)
            return
        above = text_of(value, "parentUuid")
        if not above and (
            value.get("subtype") == "compact_boundary" or value.get("isCompactSummary") is True
        ):
            # Keep the lines before a compaction.
            above = text_of(value, "logicalParentUuid") or "unknown"
        parent = self._places.get(above, len(lines) - 1 if above or not id_ else -1)
        if offset and (parent < 0 or (above and above not in self._places)):
            raise RewoundError
        self._last = time_of(value, "timestamp") or self._last
        self.updated = max(self.updated, self._last)
        line = _Line(begin, end, id_ or f"line-{begin}", parent, self._prompt, self._last)
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

    def _take_back(self) -> None:
        """Mark rewound prompts with their descendants.

        A prompt stays if it has a descendant newer than the prompt that replaced it.
        """
        lines, prompts = self._lines, dict[int, int]()
        latest = [place if line.typed else -1 for place, line in enumerate(lines)]
        for place in reversed(range(len(lines))):
            if (above := lines[place].parent) >= 0:
                latest[above] = max(latest[above], latest[place])
        for place, line in enumerate(lines):
            if line.typed:
                before = prompts.setdefault(line.parent, place)
                lines[before].taken_back = latest[before] < place
                prompts[line.parent] = place
        for line in lines:
            line.taken_back |= line.parent >= 0 and lines[line.parent].taken_back
        self._problems += left_out(sum(line.taken_back and line.shown for line in lines))

    def _join_results(self, offset: int) -> None:
        owners: dict[str, _Line] = {}
        for line in self._lines:
            owners |= dict.fromkeys(line.calls, line)
            for call in line.gives:
                if (owner := owners.get(call)) is not None:
                    owner.results.append(line)
                elif offset:  # the result changes a message before the offset
                    raise RewoundError

    def _report(self, what: str, begin: int) -> None:
        if what not in self._unknown:
            self._unknown.add(what)
            self._problems.append(f"{self._file}: skipped unknown {what}, first at byte {begin}")
