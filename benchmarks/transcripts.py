"""Generate sessions in the formats of Claude Code, Codex CLI and Gemini CLI.

The formats are those in fixtures/sessions. Words have the frequencies of the notes in
fixtures/vault. As in real sessions, a tenth of the bytes is conversation; the rest is output of
tools and data of the clients.
"""

import json
import random
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
_START = 1_790_000_000_000
_PROJECTS = 10


class Prose:
    """Random sentences."""

    def __init__(self) -> None:
        self.random = random.Random(7)
        notes = " ".join(
            note.read_text("utf-8", "replace")
            for note in sorted((FIXTURES / "vault").rglob("*.md"))
        )
        self._words = re.findall(r"\w+", notes)
        self.size = 0
        """Of what was said so far."""

    def said(self, size: int) -> str:
        """Paragraphs of a few sentences."""
        text = "\n\n".join(self.any(min(size, 350)) for _ in range(max(size // 350, 1)))
        self.size += len(text)
        return text

    def any(self, size: int) -> str:
        """Return any sentence."""
        start = self.random.randrange(len(self._words) - size // 4)
        found = " ".join(self._words[start : start + size // 4])
        return found[:size].ljust(size, ".")


class Transcripts:
    """The folder of a client.

    A session has four turns of 17 kB, and 30 kB of the client's own data.
    """

    client: str
    sessions: list[Path]

    def __init__(self, folder: Path, prose: Prose) -> None:
        self._folder, self._prose = folder, prose
        self.sessions = []
        self.clock = _START
        self._ends: dict[Path, str] = {}
        """The id of the last line, where the next one names it."""

    def fill(self, sessions: int, turns: int = 4) -> None:
        """Write the sessions."""
        for number in range(sessions):
            file = self._file(number)
            file.parent.mkdir(parents=True, exist_ok=True)
            self.sessions.append(file)
            with file.open("a", encoding="utf-8") as to:
                self._write(file, to, self._begin(file, number % _PROJECTS))
                for _ in range(turns):
                    self._write(file, to, self._turn(file))

    def turn(self, file: Path, said: str) -> None:
        """Append a turn to a session."""
        with file.open("a", encoding="utf-8") as to:
            self._write(file, to, self._turn(file, said))

    def _write(self, _file: Path, to: IO[str], lines: Iterator[dict[str, Any]]) -> None:
        to.writelines(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines)

    def _time(self) -> str:
        self.clock += 1000
        moment = datetime.fromtimestamp(self.clock / 1000, UTC)
        return f"{moment.isoformat(timespec='milliseconds')[:23]}Z"

    def _id(self) -> str:
        return str(uuid.UUID(int=self._prose.random.getrandbits(128), version=4))

    def _file(self, number: int) -> Path:
        raise NotImplementedError

    def _begin(self, file: Path, project: int) -> Iterator[dict[str, Any]]:
        raise NotImplementedError

    def _turn(self, file: Path, said: str = "") -> Iterator[dict[str, Any]]:
        raise NotImplementedError


class ClaudeCode(Transcripts):
    """Sessions of Claude Code."""

    client = "claude-code"

    def _file(self, number: int) -> Path:
        return (
            self._folder
            / f".claude/projects/-home-user-project-{number % _PROJECTS}"
            / f"{self._id()}.jsonl"
        )

    def _line(self, file: Path, kind: str, **more: Any) -> dict[str, Any]:
        id_ = self._id()
        line = {
            "parentUuid": self._ends.get(file),
            "isSidechain": False,
            "type": kind,
            **more,
            "uuid": id_,
        }
        self._ends[file] = id_
        rest = {
            "timestamp": self._time(),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": self._cwd(file),
        }
        return {**line, **rest, "sessionId": file.stem, "version": "2.1.330", "gitBranch": "main"}

    def _cwd(self, file: Path) -> str:
        return "/home/user/project-" + file.parent.name.rpartition("-")[2]

    def _begin(self, file: Path, project: int) -> Iterator[dict[str, Any]]:
        for kind in ("environment", "deferred_tools_delta", "prompt_snapshot"):
            yield self._line(
                file, "attachment", attachment={"type": kind, "content": self._prose.any(3000)}
            )
        yield {
            "type": "api-request-shape",
            "sessionId": file.stem,
            "shape": {"system": self._prose.any(9000)},
        }

    def _turn(self, file: Path, said: str = "") -> Iterator[dict[str, Any]]:
        prompt = self._prose.said(350) + said
        yield self._line(file, "user", message={"role": "user", "content": prompt})
        yield {
            "type": "api-request-blob",
            "sessionId": file.stem,
            "message": {"text": self._prose.any(2500)},
        }
        yield self._answer(
            file, {"type": "thinking", "thinking": self._prose.any(800), "signature": "x" * 400}
        )
        yield self._answer(file, {"type": "text", "text": self._prose.said(350)})
        for number in range(3):
            id_ = self._id()
            given = (
                {"file_path": f"src/f{number}.py"} if number else {"command": self._prose.any(60)}
            )
            name = "Edit" if number else "Bash"
            yield self._answer(file, {"type": "tool_use", "id": id_, "name": name, "input": given})
            output = self._prose.any(1200)
            result = {"type": "tool_result", "tool_use_id": id_, "content": output}
            message = {"role": "user", "content": [result]}
            yield self._line(file, "user", message=message, toolUseResult={"stdout": output})
        yield self._answer(file, {"type": "text", "text": self._prose.said(1400)})
        yield {
            "type": "last-prompt",
            "lastPrompt": prompt,
            "leafUuid": self._ends[file],
            "sessionId": file.stem,
        }

    def _answer(self, file: Path, block: dict[str, Any]) -> dict[str, Any]:
        usage = {"input_tokens": 100, "cache_creation_input_tokens": 0, "output_tokens": 20}
        message = {
            "id": self._id(),
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [block],
        }
        return self._line(
            file, "assistant", message=message | {"usage": usage}, requestRef="x" * 300
        )


class Codex(Transcripts):
    """Sessions of Codex CLI."""

    client = "codex"

    def _file(self, number: int) -> Path:
        self.clock += 60_000
        began = datetime.fromtimestamp(self.clock / 1000, UTC)
        head = f"{self.clock:012x}"
        id_ = f"{head[:8]}-{head[8:]}-7{self._id()[15:]}"
        day = f"{began:%Y/%m}/{number % 28 + 1:02}"
        return self._folder / f".codex/sessions/{day}/rollout-{began:%Y-%m-%dT%H-%M-%S}-{id_}.jsonl"

    def _line(self, kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": self._time(), "type": kind, "payload": payload}

    def _begin(self, file: Path, project: int) -> Iterator[dict[str, Any]]:
        told = {
            "originator": "codex-tui",
            "cli_version": "0.169.0",
            "source": "cli",
            "history_mode": "paginated",
        }
        instructions = {"text": self._prose.any(18_000)}
        cwd = f"/home/user/project-{project}"
        yield self._line(
            "session_meta", id=file.stem[-36:], cwd=cwd, base_instructions=instructions, **told
        )

    def _turn(self, file: Path, said: str = "") -> Iterator[dict[str, Any]]:
        prompt = self._prose.said(350) + said
        yield self._line("event_msg", type="task_started", turn_id=self._id())
        yield self._line("turn_context", cwd="/", model="gpt-5.5", policy=self._prose.any(700))
        yield self._message("user", "input_text", prompt)
        yield self._completed(type="UserMessage", content=[{"type": "text", "text": prompt}])
        yield self._line(
            "response_item", type="reasoning", summary=[], encrypted_content="x" * 1500
        )
        yield from self._says(350)
        for number in range(3):
            id_, output = self._id(), self._prose.any(1200)
            command = f"cat src/f{number}.py" if number else self._prose.any(60)
            arguments = json.dumps({"cmd": command})
            yield self._line(
                "response_item",
                type="function_call",
                name="exec_command",
                call_id=id_,
                arguments=arguments,
            )
            yield self._completed(
                type="CommandExecution",
                id=id_,
                command=["bash", "-lc", command],
                exit_code=0,
                aggregated_output=output,
            )
            yield self._line(
                "response_item", type="function_call_output", call_id=id_, output=output
            )
            total = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
            yield self._line(
                "event_msg", type="token_count", info={"total_token_usage": total}, limits="x" * 400
            )
        yield from self._says(1400)
        yield self._line("event_msg", type="task_complete", last_agent_message="x" * 300)

    def _says(self, size: int) -> Iterator[dict[str, Any]]:
        text = self._prose.said(size)
        yield self._completed(type="AgentMessage", content=[{"type": "Text", "text": text}])
        yield self._message("assistant", "output_text", text)

    def _message(self, role: str, kind: str, text: str) -> dict[str, Any]:
        return self._line(
            "response_item", type="message", role=role, content=[{"type": kind, "text": text}]
        )

    def _completed(self, **item: Any) -> dict[str, Any]:
        return self._line("event_msg", type="item_completed", item=item)


class Gemini(Transcripts):
    """Sessions of Gemini CLI."""

    client = "gemini"

    def _file(self, number: int) -> Path:
        project = self._folder / f".gemini/tmp/project-{number % _PROJECTS}"
        project.mkdir(parents=True, exist_ok=True)
        (project / ".project_root").write_text(f"/home/user/{project.name}", "utf-8")
        self.clock += 60_000
        began = datetime.fromtimestamp(self.clock / 1000, UTC)
        return project / f"chats/session-{began:%Y-%m-%dT%H-%M}-{self._id()[:8]}.jsonl"

    def _begin(self, file: Path, project: int) -> Iterator[dict[str, Any]]:
        yield {
            "sessionId": self._id(),
            "startTime": self._time(),
            "lastUpdated": self._time(),
            "kind": "main",
        }
        context = [{"text": f"<session_context>{self._prose.any(9000)}"}]
        yield {
            "$set": {
                "messages": [
                    {
                        "id": self._id(),
                        "timestamp": self._time(),
                        "type": "user",
                        "content": context,
                    }
                ]
            }
        }

    def _turn(self, file: Path, said: str = "") -> Iterator[dict[str, Any]]:
        prompt = [{"text": self._prose.said(350) + said}]
        yield {"id": self._id(), "timestamp": self._time(), "type": "user", "content": prompt}
        for number in range(3):
            id_ = self._id()
            answer: dict[str, Any] = {
                "id": id_,
                "timestamp": self._time(),
                "type": "gemini",
                "model": "gemini-2.5-flash",
            }
            answer |= {
                "content": self._prose.said(350),
                "thoughts": [{"description": self._prose.any(500)}],
            }
            yield answer
            yield {"$set": {"lastUpdated": self._time()}}
            response = [
                {"functionResponse": {"id": id_, "response": {"output": self._prose.any(2400)}}}
            ]
            call = {
                "id": id_,
                "name": "replace",
                "args": {"file_path": f"src/f{number}.py"},
                "status": "success",
            }
            yield answer | {
                "toolCalls": [
                    call | {"result": response, "resultDisplay": {"fileDiff": self._prose.any(900)}}
                ]
            }
            yield {"id": self._id(), "timestamp": self._time(), "type": "user", "content": response}
        yield answer | {"id": self._id(), "content": self._prose.said(1050)}


KINDS: dict[str, tuple[type[Transcripts], float]] = {
    "claude-code": (ClaudeCode, 0.5),
    "codex": (Codex, 0.4),
    "gemini": (Gemini, 0.1),
}
"""With the share that each has of all sessions."""
