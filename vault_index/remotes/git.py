"""A branch of a git repository, or a Gist, by the `git` program and without a work tree.

The objects are in a bare repository of our own, so the configuration, hooks, filters and submodules
of the remote repository have no effect. The user's own configuration applies, because it names
credential helpers and keys.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from vault_index.errors import ConflictError, NotFoundError, RemoteError
from vault_index.mirroring.exchange import Entry
from vault_index.secrets.find import redact

_SECONDS = 300.0
_GIT = ("/bin/sh", "-c", 'ulimit -f 8388608 || :; exec git "$@"', "git")
"""Runs git with files of at most 4 GiB (in blocks of 512 bytes)."""
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "submodule.recurse": "false",
    "fetch.recurseSubmodules": "false",
    "push.recurseSubmodules": "no",
    "gc.autoDetach": "false",
    "http.followRedirects": "initial",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
}
_RECEIVE = f"git -c core.hooksPath={os.devnull} receive-pack"
"""For repositories on this machine, whose hooks would run here."""
_INHERITED = ("GIT_SSH", "GIT_SSL_", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")
_HEAD = "refs/vault-index/head"
_HELPER = (
    '!f() { test "$1" = get || exit 0; echo "username=$VAULT_INDEX_USER";'
    ' echo "password=$VAULT_INDEX_PASSWORD"; }; f'
)
_AUTHOR = ("-c", "user.name=vault-index", "-c", "user.email=vault-index@localhost")


class GitRemote:
    """One branch; the etag of a file is the hash of its blob."""

    def __init__(self, url: str, store: Path, secret: tuple[str, str] = ("", "")) -> None:
        """`url` may end with `#branch`; `store` is the folder for the objects."""
        self._url, _, branch = url.partition("#")
        self._store = store
        self._wanted = f"refs/heads/{branch}" if branch else "HEAD"
        self._branch = f"refs/heads/{branch or 'main'}"
        self._head = ""
        self._blobs: dict[str, str] = {}
        self._cat: subprocess.Popen[bytes] | None = None
        self._env = _environment(self._url.partition(":")[0], store, secret)

    def list(self) -> list[Entry]:
        """Return the files of the branch; fetch it if it changed."""
        if not (self._store / "HEAD").exists():
            self._store.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._git("init", "--quiet", "--bare", "--template=", str(self._store))
        for lock in self._store.rglob("*.lock"):  # of a killed process
            lock.unlink()
        found = self._git("ls-remote", "--symref", "--", self._url, self._wanted).split()
        if not found:  # the branch of HEAD may not exist
            self._wanted = self._branch
            found = self._git("ls-remote", "--", self._url, self._wanted).split()
        if found[:1] == [b"ref:"]:
            self._branch, found = found[1].decode(), found[3:]
        self._head, known = "", self._git("for-each-ref", "--format=%(objectname)", _HEAD).strip()
        self._blobs = {}
        if not found:
            return []  # an empty repository
        if found[0] != known:
            what = f"+{self._wanted}:{_HEAD}"
            self._git("fetch", "--quiet", "--depth=1", "--no-tags", "--", self._url, what)
        self._head = self._git("rev-parse", "--verify", f"{_HEAD}^{{commit}}").decode().strip()
        entries = []
        for line in self._git("ls-tree", "-r", "-z", "-l", "--full-tree", self._head).split(b"\0"):
            head, _, name = line.partition(b"\t")
            mode, _, blob, size = (*head.decode().split(), "", "", "", "")[:4]
            if mode.startswith("100"):  # neither a link nor a submodule
                path = os.fsdecode(name)
                self._blobs[path] = blob
                entries.append(Entry(path, blob, int(size)))
        return entries

    def read(self, path: str) -> tuple[bytes, str]:
        """Return a file of the fetched commit."""
        blob = self._blobs.get(path, "")
        if self._cat is None:
            command = (*_GIT, "cat-file", "--batch")
            pipe = subprocess.PIPE
            self._cat = subprocess.Popen(command, env=self._env, stdin=pipe, stdout=pipe)
        assert self._cat.stdin is not None
        assert self._cat.stdout is not None
        try:
            self._cat.stdin.write(f"{blob}\n".encode())
            self._cat.stdin.flush()
            head = self._cat.stdout.readline().split()
            if len(head) == 3:
                data = self._cat.stdout.read(int(head[2]))
                self._cat.stdout.read(1)
                return data, blob
        except OSError as error:
            raise RemoteError(f"git ended: {error.strerror}", "try again") from error
        raise NotFoundError(f"{path} is not in the repository", "")

    def write(self, path: str, data: bytes, if_match: str) -> str:
        """Commit a file, and push the commit."""
        blob = self._git("hash-object", "-w", "--no-filters", "--stdin", data=data).decode().strip()
        done = "Update" if if_match else "Add"
        self._commit(path, if_match, f"{done} {Path(path).stem}", f"100644 {blob}")
        self._blobs[path] = blob
        return blob

    def delete(self, path: str, if_match: str) -> None:
        """Commit the removal of a file, and push the commit."""
        self._commit(path, if_match, f"Delete {Path(path).stem}", f"0 {'0' * len(if_match)}")
        del self._blobs[path]

    def close(self) -> None:
        """End the process that reads objects."""
        if self._cat is not None:
            self._cat.kill()
            self._cat.communicate()

    def _commit(self, path: str, if_match: str, message: str, entry: str) -> None:
        change = os.fsencode(f"{entry}\t{path}\0")
        for _ in range(5):  # others may push at the same time
            if self._blobs.get(path, "") != if_match:
                raise ConflictError(f"{path} changed in the repository", "the next sync compares")
            parents = ("-p", self._head) if self._head else ()
            self._git("read-tree", self._head or "--empty")
            self._git("update-index", "-z", "--index-info", data=change)
            tree = self._git("write-tree").decode().strip()
            author = () if self._git("config", "--default=", "user.email").strip() else _AUTHOR
            made = self._git(*author, "commit-tree", *parents, "-m", message, tree)
            commit, was = made.decode().strip(), self._head
            receive = [f"--receive-pack={_RECEIVE}"] if self._url.startswith("file:") else []
            target = f"{commit}:{self._branch}"
            # Without force; the lines of rejected branches begin with `!`.
            options = ("--quiet", "--porcelain", *receive, "--")
            if b"\n!" not in b"\n" + self._git("push", *options, self._url, target):
                self._git("update-ref", _HEAD, commit)
                self._head = commit
                return
            self.list()
            if self._head == was:
                break
        raise RemoteError("the repository rejected the commit", "check your rights to push")

    def _git(self, *arguments: str, data: bytes = b"") -> bytes:
        """Run git and return its output. Raises RemoteError, but not for a rejected push."""
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [*_GIT, *arguments],
            cwd=self._store,
            env=self._env,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            start_new_session=True,  # without a terminal, ssh cannot ask for a password
        ) as git:
            try:
                out, err = git.communicate(data, _SECONDS)
            except BaseException as error:
                with suppress(ProcessLookupError):
                    os.killpg(git.pid, signal.SIGKILL)
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
                message = f"git {arguments[0]} took over {_SECONDS:.0f} s"
                raise RemoteError(message, "check the connection") from error
        if git.returncode and b"\n!" not in b"\n" + out:
            lines = err.decode("utf-8", "replace").strip().splitlines()
            said = next((one for one in lines if one.startswith("fatal:")), (*lines, "")[0])
            shown = "".join(filter(str.isprintable, redact(said)[0]))[:300]
            hint = f"try it yourself: git ls-remote {shlex.quote(self._url)}"
            raise RemoteError(f"git {arguments[0]}: {shown or git.returncode}", hint)
        return out


def _environment(protocol: str, store: Path, secret: tuple[str, str]) -> Mapping[str, str]:
    user, password = secret
    settings = list(_SETTINGS.items())
    env = {
        key: one
        for key, one in os.environ.items()
        if not key.startswith("GIT_") or key.startswith(_INHERITED)
    }
    if password:
        settings += [("credential.helper", ""), ("credential.helper", _HELPER)]
        env |= {"VAULT_INDEX_USER": user or "git", "VAULT_INDEX_PASSWORD": password}
    for number, (key, value) in enumerate(settings):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return env | {
        "GIT_CONFIG_COUNT": str(len(settings)), "GIT_DIR": str(store), "LC_ALL": "C",
        "GIT_INDEX_FILE": str(store / "index"), "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true",
        "SSH_ASKPASS_REQUIRE": "never", "GIT_ALLOW_PROTOCOL": protocol,
    }  # fmt: skip
