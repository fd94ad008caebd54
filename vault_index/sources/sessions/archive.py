"""Keep copies of sessions as markdown files, for sessions that their client deletes.

<data>/sessions/<client>/<project>/<session>.md    its mtime is the time of the session

While the client has a session, its copy can be written again, so writes are not synced to disk. A
missing or empty copy, as after a power loss, is written again.
"""

import os
import re
import stat
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
_PATH = re.compile(r"[^./][^/]*/[A-Za-z0-9_-]+\.md")
_LARGEST_HEAD = 64 << 10
"""Bytes; our frontmatter is always smaller."""
_HINT = "repair or delete the file"


class SessionArchive:
    """The copies of one client, by document path. Writers hold the writer lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, Listed] = {}

    def all(self) -> dict[str, FileStamp]:
        """Return the stamps of all copies by path. Raises OSError for an unreadable folder."""
        found: dict[str, FileStamp] = {}
        for folder, _, names in os.walk(self.folder, onerror=_raise_unless_missing):
            project = os.path.relpath(folder, self.folder)
            for path in filter(_PATH.fullmatch, (f"{project}/{name}" for name in names)):
                if (stamp := _stamp(self.folder / path)) is not None:
                    found[path] = stamp
        return found

    def put(self, path: str, text: str, updated: float) -> None:
        """Write a copy if it differs; `updated` is its mtime, in seconds since the epoch.

        Raises OSError, and ValueError for an invalid path.
        """
        file, data = self._file(path), text.encode()
        if _bytes(file) == data:
            return
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = _draft(file)
        draft.unlink(missing_ok=True)
        draft.touch(0o600, exist_ok=False)
        draft.write_bytes(data)
        with suppress(OSError, OverflowError):
            os.utime(draft, (updated, updated))
        draft.rename(file)

    def read(self, path: str) -> tuple[FileStamp, str]:
        """Return the stamp and the text of a copy. Raises NotFoundError, VaultIndexError."""
        file = self._file(path)
        with os_errors_as(f"{file} cannot be read", "check its permissions"):
            stamp, data = _stamp(file), _bytes(file)
        if stamp is None or data is None:
            raise NotFoundError(f"{path} is gone", "run: vault-index sync")
        text = data.decode("utf-8", "replace")
        if self._session(path, text) is None:
            raise VaultIndexError(f"{file} is not a valid session", _HINT)
        return stamp, text

    def stamp(self, path: str) -> FileStamp | None:
        """Return the stamp of a copy; None if missing or invalid."""
        with suppress(OSError, ValueError):
            return _stamp(self._file(path))
        return None

    def listed(self, path: str) -> Listed | None:
        """Return the session that the frontmatter of a copy describes; None if invalid."""
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
        """Return the path of a session's copy."""
        found = sorted(self.folder.glob(f"[!.]*/{id_}.md"))
        return next((f"{one.parent.name}/{one.name}" for one in found if one.is_file()), None)

    def remove(self, path: str) -> None:
        """Remove a copy, and its draft if a crash left one."""
        file = self._file(path)
        for one in (file, _draft(file)):
            with suppress(FileNotFoundError, NotADirectoryError):
                one.unlink()
        with suppress(OSError):
            file.parent.rmdir()
        self._known.pop(path, None)

    def size(self) -> tuple[int, int]:
        """Return the number of copies, and their total size in bytes."""
        found = self.all().values()
        return len(found), sum(stamp.size for stamp in found)

    # --- inside -----------------------------------------------------------------------------------

    def _file(self, path: str) -> Path:
        if not _PATH.fullmatch(path):
            raise ValueError(f"{path} is not a session path")
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


def has_unknown_folder(session: Session) -> bool:
    """Return whether a kept session's folder is unknown: not recorded, redacted or truncated."""
    place = f"{session.directory}{session.project}"
    return session.worktree == session.project != "" or REMOVED in place or _CUT in place


def _worktree(project: str, directory: str) -> str:
    """Return the project folder, which copies do not record.

    It is the parent of `directory` that has the project's name, else the name alone.
    """
    if not project or name_of(directory) == project:
        return ""
    above = (
        os.fspath(folder)
        for folder in Path(directory).parents
        if name_of(os.fspath(folder)) == project
    )
    return next(above, project)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _stamp(file: Path) -> FileStamp | None:
    with suppress(FileNotFoundError, NotADirectoryError):
        found = file.lstat()
        if stat.S_ISREG(found.st_mode):
            return FileStamp(found.st_size, found.st_mtime_ns, KEPT)
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
