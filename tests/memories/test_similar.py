"""Which memories are named as saying nearly the same, with the real model and without one."""

from pathlib import Path

import pytest

from tests.api.vaults import opened

STAGING = "The staging server is reachable only through the VPN"
BACKUP = "The nightly backup starts at 2 am for one hour"
PORT = "The dev server listens on port 3000 now"
TOMATOES = "阳台上的番茄需要每天浇水"
TEXTS = {
    "local": [
        (STAGING, None), ("You need the VPN to get to the staging server", STAGING),
        ("The staging server is rebuilt on Sundays", None),
        (BACKUP, None), ("Backups run every night at 02:00 for an hour", BACKUP),
        ("The user prefers tabs over spaces in Go code", None), ("The user prefers early returns in Go code", None),
        (TOMATOES, None), ("成都的火锅很辣，记得点酸梅汤", None),
    ],
    "none": [
        (PORT, None), ("Port 3000: the dev server listens there", PORT),
        (STAGING, None), ("The staging server is rebuilt on Sundays", None),
        (TOMATOES, None), ("阳台的番茄需要每天浇水", TOMATOES),
    ],
}  # fmt: skip
"""Texts that are added one after another, by provider, and the earlier text that each is near to."""


@pytest.mark.parametrize("provider", TEXTS)
def test_near_names_paraphrases_but_not_the_same_topic(tmp_path: Path, provider: str) -> None:
    paths: dict[str, str] = {}
    with opened(tmp_path, provider=provider) as index:
        for text, near in TEXTS[provider]:
            stored = index.add(text)
            assert stored.created
            assert [one.path for one in stored.near] == ([paths[near]] if near else []), text
            paths[text] = stored.path
        assert index.stats().pending == 0
