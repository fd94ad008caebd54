"""Detection of files that appeared in or disappeared from a folder."""

import os
from pathlib import Path

from vault_index.sources.walk import FolderTimes


def later(folder: Path) -> None:
    """As if the last change was a second later: file systems have coarse clocks."""
    time = folder.stat().st_mtime_ns + 10**9
    os.utime(folder, ns=(time, time))


def test_folder_times_report_only_added_and_removed_files(tmp_path: Path) -> None:
    folders, deep = FolderTimes(), tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "x.md").write_text("x", "utf-8")
    times = folders.news(str(tmp_path))
    assert times is not None
    folders.keep(str(tmp_path), times)
    (deep / "x.md").write_text("y", "utf-8")
    assert folders.news(str(tmp_path)) is None
    (deep / "y.md").write_text("y", "utf-8")
    later(deep)
    assert folders.news(str(tmp_path)) is not None
    folders.wrote(str(tmp_path), [str(deep / "y.md")])
    assert folders.news(str(tmp_path)) is None
