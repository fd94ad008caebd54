"""Puts the OpenCode plugin in place, says how it is, takes it away; touches no file that it did not write.

Every installed file begins with a line that carries the version and a hash of the rest: by it the file is known as
ours, and as one that somebody changed.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vault_index import __version__, disk
from vault_index.config import Home
from vault_index.errors import ConflictError, UsageError, VaultIndexError

_MODULES = ("api", "capture", "fields", "guard", "link", "place", "recall", "tools")
FILES = ("vault-index.ts", *(f"vault-index/{name}.ts" for name in _MODULES))
"""OpenCode loads what lies directly in the plugin folder; the folder beside it is what that file imports."""

_SHIPPED = Path(__file__).parent / "plugin"
_MARK = "// Written by vault-index "
_PLACE = "vault-index/place.ts"


@dataclass(frozen=True)
class Target:
    """One place a plugin can be: everybody's projects, or one project."""

    scope: str
    folder: Path

    @cached_property
    def files(self) -> "tuple[Standing, ...]":
        return tuple(_look(self.folder, name) for name in FILES)


@dataclass(frozen=True, slots=True)
class Standing:
    """A file as it is: `absent`, `ours`, `changed` (ours, and edited since) or `foreign`."""

    path: Path
    state: str
    version: str | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """How the plugin reaches this installation."""

    command: tuple[str, ...]
    home: Home

    def as_json(self) -> str:
        return json.dumps(
            {
                "command": list(self.command),
                "socket": str(self.home.socket_path),
                "state": str(self.home.data_dir / "opencode"),
            }
        )


def user_target(environ: Mapping[str, str] = os.environ) -> Target:
    """Where OpenCode looks for the plugins of every project."""
    user = environ.get("HOME") or os.path.expanduser("~")
    base = environ.get("XDG_CONFIG_HOME", "")
    return Target("global", (Path(base) if os.path.isabs(base) else Path(user, ".config")) / "opencode" / "plugin")


def project_target(folder: Path) -> Target:
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", "name the folder of the project")
    return Target("project", folder / ".opencode" / "plugin")


def state_of(target: Target, link: Link) -> dict[str, object]:
    """`installed`, `outdated` (of another version or installation), `changed`, `incomplete`, `foreign` or `absent`."""
    wanted = _texts(link)
    states = {standing.state for standing in target.files}
    same = [standing.text == text for standing, text in zip(target.files, wanted.values(), strict=True)]
    if states == {"absent"}:
        state = "absent"
    elif "foreign" in states or "changed" in states:
        state = "foreign" if "foreign" in states else "changed"
    elif all(same):
        state = "installed"
    else:
        state = "incomplete" if "absent" in states else "outdated"
    versions = sorted({standing.version for standing in target.files if standing.version})
    return {
        "scope": target.scope,
        "path": str(target.folder),
        "state": state,
        "version": versions[0] if versions else None,
        "changed": [str(standing.path) for standing in target.files if standing.state in ("changed", "foreign")],
    }


def install(target: Target, link: Link, *, force: bool = False) -> list[Path]:
    """Write what is missing or old, once all of it lies ready; the files that were written. ConflictError names those
    that somebody changed (`force` overwrites them) and those that were never ours (nothing does)."""
    _refuse(target, "foreign", "is not ours", "move it away, then run the same command again")
    if not force:
        _refuse(
            target, "changed", "was changed since it was installed", "keep a copy, then use --force to overwrite it"
        )
    wanted = zip(target.files, _texts(link).values(), strict=True)
    old = [(standing.path, text) for standing, text in wanted if standing.text != text]
    with ExitStack() as drafts:
        ready = [(path, drafts.enter_context(_draft(path, text))) for path, text in old]
        for path, draft in reversed(ready):  # the first file imports the others, and OpenCode may start at any moment
            with _told(path):
                os.replace(draft, path)
    return [path for path, _ in old]


def uninstall(target: Target, *, force: bool = False) -> list[Path]:
    """Remove our files, and our folder when nothing else is in it. ConflictError as for `install`."""
    if not force:
        _refuse(target, "changed", "was changed since it was installed", "keep a copy, then use --force to remove it")
    ours = [standing.path for standing in target.files if standing.state in ("ours", "changed")]
    for path in ours:
        with _told(path):
            path.unlink()
    folder = target.folder / "vault-index"
    if ours and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
    return ours


# --- inside --------------------------------------------------------------------------------------------------------


def _texts(link: Link) -> dict[str, str]:
    """Every file as it has to be, by its name."""
    texts = {}
    for name in FILES:
        body = (_SHIPPED / name).read_text(encoding="utf-8")
        if name == _PLACE:
            head = body.partition("export const PLACE")[0]
            body = f"{head}export const PLACE: Place = {link.as_json()}\n"
        texts[name] = f"{_MARK}{__version__}, {_hash(body)}; `vault-index opencode install` renews it.\n{body}"
    return texts


def _hash(body: str) -> str:
    return "sha256:" + hashlib.sha256(body.encode()).hexdigest()


def _look(folder: Path, name: str) -> Standing:
    path = folder / name
    if not os.path.lexists(path):
        return Standing(path, "absent")
    with _told(path):
        if path.is_symlink() or not path.is_file():
            return Standing(path, "foreign")
        text = path.read_text(encoding="utf-8", errors="replace")
    first, _, body = text.partition("\n")
    if not first.startswith(_MARK):
        return Standing(path, "foreign", text=text)
    version, _, rest = first.removeprefix(_MARK).partition(", ")
    state = "ours" if rest.partition(";")[0] == _hash(body) else "changed"
    return Standing(path, state, version, text)


def _refuse(target: Target, state: str, what: str, hint: str) -> None:
    found = [str(standing.path) for standing in target.files if standing.state == state]
    if found:
        raise ConflictError(f"{', '.join(found)} {what}: nothing was done", hint)


@contextmanager
def _draft(path: Path, text: str) -> Iterator[str]:
    folder = str(path.parent.absolute())
    with ExitStack() as kept:
        with _told(path):
            disk.make_folder(folder)
            draft = kept.enter_context(disk.draft(folder, text.encode()))
        yield draft


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Say which file the system's error is about."""
    try:
        yield
    except OSError as error:
        raise VaultIndexError(f"{path}: {error.strerror}", "check the permissions of the folder") from error
