"""Read, write and move the memory files of one vault without losing data."""

import errno
import hashlib
import itertools
import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_index import disk
from vault_index.errors import ConflictError, NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.frontmatter import WAITING
from vault_index.memories.file.document import MemoryFile, read_text
from vault_index.models import UNTRUSTED, FileStamp
from vault_index.sources.files import (
    decode,
    is_document_name,
    is_folder_name,
    is_readable_name,
    parts_of,
    read_inside,
    read_regular,
    stamp_of,
)

MAX_BYTES = 10 * 1024 * 1024
"""Larger files are not read."""

_TRASH = ".trash"


class MemoryFiles:
    """The memory files of one vault.

    Paths are relative to the vault and use `/`. With symbolic links resolved, reads and writes stay
    in the memory folder; only deleted files leave it, for the trash of the vault.
    """

    def __init__(self, root: Path, memory_dir: str, source: str = "") -> None:
        self._root = os.path.abspath(root)
        self.source = source
        self._dir = str(PurePosixPath(memory_dir))

    def resolve(self, path: str) -> str:
        """Return the path of the file with this name or path; the file need not exist.

        `handoffs/2026-01-01` and `<memory folder>/handoffs/2026-01-01.md` mean the same file.
        Raises UsageError if a memory cannot have this name.
        """
        given = path.strip()
        name = given if given.endswith(".md") else f"{given}.md"
        name = name if name.startswith(f"{self._dir}/") else f"{self._dir}/{name}"
        if not os.path.lexists(f"{self._root}/{name}"):
            name = unicodedata.normalize("NFC", name)
        self._check_path(name, shown=path)
        return name

    def named(self, path: str) -> str:
        """Return the path for a new file with this name."""
        return self.resolve(path)

    def allow(self, path: str, text: str | bytes) -> None:
        """Raise ForbiddenError if the caller may not write this text to this path."""

    def free_path(self, folder: str, day: str, title: str) -> str:
        """Return an unused path for a new memory.

        It is `<memory folder>/<folder>/<day>-<title as a slug>.md`, with `-2`, `-3` and so on if
        that exists. `folder` is the type of the memory or a folder of the inbox.
        """
        below = folder if folder == WAITING else slug(folder) or "note"
        return self.free(f"{self._dir}/{below}/{day}-{slug(title) or slug(folder) or 'memory'}.md")

    def free(self, path: str) -> str:
        """Return this path, or the first unused one with `-2`, `-3` and so on."""
        paths = (f"{path.removesuffix('.md')}{number}.md" for number in _suffixes("-"))
        return next(path for path in paths if not self._is_taken(path))

    def _is_taken(self, path: str) -> bool:
        return os.path.lexists(f"{self._root}/{path}")

    def create(self, path: str, text: str | bytes) -> FileStamp:
        """Write a new file atomically; return its stamp, without a ctime.

        The file survives a power failure only after `settle`, so that thousands of new files cost
        one sync of their folder. Raises FileExistsError if the path exists; that file does not
        change.
        """
        self._check_path(path)
        folder, _, name = path.rpartition("/")
        with (
            _translate_os_errors(path, "written"),
            disk.folder_in(self._root, folder, make=True) as place,
            disk.draft(place, to_utf8(text), within=self._root) as draft,
        ):
            stamp = stamp_of(os.stat(draft))
            disk.move_without_overwriting(draft, f"{place}/{name}", lasting=False)
        return stamp._replace(ctime_ns=UNTRUSTED)

    def settle(self, paths: Iterable[str]) -> None:
        """Sync the folders of new files to disk, so that the files survive a power failure."""
        for folder in {os.path.dirname(f"{self._root}/{path}") for path in paths}:
            disk.sync_folder(folder)

    def read(self, path: str, *, any_bytes: bool = False) -> MemoryFile:
        """Read a file.

        Raises NotFoundError if it does not exist, and UsageError if it is not UTF-8 and `any_bytes`
        is not set.
        """
        self._check_path(path)
        with _translate_os_errors(path, "read"):
            data, status = read_inside(self._root, path, MAX_BYTES)
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
                f"{path} is not valid UTF-8{where}",
                "save it as UTF-8 in an editor, and try again",
            ) from error

    def replace(self, path: str, text: str | bytes, seen: MemoryFile) -> None:
        """Replace the text of a file that was read as `seen`.

        Raises ConflictError if the file changed or was deleted since. The file then stays
        unchanged, and the new text is written next to it, under a name that the index ignores and
        Obsidian can open.
        """
        data = to_utf8(text)
        if data == seen.data:
            return
        self._check_path(path)
        with (
            _translate_os_errors(path, "written"),
            disk.file_in(self._root, path, make=True) as place,
        ):
            folder = os.path.dirname(place)
            if os.path.exists(place) and not os.access(place, os.W_OK):
                raise VaultIndexError(f"{path} is write-protected", "make it writable to change it")
            with disk.draft(folder, data, like=seen.status, within=self._root) as draft:
                with disk.locked(folder):
                    if _digest(place) == seen.digest:
                        os.replace(draft, place)
                        disk.sync_folder(folder)
                        return
                copy = _keep_conflicted_copy(draft, place)
        beside = f"{os.path.dirname(path)}/{os.path.basename(copy)}"
        raise ConflictError(
            f"{path} changed since it was read and was not overwritten",
            f"the new text is in {beside!r}: copy what is missing, then delete that file",
        )

    def trash(self, path: str) -> str:
        """Move a file to the same folder in the trash of the vault; return its new path."""
        self._check_path(path)
        bin = f"{_TRASH}/{os.path.dirname(path)}"
        with _translate_os_errors(path, "moved to the trash"), self._locked(path) as place:
            os.lstat(place)
            stem = os.path.basename(place).removesuffix(".md")
            try:
                with disk.folder_in(self._root, bin, make=True) as into:
                    free = (f"{into}/{stem}{number}.md" for number in _suffixes(" "))
                    moved = disk.move_to_free_name(place, free)
            except UsageError as error:
                raise UsageError(
                    f"{_TRASH}: {error.message}", "delete the memory with --permanent"
                ) from error
            except NotADirectoryError as error:
                raise UsageError(
                    f"{_TRASH} in the vault is not a folder; {path} was not moved",
                    "rename that file, or delete the memory with --permanent",
                ) from error
            disk.sync_folder(os.path.dirname(place))
        return f"{bin}/{os.path.basename(moved)}"

    def move(self, path: str, target: str) -> None:
        """Rename a file within the memory folder. Raises FileExistsError if `target` exists."""
        self._check_path(path)
        self._check_path(target)
        folder, _, name = target.rpartition("/")
        with _translate_os_errors(path, "moved"), self._locked(path) as place:
            os.lstat(place)
            with (
                _translate_os_errors(target, "written"),
                disk.folder_in(self._root, folder, make=True) as into,
            ):
                disk.rename_without_overwriting(place, f"{into}/{name}")
                disk.sync_folder(into)
            disk.sync_folder(os.path.dirname(place))

    def remove_from_trash(self, path: str, data: bytes) -> None:
        """Delete a copy of a file from the trash: one with its name and these bytes."""
        folder, _, name = path.rpartition("/")
        digest, stem = hashlib.sha256(data).digest(), name.removesuffix(".md")
        with (
            suppress(OSError, VaultIndexError),
            disk.folder_in(self._root, f"{_TRASH}/{folder}") as bin,
        ):
            copies = (f"{bin}/{one}" for one in sorted(os.listdir(bin)) if one.startswith(stem))
            copy = next((one for one in copies if _digest(one) == digest), None)
            if copy is not None:
                os.unlink(copy)

    def copies_in_trash(self, uid: str) -> list[str]:
        """Return the paths of the files in the trash that contain this id."""
        trash = Path(self._root, _TRASH)
        with _translate_os_errors(_TRASH, "read"):
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
        """Delete a file permanently."""
        self._check_path(path)
        with _translate_os_errors(path, "deleted"), self._locked(path) as place:
            os.unlink(place)
            disk.sync_folder(os.path.dirname(place))

    @contextmanager
    def _locked(self, path: str) -> Iterator[str]:
        """Lock the folder of a file; yield the file's path, which may be a link."""
        folder, _, name = path.rpartition("/")
        with disk.folder_in(self._root, folder) as place, disk.locked(place):
            yield f"{place}/{name}"

    def _check_path(self, path: str, shown: str = "") -> None:
        """Raise an error if a path cannot be a memory file.

        The path can change after this check; the code that opens it checks again that it is in the
        vault.
        """
        if not os.path.isdir(self._root):
            raise VaultIndexError(f"the vault {self._root} is not there", "is its disk mounted?")
        shown = shown or path
        parts = parts_of(path)
        if parts is None or not path.startswith(f"{self._dir}/"):
            raise UsageError(
                f"{shown!r} is not a path in the memory folder {self._dir}",
                "give a name such as handoffs/2026-01-01",
            )
        place = f"{self._root}/{path}"
        exists = os.path.lexists(place)
        own = parts[len(PurePosixPath(self._dir).parts) :]
        if reason := name_problem(own, new=not exists):
            raise UsageError(
                f"{shown!r} cannot be the name of a memory: {reason}", "choose another name"
            )
        # A symbolic link may be removed while it is resolved.
        with disk.os_errors_as(f"cannot access {shown!r}", "try again in a moment"):
            top, real = disk.real_path(f"{self._root}/{self._dir}"), disk.real_path(place)
        if not disk.is_under(disk.real_path(self._root), top) or not disk.is_under(top, real):
            raise UsageError(
                f"{shown!r} leads out of the memory folder {self._dir} through a symbolic link",
                "remove the link",
            )
        if os.path.exists(place) and not os.path.isfile(place):
            raise UsageError(f"{shown!r} exists and is not a file", "choose another name")


class PlannedFiles(MemoryFiles):
    """The memory files in a dry run: writes are kept in memory, and the disk does not change."""

    def __init__(self, root: Path, memory_dir: str, source: str = "") -> None:
        super().__init__(root, memory_dir, source)
        self._texts: dict[str, str] = {}

    def _is_taken(self, path: str) -> bool:
        return path in self._texts or super()._is_taken(path)

    def create(self, path: str, text: str | bytes) -> FileStamp:
        """Keep a new text. Raises FileExistsError if the path exists."""
        self._check_path(path)
        if self._is_taken(path):
            raise FileExistsError(path)
        self._texts[path] = to_utf8(text).decode()
        return FileStamp(0, 0, UNTRUSTED)

    def settle(self, paths: Iterable[str]) -> None:
        """Do nothing: no file was written."""

    def read(self, path: str, *, any_bytes: bool = False) -> MemoryFile:
        """Return the planned text, or else read the file."""
        if path in self._texts:
            return replace(read_text(self._texts[path], path), source=self.source)
        return super().read(path, any_bytes=any_bytes)

    def replace(self, path: str, text: str | bytes, seen: MemoryFile) -> None:
        """Keep a new text."""
        self._texts[path] = to_utf8(text).decode()


def to_utf8(text: str | bytes) -> bytes:
    """Encode a text as UTF-8. Raises UsageError if it has lone surrogates."""
    try:
        return text if isinstance(text, bytes) else text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            "the text has characters that UTF-8 cannot encode", "give it as valid UTF-8"
        ) from error


def _digest(path: str) -> bytes | None:
    try:
        return hashlib.sha256(read_regular(path, MAX_BYTES, follow=False)[0]).digest()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _keep_conflicted_copy(draft: str, path: str) -> str:
    """Keep the draft next to the file, named like the conflicted copies of sync programs.

    The index ignores such names, and Obsidian can open the file.
    """
    folder, name = os.path.split(path)
    stem = name.removesuffix(".md")
    now = f"{datetime.now():%Y-%m-%d %H%M%S}"
    room = NAME_BYTES - len(f" (conflicted copy {now} 1000).md")
    while len(stem.encode()) > room:
        stem = stem[:-1]
    return disk.move_to_free_name(
        draft, (f"{folder}/{stem} (conflicted copy {now}{number}).md" for number in _suffixes(" "))
    )


def _suffixes(mark: str) -> Iterator[str]:
    """Yield suffixes for a taken name: none, then the mark with 2, 3 and so on."""
    yield ""
    for number in itertools.count(2):
        yield f"{mark}{number}"


@contextmanager
def _translate_os_errors(path: str, done: str) -> Iterator[None]:
    """Translate errors of the system, except FileExistsError, which callers handle."""
    try:
        yield
    except FileExistsError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        if done != "written":
            raise NotFoundError(f"{path} no longer exists", "run: vault-index sync") from error
        taken = isinstance(error, NotADirectoryError)
        hint = (
            "a file has the name of its folder: rename that file, or choose" if taken else "choose"
        )
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
    errno.EXDEV: "the trash is on another disk: delete the memory with --permanent",
}

NAME_BYTES = 255
"""The longest file name in most file systems, in bytes."""

_SLUG_CHARACTERS = 60
_SLUG_BYTES = 200
_RESERVED = re.compile(r'[\\:*?"<>|\x00-\x1f\x7f]')


def slug(title: str) -> str:
    """Return the words of a title in lower case, joined by `-`, at most 60 characters.

    Letters of every script stay. The result may be empty.
    """
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


def name_problem(parts: list[str], *, new: bool) -> str:
    """Return why a path cannot be a memory file, or an empty string.

    Existing files may have names that new files may not have.
    """
    name = parts[-1]
    bad = _RESERVED.search("".join(parts))
    stems = [*parts[:-1], name.removesuffix(".md")]
    reasons = [
        ("it is not valid UTF-8", not all(map(is_readable_name, parts))),
        ("it is empty", name == ".md"),
        ("names that begin with a dot are hidden", any(part.startswith(".") for part in parts)),
        (
            "the index ignores such names",
            not (all(map(is_folder_name, parts[:-1])) and is_document_name(name)),
        ),
        (f"some systems do not allow {bad[0]!r} in file names" if bad else "", new and bool(bad)),
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
