"""The base class of clients that store each session in its own file."""

import errno
import json
import os
import re
import threading
import time
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from vault_index.models import FileStamp
from vault_index.results.base import Problem
from vault_index.secrets.find import drop_private, redact
from vault_index.sources.files import stamp_of
from vault_index.sources.sessions.append_only import AppendOnlyConversation
from vault_index.sources.sessions.client import Client, Conversation, Listing
from vault_index.sources.sessions.model import Listed, Session

_MANY = 1000
"""Number of sessions above which look-ups of unknown ids are rate-limited."""
_SHARE = 10
"""Wait this multiple of a listing's duration before an unknown id causes another listing."""

_Heads = dict[str, tuple[FileStamp, Session | None]]


class Layout(NamedTuple):
    """The place of the session files in a data folder."""

    below: tuple[str, ...]
    """Subfolders to watch and to search."""
    folders: re.Pattern[str]
    """Matches the folders to search, relative to a watched folder."""
    files: re.Pattern[str]
    """Matches the files that may be sessions, relative to a watched folder."""


class FileClient(Client):
    """Lists sessions by `stat`, and caches the head of each file."""

    layout: Layout
    conversation: type[AppendOnlyConversation]
    """Parses a session file; a client whose files are not append-only overrides `read`."""

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        super().__init__(*folders, cache=cache)
        self._lock = threading.Lock()
        self._heads: _Heads | None = None
        """By path: the stamp of the file when its head was read, and the session, if any yet."""
        self._found: dict[str, Listed] = {}
        """The last listing."""
        self._look_again = 0.0

    @abstractmethod
    def head(self, file: Path, problems: list[str]) -> Session | None:
        """Read the session from the first lines of a file; None if it has no session yet."""

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a session (see `Client.read`)."""
        file = Path(listed.place)
        if not (isinstance(earlier, self.conversation) and earlier.continues(file)):
            earlier = self.conversation(listed.session, file, include)
        earlier.extend(listed.session)
        return earlier

    def files(self, folder: Path, errors: list[OSError]) -> Iterable[os.DirEntry[str]]:
        """Return the files of a data folder that may be sessions; of one session, the last wins.

        Unreadable folders are added to `errors`.
        """
        tops = (os.fspath(folder / below) for below in self.layout.below)
        found = (entry for top in tops for entry in self._files_in(top, "", errors))
        return sorted(found, key=lambda entry: entry.name)

    def present(self) -> bool:
        """Return whether a watched folder exists."""
        return any(folder.is_dir() for folder in self.watched())

    def listing(self) -> Listing:
        """List all sessions; read only the heads of new and replaced files."""
        with self._lock:
            started, heads = time.monotonic(), self._load_heads()
            found: dict[str, Listed] = {}
            faults: list[Problem] = []
            problems: list[str] = []
            seen: _Heads = {}
            errors: list[OSError] = []
            for entry in chain.from_iterable(
                self.files(folder, errors) for folder in reversed(self.folders)
            ):
                try:
                    stamp = stamp_of(entry.stat())
                except OSError as error:
                    _note_unless_missing(error, errors)
                    continue
                known = heads.get(entry.path)
                if known is None or not _is_head(known, stamp):
                    known = stamp, self._head(Path(entry.path), problems)
                # Do not cache failures: retry and report them each time.
                if known[1] is not None or not problems:
                    seen[entry.path] = known
                if (session := known[1]) is not None:
                    found[session.id] = self._listed(session, entry.path, stamp)
            if errors:
                first = errors[0]
                message = f"cannot list {self.title} sessions ({first.filename}: {first.strerror})"
                faults.append(
                    Problem("sessions_unreadable", message, "check the permissions of the folder")
                )
                seen = {**heads, **seen}
            if seen != heads:
                self._heads = seen
                self._store_heads(seen)
            self._found, done = found, time.monotonic()
            self._look_again = done + (done - started) * _SHARE
            return Listing(found, tuple(faults), tuple(problems))

    def session(self, id_: str) -> Listed | None:
        """Return a session. Check only the file of a known one: there may be thousands."""
        if (known := self._found.get(id_)) is not None and (now := self._now(known)) is not None:
            return now
        if known is None and len(self._found) > _MANY and time.monotonic() < self._look_again:
            return None
        return self.listing().sessions.get(id_)

    def session_of_file(self, path: str) -> Session | None:
        """Return the session of a file, from the cached heads; None if unknown."""
        with self._lock:
            return self._load_heads().get(path, (None, None))[1]

    def forget(self, sessions: Collection[str]) -> None:
        """Drop titles and folders of these sessions from the cached heads, also on disk."""
        with self._lock:
            heads = self._load_heads()
            bare = {
                path: (stamp, replace(one, title="", directory="", worktree=""))
                for path, (stamp, one) in heads.items()
                if one is not None
                and one.id in sessions
                and one.title + one.directory + one.worktree
            }
            if bare:
                self._heads = heads | bare
                self._store_heads(self._heads)

    def version(self) -> object:
        """Return the stamps of all sessions. Call it rarely, because it lists them."""
        return {id_: one.stamp for id_, one in self.listing().sessions.items()}

    def watched(self) -> Sequence[Path]:
        """Return the searched subfolders of all data folders."""
        return [folder / below for folder in self.folders for below in self.layout.below]

    def concerns(self, path: str) -> bool:
        """Return whether the end of a path matches `layout.files`."""
        starts = (at + 1 for at, one in enumerate(path) if one == "/")
        return any(self.layout.files.fullmatch(path[start:]) for start in starts)

    # --- inside -----------------------------------------------------------------------------------

    def _files_in(
        self, folder: str, below: str, errors: list[OSError]
    ) -> Iterator[os.DirEntry[str]]:
        """Yield the files in a folder, whose path `below` a watched folder ends with `/`."""
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            _note_unless_missing(error, errors)
            return
        for entry in entries:
            path = f"{below}{entry.name}"
            try:
                if self.layout.files.fullmatch(path) and entry.is_file():
                    yield entry
                elif self.layout.folders.fullmatch(path) and entry.is_dir():
                    yield from self._files_in(entry.path, f"{path}/", errors)
            except OSError as error:
                _note_unless_missing(error, errors)

    def _listed(self, session: Session, file: str, stamp: FileStamp) -> Listed:
        return Listed(session, stamp, messages=1, first=session.created, place=file)

    def _now(self, known: Listed) -> Listed | None:
        """Return the current state of a known session; None if its file is gone or replaced."""
        with suppress(OSError):
            stamp = stamp_of(os.stat(known.place))
            if (head := (self._heads or {}).get(known.place)) and _is_head(head, stamp):
                return self._listed(known.session, known.place, stamp)
        return None

    def _head(self, file: Path, problems: list[str]) -> Session | None:
        try:
            head = self.head(file, problems)
            # Redacted here too, because heads are stored on disk.
            return head and replace(head, title=redact(drop_private(head.title))[0])
        except FileNotFoundError:
            return None
        except OSError as error:
            problems.append(f"{file} cannot be read ({error.strerror})")
            return None

    def _load_heads(self) -> _Heads:
        if self._heads is None:
            self._heads = {}
            with suppress(OSError, ValueError, TypeError, AttributeError):  # a cache: rebuild it
                stored = json.loads(self._cache.read_bytes()) if self._cache else {}
                self._heads = {
                    path: (FileStamp(*stamp), Session(*session) if session else None)
                    for path, (stamp, session) in stored.items()
                }
        return self._heads

    def _store_heads(self, heads: _Heads) -> None:
        if self._cache is None:
            return
        stored = {
            path: (stamp, session and astuple(session)) for path, (stamp, session) in heads.items()
        }
        from vault_index import disk

        with suppress(OSError):
            self._cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            disk.replace(os.fspath(self._cache), json.dumps(stored).encode(), mode=0o600)


def _note_unless_missing(error: OSError, errors: list[OSError]) -> None:
    """Add an error to `errors`, except that of a deleted entry or of a circular link."""
    if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
        errors.append(error)


def _is_head(known: tuple[FileStamp, Session | None], stamp: FileStamp) -> bool:
    """Return whether a file is unchanged, or the same file with appended data."""
    return known[0] == stamp or (
        known[1] is not None and known[0].inode == stamp.inode and known[0].size <= stamp.size
    )
