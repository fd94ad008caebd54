"""Which memories are named as saying nearly the same, with the real model and without one."""

from pathlib import Path

import pytest

from tests.api.vaults import opened

CODE = "The user prefers tabs over spaces in Go code"
STAGING = "The staging server is reachable only through the VPN"
PAIRS = [
    ("local", STAGING, "You need the VPN to get to the staging server", True),
    ("local", "The nightly backup starts at 2 am for one hour", "Backups run every night at 02:00 for an hour", True),
    ("local", STAGING, "The staging server is rebuilt on Sundays", False),
    ("local", CODE, "The user prefers early returns in Go code", False),
    ("local", "阳台上的番茄需要每天浇水", "成都的火锅很辣，记得点酸梅汤", False),
    ("none", "The dev server listens on port 3000 now", "Port 3000: the dev server listens there", True),
    ("none", STAGING, "The staging server is rebuilt on Sundays", False),
    ("none", "阳台上的番茄需要每天浇水", "阳台的番茄需要每天浇水", True),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "one", "two", "near"), PAIRS)
def test_near_names_paraphrases_but_not_the_same_topic(
    tmp_path: Path, provider: str, one: str, two: str, near: bool
) -> None:
    with opened(tmp_path, provider=provider) as index:
        first = index.add(one)
        stored = index.add(two)
        assert stored.created
        assert [(other.id, other.path) for other in stored.near] == ([(first.id, first.path)] if near else [])
        assert index.stats().pending == 0


def test_near_skips_replaced_memories(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        first = index.add("The dev server listens on port 3000 now")
        second = index.add("The dev server listens on port 3000 again", supersedes=first.id)
        assert second.near == ()
        third = index.add("The dev server listens on port 3000")
        assert [near.id for near in third.near] == [second.id]
