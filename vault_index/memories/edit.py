"""What memory files say after a change: functions of their texts, which read and write nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import string_list
from vault_index.markdown.parse import normal_tags, parse
from vault_index.memories.file.document import appended, body_of, with_body, with_section
from vault_index.memories.file.fields import Fields, changes_of
from vault_index.memories.file.frontmatter_edit import with_changes
from vault_index.memories.lookup import Standing, front_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What `update` was asked for; None is "not named"."""

    fields: Fields
    content: str | None = None
    append: bool = False
    section: str | None = None
    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """The text a file has to have, and what its writer should know."""

    text: str
    warnings: tuple[str, ...]


def changed(standing: Standing, change: Change, replaced: Sequence[Standing]) -> Changed:
    """A memory with what is named of it changed, and nothing else; it supersedes those it replaces.

    Raises UsageError where it would have neither text nor title.
    """
    text = _edited(standing.seen.text, change)
    changes = changes_of(change.fields)
    tags, left = _tags(text, standing.front, change)
    if tags is not None:
        changes["tags"] = tags or None
    if replaced:
        changes["supersedes"] = superseding(standing.seen.text, replaced)
    text = with_changes(text, changes)
    if not body_of(text).strip() and not front_of(text).get("title"):
        raise UsageError(
            f"{standing.path} would have neither text nor title",
            "delete it instead: vault-index delete, or give it a title",
        )
    return Changed(text, tuple(f"the tag {tag} stands in the text: take it out there" for tag in left))


def merged(twin: Standing, fields: Fields, replaced: Sequence[Standing]) -> Changed:
    """A memory with what is new of one that says the same: tags, dates, and those it replaces."""
    changes: dict[str, Any] = {}
    warnings = []
    written = string_list(twin.front.get("tags"), split_spaces=True)
    has = set(normal_tags(written))
    more = [tag for tag in fields.tags or () if tag not in has]
    if more:
        changes["tags"] = [*written, *more]
        warnings.append(f"tags added to it: {', '.join(more)}")
    for key, date in (("expires", fields.expires), ("valid_until", fields.valid_until)):
        was = twin.front.get(key)
        if date and date != was:
            changes[key] = date
            warnings.append(f"{key} is {date} now" + (f", it was {was}" if was else ""))
    if replaced:
        changes["supersedes"] = superseding(twin.seen.text, replaced)
    return Changed(with_changes(twin.seen.text, changes), tuple(warnings))


def marked(replaced: Sequence[Standing], uid: str) -> list[tuple[Standing, str]]:
    """The files of memories that one replaces, as they have to be; those that say so already are left out."""
    return [
        (standing, with_changes(standing.seen.text, {"superseded_by": uid}))
        for standing in replaced
        if standing.front.get("superseded_by") != uid
    ]


def superseding(text: str, replaced: Sequence[Standing]) -> list[str]:
    """What a memory supersedes, with these."""
    return list(
        dict.fromkeys((*string_list(front_of(text).get("supersedes")), *(standing.uid for standing in replaced)))
    )


def superseded_before(replaced: Sequence[Standing], uid: str) -> tuple[str, ...]:
    """What to say of those that another memory replaced earlier."""
    others = ((standing, standing.front.get("superseded_by")) for standing in replaced)
    return tuple(f"{standing.path} was superseded by {by} before" for standing, by in others if by and by != uid)


def _edited(text: str, change: Change) -> str:
    """The file with another body, or with more of it."""
    if change.content is None:
        return text
    if change.section is not None:
        return with_section(text, change.section, change.content, append=change.append)
    return appended(text, change.content) if change.append else with_body(text, change.content)


def _tags(text: str, front: Mapping[str, Any], change: Change) -> tuple[list[str] | None, list[str]]:
    """The tags of the frontmatter as they have to be (None: as they are), and those that only the text could lose."""
    written = string_list(front.get("tags", front.get("tag")), split_spaces=True)
    base = written if change.fields.tags is None else list(change.fields.tags)
    gone = set(change.remove_tags)
    kept = [tag for tag in base if not gone & set(normal_tags([tag]))]
    has = set(normal_tags(kept))
    tags = [*kept, *(tag for tag in change.add_tags if tag not in has)]
    left = [tag for tag in change.remove_tags if tag in parse(body_of(text), "").tags] if gone else []
    return (None if tags == written else tags), left
