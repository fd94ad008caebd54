"""The files of one folder of a vault, each written whole or not at all, and over nothing that was not looked at."""

import os
import sys
from collections.abc import Iterable, Iterator

from vault_index import disk
from vault_index.errors import ConflictError, UsageError
from vault_index.mirroring.note import session_in
from vault_index.sources.names import is_readable_name
from vault_index.sources.reading import read_regular
from vault_index.sources.vault import VaultSource

_HEAD = 8192
"""Bytes in which a frontmatter ends that is ours."""
_MOST_NAMES = 1000
_HINT = "check its permissions"


class Files:
    """Paths are relative to the vault, with `/`. VaultIndexError where the system refuses something."""

    def __init__(self, vault: VaultSource, folder: str) -> None:
        self._vault = vault
        self._folder = folder

    def there(self) -> bool:
        return self._vault.absolute(self._folder).is_dir()

    def all(self) -> Iterator[str]:
        top = str(self._vault.absolute(self._folder))
        for folder, folders, names in os.walk(top):
            folders[:] = filter(_may_hold, folders)
            inside = self._folder + folder[len(top) :].replace(os.sep, "/")
            yield from (f"{inside}/{name}" for name in names if name.endswith(".md") and _may_hold(name))

    def of_sessions(self, paths: Iterable[str]) -> dict[str, str]:
        """Those of the files that say which session they are, by session; of two the first."""
        found: dict[str, str] = {}
        for path in sorted(paths):
            try:
                place = self._vault.absolute(path)
                if not place.is_file():  # a pipe would keep us waiting for what is written into it
                    continue
                with place.open("rb") as file:
                    session = session_in(file.read(_HEAD).decode("utf-8", "replace"))
            except (OSError, UsageError):  # a link that leads elsewhere is none of ours
                continue
            if session:
                found.setdefault(session, path)
        return found

    def read(self, path: str) -> bytes:
        with disk.os_errors_as(f"{path} cannot be read", _HINT):
            return read_regular(str(self._vault.absolute(path)), sys.maxsize)[0]

    def create(self, path: str, text: str) -> str:
        """Write a new file, and tell its path: where there is one of that name, it gets a number."""
        base = path.removesuffix(".md")
        folder = str(self._vault.absolute(path).parent)
        with disk.os_errors_as(f"{path} cannot be written", _HINT):
            disk.make_folder(folder)
            with disk.draft(folder, text.encode(), within=str(self._vault.config.path)) as draft:
                names = (f"{base}{f' {number}' if number > 1 else ''}.md" for number in range(1, _MOST_NAMES))
                found = disk.move_to_free_name(draft, (str(self._vault.absolute(name)) for name in names))
                return f"{path.rpartition('/')[0]}/{os.path.basename(found)}"

    def move(self, path: str, target: str) -> str:
        """Give a file another name, and tell which it has: its own, if the other is taken."""
        with disk.os_errors_as(f"{target} cannot be written", _HINT):
            try:
                disk.move_without_overwriting(str(self._vault.absolute(path)), str(self._vault.absolute(target)))
            except FileExistsError:
                return path
        return target

    def replace(self, path: str, seen: bytes, data: bytes) -> None:
        """Write over a file that is as it was seen. ConflictError when it is not."""
        if data == seen:
            return
        file = self._vault.absolute(path)
        folder = str(file.parent)
        with (
            disk.os_errors_as(f"{path} cannot be written", _HINT),
            disk.locked(folder),
            disk.draft(folder, data, file.stat()) as draft,
        ):
            if file.read_bytes() != seen:
                raise ConflictError(f"{path} was changed while it was written", "the next sync writes it")
            os.replace(draft, file)
            disk.sync_folder(folder)


def _may_hold(name: str) -> bool:
    return not name.startswith(".") and is_readable_name(name)
