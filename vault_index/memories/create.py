"""What is given for a memory, checked before anything is locked or written: size, credentials, fields, a title."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from vault_index.errors import UsageError
from vault_index.indexer.describe import last_moment
from vault_index.markdown.recalled import drop_recalled
from vault_index.memories.dates import read_date
from vault_index.memories.edit import Change
from vault_index.memories.file.document import (
    BOM,
    Layout,
    ended,
    lay_out,
    title_of,
    with_line_ends,
    without_blank_edges,
)
from vault_index.memories.file.fields import Fields, changes_of, read_fields, said_in
from vault_index.memories.file.frontmatter_edit import KEYS, entry, with_changes
from vault_index.memories.store import NewMemory
from vault_index.memories.transfer.import_record import OLD_ID, as_uuid
from vault_index.secrets.find import find_secrets

TYPE_CHECKING = False  # spares an `add` the import of what captures; type checkers know the name
if TYPE_CHECKING:
    from vault_index.memories.capture.markers import Captured


@dataclass(frozen=True, slots=True)
class Occasion:
    """Where something was said that is captured."""

    by: str
    project: str | None
    """Its name, or its folder."""
    session: str | None
    folder: str | None
    """The folder of the memories it is kept in; None for the one of its type."""


def new_memory(
    text: str, given: Mapping[str, Any], *, path: str | None, now: datetime, max_bytes: int, force: bool
) -> NewMemory:
    """A memory of this text and these options. Raises UsageError for what cannot be one."""
    check_given(text, given, max_bytes=max_bytes, force=force)
    fields = read_fields(given, today=now.date())
    if not text.strip() and not fields.title:
        raise _nothing_said()
    title = fields.title or title_of(text)
    fields, supersedes = _kept(fields, title)
    uid = str(uuid.uuid4())
    return NewMemory(
        text=new_document(fields, text, uid=uid, created=now.isoformat(timespec="seconds")),
        uid=uid,
        title=title,
        day=now.date().isoformat(),
        fields=fields,
        path=path,
        supersedes=supersedes,
    )


def new_document(fields: Fields, body: str, *, uid: str, created: str) -> str:
    """The file of a new memory. Keys that were not given, or given empty, are left out; lines end with LF."""
    values = {**changes_of(fields), "id": uid, "created": created, "updated": created}
    head = "".join(entry(key, values[key], "\n") for key in KEYS if values.get(key) is not None)
    return f"---\n{head}---\n{ended(without_blank_edges(with_line_ends(body, chr(10))), chr(10))}"


def given_memory(
    text: str, given: Mapping[str, Any], *, path: str | None, now: datetime, max_bytes: int, force: bool
) -> NewMemory:
    """As `new_memory`, of a text that may have a frontmatter: what that says counts as if it were given, unless `given`
    says otherwise, and the keys it has beside those of a memory stay as they are."""
    text = text.removeprefix(BOM)
    layout = lay_out(text)
    if not layout.closing:
        return new_memory(text, given, path=path, now=now, max_bytes=max_bytes, force=force)
    check_given(text, given, max_bytes=max_bytes, force=force)
    fields, moments = _with_front(layout, given, now)
    title = fields.title or title_of(layout.body)
    if not layout.body.strip() and not title:
        raise _nothing_said()
    fields, supersedes = _kept(fields, title)
    own = layout.values.get("id")
    uid = as_uuid(own) or str(uuid.uuid4())
    old_id = {OLD_ID: own} if own and not as_uuid(own) else {}
    return NewMemory(
        text=with_changes(ended(text.rstrip(), layout.newline), {**changes_of(fields), **moments, **old_id, "id": uid}),
        uid=uid,
        title=title,
        day=moments["created"][:10],
        fields=fields,
        path=path,
        supersedes=supersedes,
    )


def _kept(fields: Fields, title: str) -> tuple[Fields, tuple[str, ...]]:
    """What stands in the file of a new memory; and what it supersedes, whose ids are known only to the index."""
    return replace(fields, type=fields.type or "note", title=title or None, supersedes=()), fields.supersedes or ()


def _nothing_said() -> UsageError:
    return UsageError("there is nothing to remember: the text is empty", "give a text, or at least a title")


def _with_front(layout: Layout, given: Mapping[str, Any], now: datetime) -> tuple[Fields, dict[str, str]]:
    """What is given, and else said in the frontmatter; and when it says that the memory was written and changed."""
    if layout.faults:
        raise UsageError(
            f"line {layout.faults[0].line}: {layout.faults[0].message}: nothing was stored",
            "mend that line; a text that begins with a rule and has no frontmatter needs a blank line before it",
        )
    today = now.date()
    named = {name: value for name, value in given.items() if value is not None}
    read_fields(named, today=today)  # what is wrong beyond this is wrong in the frontmatter
    try:
        fields = read_fields({**said_in(layout.values), **named}, today=today)
        return fields, _moments(layout.values, now)
    except UsageError as error:
        hint = f"{error.hint} Mend it there, or give the option: that counts instead."
        raise UsageError(f"in the frontmatter: {error.message}", hint) from error


def _moments(front: Mapping[str, Any], now: datetime) -> dict[str, str]:
    said = {}
    for name, other in (("created", "date"), ("updated", "modified")):
        if front.get(name):
            iso = last_moment(front[name]) is not None
            said[name] = front[name] if iso else read_date(str(front[name]), now.date(), option=name)
        elif last_moment(front.get(other)) is not None:
            said[name] = front[other]
    created = said.get("created") or said.get("updated") or now.isoformat(timespec="seconds")
    return {"created": created, "updated": said.get("updated") or created}


def to_capture(text: str, today: date, more_tags: Sequence[str], *, statements: bool) -> "tuple[Captured, ...]":
    """What a text says is to be kept, each once; nothing of what our own recall said in it."""
    from vault_index.memories.capture import statements as plain
    from vault_index.memories.capture.markers import capture_rules, captures, inferred

    rules = capture_rules(more_tags)
    text = drop_recalled(text)
    found = {_words(one.text): one for one in captures(text, today=today, rules=rules)}
    for one in plain.statements(text) if statements else ():
        found.setdefault(_words(one.text), inferred(one, today=today, rules=rules))
    return tuple(found.values())


def captured_memory(
    captured: "Captured", occasion: Occasion, now: datetime, *, max_bytes: int, force: bool
) -> NewMemory:
    """A memory of it. Raises as `new_memory`."""
    from vault_index.query.projects import is_folder, project_of

    project = occasion.project
    if project and is_folder(project):
        project = next(iter(project_of(project).names), None)
    fields = {
        "by": occasion.by,
        "project": project,
        "title": captured.title,
        "type": captured.type,
        "tags": captured.tags or None,
        "expires": captured.expires,
    }
    new = new_memory(captured.text, fields, path=None, now=now, max_bytes=max_bytes, force=force)
    text = with_changes(new.text, {"session": occasion.session}) if occasion.session else new.text
    return replace(new, text=text, folder=occasion.folder)


def change_of(
    given: Mapping[str, Any],
    *,
    content: str | None,
    append: bool,
    section: str | None,
    add_tags: Any,
    remove_tags: Any,
    now: datetime,
    max_bytes: int,
    force: bool,
) -> Change:
    """What an update asks for. Raises UsageError for what cannot be, and when nothing is asked for."""
    if content is None and (append or section is not None):
        raise UsageError("there is no text to write", "give it as content, or on stdin")
    named = {**given, **{key: value for key, value in (("+", add_tags), ("-", remove_tags)) if value}}
    if content is None and all(value is None for value in named.values()):
        raise UsageError("nothing to change was named", "give a text, or a field, as --add-tags or --expires")
    if content is not None and not append and section is None and lay_out(content).closing:
        raise UsageError(
            "the text begins with frontmatter, and an update gives the text below it: nothing was changed",
            "leave the frontmatter out, and name what changes of it as options",
        )
    check_given(content or "", {**given, "add_tags": add_tags}, max_bytes=max_bytes, force=force)
    today = now.date()
    return Change(
        fields=replace(read_fields(given, today=today), supersedes=None),
        content=content,
        append=append,
        section=section,
        add_tags=_tags(add_tags, now),
        remove_tags=_tags(remove_tags, now),
    )


def check_given(text: str, given: Mapping[str, Any], *, max_bytes: int, force: bool) -> None:
    """Raise UsageError for what is too long, no text, or, unless `force`, looks like a credential."""
    parts = {"the text": text, **{key: _as_text(value) for key, value in given.items()}}
    for name, part in parts.items():
        try:
            size = len(part.encode())
        except UnicodeEncodeError as error:
            raise UsageError(f"{name} is not valid UTF-8", "give it in UTF-8") from error
        if "\0" in part:
            raise UsageError(f"{name} holds a NUL byte", "memories are text: give the text alone")
        if size > max_bytes:
            raise UsageError(
                f"{name} has {size:,} bytes, more than the {max_bytes:,} of memory.max_bytes",
                "store the gist of it, or several memories; or raise memory.max_bytes",
            )
        if not force:
            refuse_secrets(name, part)


def refuse_secrets(name: str, text: str) -> None:
    """Raise UsageError for what looks like a credential."""
    found = find_secrets(text)
    if found:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        raise UsageError(
            f"line {found[0].line} of {name} holds what looks like {found[0].kind}{more}: nothing was stored",
            "take it out, or use --force if it is none",
        )


def _words(text: str) -> str:
    return " ".join(text.lower().split())


def _as_text(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


def _tags(value: Any, now: datetime) -> tuple[str, ...]:
    return read_fields({"tags": value}, today=now.date()).tags or () if value else ()
