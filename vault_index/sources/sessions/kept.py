"""Sessions as they were read last, a file of markdown each: what their client deletes is read from here.

<data>/sessions/<client>/<project>/<session>.md    what was read; its time is that of the session

As long as the client has a session, its file is derived, and so no write waits for the disk. One that was lost or is
empty, as after a loss of power, is written again.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from vault_index.disk import name_of, os_errors_as
from vault_index.errors import NotFoundError, VaultIndexError
from vault_index.markdown.frontmatter import plain_text, read_frontmatter
from vault_index.markdown.normalize import split_lines
from vault_index.models import KEPT, FileStamp
from vault_index.sources.sessions.model import Listed, Session

REMOVED = "[redacted"
_CUT = "…"
_NAME = r"[A-Za-z0-9_-]+\.md"
_LARGEST_HEAD = 64 << 10
"""Bytes: no frontmatter that we wrote has more."""
_HINT = "mend it, or delete it: the folder holds nothing but sessions"


class Kept:
    """Those of one client. Paths are those of its documents; whoever writes has the lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Listed] = {}

    def all(self) -> dict[str, FileStamp]:
        """What there is, by path; raises OSError for a folder that cannot be read."""
        for file in sorted(self.folder.glob(".deleted/*/*.md")):  # an earlier version held these back for review
            folder = self.folder / file.parent.name
            folder.mkdir(mode=0o700, exist_ok=True)
            os.renames(file, folder / file.name)
        found: dict[str, FileStamp] = {}
        root = os.fspath(self.folder)
        with suppress(FileNotFoundError):
            for project in sorted(entry.name for entry in os.scandir(root) if entry.is_dir(follow_symlinks=False)):
                if not project.startswith("."):
                    found |= _files(root, project)
        return found

    def put(self, path: str, text: str, updated: float) -> None:
        """Keep what a session says now, which has changed then; raises OSError, and ValueError for a name that no file
        has."""
        file, data = self._file(path), text.encode()
        if _bytes(file) == data:
            return
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = _draft(file)
        with suppress(FileNotFoundError):
            draft.unlink()
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(data)
        with suppress(OSError, OverflowError):
            os.utime(draft, (updated, updated))
        draft.rename(file)

    def read(self, path: str) -> tuple[FileStamp, str]:
        """What a session said, and the stamp of its file. NotFoundError, VaultIndexError for what is none."""
        file = self._file(path)
        with os_errors_as(f"{file} cannot be read", "check its permissions"):
            stamp, data = _stamp(file), _bytes(file)
        if stamp is None or data is None:
            raise NotFoundError(f"{path} is gone", "run: vault-index sync")
        text = data.decode("utf-8", "replace")
        if self._session(path, text) is None:
            raise VaultIndexError(f"{file} is no session (any more)", _HINT)
        return stamp, text

    def stamp(self, path: str) -> FileStamp | None:
        with suppress(OSError, ValueError):
            return _stamp(self._file(path))
        return None

    def listed(self, path: str) -> Listed | None:
        """A session by its path, as its frontmatter tells of it; None for what is none."""
        with suppress(OSError, ValueError):
            file = self._file(path)
            if (stamp := _stamp(file)) is None:
                return None
            known = self._known.get(path)
            if known is None or known.stamp != stamp:
                with file.open("rb") as opened:
                    head = opened.read(_LARGEST_HEAD).decode("utf-8", "replace")
                if (session := self._session(path, head)) is None:
                    return None
                known = self._known[path] = Listed(session, stamp, 1, session.created, path)
            return known
        return None

    def find(self, id_: str) -> str | None:
        """The path of a session."""
        with suppress(OSError):
            for project in sorted(os.listdir(self.folder)):
                if not project.startswith(".") and os.path.isfile(os.path.join(self.folder, project, f"{id_}.md")):
                    return f"{project}/{id_}.md"
        return None

    def remove(self, path: str) -> None:
        """Remove the file of a session, and a draft of it that a crash left."""
        file = self._file(path)
        for one in (file, _draft(file)):
            with suppress(FileNotFoundError, NotADirectoryError):
                one.unlink()
        with suppress(OSError):
            file.parent.rmdir()
        self._known.pop(path, None)

    def size(self) -> tuple[int, int]:
        """How many files there are, and their bytes."""
        found = self.all().values()
        return len(found), sum(stamp.size for stamp in found)

    # --- inside --------------------------------------------------------------------------------------------------

    def _file(self, path: str) -> Path:
        if not re.fullmatch(rf"[^./][^/]*/{_NAME}", path):
            raise ValueError(f"{path} is the name of no session")
        return self.folder / path

    def _session(self, path: str, text: str) -> Session | None:
        front = read_frontmatter(split_lines(text)).values
        id_ = plain_text(front.get("session")) or ""
        if id_ != Path(path).stem:
            return None
        project, directory = (plain_text(front.get(key)) or "" for key in ("project", "directory"))
        created, updated = (_millis(front.get(key)) for key in ("created", "updated"))
        return Session(
            id=id_,
            title=plain_text(front.get("title")) or "",
            directory=directory,
            worktree=_worktree(project, directory),
            parent=(plain_text(front.get("parent")) or "").strip("[]"),
            version=plain_text(front.get("version")) or "",
            created=created,
            updated=updated,
        )


def hides_its_place(session: Session) -> bool:
    """Whether nobody can tell any more where a kept session was held: the folder of its project stands nowhere, or not
    as it was."""
    told = f"{session.directory}{session.project}"
    return session.worktree == session.project != "" or REMOVED in told or _CUT in told


def _worktree(project: str, directory: str) -> str:
    """The folder of the project, which is not written down: the one called so that the session was held in, else its
    name alone."""
    if not project or name_of(directory) == project:
        return ""
    above = (os.fspath(folder) for folder in Path(directory).parents if name_of(os.fspath(folder)) == project)
    return next(above, project)


def _files(root: str, project: str) -> Iterator[tuple[str, FileStamp]]:
    with os.scandir(os.path.join(root, project)) as entries:
        for entry in entries:
            if re.fullmatch(_NAME, entry.name) and entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    yield f"{project}/{entry.name}", _stamp_of(entry.stat(follow_symlinks=False))


def _stamp_of(found: os.stat_result) -> FileStamp:
    return FileStamp(found.st_size, found.st_mtime_ns, KEPT)


def _stamp(file: Path) -> FileStamp | None:
    with suppress(FileNotFoundError, NotADirectoryError):
        found = file.lstat()
        return _stamp_of(found) if stat.S_ISREG(found.st_mode) else None
    return None


def _bytes(file: Path) -> bytes | None:
    with suppress(FileNotFoundError, NotADirectoryError):
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            return opened.read()
    return None


def _draft(file: Path) -> Path:
    return file.with_name(f".{file.name}.draft")


def _millis(value: Any) -> int:
    with suppress(ValueError, TypeError):
        return int(datetime.fromisoformat(plain_text(value) or "").timestamp() * 1000)
    return 0
