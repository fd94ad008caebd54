"""Images of the vaults, which are all that a page shows of files beside their text."""

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from vault_index import disk
from vault_index.config import SourceConfig
from vault_index.errors import NotFoundError, VaultIndexError

_MOST_BYTES = 50_000_000
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": b"image/png",
    b"\xff\xd8\xff": b"image/jpeg",
    b"GIF87a": b"image/gif",
    b"GIF89a": b"image/gif",
}


class Image(NamedTuple):
    kind: bytes
    data: bytes


def read_image(sources: Iterable[SourceConfig], source: str, path: str) -> Image:
    """The image at a path in a vault, or where a note would find one of that name. Raises NotFoundError for what is no
    image by its content, is hidden, or lies outside the vault, whatever leads there."""
    gone = NotFoundError("there is no such image in this vault", "shown are PNG, JPEG, GIF, WebP, AVIF and SVG")
    vault = next((one for one in sources if one.name == source), None)
    parts = path.split("/")
    if vault is None or any(part.startswith(".") or part in ("", "..") for part in parts) or "\0" in path:
        raise gone
    try:
        with disk.file_in(str(vault.path), path) as (folder, name):
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        with open(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_BYTES:
                raise gone
            data = file.read(_MOST_BYTES)
    except (OSError, VaultIndexError) as error:
        raise gone from error
    kind = _kind(data, path)
    if not kind:
        raise gone
    return Image(kind, data)


def _kind(data: bytes, path: str) -> bytes:
    """Of what may be shown, by its first bytes: a name says nothing. Empty for all else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return b"image/webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return b"image/avif"
    # An image element runs no script of an SVG, and loads nothing for it.
    if path.lower().endswith(".svg") and b"<svg" in data[:4096]:
        return b"image/svg+xml"
    return next((kind for beginning, kind in _BEGINNINGS.items() if data.startswith(beginning)), b"")
