"""Read the JSON trees of OpenCode before 1.2.

storage/session/<project>/<session>.json    first versions: project/<slug>/storage/session/
storage/message/<session>/<message>.json        info/<session>.json
storage/part/<message>/<part>.json              message/<session>/<message>.json
storage/project/<project>.json                  part/<session>/<message>/<part>.json
"""

import os
from collections.abc import Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from vault_index.errors import VaultIndexError
from vault_index.sources.files import read_regular
from vault_index.sources.opencode.entries import Held, RawMessage, RawPart, read_revert, stamp_of
from vault_index.sources.sessions.client_database import LARGEST_VALUE
from vault_index.sources.sessions.json_access import (
    Json,
    millis_of,
    object_of,
    read_object,
    text_of,
)
from vault_index.sources.sessions.model import Listed, Session

_SEARCHED_FOR_FOLDER = 4
"""Messages to search for the folder of a session in the oldest layout."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One tree, without a cache."""

    _root: Path
    _old: bool = False
    """Whether it has the layout of the first versions."""

    def version(self) -> object:
        """Return a value that changes when files are added or removed, but not on a rewrite."""
        times = []
        for folder in ("info" if self._old else "session", "message"):
            with suppress(OSError), os.scandir(self._root / folder) as entries:
                times += [(folder, entry.name, entry.stat().st_mtime_ns) for entry in entries]
        return sorted(times)

    def session(self, id_: str) -> Listed | None:
        """Return one session, or None."""
        return next(iter(self.sessions([], id_)), None)

    def sessions(self, problems: list[str], id_: str = "*") -> list[Listed]:
        """Return all sessions, or one; add unreadable files to `problems`."""
        worktrees: dict[str, str] = {}
        found = []
        for file in sorted(
            self._root.glob(f"info/{id_}.json" if self._old else f"session/*/{id_}.json")
        ):
            if (info := _read(file, problems)) is None:
                continue
            project = text_of(info, "projectID") or file.parent.name
            if project not in worktrees:
                worktrees[project] = "" if self._old else self._worktree(project, problems)
            found.append(self._listed(file, info, worktrees[project]))
        return sorted(found, key=lambda listed: (listed.session.created, listed.session.id))

    def messages(self, session: str, problems: list[str]) -> Generator[RawMessage]:
        """Yield the messages sorted by (time, id); add unreadable files to `problems`."""
        messages = []
        for file in self._root.glob(f"message/{session}/*.json"):
            # Read only the time; the next loop reports unreadable files.
            value = _read(file, [])
            messages.append((millis_of(value or {}, "time", "created") or 0, file.stem, file))
        for created, id_, file in sorted(messages):
            if (data := _bytes(file, problems)) is not None:
                yield RawMessage(id_, created, data, self._parts(session, id_, problems))

    def times(self, session: str) -> list[int]:
        """Return no times, because reading all messages to find forks would be slow."""
        return []

    def _parts(self, session: str, message: str, problems: list[str]) -> Iterator[RawPart]:
        folder = self._root / "part" / (f"{session}/{message}" if self._old else message)
        for file in sorted(folder.glob("*.json")):
            if (data := _bytes(file, problems)) is not None:
                yield file.stem, data

    def _listed(self, file: Path, info: Json, worktree: str) -> Listed:
        id_ = file.stem
        times = []
        # The folder may not exist, and files may be deleted meanwhile.
        with suppress(OSError), os.scandir(self._root / "message" / id_) as entries:
            times = [
                entry.stat().st_mtime_ns // 1_000_000
                for entry in entries
                if entry.name.endswith(".json")
            ]
        created = millis_of(info, "time", "created") or 0
        updated = millis_of(info, "time", "updated") or created
        session = Session(
            id=id_,
            title=text_of(info, "title"),
            directory=text_of(info, "directory") or self._folder(id_),
            worktree=worktree,
            parent=text_of(info, "parentID"),
            version=text_of(info, "version"),
            created=created,
            updated=updated,
        )
        revert = read_revert(object_of(info, "revert"))
        stamp = stamp_of(session, revert, max([updated, *times]), len(times), 0)
        return Listed(session, stamp, len(times), created, Held(self, revert))

    def _worktree(self, project: str, problems: list[str]) -> str:
        file = self._root / "project" / f"{project}.json"
        return text_of((_read(file, problems) if file.exists() else None) or {}, "worktree")

    def _folder(self, session: str) -> str:
        """Return the folder from the first messages; the oldest sessions do not record it."""
        for file in islice(
            sorted(self._root.glob(f"message/{session}/*.json")), _SEARCHED_FOR_FOLDER
        ):
            value = _read(file, []) or {}
            if folder := text_of(value, "path", "cwd") or text_of(
                value, "metadata", "assistant", "path", "cwd"
            ):
                return folder
        return ""


def _read(file: Path, problems: list[str]) -> Json | None:
    data = _bytes(file, problems)
    return read_object(data, str(file), problems) if data is not None else None


def _bytes(file: Path, problems: list[str]) -> bytes | None:
    try:
        return read_regular(str(file), LARGEST_VALUE)[0]
    except FileNotFoundError:
        return None  # deleted since the listing
    except (OSError, VaultIndexError) as error:
        problems.append(f"{file} cannot be read ({getattr(error, 'strerror', error)})")
        return None
