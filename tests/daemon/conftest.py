"""Worlds with one note for the tests of the daemon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world import World, opened_world


def _made(world: World) -> World:
    world.write("a.md", "# Alpha\n\nthe aardvark\n")
    world.home.config_file.chmod(0o600)
    return world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with opened_world(tmp_path) as world:
        yield _made(world)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world whose daemon all tests of a module share; each test writes its own files and keeps `a.md`."""
    with opened_world(tmp_path_factory.mktemp("running")) as world:
        _made(world).daemon()
        yield world
