"""The files of the memories of one vault: where they may lie, and how they are written without losing anything."""

import errno
import hashlib
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from vault_index.errors import ConflictError, NotFoundError, UsageError, VaultIndexError
from vault_index.memories import disk
from vault_index.sources.names import is_document_name, is_folder_name, is_readable_name, parts_of
from vault_index.sources.reading import decode, read_regular

_MAX_BYTES = 10 * 1024 * 1024
_SLUG_CHARACTERS = 60
_SLUG_BYTES = 200
_NAME_BYTES = 255
_RESERVED = re.compile(r'[\\:*?"<>|\x00-\x1f\x7f]')
_TRASH = ".trash"


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was read; `text` with its byte order mark and line endings."""

    text: str
    digest: bytes
    """SHA-256 of the bytes on disk."""
    status: os.stat_result


class MemoryFiles:
    """Paths are relative to the vault, with `/`. Nothing outside the memory folder is read or written, links resolved,
    but for what goes to the trash of the vault."""

    def __init__(self, root: Path, memory_dir: str) -> None:
        self._root = os.path.abspath(root)
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

    def free_path(self, type: str, day: str, title: str) -> str:
        """Where a new memory may lie: `<memory folder>/<type>/<day>-<title as a slug>.md`, or with `-2` and so on."""
        stem = f"{self._dir}/{slug(type) or 'note'}/{day}-{slug(title) or slug(type) or 'memory'}"
        number = 1
        while os.path.lexists(f"{self._root}/{(path := stem + (f'-{number}' if number > 1 else '') + '.md')}"):
            number += 1
        return path

    def create(self, path: str, text: str) -> None:
        """Write a new file, whole or not at all. FileExistsError when the name is taken; the file there stays."""
        place = self._place(path)
        if not os.path.isdir(self._root):
            raise VaultIndexError(f"The vault {self._root} is not there.", "Is its disk mounted?")
        with _told(path, "written"):
            folder = os.path.dirname(place)
            disk.make_folder(folder)
            with disk.draft(folder, _encoded(text)) as draft:
                disk.move_without_overwriting(draft, place)

    def read(self, path: str) -> Seen:
        """The file as it is. NotFoundError when it is gone, UsageError when it is not UTF-8."""
        place = self._place(path)
        with _told(path, "read"):
            data, status = read_regular(place, _MAX_BYTES)
        text, bad_line = decode(data)
        mark = data.startswith("\ufeff".encode())
        if bad_line is not None or not data.endswith(text.encode()) or len(data) != len(text.encode()) + 3 * mark:
            raise UsageError(
                f"{path} is not written in UTF-8" + (f" (line {bad_line})." if bad_line else "."),
                "Save it as UTF-8 in an editor, and try again.",
            )
        return Seen(data.decode(), hashlib.sha256(data).digest(), status)

    def replace(self, path: str, text: str, seen: Seen) -> None:
        """Put other text in the place of what was seen.

        ConflictError when the file says something else by now or is gone: it is left so, and the new text is kept
        beside it under a name that the index passes over and Obsidian opens.
        """
        if text == seen.text:
            return
        place = os.path.realpath(self._place(path))
        if os.path.exists(place) and not os.access(place, os.W_OK):
            raise VaultIndexError(f"{path} is write-protected.", "Make it writable to change it.")
        with _told(path, "written"):
            folder = os.path.dirname(place)
            disk.make_folder(folder)
            with disk.draft(folder, _encoded(text), like=seen.status) as draft:
                with disk.locked(folder):
                    if _digest(place) == seen.digest:
                        os.replace(draft, place)
                        disk.sync_folder(folder)
                        return
                kept = _keep_beside(draft, place)
        raise ConflictError(
            f"{path} changed since it was read, and was left as it is.",
            f"The new text is in {path.rpartition('/')[0]}/{kept}: take over what is missing, then delete that file.",
        )

    def trash(self, path: str) -> str:
        """Move a file to the trash of the vault, in the same folder there; its new path."""
        place = self._place(path)
        stem = f"{_TRASH}/{path.removesuffix('.md')}"
        number = 1
        with _told(path, "moved to the trash"):
            folder = os.path.dirname(f"{self._root}/{stem}")
            if not _inside(os.path.realpath(folder), os.path.realpath(self._root)):
                raise UsageError(
                    f"The trash of the vault, {_TRASH}, leads out of it.", "Delete the memory with --permanent."
                )
            disk.make_folder(folder)
            with disk.locked(os.path.dirname(place)):
                os.lstat(place)
                while True:
                    target = stem + (f" {number}" if number > 1 else "") + ".md"
                    try:
                        disk.move_without_overwriting(place, f"{self._root}/{target}")
                    except FileExistsError:
                        number += 1
                    else:
                        disk.sync_folder(os.path.dirname(place))
                        return target

    def remove(self, path: str) -> None:
        """Delete a file for good."""
        place = self._place(path)
        with _told(path, "deleted"), disk.locked(os.path.dirname(place)):
            os.unlink(place)
            disk.sync_folder(os.path.dirname(place))

    def _place(self, path: str, shown: str = "") -> str:
        """Where a memory lies on disk, once it is sure that it is one."""
        shown = shown or path
        parts = parts_of(path)
        if parts is None or not path.startswith(f"{self._dir}/"):
            raise UsageError(
                f"{shown!r} is no name inside the memory folder {self._dir}.", "Give one as handoffs/2026-01-01."
            )
        place = f"{self._root}/{path}"
        exists = os.path.lexists(place)
        own = parts[len(PurePosixPath(self._dir).parts) :]
        reason = _unusable(own, new=not exists)
        if reason:
            raise UsageError(f"{shown!r} cannot be the name of a memory: {reason}.", "Choose another name.")
        top = os.path.realpath(f"{self._root}/{self._dir}")
        if not _inside(top, os.path.realpath(self._root)) or not _inside(os.path.realpath(place), top):
            raise UsageError(
                f"{shown!r} leads out of the memory folder {self._dir} through a link.", "Remove the link."
            )
        if os.path.exists(place) and not os.path.isfile(place):
            raise UsageError(f"{shown!r} is there already, and is no file.", "Choose another name.")
        return place


def slug(title: str) -> str:
    """Words joined by `-`, in lower case, at most 60 characters; letters of any script stay. May be empty."""
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).lower())
    words = "".join(character if unicodedata.category(character)[0] in "LMN" else " " for character in text).split()
    whole = "-".join(words)
    cut = whole[:_SLUG_CHARACTERS]
    if len(whole) > len(cut) and whole[len(cut)] != "-":
        cut = cut.rpartition("-")[0] or cut
    while len(cut.encode()) > _SLUG_BYTES:
        cut = cut[:-1]
    return cut.strip("-")


def _unusable(parts: list[str], *, new: bool) -> str:
    """Why a path can be no memory; empty where it can. Files that are there may have names we would not give."""
    if not all(is_readable_name(part) for part in parts):
        return "it is not valid UTF-8"
    if any(part.startswith(".") for part in parts):
        return "what begins with a dot is hidden"
    if not all(is_folder_name(part) for part in parts[:-1]) or not is_document_name(parts[-1]):
        return "the index passes over such names"
    if not new:
        return ""
    if bad := _RESERVED.search("".join(parts)):
        return f"{bad[0]!r} is not allowed in file names everywhere"
    if any(part != part.strip() or part.endswith(".") for part in [*parts[:-1], parts[-1].removesuffix(".md")]):
        return "names must not begin with a space, or end with a space or a dot"
    return "it is too long" if any(len(part.encode()) > _NAME_BYTES for part in parts) else ""


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise UsageError("The text holds characters that UTF-8 cannot write.", "Give it as valid UTF-8.") from error


def _digest(place: str) -> bytes | None:
    try:
        return hashlib.sha256(read_regular(place, _MAX_BYTES)[0]).digest()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _keep_beside(draft: str, place: str) -> str:
    """Name the draft as syncing programs name such copies: ignored by the index, opened by Obsidian."""
    folder, name = os.path.split(place)
    stem = name.removesuffix(".md")
    now = f"{datetime.now():%Y-%m-%d %H%M%S}"
    number = 1
    while True:
        mark = f" (conflicted copy {now}{f' {number}' if number > 1 else ''}).md"
        while len(f"{stem}{mark}".encode()) > _NAME_BYTES:
            stem = stem[:-1]
        try:
            disk.move_without_overwriting(draft, f"{folder}/{stem}{mark}")
        except FileExistsError:
            number += 1
        else:
            return stem + mark


@contextmanager
def _told(path: str, done: str) -> Iterator[None]:
    """Say what the system's errors mean here."""
    try:
        yield
    except FileExistsError:
        raise
    except (FileNotFoundError, NotADirectoryError) as error:
        if done == "written":
            raise UsageError(f"{path} cannot be {done}: {error.strerror}.", "Choose another name.") from error
        raise NotFoundError(f"{path} is gone.", "Run: vault-index sync") from error
    except OSError as error:
        raise VaultIndexError(f"{path} cannot be {done}: {error.strerror}.", _hint(error)) from error


def _hint(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space on the disk of the vault; nothing was changed."
    if error.errno == errno.EROFS:
        return "The vault is read-only: mount it writable; nothing was changed."
    if error.errno == errno.ENAMETOOLONG:
        return "Choose a shorter name."
    if error.errno == errno.EXDEV:
        return "The trash lies on another disk: delete the memory with --permanent."
    return "Check the permissions of the folder; nothing was changed."
