"""Read and write files in a folder of a vault, atomically and without lost updates."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from vault_index import disk
from vault_index.errors import ConflictError, VaultIndexError
from vault_index.mirroring.note import session_in
from vault_index.sources.names import is_readable_name
from vault_index.sources.reading import read_regular
from vault_index.sources.vault import VaultSource

_MOST_NAMES = 1000
_HINT = "check its permissions"


class Files:
    """The files of a folder. Paths are relative to the vault, with `/`. Raises VaultIndexError."""

    def __init__(self, vault: VaultSource, folder: str) -> None:
        self._vault = vault
        self._folder = folder
        self._outside = vault.config.follow_outside_links

    def there(self) -> bool:
        """Return whether the folder exists."""
        return self._vault.absolute(self._folder).is_dir()

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
