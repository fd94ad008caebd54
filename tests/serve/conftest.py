"""Worlds for the tests of `serve`: one for each module that only reads or writes its own files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.attackers import NOTES, OUTSIDE, Target, attacked, is_found
from tests.waiting import until
from tests.world import Served, World, opened_world

WAL = "---\ntags: [db]\n---\n# WAL\n\nReaders never wait for a tamarisk. See [[Docker]].\n\n## Why\n\nIt is so.\n"


@pytest.fixture
def new_world(tmp_path: Path) -> Iterator[World]:
    """A world for one test, without a process yet."""
    with opened_world(tmp_path) as world:
        world.write("wal.md", WAL)
        yield world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened_world(tmp_path_factory.mktemp("world")) as world:
        world.write("notes/wal.md", WAL)
        world.daemon()
        yield world


@pytest.fixture(scope="module")
def served(world: World) -> Served:
    return world.serve()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A server to attack. After all attacks no log holds a note or a secret, and both processes still answer."""
    with attacked(tmp_path_factory.mktemp("target")) as target:
        yield target
        assert is_found(target)
        until(lambda: "path=/api/search" in target.logs())
        logs = target.logs()
        assert target.lives, logs
        assert [word for word in ("aardvark", "buffalo", "gazelle", OUTSIDE) if word in logs] == []
        assert "Traceback" not in logs
        assert {path: target.world.files()[path].decode() for path in NOTES} == NOTES
        for path in target.world.home.data_dir.rglob("*"):
            data = path.read_bytes() if path.is_file() else b""
            assert [secret for secret in target.secrets if secret.encode() in data] == [], path
        assert [secret for secret in target.secrets if secret in logs] == []
