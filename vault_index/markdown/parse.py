"""Parse markdown into title, aliases, tags, links, frontmatter, and blocks with line numbers."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import groupby
from typing import Any

from vault_index.fields import NO_PASSAGE, NO_TEXT, NOT_SEARCHED, OF_MEMORIES
from vault_index.markdown.blocks import Structure, plain_spans, read_lines, read_structure
from vault_index.markdown.frontmatter import (
    TEMPLATE,
    FieldText,
    Frontmatter,
    first_time,
    plain_text,
    read_frontmatter,
    string_list,
)
from vault_index.markdown.inline import (
    Inline,
    plain_words,
    read_inline,
    wikilinks,
    without_comments,
)
from vault_index.markdown.normalize import (
    SENTENCE,
    normalize_tag,
    scalars,
    split_lines,
    without_data,
)
from vault_index.markdown.recalled import fingerprint, runs_of_words
from vault_index.models import Block, Fault, ParsedDocument
from vault_index.terms import is_word

_LONGEST_TAG = 500
_MOST_TAGS = 10_000
_SENTENCE_WORDS = 3
_SENTENCE_CJK = 6
_SENTENCES_ALONE = 16  # fewer frontmatter sentences than this get a chunk each
_TITLE_CHARACTERS = 80
_DATES_OF_NOTES = ("created", "updated", "date", "modified")
_DATES = (*_DATES_OF_NOTES, "expires", "valid_until", "archived")
_USER = "## User · "
_MARKS = re.compile(
    r"^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[.\][ \t]+|\[![^\]\n]*\][+-]?[ \t]*)?"
)


def parse(text: str, name: str, *, memory: bool = False) -> ParsedDocument:
    """Parse a note or a memory; in a memory every frontmatter field is indexed text.

    `name` is the file name without folder and suffix, used as title if there is no other. Never
    raises.
    """
    lines = split_lines(without_data(text.removeprefix("\ufeff")))
    front = read_frontmatter(lines)
    structure, inline = read_body([""] * front.lines + lines[front.lines :])
    derived = _first_words(structure, lines[front.lines :]) if memory else ""
    return _document(
        lines, front, structure, inline, structure.first_h1, name, derived, memory=memory
    )


def parse_transcript(text: str, name: str) -> ParsedDocument:
    """Parse a rendered session. Its turns need no full parser, and `#` in it is rarely a tag."""
    lines = split_lines(without_data(text))
    front = replace(read_frontmatter(lines), texts=())  # metadata, not text
    structure = read_lines([""] * front.lines + lines[front.lines :])
    return _document(
        lines, front, structure, read_inline(_prose(lines, structure), tags=False), "", name
    )


def without_quotes(text: str, salt: bytes, deleted: Set[int]) -> tuple[str, str | None]:
    """Remove lines that quote deleted memories from a session, except the user's own turns.

    `deleted` holds the fingerprints of the memories. Returns the text, and the fingerprints found
    in it as JSON, or None.
    """
    lines, user = split_lines(text), False
    code = plain_spans(lines)[1]
    others = [
        (at, line)
        for at, line in enumerate(lines)
        if not (
            user := line.startswith(_USER)
            if line.startswith("## ") and at + 1 not in code
            else user
        )
    ]
    quotes = [
        (key, *at)
        for run, *at in runs_of_words(others)
        if (key := fingerprint(run, salt)) in deleted
    ]
    for _, first, last in quotes:
        lines[first : last + 1] = [
            "title: …" if one.startswith("title:") else "" for one in lines[first : last + 1]
        ]
    return "\n".join(lines), json.dumps(sorted({key for key, _, _ in quotes})) if quotes else None


def _document(
    lines: list[str],
    front: Frontmatter,
    structure: Structure,
    inline: Inline,
    heading: str,
    name: str,
    derived: str = "",
    *,
    memory: bool = False,
) -> ParsedDocument:
    stored_title = plain_text(front.values.get("title"))
    # Earlier versions stored the derived title.
    given = (stored_title if stored_title != derived else None) or heading
    title = given or derived
    tags = normal_tags((*_either(front.values, "tags", "tag", split_spaces=True), *inline.tags))
    kept = tuple(tag for tag in tags if len(tag) <= _LONGEST_TAG)[:_MOST_TAGS]
    message = f"ignored tags beyond {_MOST_TAGS:,}, or longer than {_LONGEST_TAG} characters"
    too_much = () if kept == tags else (Fault("markdown", message, line=1),)
    no_dates = _unread_dates(front, _DATES if memory else _DATES_OF_NOTES)
    return ParsedDocument(
        title=title or name,
        title_in_text=bool(title),
        title_given=given == title,
        aliases=tuple(dict.fromkeys(_either(front.values, "aliases", "alias"))),
        tags=kept,
        links=(*wikilinks(lines[: front.lines]), *inline.links),
        frontmatter=front.values,
        line_count=len(lines),
        blocks=structure.blocks or tuple(_without_body(lines, front, title, name)),
        faults=(*front.faults, *no_dates, *structure.faults, *too_much),
        fields=tuple(_fields(front.texts, every=memory)) if structure.blocks else (),
        inline=inline.fields,
    )


def _unread_dates(front: Frontmatter, keys: Sequence[str]) -> Iterator[Fault]:
    for key in keys:
        value = plain_text(front.values.get(key))
        if value and not TEMPLATE.search(value) and first_time(value) is None:
            line = next((text.first for text in front.texts if text.key == key), 1)
            yield Fault("date", f"{key}: {value[:40]!r} is not a date", line=line)


def title_of(body: str) -> str:
    """Derive a title from the first heading or sentence, without markup.

    At most 80 characters, truncated between words; empty if the body has no words.
    """
    lines = split_lines(body)
    return _first_words(read_body(lines)[0], lines)


def _first_words(structure: Structure, body: list[str]) -> str:
    return _shortened(next(filter(None, map(plain_words, _candidates(structure, body))), ""))


def _candidates(structure: Structure, body: list[str]) -> Iterator[str]:
    blocks = [block for block in structure.blocks if block.start_line not in structure.code_lines]
    if blocks and blocks[0].is_heading and blocks[0].headings:
        yield blocks[0].headings[-1]
    yield structure.first_h1
    for block in blocks or structure.blocks:
        if not block.is_heading:
            prose = "\n".join(_MARKS.sub("", line) for line in split_lines(block.text)).strip()
            yield from SENTENCE.findall(prose)[:1]
    yield from (line for line in body if line.strip("`~# \t"))


def _shortened(words: str) -> str:
    if len(words) <= _TITLE_CHARACTERS:
        return words if words.endswith("..") else words.removesuffix(".")
    start = words[:_TITLE_CHARACTERS]
    cut = start.rpartition(" ")[0] or start
    return f"{cut[: _TITLE_CHARACTERS - 1].rstrip(' ,;:-')}…"


def read_body(lines: list[str]) -> tuple[Structure, Inline]:
    """Parse blocks, tags and links of markdown without frontmatter; ignores comments.

    A text with comments is parsed twice: first to find code, in which `%%` is no comment, then
    without the comments.
    """
    structure = read_structure(lines)
    if any("%%" in line for line in lines):
        bare = without_comments(lines, structure.code_lines)
        if bare != lines:
            lines, structure = bare, read_structure(bare)
    return structure, read_inline(_prose(lines, structure))


def _prose(lines: list[str], structure: Structure) -> list[str]:
    return [
        "" if number in structure.code_lines else line for number, line in enumerate(lines, start=1)
    ]


def normal_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Normalise tags and remove duplicates, in order of appearance."""
    return tuple(dict.fromkeys(tag for text in tags if (tag := normalize_tag(text))))


def _either(values: Mapping[str, Any], *keys: str, split_spaces: bool = False) -> list[str]:
    return [
        text for key in keys for text in string_list(values.get(key), split_spaces=split_spaces)
    ]


def _fields(texts: Iterable[FieldText], *, every: bool) -> Iterator[tuple[Block, ...]]:
    """Group frontmatter texts into passages: each sentence alone, short values together.

    A vector of several facts is not close to any of them. If there are many sentences, several
    share a passage, to limit the number of passages.
    """
    passages = [one for one in texts if _is_passage(one, every)]
    size = sum(map(_is_sentence, passages)) // _SENTENCES_ALONE + 1
    lines = groupby(
        passages, key=lambda one: (one.first, one.text if size == 1 and _is_sentence(one) else "")
    )
    places = enumerate(list(same) for _, same in lines)
    for _, group in groupby(
        places, key=lambda place: place[0] // size if any(map(_is_sentence, place[1])) else -1
    ):
        before, blocks = "", []
        for _, here in group:
            key = f"{here[0].key}: " if here[0].key != before else ""
            before = here[-1].key
            blocks.append(
                Block(
                    here[0].first,
                    here[-1].last,
                    f"- {key}{'; '.join(one.text for one in here)}",
                    (),
                )
            )
        yield tuple(blocks)


def _is_passage(one: FieldText, every: bool) -> bool:
    """Return whether a field text gets a passage.

    A short value in a note (`status: done`) does not: it is searchable with every chunk, and would
    add a passage for each note.
    """
    if one.key in OF_MEMORIES or one.key in NOT_SEARCHED | NO_PASSAGE or one.text.startswith("[["):
        return one.key in OF_MEMORIES
    return every or (_is_sentence(one) and any(map(str.isalpha, one.text)))


def _is_sentence(one: FieldText) -> bool:
    return len(one.text.split()) >= _SENTENCE_WORDS or (
        len(one.text) >= _SENTENCE_CJK and not is_word(one.text)
    )


def _without_body(
    lines: Sequence[str], front: Frontmatter, title: str, name: str
) -> Iterator[Block]:
    """Yield the text of a note without a body: frontmatter values except ids and times.

    The file name is used only without other text, because a new name then needs a new embedding.
    """
    if any(line.strip() for line in lines):
        values = [
            text
            for key, value in front.values.items()
            if key not in NO_TEXT
            for text in scalars(value)
        ]
        texts = dict.fromkeys(text for text in (title, *values) if text) or [name]
        yield Block(1, max(front.lines, 1), "\n".join(texts), ())
