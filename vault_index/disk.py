"""Write files atomically, never overwrite an existing name by accident, and lock the index.

Drafts are synced before they get their final name. Paths below a vault are resolved by `path_in`,
`folder_in` and `file_in`, so that no link leads out of it.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from vault_index.errors import BusyError, UsageError, VaultIndexError

_LOCK_SECONDS = 10.0
_POLL_SECONDS = 0.01
# Errors of file systems without hard links: FAT, some network shares.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
# Arguments of renameat2 (Linux): paths relative to the current folder; fail if the name is taken.
_AT_FDCWD = -100
_NO_REPLACE = 1
_PRIVATE = 0o600


def path_in(root: str, path: str, *, outside: bool = False) -> str:
    """Return the real path of a file or folder under `root`; it need not exist.

    Raises UsageError if a link leads out of the root, unless it may lead `outside`. The last name
    could become a link later: open it with O_NOFOLLOW.
    """
    real = real_path(f"{root}/{path}")
    if outside or real == f"{root}/{path}" or is_under(real_path(root), real):
        return real
    raise UsageError(f"{path!r} leads out of {root}", "give a path inside it, or remove the link")


@contextlib.contextmanager
def folder_in(
    root: str, folder: str, *, outside: bool = False, make: bool = False
) -> Iterator[str]:
    """Yield the real path of a folder under `root` to write in, like `path_in`.

    With `make`, create missing folders. Raises VaultIndexError if another program replaced the
    folder with a link meanwhile.
    """
    real = path_in(root, folder, outside=outside)
    with _unmoved(real, make):
        yield real


@contextlib.contextmanager
def file_in(root: str, path: str, *, outside: bool = False, make: bool = False) -> Iterator[str]:
    """Yield the real path of a file under `root` to write, like `folder_in`."""
    real = path_in(root, path, outside=outside)
    with _unmoved(os.path.dirname(real), make):
        yield real


@contextlib.contextmanager
def _unmoved(folder: str, make: bool) -> Iterator[None]:
    if make:
        make_folder(folder)
    yield
    if real_path(folder) != folder:
        raise VaultIndexError(
            f"{folder} was replaced with a link during the write", "check where the link leads"
        )


def open_own(path: str | os.PathLike[str], flags: int) -> int:
    """Open or create a file that only this user owns; return its descriptor.

    Raises VaultIndexError for a link, a hard link or a file of another user.
    """
    message, hint = f"{path} is a link, or belongs to another user", "delete it, and try again"
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, _PRIVATE)
    except OSError as error:
        if os.path.islink(path):
            raise VaultIndexError(message, hint) from error
        raise
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink > 1:
        os.close(descriptor)
        raise VaultIndexError(message, hint)
    if stat.S_IMODE(status.st_mode) != _PRIVATE:
        with contextlib.suppress(OSError):  # some file systems have no modes
            os.fchmod(descriptor, _PRIVATE)
    return descriptor


def must_be_own(path: str | os.PathLike[str]) -> None:
    """Raise VaultIndexError if a file or link belongs to another user, except root."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if os.lstat(path).st_uid not in (0, os.geteuid()):
            raise VaultIndexError(
                f"{path} belongs to another user", "delete it, or change its owner"
            )


def make_folder(folder: str) -> None:
    """Create and sync a folder and its parents, each with at most the permissions of its parent.

    Raises NotADirectoryError if one of them is a file.
    """
    if os.path.isdir(folder):
        return
    above = os.path.dirname(folder)
    make_folder(above)
    try:
        os.mkdir(folder, stat.S_IMODE(os.stat(above).st_mode) & 0o777 | 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None
    sync_folder(above)


@contextlib.contextmanager
def draft(
    folder: str,
    data: bytes,
    like: os.stat_result | None = None,
    *,
    mode: int = 0o666,
    within: str = "",
    lasting: bool = True,
) -> Iterator[str]:
    """Write a file under a hidden name; remove it at the end if it was not moved.

    With `lasting`, sync it, so that its content survives a power loss.

    The file is not indexed. It gets the permissions of `like`, else those of a new file with
    `mode`, minus access for users that cannot read the folder `within`. A lock marks it as in use;
    `remove_left_drafts` removes unlocked drafts.
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
            if lasting:
                os.fsync(descriptor)
            yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _new_draft(folder: str, mode: int) -> tuple[str, int]:
    while True:
        path = f"{folder}/.vault-index-{os.urandom(8).hex()}.tmp"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        # Without locks, `remove_left_drafts` cannot lock a draft either, and keeps it.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # `remove_left_drafts` deleted it before it was locked


def is_draft(name: str) -> bool:
    """Return whether `draft` made this file name."""
    return re.fullmatch(r"\.vault-index-[0-9a-f]{16}\.tmp", name) is not None


def remove_left_drafts(paths: Iterable[str]) -> None:
    """Remove drafts of crashed processes: own files that no process has locked."""
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
    """Remove drafts of crashed processes from a folder that is not scanned for documents."""
    with contextlib.suppress(OSError):
        remove_left_drafts(f"{folder}/{name}" for name in os.listdir(folder) if is_draft(name))


def replace(path: str, data: bytes, *, mode: int = 0o666) -> None:
    """Write a file atomically: concurrent readers see the old or the new content."""
    folder = os.path.dirname(path)
    tidy(folder)
    with draft(folder, data, mode=mode) as name:
        os.replace(name, path)
    sync_folder(folder)


def move_without_overwriting(source: str, target: str, *, lasting: bool = True) -> None:
    """Move a file to a free name; FileExistsError, with nothing changed, if the name is taken.

    With `lasting`, sync the folder so that the new name survives a power loss; otherwise the caller
    syncs it.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE))
        try:
            os.replace(source, target)
        except OSError:
            os.unlink(target)  # the placeholder of the name
            raise
    else:
        os.unlink(source)
    if lasting:
        sync_folder(os.path.dirname(target))


def rename_without_overwriting(source: str, target: str) -> None:
    """Like `move_without_overwriting`, in one atomic step where possible (renameat2 of Linux)."""
    import ctypes  # 6 ms, and only moving a memory needs it

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    paths = (_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target))
    if rename is not None and rename(*paths, _NO_REPLACE) == 0:
        return
    error = ctypes.get_errno() if rename is not None else errno.ENOSYS
    # Kernels and file systems without renameat2 return one of these.
    if error not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(error, os.strerror(error), target)
    move_without_overwriting(source, target, lasting=False)


def move_to_free_name(source: str, targets: Iterable[str]) -> str:
    """Move a file to the first free path and return it. FileExistsError if all are taken."""
    for target in targets:
        with contextlib.suppress(FileExistsError):
            move_without_overwriting(source, target)
            return target
    raise FileExistsError(source)


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Lock a folder against other writers while a file is checked and replaced.

    The kernel releases the lock if the process dies. On file systems without locks, nothing is
    locked. Raises BusyError after 10 seconds.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            _lock(descriptor, time.monotonic() + _LOCK_SECONDS, _folder_busy)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def os_errors_as(message: str, hint: str) -> Iterator[None]:
    """Raise an OSError as VaultIndexError: `message`, the system's reason, and `hint`."""
    try:
        yield
    except OSError as error:
        raise VaultIndexError(f"{message}: {error.strerror}", hint) from error


def real_path(path: str) -> str:
    """`os.path.realpath` with retries.

    Before Python 3.11.4 it raises if a link becomes a file while it is read.
    """
    for _ in range(100):
        with contextlib.suppress(OSError):
            return os.path.realpath(path)
    return os.path.realpath(path)


def is_under(folder: str, path: str) -> bool:
    """Return whether a path is the folder or lies under it; the empty folder holds all paths."""
    return not folder or path == folder or path.startswith(folder.rstrip("/") + "/")


def name_of(folder: str) -> str:
    """Return the last part of a path, also of a Windows path."""
    return folder.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


def sync_folder(folder: str) -> None:
    """Sync the names in a folder, if its file system and permissions allow it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _lock(descriptor: int, deadline: float, busy: Callable[[], BusyError]) -> None:
    """Lock a file or folder; raise `busy()` if another process still holds it at `deadline`."""
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise busy() from None
            time.sleep(_POLL_SECONDS)
        else:
            return


def _folder_busy() -> BusyError:
    return BusyError("another process is writing in the same folder", "try again in a moment")


def _keep_within(descriptor: int, folder: os.stat_result) -> None:
    """Remove read access from users that cannot read the folder, while the file is still empty."""
    file, allowed = os.fstat(descriptor), stat.S_IMODE(folder.st_mode) | 0o600
    if file.st_gid != folder.st_gid:  # for the folder, the group of the file counts as others
        allowed = allowed & ~0o070 | (allowed & 0o007) << 3
    if file.st_mode & 0o777 & ~allowed:
        os.fchmod(descriptor, file.st_mode & 0o777 & allowed)


def _make_alike(descriptor: int, like: os.stat_result) -> None:
    with contextlib.suppress(OSError):  # only root may change owners
        if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


class WriteLock:
    """An advisory file lock, which the kernel releases when the holder dies.

    The file names the holder's pid and work. Safe for several threads of one process; not
    reentrant.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.Lock()

    @contextlib.contextmanager
    def held(self, work: str, timeout: float) -> Iterator[None]:
        """Hold the lock while doing `work`.

        Raises BusyError after `timeout` seconds, naming the holder.
        """
        deadline = time.monotonic() + timeout
        if not self._threads.acquire(timeout=timeout):
            raise self._busy()
        try:
            hint = "check the permissions of its folder, or choose another place with --home DIR"
            with os_errors_as(str(self._path), hint):
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                descriptor = open_own(self._path, os.O_RDWR)
            try:
                _lock(descriptor, deadline, self._busy)
                os.ftruncate(descriptor, 0)
                # On a full disk the name cannot be written, but the lock works.
                with contextlib.suppress(OSError):
                    os.pwrite(descriptor, f"{os.getpid()} {work}\n".encode(), 0)
                yield
                os.ftruncate(descriptor, 0)
            finally:
                os.close(descriptor)
        finally:
            self._threads.release()

    def _busy(self) -> BusyError:
        try:
            holder = self._path.read_text("utf-8").strip()
        except OSError:
            holder = ""
        pid, _, work = holder.partition(" ")
        owner = f"process {pid} ({work})" if pid else "another process"
        return BusyError(
            f"the index is being written by {owner}", "wait until it is done, and try again"
        )
