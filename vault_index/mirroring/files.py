"""Write sessions as notes into a folder of a vault, atomically and without lost updates."""

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import chain, count

from vault_index import disk
from vault_index.errors import ConflictError, VaultIndexError
from vault_index.secrets.find import drop_private, redact
from vault_index.sources.files import is_document_name, is_readable_name, read_regular
from vault_index.sources.sessions.model import Session, moment_of
from vault_index.sources.vault import VaultSource

_MOST_NAMES = 1000
_HINT = "check its permissions"
_SESSION = re.compile(r'^session: *"?([A-Za-z0-9_-]+)"? *$', re.MULTILINE)
_LINK = re.compile(r"\[\[([A-Za-z0-9_-]+)\]\]")
_CHANGING = re.compile(r"^(agent|model|updated|client|version|turns|tokens):.*\n", re.MULTILINE)
_END = "\n---\n"
_LONGEST = 80
_LONGEST_BYTES = 200
# Characters that Obsidian, Windows or links forbid in names, and control characters.
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|#^\[\]\ud800-\udfff]+')
_UNTITLED = re.compile(r"((?:New|Child) session) - \d{4}-.*")
UNTITLED = ("New session - 0000-", "")
"""Titles that clients give untitled sessions."""


class Files:
    """The files of a folder. Paths are relative to the vault, with `/`. Raises VaultIndexError."""

    def __init__(self, vault: VaultSource, folder: str) -> None:
        self._vault = vault
        self._folder = folder
        self._outside = vault.config.follow_outside_links

    def there(self) -> bool:
        """Return whether the folder exists."""
        return not self._folder or self._vault.absolute(self._folder).is_dir()

    def all(self) -> Iterator[str]:
        """Yield the paths of the markdown files, without hidden files and folders."""
        top = str(self._vault.absolute(self._folder))
        for folder, folders, names in os.walk(top):
            folders[:] = filter(_may_hold, folders)
            inside = self._folder + folder[len(top) :].replace(os.sep, "/")
            yield from (
                f"{inside}/{name}" for name in names if name.endswith(".md") and _may_hold(name)
            )

    def of_sessions(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the files by the session id in their frontmatter; the first path wins."""
        found: dict[str, str] = {}
        for path in sorted(paths):
            try:
                session = session_in(self.read(path).decode("utf-8", "replace"))
            except VaultIndexError:  # a pipe, a link out of the vault, a file in the cloud
                continue
            if session:
                found.setdefault(session, path)
        return found

    def read(self, path: str) -> bytes:
        """Return the bytes of a file."""
        with disk.os_errors_as(f"{path} cannot be read", _HINT):
            return self._vault.read_bytes(path, sys.maxsize)[0]

    def create(self, path: str, text: str) -> str:
        """Write a new file and return its path; a number makes a used name unique."""
        folder, _, name = path.removesuffix(".md").rpartition("/")
        with (
            disk.os_errors_as(f"{path} cannot be written", _HINT),
            self._opened(folder, make=True) as place,
            disk.draft(place, text.encode(), within=self._vault.root) as draft,
        ):
            free = (
                f"{place}/{name}{f' {number}' if number > 1 else ''}.md"
                for number in range(1, _MOST_NAMES)
            )
            return f"{folder}/{os.path.basename(disk.move_to_free_name(draft, free))}"

    def move(self, path: str, target: str) -> str:
        """Rename a file and return its path, which is the old one if `target` exists."""
        folder, _, name = path.rpartition("/")
        new_folder, _, new_name = target.rpartition("/")
        with (
            disk.os_errors_as(f"{target} cannot be written", _HINT),
            self._opened(folder) as place,
            self._opened(new_folder) as into,
        ):
            try:
                disk.move_without_overwriting(f"{place}/{name}", f"{into}/{new_name}")
            except FileExistsError:
                return path
        return target

    def replace(self, path: str, seen: bytes, data: bytes) -> None:
        """Replace a file if it still holds `seen`. Raises ConflictError if not."""
        if data == seen:
            return
        with (
            disk.os_errors_as(f"{path} cannot be written", _HINT),
            self._file(path) as place,
            disk.locked(folder := os.path.dirname(place)),
        ):
            now, status = read_regular(place, sys.maxsize, follow=False, shown=path)
            if now != seen:
                raise ConflictError(f"{path} changed during the write", "run: vault-index sync")
            with disk.draft(folder, data, status) as draft:
                os.replace(draft, place)
            disk.sync_folder(folder)

    def _file(self, path: str) -> AbstractContextManager[str]:
        return disk.file_in(self._vault.root, path, outside=self._outside)

    def _opened(self, folder: str, *, make: bool = False) -> AbstractContextManager[str]:
        return disk.folder_in(self._vault.root, folder, outside=self._outside, make=make)


def _may_hold(name: str) -> bool:
    return not name.startswith(".") and is_readable_name(name)


def as_note(text: str, session: str, names: Mapping[str, str]) -> str:
    """Replace session ids in links by file names, and add the id as an alias."""
    linked = _LINK.sub(lambda link: f"[[{names[link[1]]}]]" if link[1] in names else link[0], text)
    return linked.replace(_END, f'\naliases: ["{session}"]{_END}', 1)


def session_in(text: str) -> str:
    """Return the session id in a file's frontmatter, or ""."""
    front = text.partition(_END)[0] if text.startswith("---\n") else ""
    found = _SESSION.search(front)
    return found[1] if found else ""


def turns_of(text: str) -> str:
    """Return the text below the frontmatter."""
    return text.partition(_END)[2]


def is_earlier(old: str, new: str) -> bool:
    """Return whether `old` is an earlier version of the session without edits by the user."""
    fronts = [_CHANGING.sub("", text.partition(_END)[0]) for text in (old, new)]
    return fronts[0] == fronts[1] and turns_of(new).startswith(turns_of(old).rstrip("\n"))


def is_untitled(session: Session) -> bool:
    """Return whether the client has given the session no title yet."""
    return not session.title.strip() or _UNTITLED.fullmatch(session.title) is not None


def name_of(session: Session) -> str:
    """Return a name such as `2026-11-21 Fix the login`, without suffix and secrets."""
    day = moment_of(session.created).astimezone().strftime("%Y-%m-%d")
    title = _NOT_IN_NAMES.sub(" ", redact(drop_private(_UNTITLED.sub(r"\1", session.title)))[0])
    title = " ".join(title.split())[:_LONGEST]
    while len(title.encode()) > _LONGEST_BYTES:
        title = title[:-1]
    name = f"{day} {title.strip(' .')}".strip()
    return name if title and is_document_name(f"{name}.md") else f"{day} Session"


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number if it is in `taken` (lower case)."""
    names = chain([name], (f"{name} {number}" for number in count(2)))
    return next(free for free in names if free.lower() not in taken)
