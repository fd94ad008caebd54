"""Install, check and remove the OpenCode plugin, without touching other files.

Each installed file begins with a line that has the version and a hash of the rest. It identifies
our files and shows whether they were edited.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vault_index import disk
from vault_index.config import Home
from vault_index.errors import ConflictError, UsageError
from vault_index.version import __version__

_MODULES = ("api", "capture", "fields", "guard", "link", "place", "recall", "tools")
FILES = ("vault-index.ts", *(f"vault-index/{name}.ts" for name in _MODULES))
"""OpenCode loads the files directly in its plugin folder; they import those in our subfolder."""

_SHIPPED = Path(__file__).parent / "plugin"
_MARK = "// Written by vault-index "
_PLACE = "vault-index/place.ts"


@dataclass(frozen=True)
class Target:
    """A plugin folder of OpenCode, of the user or of one project."""

    scope: str
    folder: Path

    @cached_property
    def files(self) -> "tuple[PluginFile, ...]":
        """The installed state of every file."""
        return tuple(_look(self.folder, name) for name in FILES)


@dataclass(frozen=True, slots=True)
class PluginFile:
    """The state of one file: `absent`, `ours`, `changed` (ours, but edited) or `foreign`."""

    path: Path
    state: str
    version: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """The command and the home that the plugin uses."""

    command: tuple[str, ...]
    home: Home


def user_target(environ: Mapping[str, str] = os.environ) -> Target:
    """Return the plugin folder for all projects of the user."""
    user = environ.get("HOME") or os.path.expanduser("~")
    base = environ.get("XDG_CONFIG_HOME", "")
    return Target(
        "global",
        (Path(base) if os.path.isabs(base) else Path(user, ".config")) / "opencode" / "plugin",
    )


def project_target(folder: Path) -> Target:
    """Return the plugin folder of a project. Raises UsageError if the folder does not exist."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", "give the folder of the project")
    return Target("project", folder / ".opencode" / "plugin")


def state_of(target: Target, link: Link) -> dict[str, object]:
    """Return the state of the plugin, with its details.

    It is `installed`, `outdated` (another version or installation), `changed`, `incomplete`,
    `foreign` or `absent`.
    """
    wanted = _texts(link)
    states = {file.state for file in target.files}
    same = [file.text == text for file, text in zip(target.files, wanted.values(), strict=True)]
    if states == {"absent"}:
        state = "absent"
    elif "foreign" in states or "changed" in states:
        state = "foreign" if "foreign" in states else "changed"
    elif all(same):
        state = "installed"
    else:
        state = "incomplete" if "absent" in states else "outdated"
    versions = sorted({file.version for file in target.files if file.version})
    return {
        "scope": target.scope,
        "path": str(target.folder),
        "state": state,
        "version": versions[0] if versions else None,
        "changed": [
            str(file.path) for file in target.files if file.state in ("changed", "foreign")
        ],
    }


def install(target: Target, link: Link, *, force: bool = False) -> list[Path]:
    """Write the missing and outdated files and return their paths.

    Raises ConflictError for edited files, unless `force` is set, and for foreign files.
    """
    _refuse(target, "foreign", "is not ours", "move it away, then run the same command again")
    _refuse_changed(target, force)
    wanted = zip(target.files, _texts(link).values(), strict=True)
    old = [(file.path, text) for file, text in wanted if file.text != text]
    # The first file imports the others, and OpenCode may start at any moment.
    for path, text in reversed(old):
        with _naming(path):
            disk.make_folder(str(path.parent.absolute()))
            disk.replace(str(path.absolute()), text.encode(), mode=0o644)
    return [path for path, _ in old]


def uninstall(target: Target, *, force: bool = False) -> list[Path]:
    """Remove our files, and our folder if it is then empty; return their paths.

    Raises ConflictError for edited files, unless `force` is set.
    """
    _refuse_changed(target, force)
    ours = [file.path for file in target.files if file.state in ("ours", "changed")]
    for path in ours:
        with _naming(path):
            path.unlink()
    folder = target.folder / "vault-index"
    for place in (target.folder, folder):
        disk.tidy(str(place))
    if ours and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return ours


# --- helpers --------------------------------------------------------------------------------------


def _texts(link: Link) -> dict[str, str]:
    """Return the text of every file by name."""
    home, texts = link.home, {}
    place = {
        "command": link.command,
        "socket": str(home.socket_path),
        "state": str(home.data_dir / "opencode"),
    }
    for name in FILES:
        body = (_SHIPPED / name).read_text(encoding="utf-8")
        if name == _PLACE:
            body = (
                body.partition("export const PLACE")[0]
                + f"export const PLACE: Place = {json.dumps(place)}\n"
            )
        texts[name] = (
            f"{_MARK}{__version__}, {_hash(body)};"
            f" `vault-index agent install opencode` renews it.\n{body}"
        )
    return texts


def _hash(body: str) -> str:
    return "sha256:" + hashlib.sha256(body.encode()).hexdigest()


def _look(folder: Path, name: str) -> PluginFile:
    path = folder / name
    if not os.path.lexists(path):
        return PluginFile(path, "absent")
    with _naming(path):
        if path.is_symlink() or not path.is_file():
            return PluginFile(path, "foreign")
        text = path.read_text(encoding="utf-8", errors="replace")
    first, _, body = text.partition("\n")
    if not first.startswith(_MARK):
        return PluginFile(path, "foreign", text=text)
    version, _, rest = first.removeprefix(_MARK).partition(", ")
    state = "ours" if rest.partition(";")[0] == _hash(body) else "changed"
    return PluginFile(path, state, version, text)


def _refuse_changed(target: Target, force: bool) -> None:
    if not force:
        hint = "keep a copy, then run the same command with --force"
        _refuse(target, "changed", "was changed since it was installed", hint)


def _refuse(target: Target, state: str, what: str, hint: str) -> None:
    found = [str(file.path) for file in target.files if file.state == state]
    if found:
        raise ConflictError(f"{', '.join(found)} {what}: nothing was done", hint)


def _naming(path: Path) -> AbstractContextManager[None]:
    """Raise an OSError as an error that names the file."""
    return disk.os_errors_as(str(path), "check the permissions of the folder")
