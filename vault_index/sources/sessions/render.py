"""Render a session as one markdown document: frontmatter, then a section for each turn.

The text of a turn depends on that turn alone, so that lines and chunks of unchanged turns stay the
same. `_clean` removes secrets, private blocks and our own recalled memories from every text.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import tzinfo

from vault_index.markdown.nest import nest
from vault_index.markdown.recalled import drop_recalled
from vault_index.secrets.find import drop_private, redact
from vault_index.sources.sessions.model import (
    Attachment,
    Message,
    Part,
    Reasoning,
    Session,
    Text,
    ToolCall,
    moment_of,
)
from vault_index.unicode import mended

_LEVEL = 2
_TURN = "## "  # headings inside a turn are deeper
_SPEAKERS = {"user": "User", "assistant": "Assistant", "summary": "Compaction summary"}
_LONGEST_TARGET = 200
_LONGEST_ERROR = 120
_NOT_IN_TOOLS = re.compile(r"[^\w.-]")
_BACKTICKS = re.compile(r"`+")
_UNSAFE_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Transcript:
    """A rendered session."""

    text: str
    turns: int
    redacted: int
    """The number of credentials that were removed."""


def render(
    session: Session,
    messages: Iterable[Message],
    client: str,
    *,
    forked_from: str = "",
    zone: tzinfo | None = None,
) -> Transcript:
    """Render the whole document; consumes `messages`. Times are in `zone`, default local."""
    renderer = Renderer(zone, client)
    for message in finished(messages):
        renderer.add(message)
    return renderer.transcript(session, forked_from)


def finished(messages: Iterable[Message]) -> Iterator[Message]:
    """Yield the messages before an answer that is still being written.

    An unfinished answer that another answer follows was interrupted, and counts as finished.
    """
    waiting: list[Message] = []
    for message in messages:
        if waiting and message.speaker != "user":
            yield from waiting
            waiting = []
        if waiting or not message.finished:
            waiting.append(message)
        else:
            yield message


def beyond_copies(messages: Sequence[Message], original: Iterable[Message]) -> Sequence[Message]:
    """Return the messages of a fork from the first one that differs from its original's."""
    copied = 0
    for mine, theirs in zip(messages, original, strict=False):
        if _copy(mine) != _copy(theirs):
            break
        copied += 1
    return messages[copied:]


def _copy(message: Message) -> Message:
    """Return the message without ids, which a fork changes."""
    return replace(message, id="", answers="")


class Renderer:
    """Renders messages one by one, so that a growing session can be continued."""

    def __init__(self, zone: tzinfo | None, client: str) -> None:
        self._zone = zone
        self._client = client
        self._tokens = 0
        self._redacted = 0
        self._agent = self._model = ""
        self._turn: tuple[str, str] | None = None
        self._blocks: list[str] = []
        self._items: list[str] = []
        """The current list of consecutive tool calls and attachments."""

    def copy(self) -> "Renderer":
        """Return a copy that further messages do not affect."""
        other = copy(self)
        other._blocks, other._items = [*self._blocks], [*self._items]
        return other

    def add(self, message: Message) -> None:
        """Render one message; another speaker or prompt begins a new turn."""
        self._tokens += message.tokens
        if message.speaker != "summary":
            self._agent, self._model = message.agent or self._agent, message.model or self._model
        this = (message.speaker, message.answers or message.id)
        if this != self._turn:
            self._turn = this
            self._end_turn()
            time = moment_of(message.created).astimezone(self._zone).strftime("%Y-%m-%d %H:%M")
            self._blocks.append(f"{_TURN}{_SPEAKERS[message.speaker]} · {time}")
        self._body(message)

    def transcript(self, session: Session, forked_from: str = "") -> Transcript:
        """Return the whole document. Do not call `add` afterwards."""
        self._end_turn()
        turns = sum(block.startswith(_TURN) for block in self._blocks)
        front = self._frontmatter(session, self._agent, self._model, turns, forked_from)
        origin = (
            [f"*Forked from [[{forked_from}]]; the turns before are there.*"] if forked_from else []
        )
        return Transcript(
            "\n\n".join([front, *origin, *self._blocks]) + "\n", turns, self._redacted
        )

    def _frontmatter(
        self, session: Session, agent: str, model: str, turns: int, forked_from: str
    ) -> str:
        values: dict[str, str | int] = {
            "title": self._line(session.title),
            "session": session.id,
            "client": self._client,
            "project": self._line(session.project),
            "directory": self._line(session.directory),
            "agent": self._line(agent),
            "model": self._line(model),
            "created": _utc(session.created),
            "updated": _utc(session.updated),
            "version": self._line(session.version),
            "turns": turns,
            "tokens": self._tokens or "",
            "parent": f"[[{self._line(session.parent)}]]" if session.parent else "",
            "forked_from": f"[[{forked_from}]]" if forked_from else "",
        }
        # Always write every key, so that the line numbers of turns do not change.
        return "\n".join(
            ["---", *(f"{key}: {_yaml(value)}".rstrip() for key, value in values.items()), "---"]
        )

    def _end_turn(self) -> None:
        self._end_list()
        if self._blocks and self._blocks[-1].startswith(_TURN):
            self._blocks.pop()  # an empty turn

    def _end_list(self) -> None:
        if self._items:
            self._blocks.append("\n".join(self._items))
            self._items = []

    def _body(self, message: Message) -> None:
        for part in message.parts:
            if isinstance(part, ToolCall | Attachment):
                self._items.append(self._item(part))
            shown = list(self._fenced(part)) if isinstance(part, ToolCall) else [self._text(part)]
            for block in filter(None, shown):
                self._end_list()
                self._blocks.append(block)
        if message.error:
            self._items.append(f"- error: {_code(self._line(message.error, _LONGEST_ERROR))}")

    def _text(self, part: Part) -> str:
        text = nest(self._clean(part.text), _LEVEL) if isinstance(part, Text | Reasoning) else ""
        if isinstance(part, Text) or not text:
            return text
        return "\n".join(f"> {line}".rstrip() for line in ["*Reasoning*", *text.split("\n")])

    def _item(self, part: ToolCall | Attachment) -> str:
        if isinstance(part, Attachment):
            return f"- file: {_code(self._line(part.name) or 'unnamed')}"
        target = self._line(part.target)
        child = f" → [[{self._line(part.child)}]]" if part.child else ""
        tool = _NOT_IN_TOOLS.sub("", self._line(part.tool)) or "tool"
        return f"- {tool}:{' ' + _code(target) if target else ''}{child} ({self._outcome(part)})"

    def _outcome(self, call: ToolCall) -> str:
        if call.exit is not None:
            return f"exit {call.exit}"
        if call.status == "error":
            reason = self._line(call.error.removeprefix("Error: "), _LONGEST_ERROR)
            return f"error: {_code(reason)}" if reason else "error"
        return {"completed": "ok", "asked": "asked"}.get(call.status, "broken off")

    def _fenced(self, call: ToolCall) -> Iterator[str]:
        for text, language in ((call.output, "text"), (call.diff, "diff")):
            if cleaned := self._clean(text).strip("\n"):
                fence = _longer_run(cleaned, 3)
                yield f"{fence}{language}\n{cleaned}\n{fence}"

    def _line(self, text: str, longest: int = _LONGEST_TARGET) -> str:
        """Return one short line, redacted before truncation so that no part of a secret remains."""
        line = " ".join(self._clean(text).split())
        return line if len(line) <= longest else f"{line[: longest - 1]}…"

    def _clean(self, text: str) -> str:
        clean, count = redact(drop_private(drop_recalled(str(mended(text)))))
        self._redacted += count
        return clean.strip()


def _utc(millis: int) -> str:
    return moment_of(millis).isoformat(timespec="seconds")


def _yaml(value: str | int) -> str:
    """Quote a value as JSON, which is valid YAML once unprintable characters are escaped."""
    if value == "":
        return ""
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNSAFE_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _code(text: str) -> str:
    """Return inline code, in which markdown has no effect."""
    marks = _longer_run(text)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{marks}{space}{text}{space}{marks}"


def _longer_run(text: str, shortest: int = 1) -> str:
    """Return more backticks than any run in the text has."""
    return "`" * max(shortest, *(len(run) + 1 for run in _BACKTICKS.findall(text)), 1)
