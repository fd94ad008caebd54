"""Read Claude Code's sessions: one JSONL file each. The lines form a tree by `parentUuid`.

projects/<folder's name>/<session>.jsonl
projects/<folder's name>/<session>/subagents/agent-<id>.jsonl
history.jsonl      all prompts, also of sessions that the client removed by age
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from vault_index.disk import name_of
from vault_index.models import FileStamp
from vault_index.sources.files import stamp_at, stamp_of
from vault_index.sources.git import worktree_of
from vault_index.sources.sessions.claude_blocks import message_parts
from vault_index.sources.sessions.claude_conversation import (
    PASSED_OVER,
    ClaudeConversation,
    is_chained,
)
from vault_index.sources.sessions.client import Conversation, Listing
from vault_index.sources.sessions.files import FileClient, Layout
from vault_index.sources.sessions.json_access import (
    Json,
    id_in,
    millis_of,
    object_in,
    object_of,
    text_of,
    time_of,
    title_of,
)
from vault_index.sources.sessions.jsonl import objects_in
from vault_index.sources.sessions.model import Listed, Message, Session, Text

_MAJORS = ("", "0", "1", "2")
_COMMAND = re.compile(r"/[\w:-]+\s*")  # without arguments, no content
_WARMUP = "Warmup"  # the client's own prompt to subagents


class ClaudeCode(FileClient):
    """The client for Claude Code."""

    name = "claude-code"
    layout = Layout(
        ("projects",),
        re.compile("[^/.]+(/[^/.]+(/subagents(/[^/.]+){0,2})?)?"),
        # Not compactions and prompt suggestions, which repeat the session.
        re.compile(
            r"^[^/.]+/([^/.]+/subagents/([^/.]+/){0,2}(?=agent-))?"
            r"(?!agent-a(compact|prompt_suggestion)-)[A-Za-z0-9_-]+\.jsonl"
        ),
    )
    conversation = ClaudeConversation

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        super().__init__(*folders, cache=cache)
        self._histories: dict[Path, tuple[FileStamp, dict[str, Listed]]] = {}

    def files(self, folder: Path, errors: list[OSError]) -> Iterable[os.DirEntry[str]]:
        """Return files by mtime, so that the newest wins if a session is in two projects."""
        return sorted(super().files(folder, errors), key=_mtime_ns)

    def resumable(self, session: str) -> str:
        """Return the session that the command resumes: for a subagent, its parent."""
        listed = self.session(session)
        return (listed.session.parent if listed else "") or session

    def deleted(self, listed: Listed) -> bool:
        """Return whether `claude project purge` deleted the session.

        The command removes the project from the list of projects, and its prompts from the history.
        Removal by age leaves both. The list has repository roots, which are known only while the
        folder exists.
        """
        directory = listed.session.directory
        if not os.path.isdir(directory) or listed.session.id in self._prompts([]):
            return False
        places = {directory, worktree_of(directory)}
        return all(_lacks_projects(folder, places) for folder in self.folders)

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
        for value in _until_answer(file, side):
            first = first or value
            title = title or _title(value)
            forked = text_of(value, "forkedFrom", "sessionId") or text_of(value, "requestSessionId")
        if not title or (side and title == _WARMUP):
            return None
        meta = object_in(file.with_suffix(".meta.json")) if side else {}
        above = str(file).rpartition("/subagents/")[0]  # in newer versions, the parent's folder
        folder, created = text_of(first, "cwd"), time_of(first, "timestamp") or 0
        return Session(
            id=file.stem,
            title=text_of(meta, "description") or title,
            directory=folder,
            # Claude Code creates worktrees inside the project.
            worktree=folder[: max(0, folder.replace("\\", "/").find("/.claude/worktrees/"))],
            parent=(id_in(name_of(above)) or id_in(text_of(first, "sessionId"))) if side else "",
            version=text_of(first, "version"),
            created=created,
            updated=created,
            forked_from=id_in(forked) if forked != file.stem and not side else "",
        )

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a session; of a removed session, only its prompts."""
        if not isinstance(listed.place, str):
            return Conversation(listed.session, listed.place, [])
        return super().read(listed, include, earlier)

    # --- prompts of removed sessions --------------------------------------------------------------

    def _prompts(self, problems: list[str]) -> dict[str, Listed]:
        """Return a partial session, with its prompts, for each session id in the histories."""
        found = dict[str, Listed]()
        for folder in reversed(self.folders):
            found |= self._prompts_in(folder / "history.jsonl", problems)
        return found

    def _prompts_in(self, file: Path, problems: list[str]) -> dict[str, Listed]:
        sessions, prompts = dict[str, Session](), dict[str, list[Message]]()
        try:
            stamp = stamp_of(file.stat())
            if file in self._histories and self._histories[file][0] == stamp:
                return self._histories[file][1]
            for begin, _, value in objects_in(file, problems):
                id_, text = id_in(text_of(value, "sessionId")), text_of(value, "display")
                if not id_ or not text.strip() or _COMMAND.fullmatch(text.strip()):
                    continue
                time, folder = millis_of(value, "timestamp") or 0, text_of(value, "project")
                if id_ not in sessions:
                    sessions[id_] = Session(id_, title_of(text), folder, "", "", "", time, time)
                prompt = Message(str(begin), "", "user", time, True, "", "", "", (Text(text),))
                prompts.setdefault(id_, []).append(prompt)
        except OSError as error:
            if not isinstance(error, FileNotFoundError):
                problems.append(f"{file} cannot be read ({error.strerror})")
            return {}
        found = {id_: _partial(session, prompts[id_]) for id_, session in sessions.items()}
        self._histories[file] = stamp, found
        return found


def _partial(session: Session, prompts: list[Message]) -> Listed:
    stamp = FileStamp(len(prompts), session.created * 1_000_000, 1)
    return Listed(session, stamp, len(prompts), session.created, prompts, partial=True)


def _lacks_projects(folder: Path, places: Collection[str]) -> bool:
    """Return whether the client lists projects, but none of these."""
    for file in (folder / ".claude.json", folder.with_name(".claude.json")):
        if projects := object_of(object_in(file), "projects"):
            return projects.keys().isdisjoint(places)
    return False


def _until_answer(file: Path, side: bool) -> Iterator[Json]:
    for _, _, value in objects_in(file, [], passed_over=PASSED_OVER):
        if is_chained(value, side):
            yield value
            if value.get("type") == "assistant":
                return


def _title(value: Json) -> str:
    """Return a title from a prompt; an answer has none."""
    speaker, parts = message_parts(value)
    texts = [part.text for part in parts if isinstance(part, Text) and speaker == "user"]
    untitled = "Untitled" if value.get("type") == "assistant" else ""
    return next(filter(None, map(title_of, texts)), untitled)


def _mtime_ns(entry: os.DirEntry[str]) -> int:
    stamp = stamp_at(entry)
    return stamp.mtime_ns if stamp else 0
