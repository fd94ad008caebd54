"""Real servers on loopback that hold the files of a remote source, and homes that copy them."""

import os
import select
import socket
import socketserver
import subprocess
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from getpass import getuser
from io import BytesIO
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest

from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.mirroring.exchange import Exchange
from vault_index.remotes.mirror import state_of, synchronise
from vault_index.runtime import Runtime

SECRET = "quite-secret-7Q4N2X5K"
GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@localhost",
       "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@localhost"}  # fmt: skip


class Place:
    """Where the files of a remote source really are. Others change them with `put` and `remove`."""

    url = ""
    secret = ""
    requests: list[tuple[str, int]]
    """Method and bytes of each answer, if the server counts them."""

    def __init__(self) -> None:
        self.requests = []

    def put(self, **files: str | None) -> None:
        """Write files, or delete them if the text is None; `_` in a name stands for `/`."""
        self.change({f"{name.replace('_', '/')}.md": text for name, text in files.items()})

    def change(self, files: Mapping[str, str | None]) -> None:
        raise NotImplementedError

    def files(self) -> dict[str, str]:
        raise NotImplementedError


class Folder(Place):
    """A folder that a WebDAV server serves."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        folder.mkdir(parents=True)

    def change(self, files: Mapping[str, str | None]) -> None:
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink() if text is None else file.write_text(text, "utf-8")

    def files(self) -> dict[str, str]:
        found = (file for file in self.folder.rglob("*.md") if file.is_file())
        return {file.relative_to(self.folder).as_posix(): file.read_text("utf-8") for file in found}


class Repository(Folder):
    """A bare repository; others change it by a clone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.bare = folder.with_suffix(".git")
        git(folder, "init", "--quiet", "--bare", "--initial-branch=main", str(self.bare))
        git(folder, "init", "--quiet", "--initial-branch=main")
        self.url = f"git+file://{self.bare}"

    def change(self, files: Mapping[str, str | None]) -> None:
        if git(self.folder, "ls-remote", str(self.bare)):
            git(self.folder, "pull", "--quiet", str(self.bare), "main")
        super().change(files)
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--message=change")
        git(self.folder, "push", "--quiet", str(self.bare), "main")

    def files(self) -> dict[str, str]:
        names = git(self.bare, "ls-tree", "-r", "-z", "--name-only", "main").split("\0")[:-1]
        return {name: git(self.bare, "show", f"main:{name}") for name in names}

    def subjects(self) -> list[str]:
        """Return the subjects of the commits, newest first."""
        return git(self.bare, "log", "--format=%s", "main").splitlines()


class Bucket(Place):
    """A prefix of a bucket of moto's S3 server."""

    def __init__(self, port: int, name: str) -> None:
        super().__init__()
        from obstore.store import S3Store

        self.url = f"s3://notes/{name}?endpoint=http://127.0.0.1:{port}&region=us-east-1"
        self.secret = f"someone:{SECRET}"
        keys: Any = {"endpoint": f"http://127.0.0.1:{port}", "region": "us-east-1", "access_key_id": "someone",
                     "secret_access_key": SECRET}  # fmt: skip
        self.store = S3Store("notes", prefix=name, config=keys, client_options={"allow_http": True})

    def change(self, files: Mapping[str, str | None]) -> None:
        for path, text in files.items():
            self.store.delete(path) if text is None else self.store.put(path, text.encode())

    def files(self) -> dict[str, str]:
        paths = [one["path"] for batch in self.store.list() for one in batch]
        return {path: bytes(self.store.get(path).bytes()).decode() for path in paths}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], env={**os.environ, **GIT}, capture_output=True, check=True
    )
    return done.stdout.decode()


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Write no log."""


class _Threads(WSGIServer):
    def process_request(self, request: Any, client_address: Any) -> None:
        threading.Thread(target=super().process_request, args=(request, client_address), daemon=True).start()


@contextmanager
def wsgi(app: Callable[..., Any], requests: list[tuple[str, int]]) -> Iterator[int]:
    """Serve an application, count its answers, and yield the port."""

    def counted(environ: Any, start: Any) -> Iterator[bytes]:
        size, stream = 0, environ["wsgi.input"]
        chunked = environ.get("HTTP_TRANSFER_ENCODING") == "chunked"
        body = _chunks(stream) if chunked else stream.read(int(environ.get("CONTENT_LENGTH") or 0))
        environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        for part in app(environ, start):
            size += len(part)
            yield part
        requests.append((environ["REQUEST_METHOD"], size))

    with make_server("127.0.0.1", 0, counted, _Threads, _Quiet) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_port
        server.shutdown()


def git_backend(bare: Path) -> Callable[..., Any]:
    """Return an application that runs git-http-backend as CGI, for the user `ann`."""
    wanted = "Basic " + b64encode(f"ann:{SECRET}".encode()).decode()

    def app(environ: Any, start: Any) -> list[bytes]:
        if environ.get("HTTP_AUTHORIZATION") != wanted:
            start("401 Unauthorized", [("WWW-Authenticate", "Basic realm=git")])
            return [b""]
        body = environ["wsgi.input"].read()
        wanted_names = ("PATH_INFO", "QUERY_STRING", "REQUEST_METHOD", "CONTENT_TYPE", "CONTENT_LENGTH")
        env = {key: environ.get(key, "") for key in wanted_names} | {
            "GIT_PROJECT_ROOT": str(bare.parent), "GIT_HTTP_EXPORT_ALL": "1", "REMOTE_USER": "ann",
            "PATH": os.environ["PATH"], **GIT,
            "HTTP_CONTENT_ENCODING": environ.get("HTTP_CONTENT_ENCODING", ""),
            "GIT_PROTOCOL": environ.get("HTTP_GIT_PROTOCOL", ""),
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        start(headers.pop("Status", "200 OK"), list(headers.items()))
        return [body]

    return app


@contextmanager
def tcp(use: Callable[[socket.socket], object]) -> Iterator[int]:
    """Call a function with each connection, and yield the port."""
    handler: Any = lambda client, *_: use(client)  # noqa: E731
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


class Line:
    """Passes connections on to a port, and breaks them after `left` bytes of answers."""

    def __init__(self, port: int) -> None:
        self.port, self.left = port, 0

    def __call__(self, client: socket.socket) -> None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port)) as server:
            ends = {client: server, server: client}
            while part := (source := select.select(ends, [], [])[0][0]).recv(min(4096, self.left)):
                self.left -= len(part) if source is server else 0
                ends[source].sendall(part)


@contextmanager
def sshd(folder: Path) -> Iterator[int]:
    """Serve SSH with keys of its own, name them to git as a user would, and yield the port."""
    if not os.access("/usr/sbin/sshd", os.X_OK) or (os.getuid() == 0 and not os.path.isdir("/run/sshd")):
        pytest.skip("needs sshd")
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{key}"], check=True)
    (folder / "known_hosts").write_text(f"* {(folder / 'host.pub').read_text()}")
    rules = f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nStrictModes no\nPasswordAuthentication no\n"
    (folder / "sshd_config").write_text(rules)

    def serve(client: Any) -> None:
        command = ["/usr/sbin/sshd", "-i", "-f", f"{folder}/sshd_config"]
        subprocess.run(command, stdin=client, stdout=client, stderr=subprocess.DEVNULL, check=False)

    with tcp(serve) as port, pytest.MonkeyPatch.context() as patch:
        options = f"-i {folder}/user -o IdentitiesOnly=yes -o UserKnownHostsFile={folder}/known_hosts"
        patch.setenv("GIT_SSH_COMMAND", f"ssh -F none {options}")
        yield port


def _chunks(stream: Any) -> bytes:
    body = b""
    while size := int(stream.readline(), 16):
        body += stream.read(size)
        stream.readline()
    stream.readline()
    return body


def webdav(folder: Path) -> Any:
    """Return a WebDAV application for the user `ann`."""
    wsgidav = pytest.importorskip("wsgidav.wsgidav_app", reason="needs wsgidav")
    users = {"*": {"ann": {"password": SECRET}}}
    return wsgidav.WsgiDAVApp({
        "provider_mapping": {"/notes": str(folder)}, "simple_dc": {"user_mapping": users}, "verbose": 0,
        "http_authenticator": {"accept_digest": False}, "logging": {"enable": False},
    })  # fmt: skip


@contextmanager
def place_of(kind: str, folder: Path, moto: Callable[[], int]) -> Iterator[Place]:
    """Yield an empty place: `git+file`, `git+http`, `git+ssh`, `webdav` or `s3`."""
    place: Place
    if kind == "s3":
        yield Bucket(moto(), folder.name)
    elif kind == "webdav":
        place = Folder(folder / "there")
        with wsgi(webdav(place.folder), place.requests) as port:
            place.url, place.secret = f"webdav+http://ann@127.0.0.1:{port}/notes", SECRET
            yield place
    else:
        place = Repository(folder / "there")
        with sshd(folder) if kind == "git+ssh" else wsgi(git_backend(place.bare), place.requests) as port:
            if kind == "git+ssh":
                place.url = f"git+ssh://{getuser()}@127.0.0.1:{port}{place.bare}"
            if kind == "git+http":
                place.url, place.secret = f"git+http://127.0.0.1:{port}/there.git", f"ann:{SECRET}"
            yield place


class Machine:
    """A home with the vault `own` and the remote source `far`."""

    def __init__(self, folder: Path, place: Place, more: str = "") -> None:
        (folder / "own").mkdir(parents=True)
        self.home = find_home(folder / "home")
        self.home.data_dir.mkdir(mode=0o700)
        self.far = self.home.data_dir / "remotes/far/files"
        command = f"password_command = \"printf '%s' '{place.secret}'\"\n" if place.secret else ""
        self.home.config_file.write_text(
            f'[sources.own]\npath = "{folder / "own"}"\n'
            f'[sources.far]\nremote = "{place.url}"\n{command}{more}\n'
            '[embedding]\nprovider = "none"\n',
            "utf-8",
        )

    def exchange(self) -> Exchange:
        """Index what changed here, exchange, and index what changed there."""
        with closing(Runtime.open(self.home)) as runtime:
            index = VaultIndex(runtime)
            index.sync()
            done = synchronise(runtime.machine(), runtime.config.source("far"))
            index.sync()
        return done

    def state(self) -> dict[str, Any]:
        with closing(Runtime.open(self.home)) as runtime:
            return state_of(runtime.config, runtime.config.source("far"))

    def files(self) -> dict[str, str]:
        """Return the documents of the copy."""
        found = (file for file in self.far.rglob("*.md") if ".trash" not in file.parts)
        return {file.relative_to(self.far).as_posix(): file.read_text("utf-8") for file in found}

    def index(self) -> VaultIndex:
        return VaultIndex.open(self.home)
