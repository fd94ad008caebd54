"""What is given for a memory, checked before anything is locked or written: size, credentials, fields, a title."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from vault_index.api.storing import Change, NewMemory
from vault_index.errors import UsageError
from vault_index.markdown.recalled import drop_recalled
from vault_index.memories.document import new_document, title_of, with_changes
from vault_index.memories.fields import read_fields
from vault_index.secrets.find import find_secrets

TYPE_CHECKING = False  # spares an `add` the import of what captures; type checkers know the name
if TYPE_CHECKING:
    from vault_index.memories.capture import Captured


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
        raise UsageError("there is nothing to remember: the text is empty", "give a text, or at least a title")
    title = fields.title or title_of(text)
    fields = replace(fields, type=fields.type or "note", title=title or None, supersedes=None)
    uid = str(uuid.uuid4())
    return NewMemory(
        text=new_document(fields, text, uid=uid, created=now.isoformat(timespec="seconds")),
        uid=uid,
        title=title,
        day=now.date().isoformat(),
        fields=fields,
        path=path,
    )


def to_capture(text: str, today: date, more_tags: Sequence[str], *, statements: bool) -> "tuple[Captured, ...]":
    """What a text says is to be kept, each once; nothing of what our own recall said in it."""
    from vault_index.memories import statements as plain
    from vault_index.memories.capture import capture_rules, captures, inferred

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
    check_given(content or "", given, max_bytes=max_bytes, force=force)
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
