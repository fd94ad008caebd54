"""Read git repositories: the worktrees of a project, and the history of a vault.

The repository is untrusted. No program that it names runs, nothing outside it is read, and the size
of its files, git's memory and git's output are limited.
"""

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from vault_index.disk import is_under
from vault_index.errors import VaultIndexError
from vault_index.sources.files import read_inside

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_FRESH_SECONDS = 10.0
"""Seconds for which HEAD is not read again, because a sync asks once per file."""
_MOST_SECONDS = 60.0
"""Time limit in seconds for `git log` of the whole history."""
_PATIENT_SECONDS = 10.0
"""Time limit in seconds for git while a user waits."""
_MOST_COMMITS = 200
_MOST_BYTES = 10 << 20
"""Largest file and blob to read, in bytes: `packed-refs` of 100,000 branches has 7 MB."""
_MOST_OUTPUT = 64 << 20
"""Largest output of git in bytes: enough for a million added files."""
_GIT = ("/bin/sh", "-c", 'ulimit -d 524288; exec git "$@" </dev/null 2>/dev/null', "git")
"""Runs git with at most 512 MiB of memory, because a tree may expand exponentially."""
_WORKTREE = re.compile(r"^[ \t]*worktree[ \t]*=[ \t]*(\S.*)", re.MULTILINE)
_ORIGIN = re.compile(
    r'^\[remote "origin"\]\n(?:[^\[\n].*\n|\n)*?[ \t]*url[ \t]*=[ \t]*(\S+)', re.MULTILINE
)
_MOST_HOPS = 4
"""How many local clones of local clones are followed to their origin."""


class Commit(NamedTuple):
    """A commit that changed a file; `path` was its path in the repository, `time` is in seconds."""

    hash: str
    time: float
    author: str
    subject: str
    path: str


def commits_of(root: str, path: str) -> list[Commit]:
    """Return the last 200 commits of a file, newest first, following renames.

    The list is empty without git or a repository.
    """
    with suppress(OSError, ValueError):
        if (found := _repository(Path(os.path.realpath(root)))) and (
            head := _head(found[0], found[1].parent)
        ):
            _, objects, inside = found
            file = path if inside == "." else f"{inside}/{path}"
            wanted = [
                "log",
                "-z",
                "--follow",
                "--no-show-signature",
                f"-n{_MOST_COMMITS}",
                "--name-only",
            ]
            names = ["--format=%x01%H%n%ct%n%an%n%s", head, "--", f":(literal){file}"]
            log = _git(objects, [*wanted, *names], _PATIENT_SECONDS).decode("utf-8", "replace")
            return [commit for one in log.split("\1")[1:] if (commit := _commit(one))]
    return []


def _commit(record: str) -> Commit | None:
    head, _, names = record.partition("\0")
    lines, path = head.split("\n", 3), names.strip("\n").split("\0")[0]
    # The author's name is untrusted.
    sound = len(lines) == 4 and path and _COMMIT.fullmatch(lines[0])
    return Commit(lines[0], float(lines[1]), lines[2], lines[3], path) if sound else None


def blob(root: str, commit: Commit) -> bytes | None:
    """Return the file's bytes in a commit, unfiltered; None if the commit removed it."""
    with suppress(OSError, ValueError):
        if found := _repository(Path(os.path.realpath(root))):
            name = f"{commit.hash}:{commit.path}"
            if int(_git(found[1], ["cat-file", "-s", name], _PATIENT_SECONDS)) <= _MOST_BYTES:
                return _git(found[1], ["cat-file", "blob", name], _PATIENT_SECONDS)
    return None


def worktree_of(path: str) -> str:
    """Return the main git worktree that contains a folder, else the folder itself."""
    folder, home = path, os.path.expanduser("~")
    while not os.path.exists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above in (folder, home):  # a home directory in git is not a project
            return path
        folder = above
    return _main_worktree(folder)


def linked_worktrees(root: str) -> list[str]:
    """Return the existing folders that `git worktree add` made from this repository."""
    records = os.path.join(_git_folder(root), "worktrees")
    folders = []
    with suppress(OSError):
        folders = [
            os.path.dirname(_text(Path(records, name), "gitdir")) for name in os.listdir(records)
        ]
    return [folder for folder in folders if folder and _main_worktree(folder) == root]


def repository_of(root: str, hops: int = _MOST_HOPS) -> str:
    """Return what a main worktree and its clones have in common.

    This is the URL of the remote `origin` as `host/path`. A clone of a local folder has that of
    this folder; without such a remote, it is the folder itself.
    """
    found = _ORIGIN.search(_text(Path(_git_folder(root)), "config") + "\n") if hops else None
    if found is None:
        return os.path.realpath(root)
    url = found[1].removeprefix("file://").rstrip("/")
    if url.startswith(("/", ".", "~")):
        place = os.path.realpath(os.path.join(root, os.path.expanduser(url)))
        return repository_of(worktree_of(place), hops - 1)
    address = url.rpartition("://")[2].rpartition("@")[2].removesuffix(".git")
    return re.sub(r"^([^/:]+)(:\d+(?=/))?[:/]+", r"\1/", address).lower()


def names_of(root: str) -> tuple[str, ...]:
    """Return the names of the project in a main worktree: by its origin, and by its folder."""
    repository = repository_of(root)
    places = (root,) if repository == os.path.realpath(root) else (repository, root)
    names = (os.path.basename(one).removesuffix(".git") for one in places)
    return tuple(dict.fromkeys(filter(None, names)))


def _git_folder(root: str) -> str:
    """Return the git directory of a main worktree, or of a bare repository with worktrees."""
    named = _text(Path(root), ".git").removeprefix("gitdir:").strip() or ".git"
    places = (os.path.join(root, named), os.path.join(root, ".bare"), root)
    return next((one for one in places[1:] if os.path.isfile(f"{one}/HEAD")), places[0])


def _main_worktree(tree: str) -> str:
    """Return the main worktree of a linked worktree; another tree is its own.

    Both must refer to each other, so that only git's own links count. Of a bare repository, it is
    the folder of `.bare`, or else the repository itself.
    """
    record = os.path.realpath(
        os.path.join(tree, _text(Path(tree), ".git").removeprefix("gitdir:").strip())
    )
    common = os.path.realpath(
        os.path.join(record, _text(Path(record), "commondir") or os.path.join("..", ".."))
    )
    back = os.path.join(record, os.path.dirname(_text(Path(record), "gitdir")))
    linked = os.path.dirname(record) == os.path.join(common, "worktrees")
    if not linked or os.path.realpath(back) != os.path.realpath(tree):
        return tree
    return os.path.dirname(common) if os.path.basename(common).startswith(".") else common


class GitDates:
    """The dates of first commits, read incrementally. Without git or a repository, no dates."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._looked = float("-inf")
        self._head = ""
        self._born: dict[str, float] = {}

    def of(self, path: str) -> float | None:
        """Return the author time of a file's first commit, in seconds since the epoch."""
        if time.monotonic() > self._looked + _FRESH_SECONDS:
            self._looked = time.monotonic()
            with suppress(OSError, ValueError):
                self._read_on()
        return self._born.get(path)

    def _read_on(self) -> None:
        if (found := _repository(Path(os.path.realpath(self._root)))) is None:
            return
        place, objects, inside = found
        head = _head(place, objects.parent)
        if head and head != self._head:
            before, self._head = self._head, head
            self._take(_log(objects, inside, [head, *([f"^{before}"] if before else [])]))

    def _take(self, log: bytes) -> None:
        """Parse `git log`, oldest commit first: a time, then letters with one or two names."""
        when, parts = 0.0, iter(os.fsdecode(log).split("\0"))
        for part in parts:
            if part.startswith("\1"):
                when = float(part[1:])
            elif kind := part.strip():
                old = next(parts, "")
                new = next(parts, "") if kind.startswith("R") else old
                self._born.setdefault(new, self._born.get(old, when))


def _repository(folder: Path) -> tuple[Path, Path, str] | None:
    """Return the git directory, its `objects` folder, and the path of `folder` in the work tree.

    Rejects a repository outside the work tree, unless the work tree is its linked worktree or
    submodule. Rejects objects that link to another place.
    """
    for tree in (folder, *folder.parents):
        place = tree / ".git"
        if place.is_file():  # a linked worktree or a submodule
            place = tree / _text(tree, ".git").removeprefix("gitdir:").strip()
        place = Path(os.path.realpath(place))
        if (place / "HEAD").is_file():
            objects = Path(os.path.realpath(place / _text(place, "commondir") / "objects"))
            common = objects.parent
            ours = is_under(str(tree), str(common)) or _names(place, tree)
            if (
                ours
                and (place == common or place.parent == common / "worktrees")
                and _is_plain(objects)
            ):
                return place, objects, folder.relative_to(tree).as_posix()
    return None


def _names(place: Path, tree: Path) -> bool:
    """Return whether a file that git wrote into the git directory names this work tree."""
    configured = _WORKTREE.search(_text(place, "config"))
    named = _text(place, "gitdir").removesuffix("/.git") or (
        configured[1].strip() if configured else ""
    )
    return bool(named) and os.path.realpath(place / named) == str(tree)


def _is_plain(objects: str | Path) -> bool:
    """Return whether a folder holds only folders and regular files, and no `alternates`."""
    with os.scandir(objects) as entries:
        return all(
            (entry.is_file(follow_symlinks=False) and entry.name != "alternates")
            or (entry.is_dir(follow_symlinks=False) and _is_plain(entry.path))
            for entry in entries
        )


def _head(place: Path, common: Path) -> str:
    """Return the hash of HEAD; empty before the first commit."""
    head = _text(place, "HEAD")
    if head.startswith("ref:"):
        name = head.removeprefix("ref:").strip()
        packed = _text(common, "packed-refs").splitlines()
        listed = (line.split()[0] for line in packed if line.endswith(f" {name}"))
        head = _text(common, name) or next(listed, "")
    return head if _COMMIT.fullmatch(head) else ""  # git could read any other text as an option


def _text(folder: Path, name: str) -> str:
    """Read a text file of the repository; empty if missing, too large or not a regular file."""
    with suppress(OSError, ValueError, VaultIndexError):
        return read_inside(str(folder), name, _MOST_BYTES)[0].decode("utf-8").strip()
    return ""


def _log(objects: Path, inside: str, commits: list[str]) -> bytes:
    """Return git's log of added and renamed files."""
    relative = [] if inside == "." else [f"--relative={inside}/", "--", f":(literal){inside}"]
    command = [
        "log",
        "-z",
        "--reverse",
        "--no-show-signature",
        "-M100%",
        "--diff-filter=AR",
        "--name-status",
    ]
    return _git(objects, [*command, "--format=%x01%at", *commits, *relative], _MOST_SECONDS)


def _git(objects: Path, command: list[str], seconds: float) -> bytes:
    """Run git on the objects of a repository; cut the output at the time and size limits.

    Git runs in an empty repository of our own. So it ignores the configuration of the given one,
    which may name programs.
    """
    import subprocess
    from tempfile import TemporaryDirectory
    from threading import Timer

    with TemporaryDirectory(prefix="vault-index-") as own:
        for folder in ("objects", "refs"):
            os.mkdir(f"{own}/{folder}")
        Path(own, "HEAD").write_text("ref: refs/heads/none\n", "utf-8")
        if shallow := _text(objects.parent, "shallow"):
            Path(own, "shallow").write_text(f"{shallow}\n", "utf-8")
        env = {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": own, "GIT_DIR": own,
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ALLOW_PROTOCOL": "none", "LC_ALL": "C",
        }  # fmt: skip
        with subprocess.Popen([*_GIT, *command], cwd=own, env=env, stdout=subprocess.PIPE) as git:
            late = Timer(seconds, git.kill)
            late.start()
            try:
                return git.stdout.read(_MOST_OUTPUT) if git.stdout else b""
            finally:
                late.cancel()
                git.kill()
