"""A server of S3 for all tests of a session, and an empty place of each kind."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

from tests.remotes.places import Place, place_of
from tests.waiting import until


@pytest.fixture(scope="session")
def moto() -> Iterator[Callable[[], int]]:
    """Return a function that starts moto's S3 server with the bucket `notes`, and returns its port."""
    started: list[subprocess.Popen[bytes]] = []

    @cache
    def start() -> int:
        python = os.environ.get("MOTO_PYTHON", sys.executable)
        if subprocess.run([python, "-c", "import moto.server"], capture_output=True, check=False).returncode:
            pytest.skip("needs moto (make test-remotes)")
        pytest.importorskip("obstore", reason="needs the extra `remote`")
        program = (
            "import sys, threading, werkzeug.serving, moto.server\n"
            "app = moto.server.DomainDispatcherApplication(moto.server.create_backend_app)\n"
            "server = werkzeug.serving.make_server('127.0.0.1', 0, app, threaded=True)\n"
            "print(server.port, flush=True)\n"
            "server.serve_forever()\n"
        )
        env = {**os.environ, "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x"}
        process = subprocess.Popen([python, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
        started.append(process)
        assert process.stdout
        port = int(process.stdout.readline())

        def made() -> bool:
            with suppress(OSError):
                request = urllib.request.Request(f"http://127.0.0.1:{port}/notes", method="PUT")
                return bool(urllib.request.urlopen(request).status == 200)
            return False

        until(made)
        return port

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(params=["git+file", "git+http", "git+ssh", "webdav", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, moto: Callable[[], int]) -> Iterator[Place]:
    """Return an empty place of each kind."""
    with place_of(request.param, tmp_path, moto) as found:
        yield found
