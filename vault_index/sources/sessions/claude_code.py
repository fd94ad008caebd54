"""Read Claude Code's sessions: one JSONL file each. The lines form a tree by `parentUuid`.

projects/<folder's name>/<session>.jsonl
projects/<folder's name>/<session>/subagents/agent-<id>.jsonl
history.jsonl      all prompts, also of sessions that the client removed by age
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from vault_index.disk import worktree_of
from vault_index.models import FileStamp
from vault_index.sources.reading import stamp_of
from vault_index.sources.sessions.claude_blocks import message_parts
from vault_index.sources.sessions.claude_conversation import (
    PASSED_OVER,
    ClaudeConversation,
    is_chained,
)
from vault_index.sources.sessions.client import Conversation, Listing
from vault_index.sources.sessions.files import FileClient
from vault_index.sources.sessions.json_access import (
    Json,
    millis_of,
    object_of,
    read_object,
    text_of,
    time_of,
    title_of,
)
from vault_index.sources.sessions.jsonl import objects_in
from vault_index.sources.sessions.model import Listed, Message, Part, Session, Text

_MAJORS = ("", "0", "1", "2")
_ID = re.compile(r"[A-Za-z0-9_-]+")
_FOLDERS = re.compile("[^/.]+(/[^/.]+(/subagents(/[^/.]+){0,2})?)?")
# Not compactions and prompt suggestions, which repeat the session.
_FILES = re.compile(
    r"[^/.]+/([^/.]+/subagents/([^/.]+/){0,2}(?=agent-))?"
    r"(?!agent-a(compact|prompt_suggestion)-)[A-Za-z0-9_-]+\.jsonl"
)
_COMMAND = re.compile(r"/[\w:-]+\s*")  # without arguments, no content
_WARMUP = "Warmup"  # the client's own prompt to subagents


class ClaudeCode(FileClient):
    """The client for Claude Code."""

    name = "claude-code"
    title = "Claude Code"
    _history: tuple[FileStamp | None, dict[str, Listed]] = (None, {})

    folder_paths, file_paths = _FOLDERS, _FILES

    def files(self, errors: list[OSError]) -> Iterable[os.DirEntry[str]]:
        """Return files by mtime, so that the newest wins if a session is in two projects."""
        return sorted(super().files(errors), key=_mtime_ns)

    def watched(self) -> Sequence[Path]:
        """Return the folder of all projects."""
        return [self.folder / "projects"]

    def concerns(self, path: str) -> bool:
        """Return whether a path is a JSONL file."""
        return path.endswith(".jsonl")

    def resume(self, session: str) -> Sequence[str]:
        """Return the resume command; for a subagent, that of its parent session."""
        listed = self.session(session)
        return ["claude", "--resume", (listed.session.parent if listed else "") or session]

    def deleted(self, listed: Listed) -> bool:
        """Return whether `claude project purge` deleted the session.

        The command removes the project from the list of projects, and its prompts from the history.
        Removal by age leaves both. The list has repository roots, which are known only while the
        folder exists.
        """
        folder = listed.session.directory
        if not os.path.isdir(folder) or listed.session.id in self._prompts([]):
            return False
        for file in (self.folder / ".claude.json", self.folder.with_name(".claude.json")):
            with suppress(OSError):
                projects = object_of(
                    read_object(file.read_bytes(), "the list of projects", []) or {}, "projects"
                )
                return bool(projects) and projects.keys().isdisjoint((folder, worktree_of(folder)))
        return False

    def _now(self, known: Listed) -> Listed | None:
        return (
            super()._now(known)
            if isinstance(known.place, str)
            else self._prompts([]).get(known.session.id)
        )

    def listing(self) -> Listing:
        """List the sessions, including removed ones with prompts in the history."""
        listing, problems = super().listing(), list[str]()
        for id_, prompts in self._prompts(problems).items():
            listing.sessions.setdefault(id_, prompts)
        versions = {one.session.version for one in listing.sessions.values()}
        problems += [
            f"unknown Claude Code version {version}: its sessions may be misread"
            for version in sorted(versions)
            if version.partition(".")[0] not in _MAJORS
        ]
        return replace(listing, problems=(*listing.problems, *problems))

    def head(self, file: Path, problems: list[str]) -> Session | None:
        """Read the session up to the first answer, which shows whether it is a fork."""
        side, first, title, forked = file.stem.startswith("agent-"), Json(), "", ""
        for _, _, value in objects_in(file, [], passed_over=PASSED_OVER):
            if not is_chained(value, side):
                continue
            first = first or value
            speaker, parts = message_parts(value)
            title = title or (_title(parts) if speaker == "user" else "")
            forked = text_of(value, "forkedFrom", "sessionId") or text_of(value, "requestSessionId")
            if value.get("type") == "assistant":
                title = title or "Untitled"
                break
        if not title or (side and title == _WARMUP):
            return None
        meta: Json | None = {}
        with suppress(OSError):
            meta = read_object(file.with_suffix(".meta.json").read_bytes(), "", []) if side else {}
        above = file.relative_to(self.folder).parts[2:-2]  # newer versions: session/subagents
        folder, created = text_of(first, "cwd"), time_of(first, "timestamp") or 0
        return Session(
            id=file.stem,
            title=text_of(meta or {}, "description") or title,
            directory=folder,
            # Claude Code creates worktrees inside the project.
            worktree=folder[: max(0, folder.replace("\\", "/").find("/.claude/worktrees/"))],
            parent=_id(above[0] if above else text_of(first, "sessionId")) if side else "",
            version=text_of(first, "version"),
            created=created,
            updated=created,
            forked_from=_id(forked) if forked != file.stem and not side else "",
        )

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a session; of a removed session, only its prompts."""
        if not isinstance(listed.place, str):
            return Conversation(listed.session, listed.place, [])
        file = Path(listed.place)
        if not (isinstance(earlier, ClaudeConversation) and earlier.continues(file)):
            earlier = ClaudeConversation(listed.session, file, include)
        earlier.extend(listed.session)
        return earlier

    # --- prompts of removed sessions --------------------------------------------------------------

    def _prompts(self, problems: list[str]) -> dict[str, Listed]:
        """Return a partial session, with its prompts, for each session id in the history."""
        file, found = self.folder / "history.jsonl", dict[str, Listed]()
        try:
            stamp = stamp_of(file.stat())
            if stamp == self._history[0]:
                return self._history[1]
            for begin, _, value in objects_in(file, problems):
                id_, title = text_of(value, "sessionId"), text_of(value, "display").strip()
                if not _ID.fullmatch(id_) or not title or _COMMAND.fullmatch(title):
                    continue
                time, text = millis_of(value, "timestamp") or 0, Text(text_of(value, "display"))
                if id_ not in found:
                    folder = text_of(value, "project")
                    session = Session(id_, title_of(title), folder, "", "", "", time, time)
                    found[id_] = Listed(session, stamp, 0, time, [], partial=True)
                prompt = Message(str(begin), "", "user", time, True, "", "", "", (text,))
                found[id_].place.append(prompt)
        except FileNotFoundError:
            return found
        except OSError as error:
            problems.append(f"{file} cannot be read ({error.strerror})")
            return found
        for id_, one in found.items():
            count = len(one.place)
            found[id_] = replace(
                one, stamp=FileStamp(count, one.first * 1_000_000, 1), messages=count
            )
        self._history = stamp, found
        return found


def _id(text: str) -> str:
    return text if _ID.fullmatch(text) else ""


def _title(parts: Iterable[Part]) -> str:
    return next(filter(None, (title_of(part.text) for part in parts if isinstance(part, Text))), "")


def _mtime_ns(entry: os.DirEntry[str]) -> int:
    with suppress(OSError):
        return entry.stat().st_mtime_ns
    return 0
