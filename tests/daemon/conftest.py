"""A world with one note for the tests of the daemon."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.world import World, opened_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with opened_world(tmp_path) as world:
        world.write("a.md", "# Alpha\n\nthe aardvark\n")
        yield world
