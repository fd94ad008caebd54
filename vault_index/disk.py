"""Whole files or none: drafts that are synced before they get their name, and names that are never taken twice."""

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator

from vault_index.errors import BusyError, VaultIndexError

_LOCK_SECONDS = 10.0
_POLL_SECONDS = 0.01
# What file systems without hard links answer: FAT, some network shares.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


def make_folder(folder: str) -> None:
    """Make a folder and its missing parents, each synced. NotADirectoryError where one of them is a file."""
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    make_folder(parent)
    try:
        os.mkdir(folder)
    except FileExistsError as error:
        if not os.path.isdir(folder):  # else another process was quicker
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from error
    else:
        sync_folder(parent)


@contextlib.contextmanager
def draft(
    folder: str, data: bytes, like: os.stat_result | None = None, *, mode: int = 0o666, within: str = ""
) -> Iterator[str]:
    """Write a synced file under a hidden name, which is not indexed; at the end it is removed unless it was moved.

    It has the permissions of `like`, else those of a new file with `mode`; and nobody may read it who may not read the
    folder `within`. It is locked, by which it is told from one that a crash left.
    """
    path, descriptor = _new_draft(folder, mode)
    try:
        with open(descriptor, "wb") as file:
            if like is not None:
                _make_alike(descriptor, like)
            if within:
                _keep_within(descriptor, os.stat(within))
            file.write(data)
            file.flush()
            os.fsync(descriptor)
            yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _new_draft(folder: str, mode: int) -> tuple[str, int]:
    while True:
        path = f"{folder}/.vault-index-{os.urandom(8).hex()}.tmp"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with contextlib.suppress(OSError):  # where a file system has no locks, no draft is taken for a left one
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # taken for a left one before it was locked


def is_draft(name: str) -> bool:
    """Whether a file has a name that `draft` gives."""
    return re.fullmatch(r"\.vault-index-[0-9a-f]{16}\.tmp", name) is not None


def remove_left_drafts(paths: Iterable[str]) -> None:
    """Remove those of these drafts that a crash left: files of this user that no process is writing."""
    for path in paths:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                found = os.fstat(descriptor)
                if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(path)
            finally:
                os.close(descriptor)


def tidy(folder: str) -> None:
    """Remove what a crash left in a folder that is not scanned for documents."""
    with contextlib.suppress(OSError):
        remove_left_drafts(f"{folder}/{name}" for name in os.listdir(folder) if is_draft(name))


def replace(path: str, data: bytes, *, mode: int = 0o666) -> None:
    """Write a whole file; whoever reads it meanwhile finds the one before or this one."""
    folder = os.path.dirname(path)
    tidy(folder)
    with draft(folder, data, mode=mode) as name:
        os.replace(name, path)
    sync_folder(folder)


def move_without_overwriting(source: str, target: str, *, lasting: bool = True) -> None:
    """Move a file to a free name. FileExistsError, and nothing is changed, when the name is taken.

    With `lasting` the folder is synced, so that the new name outlives a loss of power; else the caller syncs it.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))
        try:
            os.replace(source, target)
        except OSError:
            os.unlink(target)  # it only held the name
            raise
    else:
        os.unlink(source)
    if lasting:
        sync_folder(os.path.dirname(target))


def move_to_free_name(source: str, names: Iterable[str]) -> str:
    """Move a file to the first of the names that is not taken."""
    for name in names:
        with contextlib.suppress(FileExistsError):
            move_without_overwriting(source, name)
            return name
    raise FileExistsError(source)


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Keep other writers of ours out of a folder for the moment between the last look at a file and its new name.

    The kernel drops the lock however its holder dies. Where a file system has no locks, the look alone must do.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def os_errors_as(message: str, hint: str) -> Iterator[None]:
    """An OSError of the block is raised as a VaultIndexError: `message`, the system's reason, and `hint`."""
    try:
        yield
    except OSError as error:
        raise VaultIndexError(f"{message}: {error.strerror}", hint) from error


def is_under(folder: str, path: str) -> bool:
    """Whether a path is the folder or lies under it; everything lies under the empty one."""
    return not folder or path == folder or path.startswith(folder.rstrip("/") + "/")


def sync_folder(folder: str) -> None:
    """Make the names in a folder last, where its file system and its permissions let us; one that is gone has none."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _lock(descriptor: int, folder: str) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise BusyError(f"another process is writing in {folder}", "try again in a moment") from None
            time.sleep(_POLL_SECONDS)
        except OSError:
            return
        else:
            return


def _keep_within(descriptor: int, folder: os.stat_result) -> None:
    """Take from a file, while it is empty, what lets those read it who may not read the folder."""
    file, allowed = os.fstat(descriptor), stat.S_IMODE(folder.st_mode) | 0o600
    if file.st_gid != folder.st_gid:  # to the folder, the group of the file are others
        allowed = allowed & ~0o070 | (allowed & 0o007) << 3
    if file.st_mode & 0o777 & ~allowed:
        os.fchmod(descriptor, file.st_mode & 0o777 & allowed)


def _make_alike(descriptor: int, like: os.stat_result) -> None:
    with contextlib.suppress(OSError):  # only root may give files away
        if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
