"""Writes sessions as Claude Code 2.1.330 does."""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vault_index.sources.sessions.claude_code import ClaudeCode
from vault_index.sources.sessions.model import Attachment, LeftOut, Message, Reasoning, Text, ToolCall

Json = dict[str, Any]
BEGAN = 1_795_393_500_000


@dataclass
class Writer:
    home: Path
    session: str = "5d2aed35-a3d9-4c4f-9b65-f0f1b4e2cea1"
    project: str = "-home-user-shop"
    agent: str = ""
    inside: str = "subagents"
    lines: list[bytes] = field(default_factory=list)
    last: str | None = None
    answers: int = 0

    @property
    def id(self) -> str:
        return f"agent-{self.agent}" if self.agent else self.session

    @property
    def file(self) -> Path:
        folder = self.home / "projects" / self.project
        return (folder / self.session / self.inside if self.agent else folder) / f"{self.id}.jsonl"

    def write(self, *, end: bytes = b"\n") -> "Writer":
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(b"\n".join(self.lines) + end)
        return self

    def read(self, *include: str) -> tuple[list[Message], list[str]]:
        """Write the session; return its messages as our reader gives them, and the problems."""
        self.write()
        return read(self.home, self.id, *include)

    def told(self) -> list[str]:
        messages, problems = self.read()
        assert [problem for problem in problems if not isinstance(problem, LeftOut)] == []
        return told(messages)

    def raw(self, value: object) -> None:
        self.lines.append(json.dumps(value).encode())

    def line(self, kind: str, **values: object) -> str:
        """A line of the tree, which continues the last one by default."""
        number = len(self.lines)
        id_ = f"{self.id[:8]}-{number:04}"
        base: Json = {
            "parentUuid": self.last, "isSidechain": bool(self.agent), "type": kind, "uuid": id_,
            "timestamp": datetime.fromtimestamp((BEGAN + 1000 * number) / 1000, UTC).isoformat().replace("+00:00", "Z"),
            "cwd": "/home/user/shop", "sessionId": self.session, "version": "2.1.330",
        }  # fmt: skip
        self.raw({**base, **values})
        self.last = str(values.get("uuid", id_))
        return self.last

    def prompt(self, content: object, **values: object) -> str:
        return self.line("user", message={"role": "user", "content": content}, **values)

    def answer(self, *blocks: object, new: bool = True, **values: object) -> str:
        """A block of an answer; `new` if it begins one."""
        self.answers += new
        message = {
            "id": f"msg_{self.answers:04}",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks],
            "usage": {"input_tokens": 100, "cache_read_input_tokens": 9000, "output_tokens": 20},
        }
        return self.line("assistant", **{"message": message, **values})

    def call(self, id_: str, tool: str = "Bash", *, new: bool = True, **given: object) -> str:
        return self.answer({"type": "tool_use", "id": id_, "name": tool, "input": given}, new=new)

    def result(self, call: str, content: object = "done", *, failed: bool = False, **values: object) -> str:
        block: Json = {"type": "tool_result", "tool_use_id": call, "content": content}
        return self.prompt([{**block, "is_error": True} if failed else block], **values)

    def attachment(self, kind: str = "date", **values: object) -> str:
        return self.line("attachment", attachment={"type": kind, **values})

    def compact(self, summary: str) -> None:
        self.line("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid=self.last)
        self.prompt(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)


def read(home: Path, id_: str, *include: str) -> tuple[list[Message], list[str]]:
    client = ClaudeCode(home)
    read = client.read(client.listing().sessions[id_], include)
    return read.messages, read.problems


def told(messages: list[Message]) -> list[str]:
    """In short: `user: text`, `assistant: Bash `command` 2`."""
    return [f"{message.speaker}: {short(part)}" for message in messages for part in message.parts]


def short(part: Text | Reasoning | Attachment | ToolCall) -> str:
    if isinstance(part, ToolCall):
        outcome = part.status if part.exit is None else f"exit {part.exit}"
        return f"{part.tool} `{part.target}` {outcome}" + (f" → {part.child}" if part.child else "")
    return f"[{part.name}]" if isinstance(part, Attachment) else part.text
