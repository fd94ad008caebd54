"""Files with content in the cloud: their rows stay, and no read downloads them."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.api.vaults import indexed, paths_found
from vault_index.config import SourceConfig
from vault_index.errors import VaultIndexError
from vault_index.models import Fault
from vault_index.sources.files import is_placeholder, placeholder_of
from vault_index.sources.vault import VaultSource
from vault_index.sources.walk import judge


def test_placeholder_of_recognizes_names_of_icloud() -> None:
    names = {".a note.md.icloud": "a note.md", ".x.png.icloud": "", "a.md.icloud": "", ".icloud": "", ".md": ""}
    assert {name: placeholder_of(name) for name in names} == names


def status(**fields: int) -> os.stat_result:
    """The result of `stat` on systems that have such files."""
    plain = {"st_mode": 0o100644, "st_size": 12, "st_mtime_ns": 1, "st_ctime_ns": 1}
    return cast(os.stat_result, SimpleNamespace(**plain | fields))


def test_judge_does_not_read_a_file_that_needs_a_download() -> None:
    for there in ({}, {"st_flags": 0x20}, {"st_file_attributes": 0x20}):
        assert not is_placeholder(status(**there))
    for away in ({"st_flags": 0x40000020}, {"st_file_attributes": 0x400020}, {"st_file_attributes": 0x1000}):
        assert is_placeholder(status(**away))
        found = judge(SourceConfig(name="notes", path=Path("/v")), "a.md", status(**away))
        assert isinstance(found, Fault)
        assert found.code == "placeholder"


@pytest.mark.parametrize("paths", [None, ["folder/taken.md"], ["folder"]])
def test_sync_keeps_a_file_that_icloud_removed_searchable(tmp_path: Path, paths: list[str] | None) -> None:
    notes = {"folder/taken.md": "All about oaks.\n", "here.md": "All about elms.\n"}
    with indexed(tmp_path, notes) as index:
        folder = tmp_path / "vault" / "folder"
        (folder / "taken.md").rename(folder / ".taken.md.icloud")
        places: Any = None if paths is None else [tmp_path / "vault" / path for path in paths]
        report = index.sync(places)
        assert (report.removed, report.failed) == (0, ())
        assert [problem.code for problem in index.status().problems] == ["placeholder"]
        (folder / ".taken.md.icloud").rename(folder / "taken.md")
        index.sync()
        assert index.status().problems == ()
        assert paths_found(index, "oaks") == ["folder/taken.md"]
        (folder / "taken.md").unlink()
        assert index.sync().removed == 1


def test_look_names_a_file_in_the_cloud(tmp_path: Path) -> None:
    (tmp_path / ".a.md.icloud").write_bytes(b"")
    with pytest.raises(VaultIndexError, match="in the cloud") as caught:
        VaultSource(SourceConfig(name="notes", path=tmp_path)).look("a.md")
    assert "download" in caught.value.hint
