"""Read exported chats of Claude and ChatGPT, which `import` splits into a file per conversation.

The file of an export is `conversations.json`, or several `conversations-000.json`, alone or in a
ZIP: a list of conversations. Those of Claude have `chat_messages`; those of ChatGPT have `mapping`,
a tree of messages, in which `current_node` is the last one.
"""

import json
import os
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from vault_index import disk
from vault_index.errors import UsageError
from vault_index.sources.sessions.entries import Block, Entry, EntryClient, Reading
from vault_index.sources.sessions.files import Layout
from vault_index.sources.sessions.json_access import (
    Json,
    id_in,
    list_of,
    object_of,
    objects_of,
    since_epoch,
    text_of,
    time_of,
)
from vault_index.sources.sessions.model import Attachment, Session, Speaker

_BLOCKS = {"text": Block("text"), "thinking": Block("thought", "thinking"),
           "tool_use": Block("call", "name", "id", "input"),
           "tool_result": Block("result", "content", "tool_use_id")}  # fmt: skip
_SPEAKERS: dict[str, Speaker] = {"human": "user", "user": "user", "assistant": "assistant"}
_MARKS = {"claude-chat": "chat_messages", "chatgpt": "mapping"}
"""The key that every conversation of a client has."""
_FILE = re.compile(r"(?:.*/)?conversations[\w-]*\.json")
_LOOKED_AT = 1 << 18
_MOST_BYTES = 4 << 30


class ClaudeChat(EntryClient):
    """The exported chats of Claude."""

    name = "claude-chat"
    layout = Layout(("",), re.compile("(?!)"), re.compile(r"(?<![\w-])[\w-]+\.json"))

    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session of a conversation."""
        created = _time(record, "created_at", "create_time")
        return Session(file.stem, "", "", "", "", "", created, created)

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert the messages of a conversation."""
        reading.title = text_of(record, "name")
        for one in objects_of(record, "chat_messages"):
            blocks = one.get("content") or [{"type": "text", "text": text_of(one, "text")}]
            files = (*objects_of(one, "attachments"), *objects_of(one, "files"))
            names = [Attachment(name) for file in files if (name := text_of(file, "file_name"))]
            yield Entry(
                id=text_of(one, "uuid"),
                speaker=_SPEAKERS.get(text_of(one, "sender"), "assistant"),
                time=_time(one, "created_at", ""),
                parts=[*reading.parts(blocks, _BLOCKS), *names],
            )


class ChatGPT(ClaudeChat):
    """The exported chats of ChatGPT."""

    name = "chatgpt"

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert the messages of the current branch."""
        reading.title = text_of(record, "title")
        nodes, branch, at = (
            object_of(record, "mapping"),
            list[Json](),
            text_of(record, "current_node"),
        )
        while at in nodes and len(branch) < len(nodes):
            branch.append(object_of(nodes, at))
            at = text_of(branch[-1], "parent")
        for node in reversed(branch):
            message = object_of(node, "message")
            speaker = _SPEAKERS.get(text_of(message, "author", "role"))
            hidden = object_of(message, "metadata").get("is_visually_hidden_from_conversation")
            if speaker and not hidden:
                texts = list_of(message, "content", "parts")
                blocks = [{"type": "text", "text": one} for one in texts if isinstance(one, str)]
                yield Entry(
                    id=text_of(message, "id"),
                    speaker=speaker,
                    time=_time(message, "", "create_time"),
                    parts=reading.parts(blocks, _BLOCKS),
                    model=text_of(message, "metadata", "model_slug"),
                )


def is_export(path: Path) -> bool:
    """Return whether a file is an export of chats, by its beginning."""
    marks = [f'"{mark}"'.encode() for mark in _MARKS.values()]
    with path.open("rb") as file:
        begin = file.read(_LOOKED_AT).lstrip(b"\xef\xbb\xbf \r\n\t")
    return (begin[:1] == b"[" and any(one in begin for one in marks)) or zipfile.is_zipfile(path)


def split(path: Path) -> Iterator[tuple[str, str, Json]]:
    """Yield the client, the id and the record of each conversation. Raises UsageError."""
    for text in _texts(path):
        try:
            records = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"{path} is not valid JSON: {error}", "download the export again"
            ) from error
        for record in objects_of({"": records}, ""):
            client = next((name for name, mark in _MARKS.items() if mark in record), "")
            given = (text_of(record, key) for key in ("uuid", "conversation_id", "id"))
            if client and (id_ := next(filter(None, map(id_in, given)), "")):
                yield client, id_, record


def store(folder: Path, id_: str, record: Json) -> bool:
    """Write a conversation; return whether it is new or changed."""
    text, file = json.dumps(record, ensure_ascii=True).encode(), folder / f"{id_}.json"
    if file.is_file() and file.read_bytes() == text:
        return False
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    disk.replace(os.fspath(file), text, mode=0o600)
    return True


def _texts(path: Path) -> Iterator[bytes]:
    if not zipfile.is_zipfile(path):
        yield path.read_bytes()
        return
    with zipfile.ZipFile(path) as archive:
        files = [one for one in archive.infolist() if _FILE.fullmatch(one.filename)]
        if not files or sum(one.file_size for one in files) > _MOST_BYTES:
            raise UsageError(
                f"{path} is no export of Claude or ChatGPT", "it has no conversations.json"
            )
        for one in files:
            yield archive.read(one)


def _time(record: Json, iso: str, seconds: str) -> int:
    return time_of(record, iso) or since_epoch(record.get(seconds))
