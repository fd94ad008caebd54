"""Whole folders that are merged, damaged, linked, forbidden, or disappear during a read: no crash, no readable session
lost, and no file of a client is written."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.sources.sessions.test_incremental import RECORDED, opened
from vault_index.errors import VaultIndexError
from vault_index.sources.sessions.clients import KNOWN
from vault_index.sources.sessions.source import SessionSource

CLIENTS = tuple(name for name in KNOWN if any((RECORDED / name).rglob("*.json*")))


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    shutil.copytree(RECORDED / request.param, tmp_path / "data")
    return str(request.param)


def state(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {str(file): (file.stat().st_mtime_ns, file.stat().st_size, file.read_bytes()) for file in files}


def read(source: SessionSource) -> dict[str, str]:
    """Return the texts of the readable sessions; one that disappeared meanwhile is omitted."""
    texts = {}
    for ref in source.scan_places([""]).refs:
        try:
            texts[ref.path] = source.read(ref).text
        except VaultIndexError:
            assert source.config.name == "gemini"  # the error for a file without content
    return texts


def test_folders_of_two_machines_are_read_as_one_and_unchanged(client: str, tmp_path: Path) -> None:
    before = state(tmp_path / "data")
    source = opened(tmp_path / "data", client)
    whole = read(source)
    assert whole
    assert state(tmp_path / "data") == before
    for root in source.watched():
        for inner in [one for one in root.glob("*") if one.is_dir()][:1]:
            shutil.copytree(inner, root / f"{inner.name}-of-the-other-machine")
    merged = read(opened(tmp_path / "data", client))
    ids = {path.rpartition("/")[2] for path in merged}
    assert ids == {path.rpartition("/")[2] for path in whole}
    assert len(merged) == len(ids)


def test_folders_of_one_client_are_read_as_one_in_order(client: str, tmp_path: Path) -> None:
    shutil.copytree(tmp_path / "data", tmp_path / "other")
    first, second = opened(tmp_path / "data", client), opened(tmp_path / "other", client)
    before = read(second)
    sessions = first.client.listing().sessions
    gone = next(one for one in sorted(sessions) if isinstance(sessions[one].place, str))
    Path(sessions[gone].place).unlink()
    both = opened(tmp_path / "data", client, tmp_path / "other")
    found = both.client.listing().sessions
    assert read(both) == before
    assert {id_: str(one.place).startswith(str(tmp_path / "other")) for id_, one in found.items()}[gone]
    assert {*both.watched()} == {*first.watched(), *second.watched()}
    shutil.rmtree(tmp_path / "data")
    assert read(both) == before


def test_folders_name_a_file_without_permission(client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read(opened(tmp_path / "data", client))
    found = opened(tmp_path / "data", client).client.listing().sessions.values()
    closed = next(seen.place for seen in found if isinstance(seen.place, str))
    real = open

    def refuse(file: Any, *arguments: Any, **named: Any) -> Any:
        if str(file) == closed:
            raise PermissionError(13, "Permission denied", closed)
        return real(file, *arguments, **named)

    monkeypatch.setattr("builtins.open", refuse)  # permissions do not stop root
    monkeypatch.setattr("io.open", refuse)
    again = opened(tmp_path / "data", client).scan_places([""])
    assert closed in " ".join(fault.message for fault in again.faults)
    assert len(again.refs) >= len(whole) - 2


def test_folders_keep_the_sessions_of_an_unreadable_folder(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = opened(tmp_path / "data", client)
    refs = source.scan_places([""]).refs
    place = next(seen.place for seen in source.client.listing().sessions.values() if isinstance(seen.place, str))
    closed, real = os.path.dirname(place), os.scandir

    def refuse(folder: str) -> Any:
        if os.fspath(folder) == closed:
            raise PermissionError(13, "Permission denied", folder)
        return real(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    scan = opened(tmp_path / "data", client).scan_places([""])
    assert "sessions_unreadable" in [fault.code for fault in scan.faults]
    assert not all(scan.knows(ref.path) for ref in refs)
