from pathlib import Path

import pytest

from vault_index.daemon.observers import silent_filesystem
from vault_index.sources import files

TABLE = r"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /mnt/c rw,noatime - 9p C:\134 rw,aname=drvfs
31 22 0:40 / /home/anna/My\040Vault rw - fuse.sshfs anna@host: rw
32 22 0:41 / /srv/nfs rw - nfs4 server:/ rw
33 32 8:2 / /srv/nfs/local rw - xfs /dev/sdb1 rw
34 22 0:43 / /data rw - nfs server:/ rw
35 34 0:44 / /data rw - btrfs /dev/sdc1 rw
36 22 8:3 / /media/disk rw - fuseblk /dev/sdd1 rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/anna/Vault", ""),
        ("/mnt/c/Users/anna/Vault", "9p"),
        ("/mnt/cd", ""),
        ("/home/anna/My Vault/notes", "fuse.sshfs"),
        ("/srv/nfs", "nfs4"),
        ("/srv/nfs/local/vault", ""),
        ("/data/vault", ""),
        ("/media/disk/vault", ""),
        ("/home", "fuse.sshfs"),
    ],
)
def test_silent_filesystem_names_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, kind: str) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    monkeypatch.setattr(files, "_TABLE", str(table))
    assert silent_filesystem(folder) == kind


def test_silent_filesystem_is_empty_without_a_mount_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_TABLE", "/nowhere/mountinfo")
    assert silent_filesystem("/") == ""
