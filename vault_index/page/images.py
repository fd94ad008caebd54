"""Read images of the vaults, the only files besides documents that the page shows."""

import os
import stat
import time
from collections.abc import Iterable
from functools import lru_cache
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
    """The media type and the bytes of an image."""

    kind: str
    data: bytes


def read_image(sources: Iterable[SourceConfig], source: str, path: str) -> Image:
    """Return the image at a path in a vault, else the best match for its name, as in Obsidian.

    The best match is the image of the same name with the most similar path. Raises NotFoundError if
    there is no such image, if it is hidden, if its content is not an image, or if its real path is
    outside the vault.
    """
    vault = next((str(one.path) for one in sources if one.name == source), None)
    hidden = any(part.startswith(".") or not part for part in path.split("/"))
    if vault is not None and not hidden:
        found = _read(vault, path) or _read(vault, _best_match(vault, path))
        if found is not None:
            return found
    raise NotFoundError(
        "there is no such image in this vault", "the page shows PNG, JPEG, GIF, WebP, AVIF and SVG"
    )


def _best_match(vault: str, path: str) -> str:
    """Return the path of the best match for `path` by name; empty if there is none."""
    parts = path.lower().split("/")

    def rank(other: str) -> tuple[int, int, str]:
        pairs = zip(reversed(parts), reversed(other.lower().split("/")), strict=False)
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return -alike, other.count("/"), other

    named = _images_below(vault, int(time.monotonic() / _LOOK_SECONDS))
    return min(named.get(parts[-1], ()), key=rank, default="")


@lru_cache(maxsize=4)
def _images_below(vault: str, period: int) -> dict[str, list[str]]:
    """Return the image paths of a vault by lower-case file name, without hidden or linked ones.

    The cache keeps them for one `period` of two seconds.
    """
    named: dict[str, list[str]] = {}
    for folder, folders, files in os.walk(vault):
        folders[:] = [one for one in folders if not one.startswith(".")]
        for name in files:
            if name.lower().endswith(_SUFFIXES) and not name.startswith("."):
                path = os.path.relpath(os.path.join(folder, name), vault).replace(os.sep, "/")
                named.setdefault(name.lower(), []).append(path)
    return named


def _read(vault: str, path: str) -> Image | None:
    """Return an image if its real path is in the vault and not hidden, else None."""
    try:
        root = disk.real_path(vault)
        path = os.path.relpath(disk.real_path(os.path.join(root, path)), root)
        if any(part.startswith(".") for part in path.split(os.sep)):
            return None
        descriptor = os.open(
            disk.path_in(root, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
                return None
            data = file.read(_MOST_BYTES)
    except (OSError, ValueError, VaultIndexError):  # ValueError: an invalid file name
        return None
    kind = _kind(data, path)
    return Image(kind, data) if kind else None


def _kind(data: bytes, path: str) -> str:
    """Return the media type by the first bytes, not the name; empty if the page cannot show it."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    # An SVG in an `<img>` element cannot run scripts or load other files.
    if path.lower().endswith(".svg") and b"<svg" in data[:4096]:
        return "image/svg+xml"
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), "")
