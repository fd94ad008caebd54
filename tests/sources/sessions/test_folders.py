"""Whole folders that are merged, damaged, linked, forbidden, or go while they are read: no crash, no session lost that
could be read, and nothing of a client is written."""

import hashlib
import os
import random
import shutil
from pathlib import Path

import pytest

from vault_index.config import Config
from vault_index.config.schema import ClientConfig
from vault_index.errors import VaultIndexError
from vault_index.sources.sessions.source import SessionSource

RECORDED = Path(__file__).resolve().parent.parent.parent.parent / "fixtures/sessions"
CLIENTS = ("claude-code", "codex", "gemini")


def opened(folder: Path, name: str) -> SessionSource:
    return SessionSource(Config(clients={name: ClientConfig(data=str(folder))}), name)


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    shutil.copytree(RECORDED / request.param, tmp_path / "data")
    return str(request.param)


def state(folder: Path) -> dict[str, tuple[int, int, str]]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    stats = {str(file): file.stat() for file in files}
    return {
        path: (seen.st_mtime_ns, seen.st_size, hashlib.sha256(Path(path).read_bytes()).hexdigest())
        for path, seen in stats.items()
    }


def read(source: SessionSource) -> dict[str, str]:
    """What can be read; a session that went meanwhile is none."""
    texts = {}
    for ref in source.scan_places([""]).refs:
        try:
            texts[ref.path] = source.read(ref).text
        except VaultIndexError:
            assert source.config.name == "gemini"  # it says so where a file holds nothing any more
    return texts


def test_nothing_is_written(client: str, tmp_path: Path) -> None:
    before = state(tmp_path / "data")
    assert read(opened(tmp_path / "data", client))
    assert state(tmp_path / "data") == before


def test_folders_of_two_machines_are_one(client: str, tmp_path: Path) -> None:
    whole = read(opened(tmp_path / "data", client))
    for folder in {"claude-code": ["projects"], "codex": ["sessions"], "gemini": ["tmp"]}[client]:
        root = tmp_path / "data" / folder
        inner = min(one for one in root.iterdir() if one.is_dir())
        shutil.copytree(inner, root / f"{inner.name}-of-the-other-machine")
    merged = read(opened(tmp_path / "data", client))
    ids = {path.rpartition("/")[2] for path in merged}
    assert ids == {path.rpartition("/")[2] for path in whole}
    assert len(merged) == len(ids)


@pytest.mark.parametrize("seed", range(12))
def test_damaged_folders_lose_no_other_session(client: str, tmp_path: Path, seed: int) -> None:
    data, chance = tmp_path / "data", random.Random(seed)
    whole = read(opened(data, client))
    files = sorted(file for file in data.rglob("*.jsonl") if file.name != "history.jsonl")
    hurt = chance.choice(files)
    damage = chance.randrange(6)
    lines = hurt.read_bytes().splitlines(keepends=True)
    if damage == 0:
        hurt.write_bytes(b"".join(lines)[: chance.randrange(200)])
    elif damage == 1:
        hurt.write_bytes(b"".join([*lines[:3], b"\0" * 5000, b"\n", b"\xff\xfe{\n", *lines[3:]]))
    elif damage == 2:
        chance.shuffle(lines)
        hurt.write_bytes(b"".join(lines))
    elif damage == 3:
        os.utime(hurt, (0, 0))
        hurt.write_bytes(b"".join(lines).replace(b'"2026-', b'"1926-'))
    elif damage == 4:
        (hurt.parent / f"loop{hurt.suffix}").symlink_to(f"loop{hurt.suffix}")
        (hurt.parent / "up").symlink_to(data, target_is_directory=True)
    else:
        hurt.unlink()
        hurt.mkdir()
    source = opened(data, client)
    found = read(source)
    # Of a session in several files, or one that others were made from, the others are hurt as well.
    same = {path for path, text in whole.items() if found.get(path) == text}
    assert len(same) >= len(whole) - 2
    if damage == 4:
        assert found == whole


def test_files_that_go_while_they_are_listed(client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = opened(tmp_path / "data", client)
    refs = source.scan_places([""]).refs
    found = source.client.listing().sessions.values()
    gone = Path(next(seen.place for seen in found if isinstance(seen.place, str)))
    files = type(source.client).files  # type: ignore[attr-defined]

    def going(self):  # type: ignore[no-untyped-def]
        for entry in files(self):
            gone.unlink(missing_ok=True)
            yield entry

    monkeypatch.setattr(type(source.client), "files", going)
    left = source.scan_places([""])
    assert {ref.path for ref in left.refs} <= {ref.path for ref in refs}
    assert left.unreadable == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(client: str, tmp_path: Path) -> None:
    whole = read(opened(tmp_path / "data", client))
    source = opened(tmp_path / "data", client)
    file = Path(next(seen.place for seen in source.client.listing().sessions.values() if isinstance(seen.place, str)))
    file.chmod(0)
    again = opened(tmp_path / "data", client).scan_places([""])
    file.chmod(0o600)
    assert str(file) in " ".join(fault.message for fault in again.faults)
    assert len(again.refs) >= len(whole) - 2
