"""Whole files or none: drafts that are synced before they get their name, and names that are never taken twice.

Where another process may move things about meanwhile, a folder is opened once (`folder_in`, `file_in`), and what is
done there takes its handle as `at`: names are then looked up in that folder, wherever its path leads by now.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator

from vault_index.errors import BusyError, UsageError, VaultIndexError

_LOCK_SECONDS = 10.0
_POLL_SECONDS = 0.01
# What file systems without hard links answer: FAT, some network shares.
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
# What systems answer to O_NOFOLLOW where there is a link; with O_DIRECTORY, Linux says that it is no folder.
_LINK_MET = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
# On Linux a handle that finds names needs no right to list them, as a path needs none.
_HANDLE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
_NO_REPLACE = 1
_PRIVATE = 0o600


@contextlib.contextmanager
def folder_in(root: str, folder: str, *, outside: bool = False, make: bool = False) -> Iterator[int]:
    """A handle of a folder, given by its path under `root`; with `make`, missing folders are made and synced, each no
    more open than the one around it.

    A path that is judged first and opened afterwards can be led elsewhere in between: another process only has to put a
    link in the place of one of its folders. So every folder on the way is opened by its name in the one before, and
    never through a link. Where there is one, the path is resolved, what comes out must lie under the root unless it may
    lead `outside` (else UsageError), and that is opened in the same way. The root itself may be reached through links.
    """
    handle = _open_folder(root, folder, outside, make)
    try:
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def file_in(root: str, path: str, *, outside: bool = False, make: bool = False) -> Iterator[tuple[int, str]]:
    """The same for a file, which need not exist: a handle of its folder, and its name there, which is no link.

    Whoever opens that name has to do so with O_NOFOLLOW: it may have become one.
    """
    folder, _, name = path.rpartition("/")
    with folder_in(root, folder, outside=outside, make=make) as handle:
        if not _is_link(name, handle):
            yield handle, name
            return
    root, path = _resolved(root, path, outside)
    folder, _, name = path.rpartition("/")
    with folder_in(root, folder, make=make) as handle:
        yield handle, name


def open_own(path: str | os.PathLike[str], flags: int) -> int:
    """Open a file of this user alone, and make it if need be; its descriptor.

    VaultIndexError where there is something else: a link, another name of some file, or what another user put there.
    """
    refused = VaultIndexError(f"{path} is a link, or belongs to another user", "delete it, and try again")
    flags |= os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, _PRIVATE)
    except OSError as error:
        if os.path.islink(path):
            raise refused from error
        raise
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink > 1:
        os.close(descriptor)
        raise refused
    if stat.S_IMODE(status.st_mode) != _PRIVATE:
        with contextlib.suppress(OSError):  # some file systems know no modes
            os.fchmod(descriptor, _PRIVATE)
    return descriptor


def must_be_own(path: str | os.PathLike[str]) -> None:
    """VaultIndexError for what another user, who is not root, put there: a file, or a link to one."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if os.lstat(path).st_uid not in (0, os.geteuid()):
            raise VaultIndexError(f"{path} belongs to another user", "delete it, or change its owner")


def make_folder(folder: str) -> None:
    """Make a folder and its missing parents, as `folder_in`. NotADirectoryError where one of them is a file."""
    with folder_in("/", folder, make=True):
        pass


@contextlib.contextmanager
def draft(
    folder: str,
    data: bytes,
    like: os.stat_result | None = None,
    *,
    mode: int = 0o666,
    within: str = "",
    at: int | None = None,
) -> Iterator[str]:
    """Write a synced file under a hidden name, which is not indexed; at the end it is removed unless it was moved.

    It has the permissions of `like`, else those of a new file with `mode`; and nobody may read it who may not read the
    folder `within`. It is locked, by which it is told from one that a crash left.
    """
    path, descriptor = _new_draft(folder, mode, at)
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
            os.unlink(path, dir_fd=at)


def _new_draft(folder: str, mode: int, at: int | None) -> tuple[str, int]:
    while True:
        path = f"{folder}/.vault-index-{os.urandom(8).hex()}.tmp"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=at)
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


def move_without_overwriting(
    source: str, target: str, *, lasting: bool = True, at: int | None = None, into: int | None = None
) -> None:
    """Move a file to a free name. FileExistsError, and nothing is changed, when the name is taken.

    With `lasting` the folder is synced, so that the new name outlives a loss of power; else the caller syncs it.
    The source is looked up in `at`, the target in `into`.
    """
    try:
        os.link(source, target, src_dir_fd=at, dst_dir_fd=into, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE, dir_fd=into))
        try:
            os.replace(source, target, src_dir_fd=at, dst_dir_fd=into)
        except OSError:
            os.unlink(target, dir_fd=into)  # it only held the name
            raise
    else:
        os.unlink(source, dir_fd=at)
    if lasting:
        sync_folder(os.path.dirname(target) or ".", at=into)


def rename_without_overwriting(source: str, name: str, *, at: int, into: int) -> None:
    """The same in one step where the system can (renameat2 of Linux), so that a kill leaves the file in one place."""
    import ctypes  # 6 ms, and only what moves a memory needs it

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is not None and rename(at, os.fsencode(source), into, os.fsencode(name), _NO_REPLACE) == 0:
        return
    error = ctypes.get_errno() if rename is not None else errno.ENOSYS
    if error not in (errno.EINVAL, errno.ENOSYS):  # what kernels and file systems answer that cannot
        raise OSError(error, os.strerror(error), name)
    move_without_overwriting(source, name, lasting=False, at=at, into=into)


def move_to_free_name(source: str, names: Iterable[str], *, at: int | None = None, into: int | None = None) -> str:
    """Move a file to the first of the names that is not taken."""
    for name in names:
        with contextlib.suppress(FileExistsError):
            move_without_overwriting(source, name, at=at, into=into)
            return name
    raise FileExistsError(source)


@contextlib.contextmanager
def locked(folder: str, *, at: int | None = None) -> Iterator[None]:
    """Keep other writers of ours out of a folder for the moment between the last look at a file and its new name.

    The kernel drops the lock however its holder dies. Where a file system has no locks, the look alone must do.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=at)
    try:
        _lock(descriptor)
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


def real_path(path: str) -> str:
    """`os.path.realpath`, which raises before Python 3.11.4 where a link becomes a file while it is read."""
    for _ in range(100):
        with contextlib.suppress(OSError):
            return os.path.realpath(path)
    return os.path.realpath(path)


def is_under(folder: str, path: str) -> bool:
    """Whether a path is the folder or lies under it; everything lies under the empty one."""
    return not folder or path == folder or path.startswith(folder.rstrip("/") + "/")


def worktree_of(path: str) -> str:
    """The main git worktree of the one that a folder lies in, else the folder itself."""
    folder, home = path, os.path.expanduser("~")
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above in (folder, home):  # a home that is kept in git is no project
            return path
        folder = above
    return _main_worktree(folder)


def linked_worktrees(root: str) -> list[str]:
    """The folders that `git worktree add` made of the repository in this folder, where they still are."""
    records = os.path.join(root, ".git", "worktrees")
    folders = []
    with contextlib.suppress(OSError):
        folders = [os.path.dirname(_git_line(os.path.join(records, name), "gitdir")) for name in os.listdir(records)]
    return [folder for folder in folders if folder and _main_worktree(folder) == root]


def _main_worktree(tree: str) -> str:
    """Of a linked worktree the main one: each names the other, so git made them; any other tree is its own."""
    record = os.path.join(tree, _git_line(tree, ".git").removeprefix("gitdir: "))
    place = os.path.realpath(record).split("/")
    linked = place[-3:-1] == [".git", "worktrees"]
    back = os.path.dirname(os.path.join(record, _git_line(record, "gitdir"))) if linked else ""
    return "/".join(place[:-3]) if back and os.path.realpath(back) == os.path.realpath(tree) else tree


def _git_line(folder: str, name: str) -> str:
    """What a small file of git says; empty where it cannot be read, as a folder or a link."""
    try:
        descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, 4096).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""
    finally:
        os.close(descriptor)


def name_of(folder: str) -> str:
    """What a folder is called, that of another system too; a name is its own."""
    return folder.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


def sync_folder(folder: str, *, at: int | None = None) -> None:
    """Make the names in a folder last, where its file system and its permissions let us; one that is gone has none."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=at)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _open_folder(root: str, folder: str, outside: bool, make: bool) -> int:
    try:
        return _descend(root, folder, make)
    except OSError as error:
        if error.errno not in _LINK_MET:
            raise
    return _descend(*_resolved(root, folder, outside), make)


def _resolved(root: str, path: str, outside: bool) -> tuple[str, str]:
    """A path without links: the folder it is under, and the way from there."""
    top, real = real_path(root), real_path(f"{root}/{path}")
    if is_under(top, real):
        return root, real[len(top) :].strip("/")
    if outside:
        return "/", real.strip("/")
    raise UsageError(f"{path!r} leads out of {root} through a link", "remove the link")


def _descend(root: str, path: str, make: bool) -> int:
    """Open a folder without passing through links, but for those to the root."""
    handle = os.open(root, _HANDLE)
    try:
        for name in path.split("/"):
            if name == "..":
                raise UsageError(f"{path!r} leads out of {root}", "give a path inside it")
            if make and name:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, stat.S_IMODE(os.fstat(handle).st_mode) & 0o777 | 0o700, dir_fd=handle)
                    sync_folder(".", at=handle)
            below = os.open(name or ".", _HANDLE | os.O_NOFOLLOW, dir_fd=handle)
            os.close(handle)
            handle = below
    except BaseException:
        os.close(handle)
        raise
    return handle


def _is_link(name: str, at: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _lock(descriptor: int) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise BusyError("another process is writing in the same folder", "try again in a moment") from None
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
