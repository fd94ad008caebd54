"""A scripted chat server like OpenAI's that plays the scene named in the newest message.

A marker `[[scene:NAME]]` picks a scene; the number of assistant messages after it picks the step. Titles and summaries
carry no marker and are recognized by their prompt.
"""

import json
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_MARKER = re.compile(r"\[\[scene:([\w.-]+)\]\]")
Step = Mapping[str, Any]
"""One step: `text`, or `tools`, a list of `{"name", "args"}`."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request of OpenCode."""

    scene: str
    messages: Sequence[Mapping[str, Any]]
    tools: Mapping[str, Any]
    """Their schemas, by name."""

    @property
    def system(self) -> str:
        return "\n".join(text_of(message) for message in self.messages if message["role"] == "system")

    @property
    def whole(self) -> str:
        return "\n".join(text_of(message) for message in self.messages)


class Model(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, scenes: Mapping[str, Sequence[Step]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._scenes = scenes
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def of(self, *scenes: str) -> list[Request]:
        with self._lock:
            return [request for request in self.requests if request.scene in scenes]

    def step(self, body: Mapping[str, Any]) -> Step:
        scene, number = _classify(body)
        tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools") or []}
        with self._lock:
            self.requests.append(Request(scene, body["messages"], tools))
        steps = self._scenes.get(scene) or [{"text": f"Nothing is scripted for {scene}."}]
        return steps[min(number, len(steps) - 1)]


def text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content if part.get("type") == "text")


def _classify(body: Mapping[str, Any]) -> tuple[str, int]:
    messages = body["messages"]
    system = "\n".join(text_of(message) for message in messages if message["role"] == "system")
    if not body.get("tools"):
        if "title generator" in system[:400]:
            return "title", 0
        if "summar" in system.lower():
            return "compaction", 0
    for position in range(len(messages) - 1, -1, -1):
        found = _MARKER.search(text_of(messages[position])) if messages[position]["role"] == "user" else None
        if found:
            return found[1], sum(message["role"] == "assistant" for message in messages[position:])
    return "default", 0


class _Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None: ...

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        step = self.server.step(body)
        calls = [
            {
                "index": number,
                "id": f"call_{len(self.server.requests)}_{number}",
                "type": "function",
                "function": {"name": tool["name"], "arguments": json.dumps(tool["args"])},
            }
            for number, tool in enumerate(step.get("tools", ()))
        ]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self._say({"role": "assistant", "content": step.get("text", "")})
        for call in calls:
            self._say({"tool_calls": [call]})
        self._say({}, finish="tool_calls" if calls else "stop")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def _say(self, delta: Mapping[str, Any], finish: str | None = None) -> None:
        chunk: dict[str, Any] = {
            "id": "chunk",
            "object": "chat.completion.chunk",
            "created": 1700000000,
            "model": "fake-1",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
        if finish:
            chunk["usage"] = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()
