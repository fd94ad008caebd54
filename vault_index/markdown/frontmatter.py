"""Read YAML frontmatter within limits, and the identity, dates and origin of a memory in it.

Invalid YAML is a fault, never an error.
"""

import math
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any, NamedTuple

import yaml

from vault_index.fields import KNOWN_KEYS
from vault_index.markdown.normalize import (
    fenced_lines,
    identity,
    normalize_tag,
    scalars,
    split_lines,
)
from vault_index.models import Fault, Origin
from vault_index.times import seconds_of
from vault_index.unicode import mended

_MAX_CHARACTERS = 64 * 1024
_MAX_DEPTH = 50
_MAX_INTEGER_BITS = 4096  # Python refuses to convert longer ones to decimal
_MANY_BRACKETS = 40
_DEEP_INDENT = re.compile(r"^[ \t?:\-]{25}", re.MULTILINE)
_ENTRY = re.compile(r"(?P<key>[^\s#\-\[\]{}:\"'&*!|>%@`,?][^:]{0,100}):(?:[ \t](?P<value>.*))?$")
TEMPLATE = re.compile(r"\{\{|<%")
"""Placeholders of template plugins."""
_LISTS = frozenset({"tags", "tag", "aliases", "alias"})
_LINKS = re.compile(r"\[\[[^\[\],]+\]\](?:\s*,\s*\[\[[^\[\],]+\]\])+")
_ITEM = re.compile(r"\s*-\s")


_JSON_TAGS = frozenset({"null", "bool", "int", "float", "str", "seq", "map"})
INBOX, WAITING = "inbox", "inbox/waiting"
"""Folders of unreviewed memories; search does not find those in WAITING."""
_IN_TAGS = "project/"
_NAMESPACE = uuid.UUID("6f0d0f6e-2d0c-5f43-9c7e-0b8a5e7a3c11")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads plain scalars by the YAML 1.2 core schema, as Obsidian does.

    So `no`, `9:30`, `0x10` and dates are text. A number is also text if it would be written in
    another form (`01234`, `1.10`, `1e3`).
    """

    yaml_implicit_resolvers: Mapping[str, Any] = {}
    yaml_constructors: Mapping[str | None, Any] = {
        tag: construct
        for tag, construct in yaml.SafeLoader.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] in _JSON_TAGS
    }


for _tag, _form, _first in (
    ("null", r"(?:~|null|Null|NULL|)", ["~", "n", "N", ""]),
    ("bool", r"(?:true|True|TRUE|false|False|FALSE)", list("tTfF")),
    ("int", r"(?:0|-?[1-9][0-9]{0,300})", list("-0123456789")),
    # Few digits, so that the number converts back to the same text.
    (
        "float",
        r"(?=[-.0-9]{3,16}\Z)(?!-?0\.0000)-?(?:0|[1-9][0-9]*)\.(?:[0-9]*[1-9]|0)",
        list("-0123456789"),
    ),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"\A{_form}\Z"), _first)

_NOTHING = frozenset({"tag:yaml.org,2002:null", "tag:yaml.org,2002:bool"})
# Errors of yaml on real notes: invalid dates, numbers out of range, odd keys.
_ERRORS = (
    yaml.YAMLError,
    ValueError,
    OverflowError,
    TypeError,
    AttributeError,
    KeyError,
    RecursionError,
)


class FieldText(NamedTuple):
    """A text value in frontmatter, or one item of a list."""

    key: str
    """The top-level key."""
    first: int
    last: int
    """`first` and `last` are line numbers in the file, from 1."""
    text: str
    """The parsed text; a multi-line text keeps its source lines."""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The frontmatter of a document."""

    values: Mapping[str, Any] = field(default_factory=dict)
    lines: int = 0
    """Number of lines, including the fences; 0 without frontmatter."""
    faults: tuple[Fault, ...] = ()
    texts: tuple[FieldText, ...] = ()


class _NotAMapping(yaml.YAMLError):
    pass


def read_frontmatter(lines: Sequence[str]) -> Frontmatter:
    """Read the frontmatter of a document. Values are JSON values.

    Invalid YAML is read entry by entry, and the valid entries are kept, because templates and
    titles with a colon are common.
    """
    if not (count := fenced_lines(lines)):
        return Frontmatter()
    inside = lines[1 : count - 1]
    try:
        values, texts = _load(inside, 2)
        return Frontmatter(values, count, (), texts)
    except _NotAMapping as error:
        # Prose between two rules stays in the body. Obsidian, too, reports invalid properties.
        return Frontmatter({}, 0, (_fault(error, 1),))
    except _ERRORS as error:
        values, texts, faults = _salvage(inside)
        mark = getattr(error, "problem_mark", None)
        return Frontmatter(
            values, count, faults or (_fault(error, mark.line + 2 if mark else 1),), texts
        )


def string_list(value: Any, *, split_spaces: bool = False) -> list[str]:
    """Return texts of a list, of a string with commas (or spaces), or of a single value."""
    if isinstance(value, list):
        # YAML reads an unquoted [[link]] as a nested list.
        return [
            text
            for item in value
            for text in (string_list(item) if isinstance(item, list) else _single(item))
        ]
    if isinstance(value, str):
        parts = value.replace(",", " ").split() if split_spaces else value.split(",")
        return [text for part in parts if (text := part.strip())]
    return _single(value)


def plain_text(value: Any) -> str | None:
    """Return a string or number as text; None for other or empty values."""
    return (
        str(value).strip() or None
        if isinstance(value, str | int | float) and not isinstance(value, bool)
        else None
    )


def _single(item: Any) -> list[str]:
    if item is None or isinstance(item, Mapping):
        return []
    text = str(item).lower() if isinstance(item, bool) else str(item).strip()
    return [text] if text else []


def _load(lines: Sequence[str], first: int) -> tuple[dict[str, Any], tuple[FieldText, ...]]:
    """Parse lines to values and texts; `first` is the number of the first line."""
    text = "\n".join(lines)
    if len(text) > _MAX_CHARACTERS:
        raise yaml.YAMLError(f"longer than {_MAX_CHARACTERS:,} characters")
    _refuse_bombs(text)
    loader = _Loader(text)
    try:
        if (node := loader.get_single_node()) is None:
            return {}, ()
        values = loader.construct_document(node)
    finally:
        loader.dispose()
    if not isinstance(values, Mapping):
        raise _NotAMapping("not a list of keys and values")
    texts = tuple(
        text
        for key, value in node.value
        for text in _texts(known_key(str(key.value)), value, lines, first)
    )
    return {mended(known_key(str(key))): _json_value(value) for key, value in values.items()}, texts


def known_key(key: str) -> str:
    """Return a known key in lower case (`Tags` becomes `tags`); other keys are unchanged."""
    return key.lower() if key.lower() in KNOWN_KEYS else key


def _texts(key: str, node: yaml.Node, lines: Sequence[str], first: int) -> Iterator[FieldText]:
    if not isinstance(node, yaml.ScalarNode):
        for item in node.value:
            yield from _texts(key, item[1] if isinstance(item, tuple) else item, lines, first)
    elif node.tag not in _NOTHING and any(map(str.isalnum, node.value)):
        start, end = node.start_mark, node.end_mark
        last = max(end.line - (end.column == 0), start.line)
        text = " ".join(node.value.split())
        if last > start.line:
            written = [lines[start.line][start.column :], *lines[start.line + 1 : last + 1]]
            if node.style in ("|", ">"):
                written[0] = ""
            text = "\n".join(line.strip() for line in written).rstrip()
        yield FieldText(key, first + start.line, first + last, mended(text))


def _refuse_bombs(text: str) -> None:
    """Reject aliases, which may expand to gigabytes, and deep nesting, which may crash C code.

    Only suspicious texts are checked, because reading the events takes as long as loading them.
    Raises YAMLError.
    """
    aliases = "*" in text and "&" in text
    if (
        not aliases
        and text.count("[") + text.count("{") < _MANY_BRACKETS
        and not _DEEP_INDENT.search(text)
    ):
        return
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not supported")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_DEPTH:
            raise yaml.YAMLError("nested too deeply")


def _salvage(
    lines: Sequence[str],
) -> tuple[dict[str, Any], tuple[FieldText, ...], tuple[Fault, ...]]:
    """Read the valid entries of invalid YAML, and return a fault for each invalid one."""
    values: dict[str, Any] = {}
    texts: list[FieldText] = []
    faults: list[Fault] = []
    if sum(map(len, lines)) > _MAX_CHARACTERS:
        return values, (), ()
    for start, entry in _entries(lines):
        parts = [_try(entry, start + 2, start + 2)]
        starts = [number for number, line in enumerate(entry) if number and _ITEM.match(line)]
        if parts[0][2] and starts:  # a list: try each item alone
            head = entry[: starts[0]]
            parts = [
                _try([*head, *entry[begin:end]], start + 2 + begin - len(head), start + 2 + begin)
                for begin, end in zip(starts, [*starts[1:], len(entry)], strict=True)
            ]
        for found, found_texts, failed in parts:
            for key, value in found.items():
                goes_on = (
                    len(parts) > 1 and isinstance(value, list) and isinstance(values.get(key), list)
                )
                values[key] = [*values[key], *value] if goes_on else value
            texts += found_texts
            faults += failed
    return values, tuple(texts), tuple(faults)


def _try(
    entry: list[str], first: int, line: int
) -> tuple[dict[str, Any], tuple[FieldText, ...], list[Fault]]:
    """Parse an entry that begins at line `first`; if invalid, take its raw text, with a fault."""
    try:
        return *_load(entry, first), []
    except _ERRORS as error:
        written = _as_written(entry)
        texts = tuple(FieldText(key, first, first, str(value)) for key, value in written.items())
        return written, texts, [_fault(error, line)]


def _entries(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the index of the first line, and all lines, of each top-level key."""
    start = 0
    for number, line in enumerate(lines):
        if number > start and _ENTRY.match(line):
            yield start, list(lines[start:number])
            start = number
    if lines:
        yield start, list(lines[start:])


def _as_written(entry: Sequence[str]) -> dict[str, Any]:
    """Read one line of invalid but clear YAML, such as `title: Foo: bar`, except templates."""
    match = _ENTRY.match(entry[0])
    if not match or any(line.strip() for line in entry[1:]) or TEMPLATE.search(entry[0]):
        return {}
    key, value = match["key"].strip(), (match["value"] or "").strip()
    if _LINKS.fullmatch(value):
        return {known_key(key): [part.strip() for part in value.split(",")]}
    value = value.strip("[]" if key.lower() in _LISTS else "\"'").strip()
    return {known_key(key): value} if value and value.isprintable() else {}


def _json_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {mended(str(key)): _json_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MAX_INTEGER_BITS:
        return hex(value)
    return mended(value)


def _fault(error: BaseException, line: int) -> Fault:
    reason = (
        getattr(error, "problem", None)
        or getattr(error, "reason", None)
        or str(error)
        or type(error).__name__
    )
    return Fault(
        "frontmatter", f"frontmatter cannot be read: {str(reason).splitlines()[0]}", line=line
    )


def memory_identity(text: str, frontmatter: Mapping[str, Any], title: str) -> bytes:
    """Return a hash that ignores tags, dates and paths, so that duplicates are equal.

    `title` is the title in the text.
    """
    lines = split_lines(text)
    # A known frontmatter saves a parse of 0.5 ms.
    head = fenced_lines(lines) if frontmatter else read_frontmatter(lines).lines
    body = "\n".join(lines[head:])
    return identity(
        title,
        plain_text(frontmatter.get("subtitle")) or "",
        string_list(frontmatter.get("facts")),
        body,
    )


def unreviewed_in(path: str, memory_dir: str) -> int:
    """Return 1 for a path in the inbox, 2 for one in its waiting folder, 0 for others."""
    return sum(path.startswith(f"{memory_dir}/{folder}/") for folder in (INBOX, WAITING))


def origin_in(front: Mapping[str, Any], tags: Iterable[str] = ()) -> Origin:
    """Return the projects, folders and session in frontmatter, text fields and normal tags."""
    texts = _texts_by_key(front)
    listed, tagged = texts.get("project", []), [*texts.get("tags", ()), *texts.get("tag", ())]
    split = (
        part
        for one in tagged
        for spaces in (False, True)
        for part in string_list(one, split_spaces=spaces)
    )
    named = projects_in((*tags, *map(normalize_tag, split)))
    projects = [*listed, *(part for one in listed for part in string_list(one)), *named]
    return Origin(
        tuple(projects), tuple(texts.get("directory", ())), next(iter(texts.get("session", ())), "")
    )


def project_in(front: Mapping[str, Any]) -> str | None:
    """Return the projects of a frontmatter, separated by commas (see `project_forms`), or None."""
    return ", ".join(_texts_by_key(front).get("project", ())) or None


def _texts_by_key(front: Mapping[str, Any]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for key, value in front.items():
        texts.setdefault(key.strip().rstrip(":").casefold(), []).extend(scalars(value))
    return texts


def projects_in(tags: Iterable[str]) -> list[str]:
    """Return the projects in normal tags; `project/a/b` gives both `a/b` and `a`."""
    named = [tag.partition(_IN_TAGS)[2].split("/") for tag in tags if tag.startswith(_IN_TAGS)]
    return ["/".join(parts[:length]) for parts in named for length in range(len(parts), 0, -1)]


def last_moment(value: Any) -> float | None:
    """Parse an end time to seconds since the epoch; a date means the end of that day."""
    found = _parse_date(value, first=False)
    if found is not None and not isinstance(found, datetime):
        found = _at(found, time(23, 59, 59))
    return seconds_of(found) if found else None


def document_uid(own: Any, source: str, path: str) -> str:
    """Return the memory's own id if it is a UUID, else one derived from source and path."""
    return as_uuid(own) or str(uuid.uuid5(_NAMESPACE, f"{source}\0{path}"))


def as_uuid(value: object) -> str | None:
    """Return a UUID in canonical form; None for other values."""
    if isinstance(value, str):
        with suppress(ValueError):
            return str(uuid.UUID(value.strip()))
    return None


def first_time(*values: Any) -> float | None:
    """Return the first valid date, in seconds since the epoch; local time if it has no zone."""
    for value in values:
        if (found := _parse_date(value, first=True)) is not None:
            return seconds_of(found if isinstance(found, datetime) else _at(found, time()))
    return None


def _parse_date(value: Any, *, first: bool) -> date | None:
    match value:
        case [[link]]:  # an unquoted `[[2027-02-01]]`
            text = plain_text(link) or ""
        case _:
            text = plain_text(value) or ""
    try:
        return (
            datetime.fromisoformat(text)
            if len(text) > len("2027-02-01")
            else date.fromisoformat(text)
        )
    except ValueError:
        from vault_index.dates import written_date  # its patterns take 2 ms; most dates are ISO

        return written_date(text, first=first) if text else None


def _at(day: date, moment: time) -> datetime:
    return datetime.combine(day, moment)
