"""A scripted model on loopback that speaks each client's API and streams.

`/v1/messages` is Anthropic's Messages API, `/v1/responses` OpenAI's Responses API, `:generateContent` and
`:streamGenerateContent` are Gemini's. A marker `[[scene:NAME]]` in the newest user message picks a scene; the number of
model messages since then picks the step. A client's own requests (titles, summaries) carry no marker and are recognized
by their prompt.
"""

import json
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from tests.waiting import PATIENCE

Step = Mapping[str, Any]
"""One answer: `think`, `text`, `tools` (a list of `{"name", "args"}`), `usage` (`{"input", "output"}`). With `hold`,
the model pauses after that many pieces of `text` until the test lets it go on."""

_MARKER = re.compile(r"\[\[scene:([\w.-]+)\]\]")
_ASKED = {
    "summary": ("detailed summary of the conversation", "CONTEXT CHECKPOINT COMPACTION", "state_snapshot"),
    "title": ("title", "isNewTopic", "summarizing", "concise summary"),
}
"""Words in the prompts of a client's own requests."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a request, in any of the APIs."""

    role: str
    """`user`, `model`, or `tool` for the result of a tool."""
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    scene: str
    turns: Sequence[Turn]
    body: Mapping[str, Any]


class Model(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, scenes: Mapping[str, Sequence[Step]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._scenes = scenes
        self._lock = threading.Lock()
        self.held = threading.Event()
        """Set while an answer is paused."""
        self.go_on = threading.Event()
        self.requests: list[Request] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def of(self, *scenes: str) -> list[Request]:
        with self._lock:
            return [request for request in self.requests if request.scene in scenes]

    def take(self, body: Mapping[str, Any]) -> tuple[Step, int]:
        """Return the step to play and the number of the request."""
        turns = list(_turns(body))
        scene, step = _classify(turns, _system(body), bool(body.get("tools")))
        with self._lock:
            self.requests.append(Request(scene, turns, body))
            number = len(self.requests)
        steps = self._scenes.get(scene) or [{"text": f"Nothing is scripted for {scene}."}]
        return steps[min(step, len(steps) - 1)], number


def _text(content: Any) -> str:
    """The text of a message in any of the three APIs."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _turns(body: Mapping[str, Any]) -> Iterator[Turn]:
    for message in body.get("messages", ()):  # Anthropic
        content = message["content"]
        results = isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)
        role = "tool" if results else {"assistant": "model"}.get(message["role"], message["role"])
        yield Turn(role, _text(content))
    for item in body.get("input", ()):  # OpenAI
        kind = item.get("type", "message")
        if kind == "message":
            yield Turn({"assistant": "model"}.get(item["role"], item["role"]), _text(item["content"]))
        elif kind.endswith("_output"):
            yield Turn("tool", "")
        elif kind.endswith("_call"):
            yield Turn("model", "")
    for content in body.get("contents", ()):  # Gemini
        results = any("functionResponse" in part for part in content.get("parts", ()))
        yield Turn("tool" if results else content.get("role", "user"), _text(content.get("parts")))


def _system(body: Mapping[str, Any]) -> str:
    instruction = body.get("systemInstruction") or {}
    return "\n".join((_text(body.get("system")), body.get("instructions") or "", _text(instruction.get("parts"))))


def _classify(turns: Sequence[Turn], system: str, tools: bool) -> tuple[str, int]:
    newest = next((turn.text for turn in reversed(turns) if turn.role == "user"), "")
    if any(word in newest or (not tools and word in system) for word in _ASKED["summary"]):
        return "summary", 0
    if not tools and any(word in system + newest for word in _ASKED["title"]):
        return "title", 0
    for position in range(len(turns) - 1, -1, -1):
        found = _MARKER.findall(turns[position].text) if turns[position].role == "user" else []
        if found:
            said = [turn.role == "model" for turn in turns[position:]]
            return found[-1], sum(now and not before for before, now in pairwise([False, *said]))
    return "default", 0


class _Handler(BaseHTTPRequestHandler):
    server: Model
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None: ...

    def do_HEAD(self) -> None:
        self._answer({})

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length) or b"{}"
        path = self.path.partition("?")[0]
        try:
            body = json.loads(sent)
        except ValueError:  # telemetry, compressed
            body = {}
        speak = next((speak for end, speak in _SPEAKERS.items() if path.endswith(end)), None)
        if speak is None:
            self._answer({"input_tokens": 100, "totalTokens": 100} if "ount" in path else {})
            return
        step, number = self.server.take(body)
        events = speak(step, number, body.get("model") or path.rpartition("/")[2].partition(":")[0])
        if path.endswith(":generateContent"):
            self._answer(_joined(events))
        elif path.endswith("/v1/messages") and not body.get("stream"):
            self._answer(_message(step, number, body["model"]))
        else:
            self._stream(events)

    def _stream(self, events: Iterable[Mapping[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for event in events:
                if event.get("type") == "_hold":
                    self.server.held.set()
                    self.server.go_on.wait(PATIENCE)
                    continue
                named = f"event: {event['type']}\n" if "type" in event else ""
                self.wfile.write(f"{named}data: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
        except OSError:
            return  # the client has hung up

    def _answer(self, value: Mapping[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _pieces(text: str) -> list[str]:
    """Split text as a model streams it: a few words at a time."""
    return re.findall(r"(?:\S+\s*){1,6}|\s+", text)


def _usage(step: Step) -> tuple[int, int]:
    usage = step.get("usage", {})
    return usage.get("input", 100), usage.get("output", 20)


def _blocks(step: Step, number: int) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if "think" in step:
        blocks.append({"type": "thinking", "thinking": step["think"], "signature": "c2lnbmF0dXJl"})
    if "text" in step:
        blocks.append({"type": "text", "text": step["text"]})
    for place, tool in enumerate(step.get("tools", ())):
        blocks.append(
            {"type": "tool_use", "id": f"toolu_{number:04}{place}", "name": tool["name"], "input": tool["args"]}
        )
    return blocks


def _message(step: Step, number: int, model: str) -> dict[str, Any]:
    taken, given = _usage(step)
    usage = {"input_tokens": taken, "output_tokens": given}
    return {
        "id": f"msg_{number:04}", "type": "message", "role": "assistant", "model": model,
        "content": _blocks(step, number),
        "stop_reason": "tool_use" if step.get("tools") else "end_turn", "stop_sequence": None,
        "usage": usage | {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
    }  # fmt: skip


def _anthropic(step: Step, number: int, model: str) -> Iterator[dict[str, Any]]:
    whole = _message(step, number, model)
    yield {"type": "message_start", "message": whole | {"content": [], "stop_reason": None}}
    for index, block in enumerate(whole["content"]):
        kind = block["type"]
        if kind == "tool_use":
            start: dict[str, Any] = block | {"input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
        elif kind == "thinking":
            start = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        else:
            start = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for place, delta in enumerate(deltas):
            if kind == "text" and step.get("hold") == place:
                yield {"type": "_hold"}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
        "usage": {"output_tokens": whole["usage"]["output_tokens"]},
    }
    yield {"type": "message_stop"}


def _openai(step: Step, number: int, model: str) -> Iterator[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if "think" in step:
        summary = [{"type": "summary_text", "text": step["think"]}]
        thought = {"type": "reasoning", "id": f"rs_{number:04}", "summary": summary, "encrypted_content": "c2VhbGVk"}
        items.append(thought)
    if "text" in step:
        content = [{"type": "output_text", "text": step["text"], "annotations": []}]
        items.append({"type": "message", "role": "assistant", "id": f"msg_{number:04}", "content": content})
    for place, tool in enumerate(step.get("tools", ())):
        call = {"id": f"fc_{number:04}{place}", "call_id": f"call_{number:04}{place}", "name": tool["name"]}
        call |= {"namespace": tool["namespace"]} if "namespace" in tool else {}
        if isinstance(tool["args"], str):
            items.append({"type": "custom_tool_call", **call, "input": tool["args"]})
        else:
            items.append({"type": "function_call", **call, "arguments": json.dumps(tool["args"])})
    response = {"id": f"resp_{number:04}", "object": "response", "model": model, "output": []}
    yield {"type": "response.created", "response": response}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.added", "output_index": index, "item": item | _emptied(item)}
        if item["type"] == "message":
            for place, piece in enumerate(_pieces(step["text"])):
                if step.get("hold") == place:
                    yield {"type": "_hold"}
                of_item = {"item_id": item["id"], "output_index": index, "content_index": 0}
                yield {"type": "response.output_text.delta", **of_item, "delta": piece}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    taken, given = _usage(step)
    usage = {
        "input_tokens": taken, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": given, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": taken + given,
    }  # fmt: skip
    yield {"type": "response.completed", "response": response | {"output": items, "usage": usage}}


def _emptied(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item without its content, as a stream begins it."""
    return {key: value for key, value in {"content": [], "arguments": "", "input": ""}.items() if key in item}


def _gemini(step: Step, number: int, model: str) -> Iterator[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    if "think" in step:
        parts.append({"text": step["think"], "thought": True})
    held = None
    for place, piece in enumerate(_pieces(step.get("text", ""))):
        if step.get("hold") == place:
            held = len(parts)
        parts.append({"text": piece})
    parts += [{"functionCall": {"name": tool["name"], "args": tool["args"]}} for tool in step.get("tools", ())]
    taken, given = _usage(step)
    usage = {"promptTokenCount": taken, "candidatesTokenCount": given, "totalTokenCount": taken + given}
    for place, part in enumerate(parts):
        if place == held:
            yield {"type": "_hold"}
        last = {"finishReason": "STOP"} if place == len(parts) - 1 else {}
        yield {
            "responseId": f"response-{number}",
            "modelVersion": model,
            "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, **last}],
            "usageMetadata": usage,
        }


def _joined(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Join the chunks of a stream into one answer."""
    chunks = [event for event in events if "candidates" in event]
    parts = [part for chunk in chunks for part in chunk["candidates"][0]["content"]["parts"]]
    text = "".join(part["text"] for part in parts if "text" in part)
    calls = [part for part in parts if "functionCall" in part]
    content = {"role": "model", "parts": [*([{"text": text}] if text else []), *calls]}
    return {**chunks[-1], "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}]}


_SPEAKERS = {
    "/v1/messages": _anthropic,
    "/v1/responses": _openai,
    ":generateContent": _gemini,
    ":streamGenerateContent": _gemini,
}
