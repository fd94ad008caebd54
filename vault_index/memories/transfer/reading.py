"""What an import is given, a file or a folder, from the disk into `Batch`."""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.memory import as_uuid, last_moment
from vault_index.markdown.normalize import split_lines
from vault_index.memories.file.document import OLD_ID, without_blank_edges
from vault_index.memories.file.fields import TYPES
from vault_index.memories.file.files import MAX_BYTES
from vault_index.memories.file.frontmatter_edit import KEYS
from vault_index.memories.transfer.import_record import (
    Batch,
    ImportRecord,
    confidence_of,
    gather,
    in_order,
    is_nothing,
    sentences,
    strings,
    tags_of,
    text_of,
    time_of,
    type_of,
)
from vault_index.memories.transfer.json_records import from_file, read_json
from vault_index.results.memories import FailedItem
from vault_index.sources.reading import read_regular
from vault_index.unicode import mended

_NAME = re.compile(
    rf"(?P<date>\d{{4}}-\d{{2}}-\d{{2}})-(?:(?P<type>{'|'.join(TYPES)})-)?(?P<slug>.+)$"
)
# `🟢 **Confidence:** high`: an icon may stand before it, the colon inside the stars or behind them.
_LINE = re.compile(r"^[^\w*`#]*\*\*(?P<key>[A-Za-z][A-Za-z _]*?)(?::\*\*|\*\*:)\s*(?P<value>.*)$")
_HEADING = re.compile(r"^#[ \t]+(?![ \t])(?P<title>.*\S)")
_ICON = re.compile(r"^[^\w\"'`(\[<*#@$/.-]+\s*")
_PREFIX = re.compile(r"^observation:\s*", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"optional|timestamp| \| ", re.IGNORECASE)
_KEYS = {
    "bead": "bead_id", "date": "created", "timestamp": "created", "last_updated": "updated",
    **{key: key for key in (*KEYS, "files")},
}  # fmt: skip
"""The words before a colon that are a head, and what each is called here."""
_SIGNS = frozenset(
    {"confidence", "valid_until", "superseded_by", "supersedes", "concepts", "files", "bead_id"}
)


def is_observation(text: str, path: str) -> bool:
    """Whether a file of somebody's memory folder is one: by its folder, or by what stands in its head."""
    if "observations" in path.split("/")[:-1]:
        return True
    values, _ = _head(text)
    typed = text_of(values.get("type")).lower() in TYPES
    return typed and (bool(_SIGNS & values.keys()) or bool(_NAME.match(_stem(path))))


def read_observation(text: str, path: str) -> ImportRecord:
    """Raises UsageError for a file that says nothing, or a date that is none."""
    values, lines = _head(text)
    stem = _stem(path)
    named = _NAME.match(stem)
    title, body = _title(text_of(values.get("title")), lines)
    if not body and not title:
        raise UsageError("it is empty", "delete it, or write what was observed")
    old = values.get("id")
    head: dict[str, Any] = {
        "id": as_uuid(old),
        **type_of(values.get("type") or (named["type"] if named else None)),
        "title": title or (named["slug"] if named else stem).replace("-", " "),
        "subtitle": text_of(values.get("subtitle")),
        "digest": text_of(values.get("digest")),
        "tags": tags_of(values.get("tags")),
        "project": text_of(values.get("project")),
        "created": time_of(values.get("created"), "created")
        or (named["date"] if named and last_moment(named["date"]) is not None else None),
        "updated": time_of(values.get("updated"), "updated"),
        "entered_by": text_of(values.get("entered_by")),
        "expires": time_of(values.get("expires"), "expires"),
        "valid_until": time_of(values.get("valid_until"), "valid_until"),
        **confidence_of(values.get("confidence")),
        "supersedes": [_called(ref) for ref in strings(values.get("supersedes"))],
        "superseded_by": _called(text_of(values.get("superseded_by"))),
        "facts": sentences(values.get("facts")),
        "concepts": strings(values.get("concepts")),
        "files_read": strings(values.get("files_read")),
        "files_modified": strings(values.get("files_modified", values.get("files"))),
        "bead_id": text_of(values.get("bead_id")),
        OLD_ID: old if isinstance(old, int) else text_of(old) or stem,
    }
    unknown = {key: value for key, value in values.items() if key not in head and key != "files"}
    own_id = text_of(old)
    names = (stem, *((own_id, f"#{own_id}") if own_id else ()))
    return ImportRecord(path, in_order(head | unknown), body, names=names)


def _head(text: str) -> tuple[dict[str, Any], list[str]]:
    """What the head says, YAML and lines together, and the lines without it (the heading still among them)."""
    lines = split_lines(text.removeprefix("\ufeff"))
    front = read_frontmatter(lines)
    said, rest = _key_lines(lines[front.lines :])
    return {**said, **front.values}, rest


def _key_lines(lines: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """The `**Key:** value` lines at the top, and what is left: the heading, and the text after them."""
    said: dict[str, Any] = {}
    heading: list[str] = []
    for number, line in enumerate(lines):
        match = _LINE.match(line)
        key = _KEYS.get(match["key"].strip().lower().replace(" ", "_")) if match else None
        if match and key:
            value = match["value"].strip()
            left_over = value.startswith("[") and value.endswith("]") and _PLACEHOLDER.search(value)
            if not left_over and not is_nothing(value):
                said[key] = value
        elif _HEADING.match(line) and not heading:
            heading.append(line)
        elif line.strip():
            rule = bool(said) and line.strip() == "---"
            return said, [*heading, *lines[number + rule :]]
    return said, heading


def _title(given: str, lines: Sequence[str]) -> tuple[str, str]:
    """The title, and the text without the heading that says the same."""
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    heading = _HEADING.match(lines[first]) if first is not None else None
    if first is None or heading is None:
        return given, without_blank_edges("\n".join(lines))
    shown = _PREFIX.sub("", _ICON.sub("", heading["title"])).strip() or heading["title"]
    if given and given.casefold() != shown.casefold():
        return given, without_blank_edges("\n".join(lines))
    return given or shown, without_blank_edges("\n".join(lines[first + 1 :]))


def _called(ref: str) -> str:
    """An observation by its file, as another one names it."""
    return _stem(ref.strip().strip("[]"))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


USAGE_FILE = ".vault-index-usage.json"
"""How often the memories of an exported folder were opened: that stands in none of its files."""


_MARK = re.compile(rb"<!-- vault-index: (?P<path>\"[^\n]*\"), (?P<size>\d+) bytes -->\n")


def one_of_several(path: str, text: str) -> str:
    """A file in a text of several, after a mark with its path and its length: no text can pose as another file."""
    size = len(text.encode("utf-8", "surrogateescape"))
    return f"<!-- vault-index: {json.dumps(path)}, {size} bytes -->\n{text}\n"


def _several(text: str) -> dict[str, str] | None:
    """The files in such a text by their paths; None for any other text. Raises UsageError for one that was edited."""
    data, at = text.encode("utf-8", "surrogateescape"), 0
    files: dict[str, str] = {}
    while mark := _MARK.match(data, at):
        at = mark.end() + int(mark["size"]) + 1
        files[json.loads(mark["path"])] = _decoded(data[mark.end() : at - 1])
    if files and at != len(data):
        raise UsageError(
            "lines of it were changed or cut off", "export it again, or import a folder, or JSON"
        )
    return files or None


def read_path(path: Path) -> Batch:
    """The memories of a JSON file, of a markdown file, or of a folder of these, hidden ones aside.

    Raises NotFoundError for nothing, UsageError for what holds none, VaultIndexError for what cannot be read.
    """
    try:
        if path.is_dir():
            return _read_folder(path)
        text = _decoded(read_regular(str(path), sys.maxsize)[0])
    except FileNotFoundError as error:
        raise NotFoundError(
            f"there is no {path}", "name a JSON file, or a folder of markdown files"
        ) from error
    except OSError as error:
        raise VaultIndexError(
            f"{path} cannot be read: {error.strerror}", "check its permissions"
        ) from error
    except ValueError as error:
        raise UsageError(
            f"{str(path)!r} is no name of a file", "name a JSON file, or a folder"
        ) from error
    if files := _several(text):
        usage = files.pop(USAGE_FILE, "")
        return Batch(tuple(_used([from_file(text, name) for name, text in files.items()], usage)))
    if path.suffix.lower() == ".md":
        return read_files([(path.name, text)], path.resolve().parent.name)
    return read_json(text, path.name)


def _read_folder(folder: Path) -> Batch:
    place = (
        "memory" if folder.name == ".opencode" else ".opencode/memory"
    )  # where OpenCodeKit has its memory
    inner = folder / place if (folder / place).is_dir() else folder
    if not inner.resolve().is_relative_to(folder.resolve()):
        raise UsageError(
            f"{inner} is a link that leads out of {folder}",
            "import the folder it leads to by its own name",
        )
    files: list[tuple[str, str]] = []
    failed: list[FailedItem] = []
    for place in sorted(_markdown(inner)):
        try:
            if (inner / place).is_symlink():
                raise UsageError(
                    "it is a link, and those are not followed", "import the file by its own name"
                )
            data, _ = read_regular(str(inner / place), MAX_BYTES)
        except VaultIndexError as error:
            failed.append(FailedItem(place, error.message, error.hint))
        except OSError as error:
            failed.append(
                FailedItem(place, f"it cannot be read: {error.strerror}", "check its permissions")
            )
        else:
            files.append((place, _decoded(data)))
    if not files and not failed:
        raise UsageError(
            f"{folder} holds no markdown files", "name a folder of memories, or a JSON file"
        )
    batch = read_files(files, inner.resolve().name)
    counts = inner / USAGE_FILE
    try:
        usage = "" if counts.is_symlink() else _decoded(read_regular(str(counts), sys.maxsize)[0])
    except (OSError, VaultIndexError):
        usage = ""
    return Batch(tuple(_used(batch.memories, usage)), (*batch.failed, *failed))


def _used(memories: Sequence[ImportRecord], counts: str) -> Iterator[ImportRecord]:
    """With how often each was opened, where our export says so."""
    try:
        usage = mended(json.loads(counts))
    except ValueError:
        usage = {}
    for memory in memories:
        match usage.get(memory.path) if isinstance(usage, dict) and memory.own else None:
            case [int() as accesses, str() as accessed]:
                yield replace(memory, accesses=accesses, accessed=accessed)
            case _:
                yield memory


def _markdown(folder: Path) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = os.path.relpath(root, folder)
        for name in names:
            if name.lower().endswith(".md") and not name.startswith("."):
                yield name if inside == "." else f"{inside}/{name}".replace(os.sep, "/")


def _decoded(data: bytes) -> str:
    """Bytes that are no UTF-8 are kept apart from all others, so that whoever stores the text can say so."""
    return data.decode("utf-8", "surrogateescape")


_TEMPLATES = "_templates"


def read_files(files: Sequence[tuple[str, str]], folder: str = "") -> Batch:
    """The memories of a folder, given as paths inside it and texts; `folder` is what itself is called.

    Where one file has an id of ours, all are taken as they are. Otherwise observations become memories with an id,
    other files keep their name (`handoffs/2026-01-01`), and templates stay behind.
    """
    as_they_are = [from_file(text, path) for path, text in files]
    if any(memory.uid for memory in as_they_are):
        return Batch(tuple(as_they_are))
    wanted = [memory for memory in as_they_are if _TEMPLATES not in memory.position.split("/")]
    return gather((memory.position, partial(_read_markdown, memory, folder)) for memory in wanted)


def _read_markdown(memory: ImportRecord, folder: str) -> ImportRecord:
    path, text = memory.position, memory.raw or ""
    if not is_observation(text, f"{folder}/{path}"):
        return memory
    return replace(read_observation(text, path), warnings=memory.warnings)
