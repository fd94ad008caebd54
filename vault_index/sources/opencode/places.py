"""Find OpenCode's databases and trees on this machine."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Places(NamedTuple):
    """The stores, by precedence: the first one that has a session wins."""

    databases: tuple[Path, ...] = ()
    trees: tuple[Path, ...] = ()
    """`storage` folders of OpenCode before 1.2."""
    old_trees: tuple[Path, ...] = ()
    """`storage/session` folders of single projects, from the first versions."""

    def __bool__(self) -> bool:
        return bool(self.databases or self.trees or self.old_trees)


def data_folder(setting: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the configured data folder, or OpenCode's default."""
    if setting is not None:
        return setting.parent if setting.suffix == ".db" else setting
    xdg = environ.get("XDG_DATA_HOME", "")
    # The XDG specification says to ignore relative paths.
    return (Path(xdg) if os.path.isabs(xdg) else Path.home() / ".local/share") / "opencode"


def find_places(setting: Path | None = None, environ: Mapping[str, str] = os.environ) -> Places:
    """Return the existing databases and trees.

    `setting` is a data folder or one database. Without it, OPENCODE_DB names the only database, as
    in OpenCode; a relative path is relative to the data folder.
    """
    folder = data_folder(setting, environ)
    one = (
        environ.get("OPENCODE_DB")
        if setting is None
        else setting.name
        if setting.suffix == ".db"
        else ""
    )
    databases = (
        [folder / one] if one else [folder / "opencode.db", *sorted(folder.glob("opencode-*.db"))]
    )
    trees = [folder / "storage"] if (folder / "storage/session").is_dir() else []
    old_trees = [info.parent for info in sorted(folder.glob("project/*/storage/session/info"))]
    return Places(
        tuple(path for path in databases if path.is_file()), tuple(trees), tuple(old_trees)
    )
