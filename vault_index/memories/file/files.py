"""The files of the memories of one vault: where they may lie, and how they are written without losing anything."""

import errno
import hashlib
import itertools
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_index import disk
from vault_index.errors import ConflictError, NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.memory import WAITING
from vault_index.memories.file.document import MemoryFile, read_text
from vault_index.sources.names import is_document_name, is_folder_name, is_readable_name, parts_of
from vault_index.sources.reading import decode, read_inside, read_regular

MAX_BYTES = 10 * 1024 * 1024
"""No file of more is read."""

_TRASH = ".trash"


class MemoryFiles:
    """Paths are relative to the vault, with `/`. Nothing outside the memory folder is read or written, links resolved,
    but for what goes to the trash of the vault."""

    def __init__(self, root: Path, memory_dir: str, source: str = "") -> None:
        self._root = os.path.abspath(root)
        self.source = source
        self._dir = str(PurePosixPath(memory_dir))

    def resolve(self, path: str) -> str:
        """A name as `handoffs/2026-01-01`, or a path with the memory folder in front, as the path of the file.

        It need not exist. UsageError for what cannot be the name of a memory.
        """
        given = path.strip()
        name = given if given.endswith(".md") else f"{given}.md"
        name = name if name.startswith(f"{self._dir}/") else f"{self._dir}/{name}"
        if not os.path.lexists(f"{self._root}/{name}"):
            name = unicodedata.normalize("NFC", name)
        self._place(name, shown=path)
        return name

    def named(self, path: str) -> str:
        """The path of a new file of this name."""
        return self.resolve(path)

    def allow(self, path: str, text: str | bytes) -> None:
        """Raise ForbiddenError where nothing may be written there, or not that."""

    def free_path(self, folder: str, day: str, title: str) -> str:
        """Where a new memory may lie: `<memory folder>/<folder>/<day>-<title as a slug>.md`, or with `-2` and so on;
        `folder` is its type, or one of the inbox."""
        below = folder if folder == WAITING else slug(folder) or "note"
        return self.free(f"{self._dir}/{below}/{day}-{slug(title) or slug(folder) or 'memory'}.md")

    def free(self, path: str) -> str:
        """A path of which nothing has the name: this one, or with `-2` and so on."""
        paths = (f"{path.removesuffix('.md')}{number}.md" for number in _numbers("-"))
        return next(path for path in paths if not self._is_taken(path))

    def _is_taken(self, path: str) -> bool:
        return os.path.lexists(f"{self._root}/{path}")

    def create(self, path: str, text: str | bytes) -> None:
        """Write a new file, whole or not at all. FileExistsError when the name is taken; the file there stays.

        It outlives a loss of power once `settle` was told of it: thousands of new files cost one sync of their folder.
        """
        self._place(path)
        folder, _, name = path.rpartition("/")
        with (
            _translated(path, "written"),
            disk.folder_in(self._root, folder, make=True) as at,
            disk.draft(".", encoded(text), within=self._root, at=at) as draft,
        ):
            disk.move_without_overwriting(draft, name, lasting=False, at=at, into=at)

    def settle(self, paths: Iterable[str]) -> None:
        """Make the names of files that were created outlive a loss of power."""
        for folder in {os.path.dirname(f"{self._root}/{path}") for path in paths}:
            disk.sync_folder(folder)

    def read(self, path: str, *, any_bytes: bool = False) -> MemoryFile:
        """The file as it is. NotFoundError when it is gone, UsageError when it is not UTF-8, unless it may have
        `any_bytes`."""
        data, status = self._read(path)
        try:
            file = read_text(data.decode(errors="replace" if any_bytes else "strict"), path)
            return replace(
                file,
                source=self.source,
                digest=hashlib.sha256(data).digest(),
                status=status,
                data=data,
            )
        except UnicodeDecodeError as error:
            _, line = decode(data)
            where = f": line {line}" if line else ""
            raise UsageError(
                f"{path} is not written in UTF-8{where}",
                "save it as UTF-8 in an editor, and try again",
            ) from error

    def read_bytes(self, path: str) -> bytes:
        """The bytes of a file as they are. NotFoundError when it is gone."""
        return self._read(path)[0]

    def _read(self, path: str) -> tuple[bytes, os.stat_result]:
        self._place(path)
        with _translated(path, "read"):
            return read_inside(self._root, path, MAX_BYTES)

    def replace(self, path: str, text: str | bytes, seen: MemoryFile) -> None:
        """Put other text in the place of what was seen.

        ConflictError when the file says something else by now or is gone: it is left so, and the new text is kept
        beside it under a name that the index passes over and Obsidian opens.
        """
        data = encoded(text)
        if data == seen.data:
            return
        self._place(path)
        with _translated(path, "written"), disk.file_in(self._root, path, make=True) as (at, name):
            if os.access(name, os.F_OK, dir_fd=at) and not os.access(name, os.W_OK, dir_fd=at):
                raise VaultIndexError(f"{path} is write-protected", "make it writable to change it")
            with disk.draft(".", data, like=seen.status, within=self._root, at=at) as draft:
                with disk.locked(".", at=at):
                    if _digest(name, at) == seen.digest:
                        os.replace(draft, name, src_dir_fd=at, dst_dir_fd=at)
                        disk.sync_folder(".", at=at)
                        return
                kept = _keep_beside(draft, name, at)
        beside = f"{os.path.dirname(path)}/{kept}"
        raise ConflictError(
            f"{path} changed since it was read, and was left as it is",
            f"the new text is in {beside!r}: take over what is missing, then delete that file",
        )

    def trash(self, path: str) -> str:
        """Move a file to the trash of the vault, in the same folder there; its new path."""
        self._place(path)
        folder, _, name = path.rpartition("/")
        bin = f"{_TRASH}/{folder}"
        with _translated(path, "moved to the trash"), self._locked(folder) as at:
            os.lstat(name, dir_fd=at)
            try:
                with disk.folder_in(self._root, bin, make=True) as into:
                    names = (f"{name.removesuffix('.md')}{number}.md" for number in _numbers(" "))
                    found = disk.move_to_free_name(name, names, at=at, into=into)
            except UsageError as error:
                raise UsageError(
                    f"{_TRASH}: {error.message}", "delete the memory with --permanent"
                ) from error
            except NotADirectoryError as error:
                raise UsageError(
                    f"the {_TRASH} of the vault is no folder, so {path} stays where it is",
                    "rename that file, or delete the memory with --permanent",
                ) from error
            disk.sync_folder(".", at=at)
        return f"{bin}/{found}"

    def move(self, path: str, target: str) -> None:
        """Give a file another name in the memory folder. FileExistsError when that is taken."""
        self._place(path)
        self._place(target)
        folder, _, name = path.rpartition("/")
        new_folder, _, new_name = target.rpartition("/")
        with _translated(path, "moved"), self._locked(folder) as at:
            os.lstat(name, dir_fd=at)
            with (
                _translated(target, "written"),
                disk.folder_in(self._root, new_folder, make=True) as into,
            ):
                disk.rename_without_overwriting(name, new_name, at=at, into=into)
                disk.sync_folder(".", at=into)
            disk.sync_folder(".", at=at)

    def restore(self, trashed: str, path: str, digest: bytes) -> bool:
        """Move a file out of the trash to its free old place; False where it is not there any more, or says something
        else. FileExistsError when that is taken."""
        self._place(path)
        folder, _, name = path.rpartition("/")
        bin, _, old = trashed.rpartition("/")
        try:
            with (
                disk.folder_in(self._root, bin) as at,
                disk.folder_in(self._root, folder, make=True) as into,
            ):
                if bin.split("/")[0] != _TRASH or _digest(old, at) != digest:
                    return False
                disk.move_without_overwriting(old, name, at=at, into=into)
                disk.sync_folder(".", at=at)
        except (FileNotFoundError, NotADirectoryError, UsageError):
            return False
        return True

    def copies_in_trash(self, uid: str) -> list[str]:
        """The files in the trash of the vault that name this id."""
        trash = Path(self._root, _TRASH)
        with _translated(_TRASH, "read"):
            found = (
                file
                for file in sorted(trash.rglob("*.md"))
                if file.is_file() and not file.is_symlink()
            )
            named = [
                file for file in found if uid.encode() in read_regular(str(file), MAX_BYTES)[0]
            ]
        return [file.relative_to(self._root).as_posix() for file in named]

    def remove(self, path: str) -> None:
        """Delete a file for good."""
        self._place(path)
        folder, _, name = path.rpartition("/")
        with _translated(path, "deleted"), self._locked(folder) as at:
            os.unlink(name, dir_fd=at)
            disk.sync_folder(".", at=at)

    @contextmanager
    def _locked(self, folder: str) -> Iterator[int]:
        with disk.folder_in(self._root, folder) as at, disk.locked(".", at=at):
            yield at

    def _place(self, path: str, shown: str = "") -> None:
        """Refuse what is no memory, as things stand; whoever then opens it makes sure that it stays in the vault."""
        if not os.path.isdir(self._root):
            raise VaultIndexError(f"the vault {self._root} is not there", "is its disk mounted?")
        shown = shown or path
        parts = parts_of(path)
        if parts is None or not path.startswith(f"{self._dir}/"):
            raise UsageError(
                f"{shown!r} is no name inside the memory folder {self._dir}",
                "give one as handoffs/2026-01-01",
            )
        place = f"{self._root}/{path}"
        exists = os.path.lexists(place)
        own = parts[len(PurePosixPath(self._dir).parts) :]
        reason = unusable(own, new=not exists)
        if reason:
            raise UsageError(
                f"{shown!r} cannot be the name of a memory: {reason}", "choose another name"
            )
        with disk.os_errors_as(
            f"{shown!r} cannot be looked at", "try again in a moment"
        ):  # a link that went away
            top, real = disk.real_path(f"{self._root}/{self._dir}"), disk.real_path(place)
        if not disk.is_under(disk.real_path(self._root), top) or not disk.is_under(top, real):
            raise UsageError(
                f"{shown!r} leads out of the memory folder {self._dir} through a link",
                "remove the link",
            )
        if os.path.exists(place) and not os.path.isfile(place):
            raise UsageError(f"{shown!r} is there already, and is no file", "choose another name")


class PlannedFiles(MemoryFiles):
    """The same for a dry run: what would be written is remembered, and read, and the disk stays as it is."""

    def __init__(self, root: Path, memory_dir: str, source: str = "") -> None:
        super().__init__(root, memory_dir, source)
        self._texts: dict[str, str] = {}

    def _is_taken(self, path: str) -> bool:
        return path in self._texts or super()._is_taken(path)

    def create(self, path: str, text: str | bytes) -> None:
        self._place(path)
        if self._is_taken(path):
            raise FileExistsError(path)
        self._texts[path] = encoded(text).decode()

    def settle(self, paths: Iterable[str]) -> None:
        """There is nothing that could be lost."""

    def read(self, path: str, *, any_bytes: bool = False) -> MemoryFile:
        if path in self._texts:
            return replace(read_text(self._texts[path], path), source=self.source)
        return super().read(path, any_bytes=any_bytes)

    def replace(self, path: str, text: str | bytes, seen: MemoryFile) -> None:
        self._texts[path] = encoded(text).decode()


def encoded(text: str | bytes) -> bytes:
    """The bytes of a text. UsageError for characters that have none in UTF-8."""
    try:
        return text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            "the text holds characters that UTF-8 cannot write", "give it as valid UTF-8"
        ) from error


def _digest(name: str, at: int) -> bytes | None:
    try:
        return hashlib.sha256(read_regular(name, MAX_BYTES, at=at)[0]).digest()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _keep_beside(draft: str, name: str, at: int) -> str:
    """Name the draft as syncing programs name such copies: ignored by the index, opened by Obsidian."""
    stem = name.removesuffix(".md")
    now = f"{datetime.now():%Y-%m-%d %H%M%S}"
    room = NAME_BYTES - len(f" (conflicted copy {now} 1000).md")
    while len(stem.encode()) > room:
        stem = stem[:-1]
    names = (f"{stem} (conflicted copy {now}{number}).md" for number in _numbers(" "))
    return disk.move_to_free_name(draft, names, at=at, into=at)


def _numbers(mark: str) -> Iterator[str]:
    """What tells equal names apart: nothing, then the mark and 2, 3, ..."""
    yield ""
    for number in itertools.count(2):
        yield f"{mark}{number}"


@contextmanager
def _translated(path: str, done: str) -> Iterator[None]:
    """Translate errors of the system; FileExistsError is the caller's."""
    try:
        yield
    except FileExistsError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        if done != "written":
            raise NotFoundError(f"{path} is gone", "run: vault-index sync") from error
        taken = isinstance(error, NotADirectoryError)
        hint = "a file has the name of its folder: rename it, or choose" if taken else "choose"
        raise UsageError(
            f"{path} cannot be {done}: {error.strerror}", f"{hint} another name"
        ) from error
    except OSError as error:
        hint = _HINTS.get(
            error.errno or 0, "check the permissions of the folder; nothing was changed"
        )
        raise VaultIndexError(f"{path} cannot be {done}: {error.strerror}", hint) from error


_FULL = "free some space on the disk of the vault; nothing was changed"
_HINTS = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EROFS: "the vault is read-only: mount it writable; nothing was changed",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EXDEV: "the trash lies on another disk: delete the memory with --permanent",
}

NAME_BYTES = 255
"""What most file systems take."""

_SLUG_CHARACTERS = 60
_SLUG_BYTES = 200
_RESERVED = re.compile(r'[\\:*?"<>|\x00-\x1f\x7f]')


def slug(title: str) -> str:
    """Words joined by `-`, in lower case, at most 60 characters; letters of any script stay. May be empty."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).lower())
    words = "".join(
        character if unicodedata.category(character)[0] in "LMN" else " " for character in text
    ).split()
    whole = "-".join(words)
    cut = whole[:_SLUG_CHARACTERS]
    if len(whole) > len(cut) and whole[len(cut)] != "-":
        cut = cut.rpartition("-")[0] or cut
    while len(cut.encode()) > _SLUG_BYTES:
        cut = cut[:-1]
    return cut.strip("-")


def unusable(parts: list[str], *, new: bool) -> str:
    """Why a path cannot be that of a memory, or empty. Files that exist may have names that new ones may not."""
    name = parts[-1]
    bad = _RESERVED.search("".join(parts))
    stems = [*parts[:-1], name.removesuffix(".md")]
    reasons = [
        ("it is not valid UTF-8", not all(map(is_readable_name, parts))),
        ("it is empty", name == ".md"),
        ("what begins with a dot is hidden", any(part.startswith(".") for part in parts)),
        (
            "the index passes over such names",
            not (all(map(is_folder_name, parts[:-1])) and is_document_name(name)),
        ),
        (f"{bad[0]!r} is not allowed in file names everywhere" if bad else "", new and bool(bad)),
        (
            "names must not begin with a space, or end with a space or a dot",
            new and any(stem != stem.strip() or stem.endswith(".") for stem in stems),
        ),
        (
            "it is too long",
            new and any(len(part.encode("utf-8", "surrogatepass")) > NAME_BYTES for part in parts),
        ),
    ]
    return next((reason for reason, holds in reasons if holds), "")
