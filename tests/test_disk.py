"""Files are opened in place: not through a planted link, nor where other users may write."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attacks import NOBODY, needs_root
from vault_index import disk
from vault_index.daemon.log import RotatingFile
from vault_index.daemon.system import DaemonLock
from vault_index.disk import WriteLock
from vault_index.errors import UsageError, VaultIndexError
from vault_index.sources.files import read_inside

Use = Callable[[Path], None]
Plant = Callable[[Path, Path], None]


def hold(path: Path) -> None:
    with WriteLock(path).held("test", 1):
        pass


def lock(path: Path) -> None:
    DaemonLock(path).release()


def log(path: Path) -> None:
    file = RotatingFile(path)
    stream = file._open()
    stream.write("a line")
    stream.close()
    file.close()


@pytest.mark.parametrize("use", [hold, lock, log])
class TestFiles:
    @pytest.mark.parametrize("plant", [os.symlink, os.link])
    def test_disk_file_keeps_the_target_of_a_planted_link(self, tmp_path: Path, use: Use, plant: Plant) -> None:
        mine = tmp_path / "mine"
        mine.write_text("precious")
        plant(mine, tmp_path / "planted")
        with pytest.raises(VaultIndexError, match="planted is a link, or belongs to another user"):
            use(tmp_path / "planted")
        assert mine.read_text() == "precious"

    def test_disk_file_does_not_block_on_a_planted_pipe(self, tmp_path: Path, use: Use) -> None:
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises((VaultIndexError, OSError)):
            use(tmp_path / "pipe")

    @needs_root
    def test_disk_file_of_another_user_is_not_written(self, tmp_path: Path, use: Use) -> None:
        theirs = tmp_path / "theirs"
        theirs.touch()
        os.chown(theirs, NOBODY, NOBODY)
        with pytest.raises(VaultIndexError, match="another user"):
            use(theirs)
        assert theirs.read_bytes() == b""

    def test_disk_file_is_private_to_its_owner(self, tmp_path: Path, use: Use) -> None:
        (tmp_path / "old").touch(0o666)
        before = os.umask(0)
        try:
            use(tmp_path / "old")
            use(tmp_path / "new")
        finally:
            os.umask(before)
        assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("old", "new")] == [0o600, 0o600]


class TestFolders:
    def test_disk_folder_follows_only_inner_links(self, tmp_path: Path) -> None:
        root = tmp_path / "root"
        (root / "a/b").mkdir(parents=True)
        (root / "a/b/n.md").write_text("inside")
        (tmp_path / "out").mkdir()
        (tmp_path / "out/n.md").write_text("outside")
        (root / "in").symlink_to("a")
        (root / "a/up").symlink_to("../in/b")
        (root / "n.md").symlink_to("in/up/n.md")
        (root / "out").symlink_to("../out")
        (root / "o.md").symlink_to(tmp_path / "out/n.md")
        (tmp_path / "link").symlink_to("root")
        for top in (root, tmp_path / "link"):
            assert [text(top, path) for path in ("a/b/n.md", "in/b/n.md", "a/up/n.md", "n.md")] == ["inside"] * 4
            for path in ("out/n.md", "o.md"):
                assert text(top, path, outside=True) == "outside"
                with pytest.raises(UsageError, match="leads out of"):
                    text(top, path)
        with pytest.raises(UsageError, match="leads out of"):
            text(root, "../out/n.md")

    def test_disk_folder_reports_missing_paths_and_loops(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        (tmp_path / "loop").symlink_to("loop")
        (tmp_path / "dangling").symlink_to("nothing")
        for path, error in (
            ("nothing/n.md", FileNotFoundError),
            ("dangling/n.md", FileNotFoundError),
            ("file/n.md", NotADirectoryError),
            ("loop/n.md", OSError),
        ):
            with pytest.raises(error):
                text(tmp_path, path)

    def test_disk_folder_is_no_more_open_than_its_parent(self, tmp_path: Path) -> None:
        (tmp_path / "root").mkdir(mode=0o750)
        before = os.umask(0)
        try:
            with disk.folder_in(str(tmp_path / "root"), "a/b", make=True) as folder:
                assert stat.S_IMODE(os.stat(folder).st_mode) == 0o750
        finally:
            os.umask(before)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
    def test_disk_folder_that_cannot_be_listed_can_be_traversed(self, tmp_path: Path) -> None:
        (tmp_path / "closed/inner").mkdir(parents=True)
        (tmp_path / "closed/inner/n.md").write_text("inside")
        (tmp_path / "closed").chmod(0o100)
        try:
            assert text(tmp_path, "closed/inner/n.md") == "inside"
        finally:
            (tmp_path / "closed").chmod(0o700)

    def test_disk_folder_replaced_during_a_write_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "root/a").mkdir(parents=True)
        (tmp_path / "out").mkdir()
        writing = disk.folder_in(str(tmp_path / "root"), "a")
        writing.__enter__()
        (tmp_path / "root/a").rmdir()
        (tmp_path / "root/a").symlink_to(tmp_path / "out")
        with pytest.raises(VaultIndexError, match="was replaced with a link"):
            writing.__exit__(None, None, None)


def text(root: Path, path: str, *, outside: bool = False) -> str:
    return read_inside(str(root), path, 1000, outside=outside)[0].decode()
