"""Images of the vaults, which are all that a page shows of files beside their text."""

import os
import stat
import time
from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from vault_index import disk
from vault_index.config import SourceConfig
from vault_index.errors import NotFoundError, VaultIndexError

_MOST_BYTES = 16_000_000
_LOOK_SECONDS = 2.0
_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg")
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


class Image(NamedTuple):
    kind: str
    data: bytes


class Images:
    """Those of all vaults. What is called an image is looked for at most every other second."""

    def __init__(self) -> None:
        self._named: dict[str, tuple[float, dict[str, list[str]]]] = {}
        """By the path of the vault: when that was, and the paths by the names of the files, in lower case."""

    def read(self, sources: Iterable[SourceConfig], source: str, path: str) -> Image:
        """The image at a path in a vault, else the one of this name whose path ends most alike, as Obsidian finds it.
        Raises NotFoundError for what is no image by its content, is hidden, or lies outside the vault, whatever leads
        there."""
        vault = next((str(one.path) for one in sources if one.name == source), None)
        if vault is not None and not any(
            part.startswith(".") or not part for part in path.split("/")
        ):
            found = _read(vault, path) or _read(vault, self._called(vault, path))
            if found is not None:
                return found
        raise NotFoundError(
            "there is no such image in this vault", "shown are PNG, JPEG, GIF, WebP, AVIF and SVG"
        )

    def _called(self, vault: str, path: str) -> str:
        """Empty where there is none."""
        looked, named = self._named.get(vault, (0.0, {}))
        parts = path.lower().split("/")
        if parts[-1] not in named and time.monotonic() > looked + _LOOK_SECONDS:
            named = _images_below(vault)
            self._named[vault] = time.monotonic(), named

        def alike(other: str) -> int:
            pairs = zip(reversed(parts), reversed(other.lower().split("/")), strict=False)
            return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

        return min(
            named.get(parts[-1], ()),
            key=lambda other: (-alike(other), other.count("/"), other),
            default="",
        )


def _images_below(vault: str) -> dict[str, list[str]]:
    """Paths in the vault by the names of the files; what is hidden, and what links lead to, is left out."""
    named: dict[str, list[str]] = {}
    for folder, folders, files in os.walk(vault):
        folders[:] = [one for one in folders if not one.startswith(".")]
        for name in files:
            if name.lower().endswith(_SUFFIXES) and not name.startswith("."):
                path = os.path.relpath(os.path.join(folder, name), vault).replace(os.sep, "/")
                named.setdefault(name.lower(), []).append(path)
    return named


def _read(vault: str, path: str) -> Image | None:
    """Wherever links lead, only what lies in the vault and below no hidden folder."""
    try:
        root = disk.real_path(vault)
        path = os.path.relpath(disk.real_path(os.path.join(root, path)), root)
        if any(part.startswith(".") for part in path.split(os.sep)):
            return None
        with disk.file_in(root, path) as (folder, name):
            descriptor = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder
            )
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
                return None
            data = file.read(_MOST_BYTES)
    except (OSError, ValueError, VaultIndexError):  # ValueError: a name that no file can have
        return None
    kind = _kind(data, path)
    return Image(kind, data) if kind else None


def _kind(data: bytes, path: str) -> str:
    """Of what may be shown, by its first bytes: a name says nothing. Empty for all else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    # An image element runs no script of an SVG, and loads nothing for it.
    if path.lower().endswith(".svg") and b"<svg" in data[:4096]:
        return "image/svg+xml"
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), "")
