"""Exports: files for their owner's eyes alone, written whole or not at all, that overwrite nothing unasked."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from vault_index import disk
from vault_index.errors import UsageError, VaultIndexError

USAGE_FILE = ".vault-index-usage.json"
"""How often the memories of an exported folder were opened: that stands in none of its files."""

_TAKEN = "name another file, or overwrite it with --force"


def write_file(path: Path, text: str, *, force: bool) -> int:
    """Write one file of mode 0600, and tell its size in bytes. Raises UsageError where there is one already."""
    data = text.encode("utf-8", "surrogateescape")
    with _told(path):
        if path.is_dir():
            raise UsageError(
                f"{path} is a folder", "end its name with / for a folder of markdown, or name a file in it"
            )
        if not force and os.path.lexists(path):
            raise UsageError(f"{path} exists already", _TAKEN)
        _write(path, data, force=force)
    return len(data)


def write_folder(folder: Path, files: Sequence[tuple[str, str]], *, force: bool) -> int:
    """Write files, given as paths inside the folder and texts, and tell their size in bytes.

    Raises UsageError, before anything is written, for a folder that holds something.
    """
    with _told(folder):
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder} is a file", "name a folder, or a file that does not end with /")
        if not force and folder.is_dir() and next(folder.iterdir(), None):
            raise UsageError(f"{folder} is not empty", "name another folder, or overwrite what is in it with --force")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        written = 0
        for path, text in files:
            place = folder / path
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            data = text.encode("utf-8", "surrogateescape")
            _write(place, data, force=force)
            written += len(data)
    return written


def _write(path: Path, data: bytes, *, force: bool) -> None:
    with disk.draft(str(path.parent), data, mode=0o600) as draft:
        if force:
            os.replace(draft, path)
        else:
            disk.move_without_overwriting(draft, str(path))


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say what the system's errors mean here."""
    try:
        yield
    except FileExistsError as error:
        raise UsageError(f"{path} exists already", _TAKEN) from error
    except FileNotFoundError as error:
        raise UsageError(f"there is no folder {path.parent}", "make it first") from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "free some space on its disk" if full else "check the permissions of its folder"
        raise VaultIndexError(f"{path} cannot be written: {error.strerror}", hint) from error
