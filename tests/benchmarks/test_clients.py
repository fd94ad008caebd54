"""Clients that connect and disconnect leak nothing; benchmarks/clients.py runs a thousand of them."""

import sys
from collections.abc import Iterator

import pytest

from benchmarks.clients import HTTP, STDIO, Sides, Way, come_and_go, more_than, sides, warmed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    with sides(tmp_path_factory.mktemp("clients")) as opened:
        yield opened


@pytest.mark.parametrize("ways", [STDIO, HTTP], ids=["stdio", "http"])
def test_clients_that_come_and_go_leak_nothing(both: Sides, ways: dict[str, Way]) -> None:
    before = warmed(both, ways, at_once=2)
    come_and_go(both, ways, 2 * len(ways), at_once=2)
    assert more_than(before, both) == []
