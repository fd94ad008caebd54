"""Read the memories to import from a file or a folder."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.frontmatter import last_moment, read_frontmatter
from vault_index.markdown.normalize import split_lines
from vault_index.memories.file.document import TYPES, without_blank_edges
from vault_index.memories.file.files import MAX_BYTES
from vault_index.memories.file.frontmatter_edit import KEYS
from vault_index.memories.transfer.foreign import text_of, to_memory
from vault_index.memories.transfer.import_record import (
    Batch,
    ImportRecord,
    from_file,
    gather,
    in_order,
    is_nothing,
)
from vault_index.memories.transfer.json_records import read_json
from vault_index.results.memories import FailedItem
from vault_index.sources.files import read_regular

_NAME = re.compile(
    rf"(?P<date>\d{{4}}-\d{{2}}-\d{{2}})-(?:(?P<type>{'|'.join(TYPES)})-)?(?P<slug>.+)$"
)
# `🟢 **Confidence:** high`: the icon is optional; the colon may follow the stars.
_LINE = re.compile(r"^[^\w*`#]*\*\*(?P<key>[A-Za-z][A-Za-z _]*?)(?::\*\*|\*\*:)\s*(?P<value>.*)$")
_HEADING = re.compile(r"^#[ \t]+(?![ \t])(?P<title>.*\S)")
_ICON = re.compile(r"^[^\w\"'`(\[<*#@$/.-]+\s*")
_PREFIX = re.compile(r"^observation:\s*", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"optional|timestamp| \| ", re.IGNORECASE)
_KEYS = frozenset({*KEYS, "bead", "date", "timestamp", "last_updated", "files"})
"""The words before a colon that count as metadata."""
_SIGNS = frozenset(
    {
        "confidence", "valid_until", "superseded_by", "supersedes", "concepts", "files", "bead",
        "bead_id",
    }
)  # fmt: skip


def is_observation(text: str, path: str) -> bool:
    """Return whether a file is an OpenCodeKit observation, by its folder or its metadata."""
    if "observations" in path.split("/")[:-1]:
        return True
    values, _ = _head(text)
    typed = text_of(values.get("type")).lower() in TYPES
    return typed and (bool(_SIGNS & values.keys()) or bool(_NAME.match(file_stem(path))))


def read_observation(text: str, path: str) -> ImportRecord:
    """Convert an OpenCodeKit observation. Raises UsageError if it is empty or a date is invalid."""
    values, lines = _head(text)
    stem = file_stem(path)
    named = _NAME.match(stem)
    title, content = _title(text_of(values.get("title")), lines)
    type_ = values.get("type") or (named and named["type"])
    known = {"type": type_, "title": title, "content": content, "markdown_file": f"{stem}.md"}
    memory = to_memory({**values, **known}, path)
    head = {"title": (named["slug"] if named else stem).replace("-", " "), **memory.head}
    if named and last_moment(named["date"]) is not None:
        head = {"created": named["date"], **head}
    return replace(memory, head=in_order(head))


def _head(text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the metadata, from YAML and from `**Key:** value` lines, and the remaining lines.

    The heading is among the remaining lines.
    """
    lines = split_lines(text.removeprefix("\ufeff"))
    front = read_frontmatter(lines)
    metadata, rest = _key_lines(lines[front.lines :])
    return {**metadata, **front.values}, rest


def _key_lines(lines: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return the `**Key:** value` lines at the top, and the heading and text that remain."""
    metadata: dict[str, Any] = {}
    heading: list[str] = []
    for number, line in enumerate(lines):
        match = _LINE.match(line)
        key = match["key"].strip().lower().replace(" ", "_") if match else ""
        if match and key in _KEYS:
            value = match["value"].strip()
            left_over = value.startswith("[") and value.endswith("]") and _PLACEHOLDER.search(value)
            if not left_over and not is_nothing(value):
                metadata[key] = value
        elif _HEADING.match(line) and not heading:
            heading.append(line)
        elif line.strip():
            rule = bool(metadata) and line.strip() == "---"
            return metadata, [*heading, *lines[number + rule :]]
    return metadata, heading


def _title(given: str, lines: Sequence[str]) -> tuple[str, str]:
    """Return the title, and the text without a heading that repeats it."""
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    heading = _HEADING.match(lines[first]) if first is not None else None
    if first is None or heading is None:
        return given, without_blank_edges("\n".join(lines))
    shown = _PREFIX.sub("", _ICON.sub("", heading["title"])).strip() or heading["title"]
    if given and given.casefold() != shown.casefold():
        return given, without_blank_edges("\n".join(lines))
    return given or shown, without_blank_edges("\n".join(lines[first + 1 :]))


def file_stem(path: str) -> str:
    """Return the name of a markdown file without its folder and ending."""
    return path.rpartition("/")[2].removesuffix(".md")


def read_path(path: Path) -> Batch:
    """Read the memories in a JSON file, a markdown file, or a folder of markdown files.

    Hidden files are skipped. Raises NotFoundError if the path does not exist, UsageError if it has
    no memories, and VaultIndexError if it cannot be read.
    """
    try:
        if path.is_dir():
            return _read_folder(path)
        text = _decode(read_regular(str(path), sys.maxsize)[0])
    except FileNotFoundError as error:
        raise NotFoundError(
            f"{path} does not exist", "give a JSON file, or a folder of markdown files"
        ) from error
    except OSError as error:
        raise VaultIndexError(
            f"{path} cannot be read: {error.strerror}", "check its permissions"
        ) from error
    except ValueError as error:
        raise UsageError(
            f"{str(path)!r} is not a valid file name", "give a JSON file, or a folder"
        ) from error
    if path.suffix.lower() == ".md":
        return read_files([(path.name, text)], path.resolve().parent.name)
    return read_json(text, path.name)


def _read_folder(folder: Path) -> Batch:
    # The memory folder of OpenCodeKit.
    place = "memory" if folder.name == ".opencode" else ".opencode/memory"
    inner = folder / place if (folder / place).is_dir() else folder
    if not inner.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{inner} is a symbolic link that leads out of {folder}",
            "import the target folder itself",
        )
    files: list[tuple[str, str]] = []
    failed: list[FailedItem] = []
    for place in sorted(_markdown(inner)):
        try:
            if (inner / place).is_symlink():
                raise UsageError("symbolic links are not followed", "import the target file itself")
            data, _ = read_regular(str(inner / place), MAX_BYTES)
        except VaultIndexError as error:
            failed.append(FailedItem(place, error.message, error.hint))
        except OSError as error:
            failed.append(
                FailedItem(place, f"it cannot be read: {error.strerror}", "check its permissions")
            )
        else:
            files.append((place, _decode(data)))
    if not files and not failed:
        raise UsageError(
            f"{folder} has no markdown files", "give a folder of memories, or a JSON file"
        )
    batch = read_files(files, inner.resolve().name)
    return replace(batch, failed=(*batch.failed, *failed))


def _markdown(folder: Path) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = os.path.relpath(root, folder)
        for name in names:
            if name.lower().endswith(".md") and not name.startswith("."):
                yield name if inside == "." else f"{inside}/{name}".replace(os.sep, "/")


def _decode(data: bytes) -> str:
    """Decode UTF-8; invalid bytes become surrogates, which are reported when the text is stored."""
    return data.decode("utf-8", "surrogateescape")


_TEMPLATES = "_templates"


def read_files(files: Sequence[tuple[str, str]], folder: str = "") -> Batch:
    """Convert the files of a folder, given as relative paths and texts.

    `folder` is the name of the folder. If one file has an id of ours, all files are restored
    unchanged. Otherwise observations become memories with an id, other files keep their name
    (`handoffs/2026-01-01`), and templates are skipped.
    """
    as_they_are = [from_file(text, path) for path, text in files]
    if any(memory.uid for memory in as_they_are):
        return Batch(tuple(as_they_are))
    wanted = [memory for memory in as_they_are if _TEMPLATES not in memory.position.split("/")]
    return gather((memory.position, partial(_read_markdown, memory, folder)) for memory in wanted)


def _read_markdown(memory: ImportRecord, folder: str) -> ImportRecord:
    path, text = memory.path, memory.file or ""
    if not is_observation(text, f"{folder}/{path}"):
        return memory
    return replace(read_observation(text, path), warnings=memory.warnings)
