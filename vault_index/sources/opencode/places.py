"""Where OpenCode keeps its sessions on this machine."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Places(NamedTuple):
    """What there is to read. A session that is in several places is taken from the first."""

    databases: tuple[Path, ...] = ()
    trees: tuple[Path, ...] = ()
    """Folders `storage`, of OpenCode before 1.2."""
    old_trees: tuple[Path, ...] = ()
    """Folders `storage/session` of one project each, of the first versions."""

    def __bool__(self) -> bool:
        return bool(self.databases or self.trees or self.old_trees)


def data_folder(setting: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder OpenCode keeps its data in: as set, else as it finds it itself."""
    if setting is not None:
        return setting.parent if setting.suffix == ".db" else setting
    xdg = environ.get("XDG_DATA_HOME", "")
    # A relative one is to be ignored, says the XDG specification.
    return (Path(xdg) if os.path.isabs(xdg) else Path.home() / ".local/share") / "opencode"


def find_places(setting: Path | None = None, environ: Mapping[str, str] = os.environ) -> Places:
    """Databases and trees that are there.

    `setting` is a data folder or one database. Without it OPENCODE_DB names the only database that counts, as it does
    for OpenCode; a relative one lies in the data folder.
    """
    folder = data_folder(setting, environ)
    one = environ.get("OPENCODE_DB") if setting is None else setting.name if setting.suffix == ".db" else ""
    databases = [folder / one] if one else [folder / "opencode.db", *sorted(folder.glob("opencode-*.db"))]
    trees = [folder / "storage"] if (folder / "storage/session").is_dir() else []
    old_trees = [info.parent for info in sorted(folder.glob("project/*/storage/session/info"))]
    return Places(tuple(path for path in databases if path.is_file()), tuple(trees), tuple(old_trees))
