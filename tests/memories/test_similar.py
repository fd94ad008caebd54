"""Related memories that an addition or a change names, with the real model and without one."""

import re
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from vault_index.errors import ConflictError

STAGING = "The staging server is reachable only through the VPN"
BACKUP = "The nightly backup starts at 2 am for one hour"
AT_TWO = "Backups run every night at 02:00 for an hour"
PORT = "The dev server listens on port 3000 now"
TOMATOES = "阳台上的番茄需要每天浇水"
TEXTS = {
    "local": [
        (STAGING, None, None), ("You need the VPN to get to the staging server", STAGING, "duplicate"),
        (BACKUP, None, None), (AT_TWO, BACKUP, "duplicate"),
        (BACKUP.replace("2", "4"), AT_TWO, "contradiction"),  # of two related ones, the newer probably holds
        ("The user prefers tabs over spaces in Go code", None, None),
        (TOMATOES, None, None), ("成都的火锅很辣，记得点酸梅汤", None, None),
    ],
    "none": [
        (PORT, None, None), ("Port 3000: the dev server listens there", PORT, "duplicate"),
        (STAGING, None, None), ("The staging server is rebuilt on Sundays", None, None),
        (TOMATOES, None, None), ("阳台的番茄需要每天浇水", TOMATOES, "duplicate"),
    ],
}  # fmt: skip
"""Texts that are added in turn, by provider; for each, the nearest earlier text and its relation."""


@pytest.mark.parametrize("provider", TEXTS)
def test_add_names_the_nearest_memory_of_the_same_subject(tmp_path: Path, provider: str) -> None:
    ids: dict[str, str] = {}
    with opened(tmp_path, provider=provider) as index:
        for text, near, relation in TEXTS[provider]:
            stored = index.add(text)
            named = [(one.id, one.relation) for one in stored.near[:1]]
            assert named == ([(ids[near], relation)] if near else []), text
            ids[text] = stored.id


def test_update_refuses_the_text_of_another_memory(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        one, other = index.add("Boxes are counted."), index.add("Crates are weighed.")
        with pytest.raises(ConflictError, match=re.escape(f"{one.path} already has this text")) as caught:
            index.update(other.id, content="Boxes are counted.")
        assert one.id in caught.value.hint
        assert index.get(other.id).results[0].content.strip() == "Crates are weighed."
        assert index.update(one.id, content="Boxes are  counted.", add_tags="box").duplicate_of is None
        index.update(other.id, content="Boxes are counted.", supersedes=one.id)


def test_add_and_update_skip_inactive_memories_as_nearest(tmp_path: Path) -> None:
    old, new = "Builds run on Jenkins, in the server room.", "Builds run on Earthly, in the server room."
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"80-memory/expired.md": f"---\nexpires: 2020-01-01\n---\n{old}\n"})
        index.sync()
        first = index.add(old)
        assert (first.near, first.question) == ((), "")
        second = index.add("Something about tea.")
        changed = index.update(second.id, content=new)
        call = f"vault-index update {second.id} --supersedes {first.id}"
        assert changed.question == f'does it replace "Builds run on Jenkins, in the server room"? If so: {call}'
        assert index.update(second.id, add_tags="ci").near == ()
        assert index.update(second.id, content=f"{new} ", supersedes=first.id).near == ()
        assert [one.id for one in index.add(new.replace("Earthly", "Drone")).near] == [second.id]
