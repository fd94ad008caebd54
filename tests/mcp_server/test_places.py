"""Paths that agents give: nothing outside a vault is read or written, and each refusal has a reason."""

import os
from pathlib import Path

import pytest

from tests.mcp_server.sessions import Session

SECRET = "the secret of another folder"


@pytest.fixture(scope="module", autouse=True)
def traps(vault: Path) -> Path:
    """Links and pipes, in the vault and among the memories."""
    outside = vault.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(SECRET, "utf-8")
    (vault / ".obsidian").mkdir()
    (vault / ".obsidian" / "app.json").write_text(SECRET, "utf-8")
    for folder in (vault, vault / "80-memory"):
        (folder / "link.md").symlink_to(outside / "secret.md")
        (folder / "linked").symlink_to(outside)
        os.mkfifo(folder / "pipe.md")
    return outside


PLACES = [
    "../../etc/passwd",
    "../outside/secret.md",
    "daily/../../outside/secret.md",
    "/etc/passwd",
    "~/.ssh/config",
    "C:\\secret.md",
    ".obsidian/app.json",
    "80-memory/.hidden/x.md",
    "link.md",
    "linked/secret.md",
    "80-memory/link.md",
    "80-memory/linked/secret.md",
    "80-memory/pipe.md",
    "pipe.md",
    "a\0b.md",
]


@pytest.mark.parametrize("place", PLACES)
def test_no_tool_leaves_the_vault(client: Session, traps: Path, place: str) -> None:
    reasons = [
        client.error("memory_get", ref=place),
        client.error("memory_get", cursor=f"{place}:1-2+0"),
        client.error("memory_timeline", ref=place),
        client.error("memory_update", ref=place, content="overwritten"),
        client.error("memory_delete", ref=place),
        client.error("memory_delete", ref=[place], permanent=True),
        client.error("memory_store", content=f"Instead of {place!r}.", supersedes=[place]),
    ]
    beside = client.call("memory_get", ref=["harbour.md", f"{place}:1-2"])
    assert [text["path"] for text in beside["results"]] == ["harbour.md"]
    for reason in (*reasons, str(beside)):
        assert SECRET not in reason
        assert "Error" not in reason
    assert (traps / "secret.md").read_text("utf-8") == SECRET


@pytest.mark.parametrize("place", [place for place in PLACES if place not in ("link.md", "linked/secret.md")])
def test_no_memory_is_stored_outside(client: Session, traps: Path, place: str) -> None:
    assert SECRET not in client.error("memory_store", content=f"Written to {place!r}.", path=place)
    assert [path.name for path in traps.iterdir()] == ["secret.md"]


@pytest.mark.parametrize("place", ["../../etc/*", "/etc/**", ".obsidian/*"])
def test_a_glob_stays_in_the_vault(client: Session, place: str) -> None:
    assert "hint:" in client.error("memory_list", path=place)
    assert "hint:" in client.error("memory_search", path=place, query="secret")


def test_the_reason_is_told(client: Session) -> None:
    for place, reason in (
        ("../x.md", "leads out of the vault"),
        ("/etc/passwd", "absolute path"),
        (".obsidian/app.json", "hidden"),
        ("pipe.md", "no markdown file"),
        ("link.md", "link that leads out of the vault"),
    ):
        assert reason in client.error("memory_get", ref=place)
