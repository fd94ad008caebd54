"""Clients that keep each session in a file of its own."""

import json
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from vault_index.models import FileStamp
from vault_index.results.base import Problem
from vault_index.secrets.find import drop_private, redact
from vault_index.sources.reading import stamp_of
from vault_index.sources.sessions.client import Listing, Verdict
from vault_index.sources.sessions.model import Listed, Message, Session


class FileClient(ABC):
    """Lists by folders and `stat`. What a file says of its session at its beginning is read once a file."""

    name: str
    title: str
    deep = True

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        self.folder = folder
        self._cache = cache
        """Where the beginnings are remembered between runs."""
        self._lock = threading.Lock()
        self._heads: dict[str, tuple[int, Session | None]] | None = None
        """By path, with the inode: whose session it is. None for a file that is none (yet)."""
        self._listing: Listing | None = None

    # --- what a client says of itself ------------------------------------------------------------------------------

    @abstractmethod
    def files(self) -> Iterator[os.DirEntry[str]]:
        """The files that may be sessions, oldest first where a session may be in several; folders that cannot be read
        raise OSError."""

    @abstractmethod
    def head(self, file: Path, problems: list[str]) -> Session | None:
        """The session that a file holds, by its first lines; None where it says nothing yet."""

    @abstractmethod
    def read(
        self, listed: Listed, include: Collection[str], problems: list[str], offset: int = 0
    ) -> tuple[Session, Generator[Message]]: ...

    @abstractmethod
    def concerns(self, path: str) -> bool: ...

    @abstractmethod
    def resume(self, session: str) -> Sequence[str]: ...

    # --- what they have in common ----------------------------------------------------------------------------------

    def present(self) -> bool:
        return any(folder.is_dir() for folder in self.watched())

    def listing(self) -> Listing:
        with self._lock:
            heads = self._remembered()
            found: dict[str, Listed] = {}
            faults: list[Problem] = []
            problems: list[str] = []
            seen: dict[str, tuple[int, Session | None]] = {}
            changed = False
            try:
                for entry in self.files():
                    with suppress(FileNotFoundError):  # deleted since its folder was read
                        stamp = stamp_of(entry.stat())
                        known = heads.get(entry.path)
                        if known is None or known[0] != stamp.inode or known[1] is None:
                            known = stamp.inode, self._head(Path(entry.path), problems)
                            changed = True
                        seen[entry.path] = known
                        if (session := known[1]) is not None:
                            found[session.id] = self._listed(session, Path(entry.path), stamp)
            except OSError as error:
                message = f"the sessions of {self.title} cannot be listed ({error.filename}: {error.strerror})"
                faults.append(Problem("sessions_unreadable", message, "check the permissions of the folder"))
                seen = {**heads, **seen}
            if changed or seen.keys() != heads.keys():
                self._heads = seen
                self._remember(seen)
            return Listing(found, tuple(faults), tuple(problems))

    def session(self, id_: str) -> Listed | None:
        return self.listing().sessions.get(id_)

    def times(self, listed: Listed) -> Sequence[int]:
        return ()

    def deleted(self, listed: Listed) -> Verdict:
        from vault_index.sources.sessions.sweeps import who_deleted  # late: it is seldom asked

        return who_deleted(self.name, self.folder, listed)

    def forget(self, sessions: Collection[str]) -> None:
        with self._lock:
            heads = self._remembered()
            bare = {
                path: (inode, replace(one, title="", directory="", worktree=""))
                for path, (inode, one) in heads.items()
                if one is not None and one.id in sessions and one.title + one.directory + one.worktree
            }
            if bare:
                self._heads = heads | bare
                self._remember(self._heads)

    def version(self) -> object:
        """Of nothing but the listing itself: asked as seldom as that may be."""
        return {id_: one.stamp for id_, one in self.listing().sessions.items()}

    def watched(self) -> Sequence[Path]:
        return [self.folder]

    # --- inside ------------------------------------------------------------------------------------------------------

    def _listed(self, session: Session, file: Path, stamp: FileStamp) -> Listed:
        return Listed(session, stamp, messages=1, first=session.created, place=file)

    def _head(self, file: Path, problems: list[str]) -> Session | None:
        try:
            head = self.head(file, problems)
            return head and replace(head, title=redact(drop_private(head.title))[0])  # it is remembered on disk
        except FileNotFoundError:
            return None
        except OSError as error:
            problems.append(f"{file} cannot be read ({error.strerror})")
            return None

    def _remembered(self) -> dict[str, tuple[int, Session | None]]:
        if self._heads is None:
            self._heads = {}
            with suppress(OSError, ValueError, TypeError, AttributeError):  # derived: read anew
                told = json.loads(self._cache.read_bytes()) if self._cache else {}
                self._heads = {path: (inode, Session(**session)) for path, (inode, session) in told.items()}
        return self._heads

    def _remember(self, heads: dict[str, tuple[int, Session | None]]) -> None:
        if self._cache is None:
            return
        told = {path: (inode, asdict(session)) for path, (inode, session) in heads.items() if session is not None}
        from vault_index import disk

        with suppress(OSError):
            self._cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            disk.replace(os.fspath(self._cache), json.dumps(told).encode(), mode=0o600)
